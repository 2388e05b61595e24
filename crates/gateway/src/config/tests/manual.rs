//! The sample file and the manual know every key that the reader knows, and say nothing that is not so.

use std::fs;
use std::path::Path;

use crate::config::types::{Limits, Timeouts};
use crate::config::{PRESETS, keys, parse};

fn repository(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    fs::read_to_string(path).unwrap()
}

/// The sample with everything uncommented: a key follows its `#` at once, prose after a space.
fn uncommented() -> String {
    let sample = repository("sabir.example.toml");
    let line = |line: &str| match line.strip_prefix('#') {
        Some(code) if !code.starts_with(' ') || code.starts_with("  {") => format!("{code}\n"),
        _ => format!("{line}\n"),
    };
    sample.lines().map(line).collect()
}

#[test]
fn the_sample_is_valid_as_it_stands_and_changes_nothing() {
    let config = parse(&repository("sabir.example.toml"), Path::new("x.toml"), &|_| None);
    let config = config.unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(config.limits, Limits::default());
    assert_eq!(config.providers.len(), 4, "the simulators alone");
}

#[test]
fn the_sample_is_valid_with_everything_uncommented() {
    let folder = std::env::temp_dir().join(format!("sabir-sample-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("office.token"), "token").unwrap();
    fs::write(folder.join("summary.txt"), "Summarise.").unwrap();
    let made = rcgen::generate_simple_self_signed(["llm.example".to_owned()]).unwrap();
    fs::write(folder.join("office-ca.pem"), made.cert.pem()).unwrap();
    fs::write(folder.join("client.pem"), made.cert.pem()).unwrap();
    fs::write(folder.join("client.key"), made.signing_key.serialize_pem()).unwrap();
    let variable = |name: &str| name.ends_with("_KEY").then(|| "key".to_owned());
    let config = parse(&uncommented(), &folder.join("sabir.toml"), &variable);
    fs::remove_dir_all(&folder).unwrap();
    let config = config.unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(config.limits, Limits::default(), "the sample shows the defaults");
    assert_eq!(config.providers[1].timeouts, Timeouts::default());
    assert_eq!((config.models.len(), config.auth.keys.len()), (3, 2));
}

#[test]
fn the_sample_has_every_key() {
    let sample = uncommented();
    for keys in keys::ALL {
        for key in keys.names {
            let forms =
                [format!("{key} = "), format!("[{key}]"), format!("[[{key}]]"), format!(".{key}]")];
            let is_there = forms.iter().any(|form| sample.contains(form));
            assert!(is_there, "`{key}` of {}", keys.table);
        }
    }
}

#[test]
fn no_part_of_the_sample_makes_the_reader_panic() {
    let sample = uncommented();
    let lines: Vec<&str> = sample.split_inclusive('\n').collect();
    for left_out in 0..lines.len() {
        let rest: String = [&lines[..left_out], &lines[left_out + 1..]].concat().concat();
        let _ = parse(&rest, Path::new("sabir.toml"), &|_| None);
    }
    for end in (0..sample.len()).step_by(13).filter(|end| sample.is_char_boundary(*end)) {
        let _ = parse(&sample[..end], Path::new("sabir.toml"), &|_| None);
    }
}

#[test]
fn the_manual_has_every_key_in_a_table() {
    let manual = repository("docs/configuration.md");
    let all = || keys::ALL.iter().flat_map(|keys| keys.names);
    for key in all() {
        let tables = all().filter(|other| *other == key).count();
        let rows = manual.matches(&format!("\n| `{key}` |")).count();
        assert!(rows >= tables, "`{key}` has {rows} rows and stands in {tables} tables");
    }
}

#[test]
fn the_manual_has_every_preset_as_it_is() {
    let manual = repository("docs/configuration.md");
    let quoted = |words: &[&str]| match words {
        [] => "none".to_owned(),
        words => format!("`{}`", words.join("`, `")),
    };
    for preset in PRESETS {
        let protocols: Vec<&str> = preset.endpoints.iter().map(|(it, _)| it.as_str()).collect();
        let model: Vec<&str> = preset.default_model.into_iter().collect();
        let cells = [&[preset.name], &protocols[..], preset.key_variables, preset.claims, &model];
        let row = format!("| {} |", cells.map(quoted).join(" | "));
        assert!(manual.contains(&row), "{row}");
    }
}
