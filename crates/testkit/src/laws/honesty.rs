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
    let differences = before.unreported(after, report);
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
        let (from, to) = (Protocol::OpenaiChat, Protocol::AnthropicMessages);
        let translated = crate::translate::request(from, to, BEFORE.as_bytes(), None);
        let (body, mut report) = translated.expect("it can be translated");
        if let Some((pointer, kind)) = entry {
            report.lose(pointer, kind, "planted");
        }
        assert!(body.contains(planted.0), "{body}");
        let after = statement(to, &body.replace(planted.0, planted.1));
        let violation = super::check(to, &statement(from, BEFORE), &after, &report);
        assert_eq!(violation.is_some(), is_seen, "{violation:?}");
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
