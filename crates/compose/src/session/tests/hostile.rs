//! Files that were cut off, broken, or written to do harm.

use proptest::prelude::*;

use super::super::{LINE_BYTES_MAX, MESSAGES_MAX, Session, recognise};
use super::{CLAUDE, CODEX, GEMINI, left_out, parse, refused, with};

const SAMPLES: [&str; 3] = [CLAUDE, CODEX, GEMINI];

#[test]
fn a_last_line_that_was_cut_off_is_said() {
    for sample in SAMPLES {
        let whole = parse(sample);
        let cut = parse(&format!("{sample}{{\"type\":\"user\",\"mess"));
        assert_eq!(cut.request(), whole.request());
        assert_eq!(left_out(&cut).last().unwrap(), "1 × a last line that was cut off");
    }
}

#[test]
fn a_broken_line_is_named() {
    for sample in SAMPLES {
        let lines = sample.lines().count();
        let error = refused(&with(sample, &["{\"type\":", "{}"]));
        assert_eq!(error.line(), Some(lines + 1));
        let error = refused(&with(sample, &["[1]"]));
        assert_eq!(error.to_string(), format!("line {}: expected an object", lines + 1));
    }
}

#[test]
fn lines_of_unknown_types_are_counted() {
    for sample in SAMPLES {
        let new = [r#"{"type":"hologram"}"#, r#"{"type":"hologram"}"#, r#"{"type":"a b"}"#];
        let session = parse(&with(sample, &new));
        assert_eq!(session.request(), parse(sample).request());
        let counted_kinds = left_out(&session);
        assert!(
            counted_kinds.contains(&"2 × lines of the unknown type `hologram`".to_owned()),
            "{counted_kinds:?}"
        );
        assert!(
            counted_kinds.contains(&"1 × lines of unknown types".to_owned()),
            "{counted_kinds:?}"
        );
    }
}

#[test]
fn the_kinds_of_what_is_left_out_are_few() {
    let new: Vec<String> = (0..1000).map(|it| format!(r#"{{"type":"kind{it}"}}"#)).collect();
    let session = parse(&with(CODEX, &[&*new.join("\n")]));
    assert!(session.left_out().len() < 30);
    let counted: usize = session.left_out().iter().map(|it| it.count).sum();
    assert_eq!(counted, 1001);
}

#[test]
fn wrong_types_are_named_with_their_line() {
    let wrong = [
        (CLAUDE, r#"{"type":"user","message":5,"sessionId":"s"}"#, "expected an object `message`"),
        (
            CLAUDE,
            r#"{"type":"user","message":{},"sessionId":"s"}"#,
            "expected `content` in `message`",
        ),
        (
            CLAUDE,
            r#"{"type":"user","message":{"content":5}}"#,
            "expected a text or a list as `content` of `message`",
        ),
        (CODEX, r#"{"type":"response_item","payload":[]}"#, "expected an object `payload`"),
        (
            CODEX,
            r#"{"type":"response_item","payload":{"type":"message","role":"user","content":5}}"#,
            "at /input/7/content of its history",
        ),
    ];
    for (sample, line, expected) in wrong {
        let error = refused(&with(sample, &[line]));
        assert_eq!(error.line(), Some(sample.lines().count() + 1), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn files_of_nobody_are_refused() {
    for text in ["", "hello", "[]", "{}", r#"{"role":"user","content":"hi"}"#, "\u{feff}"] {
        assert_eq!(recognise(text), None, "{text}");
        assert!(refused(text).message().contains("Claude Code, Codex or Gemini CLI"));
    }
}

#[test]
fn a_session_without_messages_is_refused() {
    let error = refused(r#"{"type":"session_meta","payload":{"id":"1"}}"#);
    assert_eq!(error.message(), "expected at least one message; the session has none");
}

#[test]
fn limits_are_kept() {
    let huge = format!(r#"{{"type":"note","text":"{}"}}"#, "x".repeat(LINE_BYTES_MAX));
    assert_eq!(refused(&with(CODEX, &[&huge])).line(), Some(CODEX.lines().count() + 1));
    let item =
        r#"{"type":"response_item","payload":{"type":"message","role":"user","content":"hi"}}"#;
    let many = vec![item; MESSAGES_MAX];
    let error = refused(&with(CODEX, &many));
    assert_eq!(
        error.message(),
        format!("{} messages; a session may have 100000", MESSAGES_MAX + 7)
    );
}

proptest! {
    #[test]
    fn no_mutation_of_a_session_panics(
        sample in 0..SAMPLES.len(),
        at in any::<prop::sample::Index>(),
        len in 0..40_usize,
        other in any::<prop::sample::Index>(),
    ) {
        let text = SAMPLES[sample];
        let boundary = |mut at: usize| { while !text.is_char_boundary(at) { at -= 1; } at };
        let start = boundary(at.index(text.len()));
        let end = boundary((start + len).min(text.len()));
        let piece = boundary(other.index(text.len()));
        let inserted = &text[piece..boundary((piece + len).min(text.len()))];
        let mutated = format!("{}{inserted}{}", &text[..start], &text[end..]);
        if let Ok(session) = Session::parse(&mutated) {
            prop_assert!(session.messages() > 0);
        }
        if let Ok(session) = Session::parse(&text[..start]) {
            prop_assert!(session.messages() > 0);
        }
    }

    #[test]
    fn lines_in_any_order_do_not_panic(order in Just((0..17).collect::<Vec<usize>>()).prop_shuffle()) {
        for sample in SAMPLES {
            let lines: Vec<&str> = sample.lines().collect();
            let mixed: Vec<&str> = order.iter().filter_map(|at| lines.get(*at).copied()).collect();
            let _ = Session::parse(&mixed.join("\n"));
        }
    }
}
