//! Compaction as clients of Messages know it: an edit with a threshold, a request that only summarises, and blocks with their
//! words in the open.

use memchr::memmem;
use sabir_wire::Fault;
use sabir_wire::conversation::{Count, Counts, Message};
use sabir_wire::json::{Json, Kind, Reader, Writer};

use crate::members::edited;
use crate::surface::anthropic_messages::edits;
use crate::surface::compaction::{
    Compaction, CompactionAnswer, CompactionAsked, Misasked, Summarised, Then, When, explain,
};
use crate::surface::{COMPACTION, CompactionTrouble};

pub(super) const COMPACTING: Compaction = Compaction {
    read,
    strip,
    write_item,
    void_item: Some(r#"{"type":"compaction","content":null}"#),
    write_answer,
    still_counts,
    explain: explained,
    edited_by: Some(MANAGEMENT),
    edits: edits::read,
};

const MANAGEMENT: &str = "context_management";
const EDIT: &str = "compact_20260112";
const SUMMARIZE: &str = "summarize";

/// The vendor's own threshold.
const THRESHOLD_DEFAULT: u64 = 150_000;

fn read(body: &str) -> Result<Option<CompactionAsked>, Misasked> {
    let holds = |word: &str| memmem::find(body.as_bytes(), word.as_bytes()).is_some();
    if !holds(EDIT) && !holds("\"compaction\"") {
        return Ok(None);
    }
    let (mut asked, mut alone) = (None, None);
    Reader::new(body).object(|key, reader| match (&*key, reader.kind()?) {
        (_, Kind::Null) => reader.skip(),
        (COMPACTION, _) => {
            let is_known = matches!(reader.peek_tag("type"), Ok(Some(kind)) if kind == *SUMMARIZE);
            alone = Some((is_known, instructions(reader)?));
            Ok(())
        }
        (MANAGEMENT, _) => reader.object(|key, edits| match &*key {
            "edits" => edits.array(|_, edit| {
                if matches!(edit.peek_tag("type"), Ok(Some(kind)) if kind == *EDIT) {
                    asked.get_or_insert(edit_in(&mut edit.clone())?);
                }
                edit.skip()
            }),
            _ => edits.skip(),
        }),
        _ => reader.skip(),
    })?;
    let Some((is_known, instructions)) = alone else { return Ok(asked) };
    if !is_known {
        let place = format!("{COMPACTION}.type");
        return Err(Misasked::Refused(CompactionTrouble::Unknown { place, expected: SUMMARIZE }));
    }
    match beside(body)? {
        Some(place) => Err(Misasked::Refused(CompactionTrouble::Beside { place })),
        None => Ok(Some(CompactionAsked { when: When::Now, instructions })),
    }
}

/// What a request that only summarises cannot have, if it has something of the kind.
fn beside(body: &str) -> sabir_wire::Result<Option<String>> {
    let mut found = None;
    Reader::new(body).object(|key, reader| {
        let is_beside = match (&*key, reader.kind()?) {
            (_, Kind::Null) => false,
            (MANAGEMENT | "output_format", _) => true,
            ("stop_sequences", Kind::Array) => !reader.clone().list(|_, it| it.skip())?.is_empty(),
            ("tool_choice", Kind::Object) => {
                matches!(reader.peek_tag("type")?, Some(kind) if kind == *"any" || kind == *"tool")
            }
            ("output_config", Kind::Object) => is_formatted(&mut reader.clone())?,
            _ => false,
        };
        if is_beside {
            found.get_or_insert_with(|| key.to_string());
        }
        reader.skip()
    })?;
    Ok(found)
}

/// Whether the form of the answer is prescribed.
fn is_formatted(config: &mut Reader<'_>) -> sabir_wire::Result<bool> {
    let mut is_formatted = false;
    config.object(|key, value| {
        is_formatted |= &*key == "format" && value.kind()? != Kind::Null;
        value.skip()
    })?;
    Ok(is_formatted)
}

/// What the client wants of a summary.
fn instructions(reader: &mut Reader<'_>) -> sabir_wire::Result<Option<String>> {
    let mut instructions = None;
    reader.object(|key, value| {
        match (&*key, value.kind()?) {
            ("instructions", Kind::Null) => value.skip()?,
            ("instructions", _) => instructions = Some(value.string()?.into_str().into_owned()),
            _ => value.skip()?,
        }
        Ok(())
    })?;
    Ok(instructions)
}

fn edit_in(edit: &mut Reader<'_>) -> sabir_wire::Result<CompactionAsked> {
    let (mut tokens, mut then) = (THRESHOLD_DEFAULT, Then::Continue);
    let instructions = instructions(&mut edit.clone())?;
    edit.object(|key, value| match (&*key, value.kind()?) {
        (_, Kind::Null) => value.skip(),
        ("trigger", _) => value.object(|key, value| {
            match &*key {
                "value" => tokens = value.u64()?,
                _ => value.skip()?,
            }
            Ok(())
        }),
        ("pause_after_compaction", _) => {
            then = if value.boolean()? { Then::Pause } else { Then::Continue };
            Ok(())
        }
        _ => value.skip(),
    })?;
    Ok(CompactionAsked { when: When::Above { tokens, then }, instructions })
}

fn strip(body: &str) -> sabir_wire::Result<String> {
    edited(body, |name, value| match name {
        COMPACTION => None,
        MANAGEMENT => without_edit(&value),
        _ => Some(value),
    })
}

/// The other edits, if there are any.
fn without_edit<'b>(management: &Json<'b>) -> Option<Json<'b>> {
    let mut is_left = false;
    let left = edited(management.as_str(), |name, value| {
        if name != "edits" {
            return Some(value);
        }
        let edits = value.reader().list(|_, edit| edit.raw()).ok()?;
        let mut left = Writer::default();
        left.array(|left| {
            for edit in &edits {
                if !matches!(edit.reader().peek_tag("type"), Ok(Some(kind)) if kind == *EDIT) {
                    is_left = true;
                    left.value(edit);
                }
            }
        });
        Json::parse(left.into_string()).ok()
    });
    let left = left.ok().and_then(|left| Json::parse(left).ok())?;
    is_left.then_some(left)
}

fn write_item(summarised: &Summarised<'_>) -> String {
    let mut writer = Writer::default();
    writer.object(|block| {
        block.field("type", COMPACTION);
        block.field("content", summarised.summary);
        block.field("encrypted_content", summarised.sealed);
    });
    writer.into_string()
}

fn write_answer(answer: &CompactionAnswer<'_>) -> String {
    let CompactionAnswer { item, id, model, usage, .. } = *answer;
    let mut writer = Writer::default();
    writer.object(|body| {
        body.field("id", &*format!("msg_{id}"));
        body.field("type", "message");
        body.field("role", "assistant");
        body.field("model", model);
        body.key("content");
        body.array(|content| content.value(item));
        body.field("stop_reason", COMPACTION);
        body.key("stop_sequence");
        body.null();
        body.key("usage");
        body.object(|it| {
            write_counts(it, &usage);
            it.array_field("iterations", |list| {
                list.object(|it| {
                    it.field("type", COMPACTION);
                    write_counts(it, &usage);
                });
            });
        });
    });
    writer.into_string()
}

/// Input tokens are those that no cache had or was given.
fn write_counts(writer: &mut Writer, counts: &Counts) {
    let tokens = |count: Count| counts[count].unwrap_or_default();
    let cached = tokens(Count::CacheRead).saturating_add(tokens(Count::CacheWrite));
    writer.field("input_tokens", &tokens(Count::Input).saturating_sub(cached));
    writer.field("cache_creation_input_tokens", &tokens(Count::CacheWrite));
    writer.field("cache_read_input_tokens", &tokens(Count::CacheRead));
    writer.field("output_tokens", &tokens(Count::Output));
}

/// The vendor reads nothing before the block but instructions.
fn still_counts(message: &Message<'_>) -> bool {
    message.role.instructs()
}

fn explained(trouble: &CompactionTrouble) -> Fault<'static> {
    let fault = explain(trouble);
    match trouble.code() {
        // The vendor has codes for what is wrong with a compaction itself.
        code if code.starts_with(COMPACTION) => super::with_details(fault, code),
        _ => fault,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(body: &str) -> Option<CompactionAsked> {
        read(body).unwrap()
    }

    #[test]
    fn an_edit_has_a_threshold_and_may_pause() {
        let body = |edit: &str| format!(r#"{{"context_management":{{"edits":[{edit}]}},"a":1}}"#);
        let above = |tokens, then| When::Above { tokens, then };
        let plain = asked(&body(r#"{"type":"compact_20260112"}"#)).unwrap();
        assert_eq!(plain.when, above(THRESHOLD_DEFAULT, Then::Continue));
        let all = r#"{"type":"compact_20260112","trigger":{"type":"input_tokens","value":60000},
            "pause_after_compaction":true,"instructions":"Be short."}"#;
        let all = asked(&body(all)).unwrap();
        assert_eq!(all.when, above(60_000, Then::Pause));
        assert_eq!(all.instructions.as_deref(), Some("Be short."));
        assert_eq!(asked(&body(r#"{"type":"clear_thinking_20251015"}"#)), None);
    }

    #[test]
    fn a_request_may_ask_for_nothing_else() {
        let body = r#"{"compaction":{"type":"summarize","instructions":"Be short."},"a":1}"#;
        let asked = asked(body).unwrap();
        assert_eq!((asked.when, asked.instructions.as_deref()), (When::Now, Some("Be short.")));
        assert_eq!(strip(body).unwrap(), r#"{"a":1}"#);
    }

    #[test]
    fn a_request_that_only_summarises_has_nothing_beside_it() {
        let body = |more: &str| format!(r#"{{"compaction":{{"type":"summarize"}}{more}}}"#);
        for (more, place) in [
            (r#","context_management":{"edits":[]}"#, "context_management"),
            (r#","stop_sequences":["x"]"#, "stop_sequences"),
            (r#","tool_choice":{"type":"any"}"#, "tool_choice"),
            (r#","tool_choice":{"type":"tool","name":"f"}"#, "tool_choice"),
            (r#","output_config":{"format":{"type":"json_schema"}}"#, "output_config"),
            (r#","output_format":{"type":"json_schema"}"#, "output_format"),
        ] {
            let trouble = CompactionTrouble::Beside { place: place.to_owned() };
            assert_eq!(read(&body(more)), Err(Misasked::Refused(trouble)), "{more}");
        }
        for fine in [
            r#","context_management":null,"stop_sequences":[]"#,
            r#","tool_choice":{"type":"auto"},"output_config":{"effort":"low","format":null}"#,
        ] {
            assert!(asked(&body(fine)).is_some(), "{fine}");
        }
        for unknown in ["{}", r#"{"type":"other"}"#] {
            let found = read(&format!(r#"{{"compaction":{unknown}}}"#));
            let place = "compaction.type".to_owned();
            let trouble = CompactionTrouble::Unknown { place, expected: SUMMARIZE };
            assert_eq!(found, Err(Misasked::Refused(trouble)));
        }
    }

    #[test]
    fn wrong_types_are_errors() {
        for wrong in [
            r#"{"compaction":true}"#,
            r#"{"compaction":{"type":"summarize","instructions":7}}"#,
            r#"{"compaction":null,"context_management":{"edits":{"type":"compact_20260112"}}}"#,
            r#"{"context_management":[{"type":"compact_20260112"}]}"#,
            r#"{"context_management":{"edits":[{"type":"compact_20260112","trigger":60000}]}}"#,
            r#"{"context_management":{"edits":[{"type":"compact_20260112","trigger":{"value":"6"}}]}}"#,
            r#"{"context_management":{"edits":[{"type":"compact_20260112","pause_after_compaction":1}]}}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert_eq!(asked(r#"{"compaction":null}"#), None);
    }

    #[test]
    fn other_edits_stay() {
        let body =
            r#"{"context_management":{"edits":[{"type":"compact_20260112"},{"type":"clear_x"}]}}"#;
        assert_eq!(
            strip(body).unwrap(),
            r#"{"context_management":{"edits":[{"type":"clear_x"}]}}"#
        );
        let alone = r#"{"context_management":{"edits":[{"type":"compact_20260112"}]},"a":1}"#;
        assert_eq!(strip(alone).unwrap(), r#"{"a":1}"#);
    }
}
