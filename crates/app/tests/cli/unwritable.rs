//! What is kept where nothing can be written: it can be read, and whatever would change it says why it cannot.

use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use crate::folder::Folder;
use crate::run::Run;

const NOBODY: &str = "listen = \"127.0.0.1:1\"\nenv_providers = false\n";

/// A folder with a conversation in it, in which nothing can be written from then on.
struct Locked {
    folder: Folder,
    data: std::path::PathBuf,
}

impl Locked {
    fn new(test: &str, store: &str) -> Self {
        let transcript = r#"[{"role":"user","content":"about pears","timestamp":7}]"#;
        let folder = Folder::new(test).with("sabir.toml", NOBODY).with("tour.json", transcript);
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        let folder = folder.with("sabir.toml", &format!("{NOBODY}[store]\nurl = \"{store}\"\n"));
        folder.sabir("conversations import tour.json --id tour --data data", &[]).exits(0);
        let locked = Self { folder, data };
        locked.lock(0o500, 0o400);
        locked
    }

    fn lock(&self, folders: u32, files: u32) {
        set_modes(&self.data, folders, files);
    }

    fn run(&self, arguments: &str) -> Run {
        let command = self.folder.command(&format!("{arguments} --data data"), &[]);
        let output = ordinary(&command).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let code = output.status.code().unwrap();
        Run { code, stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        self.lock(0o700, 0o600);
    }
}

fn set_modes(folder: &Path, folders: u32, files: u32) {
    // Whoever may not look into a folder cannot open it first.
    fs::set_permissions(folder, Permissions::from_mode(folders | 0o700)).unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => set_modes(&path, folders, files),
            false => fs::set_permissions(&path, Permissions::from_mode(files)).unwrap(),
        }
    }
    fs::set_permissions(folder, Permissions::from_mode(folders)).unwrap();
}

/// The command as one for which permissions count: the system's administrator gives up what passes over them.
fn ordinary(command: &Command) -> Command {
    let is_administrator = fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0);
    let mut words: Vec<&std::ffi::OsStr> = Vec::new();
    if is_administrator {
        let less = "-dac_override,-dac_read_search";
        let setpriv = ["setpriv", "--bounding-set", less, "--inh-caps", less, "--"];
        words.extend(setpriv.map(std::ffi::OsStr::new));
    }
    words.push(command.get_program());
    words.extend(command.get_args());
    let mut ordinary = Command::new(words[0]);
    ordinary.args(&words[1..]).env_clear();
    ordinary.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    ordinary.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    ordinary.current_dir(command.get_current_dir().unwrap());
    ordinary
}

#[test]
fn a_store_that_cannot_be_written_can_be_read() {
    for (test, store) in [("unwritable", "sqlite:"), ("unwritable-files", "files:data")] {
        let locked = Locked::new(test, store);
        assert!(
            locked.run("conversations list").exits(0).stdout.contains("about pears"),
            "{store}"
        );
        assert!(locked.run("conversations show tour").exits(0).stdout.contains("about pears"));
        let exported = locked.run("conversations export tour").exits(0).json();
        assert_eq!(exported[0]["timestamp"], 7);
        assert_eq!(locked.run("conversations ids to").exits(0).stdout, "tour\n");
        if store == "sqlite:" {
            assert!(locked.run("usage").exits(0).stderr.contains("no calls are kept"));
        }
        for change in ["delete tour", "fork tour", "import tour.json --id other"] {
            let refused = locked.run(&format!("conversations {change}")).exits(1);
            assert_eq!(refused.stdout, "", "{store} {change}");
            let stderr = refused.stderr;
            assert!(stderr.contains("cannot be"), "{store} {change}: {stderr}");
        }
        let refused = locked.run("serve --listen 127.0.0.1:0").exits(1);
        assert!(refused.stderr.contains("cannot be opened"), "{store}: {}", refused.stderr);
    }
}

#[test]
fn a_file_that_cannot_be_written_in_a_folder_that_can_is_read() {
    let locked = Locked::new("unwritable-file", "sqlite:");
    locked.lock(0o700, 0o400);
    assert!(locked.run("conversations list").exits(0).stdout.contains("about pears"));
}

#[test]
fn a_log_that_cannot_be_read_is_said_to_be_the_trouble() {
    let locked = Locked::new("unwritable-log", "sqlite:");
    locked.lock(0o700, 0o600);
    fs::write(locked.data.join("sabir.db-wal"), "what a crash left").unwrap();
    // With its index beside it a log can be read.
    let _ = fs::remove_file(locked.data.join("sabir.db-shm"));
    locked.lock(0o500, 0o400);
    let refused = locked.run("conversations list").exits(1);
    assert!(refused.stderr.contains("was not closed"), "{}", refused.stderr);
    assert!(refused.stderr.contains("copy the folder"), "{}", refused.stderr);
}
