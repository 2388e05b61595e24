//! Certificates of a provider's own: files that are read and checked with the configuration.

use std::fs;
use std::path::PathBuf;

use rcgen::{CertifiedKey, KeyPair};

use crate::config::parse;
use crate::config::types::Config;

/// A folder of PEM files, for one test.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("sabir-{test}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.0.join(file), text).unwrap();
    }

    /// What is read, or the problems, of a provider with these keys.
    fn read(&self, scheme: &str, keys: &str) -> Result<Config, String> {
        let text = format!(
            "env_providers = false\n[[provider]]\nname = \"p\"\nprotocol = \"openai-chat\"\n\
             base_url = \"{scheme}://llm.example/v1\"\n{keys}"
        );
        parse(&text, &self.0.join("sabir.toml"), &|_| None).map_err(|it| it.to_string())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A folder with an authority, a client's certificate and key apart and in one file, and files that are of no use.
fn folder(test: &str) -> Folder {
    let folder = Folder::new(test);
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let CertifiedKey { cert, signing_key } = made;
    folder.write("ca.pem", &cert.pem());
    folder.write("client.pem", &cert.pem());
    folder.write("client.key", &signing_key.serialize_pem());
    folder.write("both.pem", &(cert.pem() + &signing_key.serialize_pem()));
    folder.write("other.key", &KeyPair::generate().unwrap().serialize_pem());
    folder.write("sesame.txt", "sesame");
    fs::write(folder.0.join("der"), [0x30, 0x82, 0xff]).unwrap();
    folder
}

#[test]
fn certificates_are_read_from_files_beside_the_config() {
    let folder = folder("certificates");
    for keys in [
        "ca_file = \"ca.pem\"\n",
        "ca_file = \"ca.pem\"\nclient_certificate = \"both.pem\"\n",
        "ca_file = \"ca.pem\"\nclient_certificate = \"client.pem\"\nclient_key = \"client.key\"\n",
    ] {
        let config = folder.read("https", keys).unwrap_or_else(|it| panic!("{keys}: {it}"));
        assert!(config.providers[0].tls.is_some(), "{keys}");
    }
    assert!(folder.read("https", "").unwrap().providers[0].tls.is_none());
}

#[test]
fn what_is_wrong_with_certificates_is_said_with_the_files_name() {
    let folder = folder("bad-certificates");
    for (keys, expected) in [
        ("ca_file = \"none.pem\"", "none.pem: there is no such file"),
        ("ca_file = \"sesame.txt\"", "sesame.txt: it has no certificate in PEM"),
        ("ca_file = \"client.key\"", "client.key: it has no certificate in PEM"),
        ("ca_file = \"der\"", "der: it is not UTF-8"),
        ("ca_file = \"/dev/zero\"", "/dev/zero: it is longer than 4096 KiB"),
        ("ca_file = \"\"", "`ca_file` is empty"),
        ("ca_file = 1", "`ca_file` must be a string"),
        ("client_certificate = \"client.pem\"", "client.pem: it has no private key in PEM"),
        ("client_key = \"client.key\"", "`client_key` belongs to a `client_certificate`"),
        (
            "client_certificate = \"client.pem\"\nclient_key = \"other.key\"",
            "other.key: its key is not that of the certificate",
        ),
        (
            "client_certificate = \"client.pem\"\nclient_key = \"none.key\"",
            "none.key: there is no such file",
        ),
    ] {
        let problems = folder.read("https", keys).unwrap_err();
        assert!(problems.contains(expected), "{keys}: {problems}");
        assert_eq!(problems.lines().count(), 1, "{keys}: {problems}");
        assert!(!problems.replace("sesame.txt", "").contains("sesame"), "{keys}: {problems}");
    }
    let problems = folder.read("http", "ca_file = \"ca.pem\"").unwrap_err();
    assert!(problems.contains("`ca_file` needs a `base_url` that begins with https://"));
}
