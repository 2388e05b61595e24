//! Law 5: what the target's encoder wrote, decoded again, states what was read; every difference is in the report.

use sabir_wire::{Protocol, Report};

use crate::canonical::Statement;
use crate::laws::{Law, Violation, violation};

/// Compares what was read with what was written, by what both of them state.
pub(super) fn check(
    target: Protocol,
    before: &Statement,
    after: &Statement,
    report: &Report,
) -> Option<Violation> {
    let mut differences = before.unreported(after, report);
    // A seal that stood on one of several thoughts is on the one text that they have become.
    if !differences.is_empty() {
        let handed_on = before.clone().with_seals_handed_on(after).unreported(after, report);
        differences = [differences, handed_on].into_iter().min_by_key(Vec::len).unwrap_or_default();
    }
    if differences.is_empty() {
        return None;
    }
    let list: Vec<String> = differences.iter().map(ToString::to_string).collect();
    let detail = format!("not reported: {}", list.join("\n        "));
    Some(violation(Law::Honest, target, detail))
}

#[cfg(test)]
mod tests {
    use sabir_wire::LossKind;

    use super::*;

    const BEFORE: &str = r#"{"model":"m","temperature":0.5,"messages":[{"role":"system","content":"Be brief."},
        {"role":"user","content":"Tides?"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function",
        "function":{"name":"tide","arguments":"{\"port\":\"Faro\"}"}}]},{"role":"tool","tool_call_id":"a","content":"low"}]}"#;

    fn statement(protocol: Protocol, body: &str) -> Statement {
        Statement::of_request(&protocol.decode_request(body.as_bytes()).expect("it can be read"))
    }

    /// Plants a change into the translation, and says whether the law sees it.
    #[track_caller]
    fn check_planted(planted: (&str, &str), entry: Option<(&str, LossKind)>, is_seen: bool) {
        let pair = (Protocol::OpenaiChat, Protocol::AnthropicMessages);
        check_planted_in(pair, BEFORE, planted, entry, is_seen);
    }

    #[track_caller]
    fn check_planted_in(
        (from, to): (Protocol, Protocol),
        before: &str,
        planted: (&str, &str),
        entry: Option<(&str, LossKind)>,
        is_seen: bool,
    ) {
        let translated = crate::translate::request(from, to, before.as_bytes(), None);
        let (body, mut report) = translated.expect("it can be translated");
        if let Some((pointer, kind)) = entry {
            report.lose(pointer, kind, "planted");
        }
        assert!(body.contains(planted.0), "{body}");
        let after = statement(to, &body.replace(planted.0, planted.1));
        let violation = super::check(to, &statement(from, before), &after, &report);
        assert_eq!(violation.is_some(), is_seen, "{violation:?}");
    }

    /// A result that stands behind that of a later call.
    const LATE_RESULT: &str = r#"{"model":"m","input":[{"role":"user","content":"How is the sea?"},
        {"type":"function_call","call_id":"1","name":"chart","arguments":"{}"},
        {"type":"function_call","call_id":"2","name":"wind","arguments":"{}"},
        {"type":"function_call_output","call_id":"2","output":"north"},
        {"type":"function_call_output","call_id":"1","output":"of the coast"}]}"#;

    #[test]
    fn a_result_that_moves_keeps_its_words() {
        let pair = (Protocol::OpenaiResponses, Protocol::Gemini);
        let check = |planted: (&str, &str), is_seen: bool| {
            check_planted_in(pair, LATE_RESULT, planted, None, is_seen);
        };
        check(("of the coast", "of the coast"), false);
        check(("of the coast", "of the port"), true);
        check(("of the coast", ""), true);
        check(("of the coast", "north"), true);
    }

    /// A result with an image, which Chat has in a message of the user.
    const IMAGE: &str = r#"{"contents":[{"role":"user","parts":[{"text":"How is the sea?"}]},
        {"role":"model","parts":[{"functionCall":{"name":"look","args":{}}}]},
        {"role":"user","parts":[{"functionResponse":{"name":"look","response":{"output":"calm"},
        "parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]}}]}]}"#;

    #[test]
    fn an_image_that_moves_arrives() {
        let pair = (Protocol::Gemini, Protocol::OpenaiChat);
        let check = |planted: (&str, &str), is_seen: bool| {
            check_planted_in(pair, IMAGE, planted, None, is_seen);
        };
        check(("iVBORw0KGgo=", "iVBORw0KGgo="), false);
        check(("iVBORw0KGgo=", "iVBORw0KGgp="), true);
        let image =
            r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}"#;
        check((image, r#"{"type":"text","text":""}"#), true);
    }

    /// A file of another vendor in a result without a call, which moves behind those of calls.
    const LOST_FILE: &str = r#"{"model":"m","input":[{"role":"user","content":"How is the sea?"},
        {"type":"function_call","call_id":"1","name":"chart","arguments":"{}"},
        {"type":"function_call","call_id":"2","name":"wind","arguments":"{}"},
        {"type":"function_call_output","call_id":"3","output":[{"type":"input_file","file_id":"file-1"}]},
        {"type":"function_call_output","call_id":"2","output":"calm"},
        {"type":"function_call_output","call_id":"1","output":[]}]}"#;

    #[test]
    fn words_stand_in_for_media_that_move_and_for_no_others() {
        let pair = (Protocol::OpenaiResponses, Protocol::Gemini);
        let check = |planted: (&str, &str), is_seen: bool| {
            check_planted_in(pair, LOST_FILE, planted, None, is_seen);
        };
        let omitted = "[document omitted]";
        check((omitted, omitted), false);
        check((omitted, "[image omitted]"), true);
        check((omitted, "[the document]"), true);
        check(("calm", omitted), true);
    }

    /// Whether the law sees a difference between two turns of a model.
    #[track_caller]
    fn check_parts(before: &str, after: &str, is_seen: bool) {
        let stated = |parts: &str| {
            statement(
                Protocol::Gemini,
                &format!(r#"{{"contents":[{{"role":"model","parts":[{parts}]}}]}}"#),
            )
        };
        let (before, after) = (stated(before), stated(after));
        let violation = super::check(Protocol::Gemini, &before, &after, &Report::default());
        assert_eq!(violation.is_some(), is_seen, "{violation:?}");
    }

    /// Two thoughts of which the first is sealed, and what the model says of them.
    const THOUGHTS: &str = r#"{"text":"Low, ","thought":true,"thoughtSignature":"c2VhbA=="},
        {"text":"then high.","thought":true},{"text":"At six."}"#;

    #[test]
    fn a_seal_moves_with_thoughts_that_become_one() {
        let check = |after: &str, is_seen: bool| check_parts(THOUGHTS, after, is_seen);
        check(THOUGHTS, false);
        check(
            r#"{"text":"Low, then high.","thought":true,"thoughtSignature":"c2VhbA=="},{"text":"At six."}"#,
            false,
        );
        check(r#"{"text":"Low, then high.","thought":true},{"text":"At six."}"#, true);
    }

    #[test]
    fn a_thought_without_words_is_one_with_the_thought_before_it() {
        let low = r#"{"text":"Low.","thought":true}"#;
        let before = format!(r#"{low},{{"text":"","thought":true,"thoughtSignature":"c2VhbA=="}}"#);
        let sealed = r#"{"text":"Low.","thought":true,"thoughtSignature":"c2VhbA=="}"#;
        check_parts(&before, sealed, false);
        check_parts(&before, low, true);
    }

    #[test]
    fn a_seal_does_not_move_between_thoughts_where_others_become_one() {
        let joined = r#"{"text":"A, ","thought":true},{"text":"B.","thought":true},{"text":"C."},"#;
        let moved = r#"{"text":"Low, ","thought":true},
            {"text":"then high.","thought":true,"thoughtSignature":"c2VhbA=="},{"text":"At six."}"#;
        let after = r#"{"text":"A, B.","thought":true},{"text":"C."},"#;
        check_parts(&format!("{joined}{THOUGHTS}"), &format!("{after}{THOUGHTS}"), false);
        check_parts(&format!("{joined}{THOUGHTS}"), &format!("{after}{moved}"), true);
    }

    #[test]
    fn the_seal_of_an_empty_text_is_that_of_the_thought_before_it() {
        let thought = r#"{"text":"Low.","thought":true}"#;
        let sealed = r#"{"text":"Low.","thought":true,"thoughtSignature":"c2VhbA=="}"#;
        let empty = r#"{"text":"","thoughtSignature":"c2VhbA=="}"#;
        check_parts(&format!("{thought},{empty}"), sealed, false);
        check_parts(&format!("{thought},{empty}"), thought, true);
        let other = r#"{"text":"High.","thought":true}"#;
        let words = r#"{"text":"At six."}"#;
        let before = format!("{other},{words},{thought},{empty}");
        check_parts(&before, &format!("{sealed},{words},{other}"), true);
    }

    #[test]
    fn a_text_behind_other_words_stands_wherever_they_hold_it_too() {
        let check = |after: &str, is_seen: bool| {
            let stated = |parts: &str| {
                let body = format!(r#"{{"contents":[{{"role":"model","parts":[{parts}]}}]}}"#);
                statement(Protocol::Gemini, &body)
            };
            let before = stated(r#"{"text":"No, sir."},{"text":"o"},{"text":"n"}"#);
            let mut report = Report::default();
            report.lose("/contents/0/parts/0", LossKind::Approximated, "planted");
            let after = stated(&format!(r#"{{"text":"{after}"}}"#));
            let violation = super::check(Protocol::Gemini, &before, &after, &report);
            assert_eq!(violation.is_some(), is_seen, "{violation:?}");
        };
        check("No, sir.on", false);
        check("oh noon", false);
        check("No, sir.no", true);
        check("No, sir.one", true);
    }

    #[test]
    fn what_arrives_as_it_was_breaks_nothing() {
        check_planted(("Tides?", "Tides?"), None, false);
        // Ids are minted.
        check_planted(("\"a\"", "\"b\""), None, false);
    }

    #[test]
    fn a_difference_that_nobody_reports_is_seen() {
        check_planted(("0.5", "0.6"), None, true);
        check_planted(("Tides?", "Winds?"), None, true);
        check_planted(("Faro", "Porto"), None, true);
        check_planted(("low", "high"), None, true);
        check_planted(("Be brief.", ""), None, true);
        check_planted(("\"name\":\"tide\"", "\"name\":\"wind\""), None, true);
        check_planted(("\"max_tokens\"", "\"top_k\":3,\"max_tokens\""), None, true);
        check_planted(("\"max_tokens\"", "\"unheard_of\":3,\"max_tokens\""), None, true);
    }

    #[test]
    fn an_entry_covers_its_place_and_what_its_kind_says() {
        let text = ("Tides?", "Winds?");
        check_planted(text, Some(("/messages/1", LossKind::Approximated)), false);
        check_planted(text, Some(("/messages/2", LossKind::Approximated)), true);
        check_planted(text, Some(("", LossKind::Approximated)), true);
        check_planted(text, Some(("/messages/1", LossKind::Synthesised)), true);
        check_planted(text, Some(("/messages/1", LossKind::Implied)), true);
    }

    #[test]
    fn a_sentence_in_place_of_a_setting_asks_for_json() {
        let entry = Some(("/response_format", LossKind::Approximated));
        let with = |sentence: &str| {
            format!(
                r#"[{{"type":"text","text":"Be brief."}},{{"type":"text","text":"{sentence}"}}]"#
            )
        };
        check_planted(("\"Be brief.\"", &with("Answer in JSON.")), entry, false);
        check_planted(("\"Be brief.\"", &with("Be kind.")), entry, true);
    }

    #[test]
    fn what_is_reported_as_dropped_does_not_arrive() {
        check_planted(("0.5", "0.5"), Some(("/temperature", LossKind::Dropped)), true);
        check_planted(
            (",\"temperature\":0.5", ""),
            Some(("/temperature", LossKind::Dropped)),
            false,
        );
    }
}
