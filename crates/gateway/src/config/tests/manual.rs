//! The sample file and the manual know every key that the reader knows, and say nothing that is not so.

use std::fs;
use std::path::Path;

use crate::config::PRESETS;
use crate::config::keys;
use crate::config::parse;
use crate::config::types::Limits;
use crate::config::types::Timeouts;

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
    let variable = |name: &str| name.ends_with("_KEY").then(|| "key".to_owned());
    let config = parse(&uncommented(), &folder.join("sabir.toml"), &variable);
    fs::remove_dir_all(&folder).unwrap();
    let config = config.unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(config.limits, Limits::default(), "the sample shows the defaults");
    assert_eq!(config.providers[1].timeouts, Timeouts::default());
    assert_eq!((config.models.len(), config.auth.keys.len()), (2, 2));
}

#[test]
fn the_sample_has_every_key() {
    let sample = uncommented();
    for keys in keys::ALL {
        for key in keys.names {
            let forms = [
                format!("{key} = "),
                format!("[{key}]"),
                format!("[[{key}]]"),
                format!(".{key}]]"),
            ];
            let is_there = forms.iter().any(|form| sample.contains(form));
            assert!(is_there, "`{key}` of {}", keys.table);
        }
    }
}

#[test]
fn the_manual_has_every_key_in_a_table() {
    let manual = repository("docs/configuration.md");
    for keys in keys::ALL {
        for key in keys.names {
            let row = format!("\n| `{key}` |");
            assert!(manual.contains(&row), "`{key}` of {}", keys.table);
        }
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
