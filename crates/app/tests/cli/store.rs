//! The store as the operator meets it: what is said of it, a start that it stops, and rows that outlive their process.

use std::fs;

use crate::folder::Folder;

#[test]
fn check_says_what_is_kept_where_and_for_how_long() {
    let folder = Folder::new("store-check");
    let memory = |variables: &[(&str, &str)]| {
        let printed = folder.sabir("check", variables).exits(0).stdout;
        let line =
            printed.lines().find_map(|line| line.strip_prefix("memory: ")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{printed}"))
    };
    let data = [("SABIR_DATA_DIR", "/data")];
    assert_eq!(memory(&data), "stateful, /data/sabir.db, kept 30 days");
    let user = [("SABIR_DATA_DIR", ""), ("HOME", "/users/u")];
    #[cfg(target_os = "linux")]
    assert_eq!(memory(&user), "stateful, /users/u/.local/share/sabir/sabir.db, kept 30 days");
    let toml = "[store]\nurl = { env = \"DATABASE_URL\" }\nkeep = \"forever\"\n";
    let folder = folder.with("sabir.toml", toml);
    let url = [("DATABASE_URL", "postgres://sabir:sesame@db.example/memory")];
    let printed = folder.sabir("check", &url).exits(0).stdout;
    assert!(
        printed.contains("\nmemory: stateful, postgres://db.example:5432/memory, kept forever\n")
    );
    let folder = folder.with("sabir.toml", "[store]\nrecord = \"off\"\n");
    let printed = folder.sabir("check", &[]).exits(0).stdout;
    assert!(printed.contains("\nmemory: off, nothing is kept\n"), "{printed}");
}

#[test]
fn a_store_that_cannot_be_opened_stops_the_start() {
    let folder = Folder::new("store-refused").with("file", "no folder");
    let file = folder.path().join("file").display().to_string();
    for data in [file.as_str(), "/dev/null"] {
        let arguments = format!("serve --listen 127.0.0.1:0 --data {data}");
        let run = folder.sabir(&arguments, &[]).exits(1);
        assert_eq!(run.stdout, "");
        for words in [&format!("{data}/sabir.db"), "`url` in [store]", "`record = \"off\"`"] {
            assert!(run.stderr.contains(words), "{words}: {}", run.stderr);
        }
    }
    let run = folder.sabir("serve --listen 127.0.0.1:0", &[("SABIR_DATA_DIR", "")]).exits(1);
    assert!(run.stderr.contains("neither SABIR_DATA_DIR nor HOME is set"), "{}", run.stderr);
}

#[test]
fn an_address_that_is_refused_makes_no_store() {
    let folder = Folder::new("store-unbound");
    let run = folder.sabir("serve --listen 0.0.0.0:0", &[]).exits(1);
    assert!(run.stderr.contains("can be reached from other machines"), "{}", run.stderr);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
