//! Compaction as clients of Responses know it: a last item that triggers it, a threshold, and items that only their maker can
//! read.

use memchr::memmem;
use sabir_wire::conversation::{Content, Count, Counts, Message, Role};
use sabir_wire::json::{Json, Kind, Reader, Writer};

use crate::members::edited;
use crate::surface::COMPACTION;
use crate::surface::compaction::{
    Compaction, CompactionAnswer, CompactionAsked, CompactionTrouble, Misasked, Summarised, Then,
    When,
};

pub(super) const COMPACTING: Compaction =
    Compaction { read, strip, write_item, write_answer, still_counts, ..Compaction::none() };

const TRIGGER: &str = "compaction_trigger";
const MANAGEMENT: &str = "context_management";

fn read(body: &str) -> Result<Option<CompactionAsked>, Misasked> {
    let holds = |word: &str| memmem::find(body.as_bytes(), word.as_bytes()).is_some();
    if !holds(TRIGGER) && !holds(MANAGEMENT) {
        return Ok(None);
    }
    let (mut items, mut trigger, mut threshold) = (0, None, None);
    Reader::new(body).object(|key, reader| match (&*key, reader.kind()?) {
        ("input", Kind::Array) => reader.array(|at, item| {
            items = at + 1;
            if trigger.is_none() && is_of_type(item, TRIGGER) {
                trigger = Some(at);
            }
            item.skip()
        }),
        (MANAGEMENT, Kind::Null) => reader.skip(),
        (MANAGEMENT, _) => reader.array(|at, entry| {
            if is_of_type(entry, COMPACTION) {
                threshold = Some((at, threshold_in(&mut entry.clone())?));
            }
            entry.skip()
        }),
        _ => reader.skip(),
    })?;
    let when = match (trigger, threshold) {
        (Some(at), _) if at + 1 < items => return Err(misplaced(at)),
        (_, Some((at, tokens))) if tokens < THRESHOLD_LEAST => return Err(low(at, tokens)),
        (Some(_), _) => Some(When::Now),
        (None, Some((_, tokens))) => Some(When::Above { tokens, then: Then::Continue }),
        (None, None) => None,
    };
    Ok(when.map(|when| CompactionAsked { when, instructions: None }))
}

fn misplaced(at: usize) -> Misasked {
    Misasked::Refused(CompactionTrouble::Misplaced { place: format!("input[{at}]") })
}

fn low(at: usize, found: u64) -> Misasked {
    let place = format!("{MANAGEMENT}[{at}].compact_threshold");
    Misasked::Refused(CompactionTrouble::Low { place, least: THRESHOLD_LEAST, found })
}

fn is_of_type(item: &Reader<'_>, kind: &str) -> bool {
    matches!(item.peek_tag("type"), Ok(Some(own)) if own == *kind)
}

/// Where the client states none, the vendor's own choice is not known.
const THRESHOLD_DEFAULT: u64 = 200_000;

/// The vendor's own least.
const THRESHOLD_LEAST: u64 = 1_000;

fn threshold_in(entry: &mut Reader<'_>) -> sabir_wire::Result<u64> {
    let mut threshold = None;
    entry.object(|key, value| match (&*key, value.kind()?) {
        ("compact_threshold", Kind::Null) => value.skip(),
        ("compact_threshold", _) => {
            threshold = Some(value.u64()?);
            Ok(())
        }
        _ => value.skip(),
    })?;
    Ok(threshold.unwrap_or(THRESHOLD_DEFAULT))
}

fn strip(body: &str) -> sabir_wire::Result<String> {
    edited(body, |name, value| match name {
        MANAGEMENT => None,
        "input" if value.kind() == Kind::Array => Some(without_trigger(value)),
        _ => Some(value),
    })
}

fn without_trigger(input: Json<'_>) -> Json<'_> {
    let Ok(items) = input.reader().list(|_, item| item.raw()) else { return input };
    let mut left = Writer::with_capacity(input.as_str().len());
    left.array(|left| {
        let is_kept = |item: &&Json<'_>| !is_of_type(&item.reader(), TRIGGER);
        items.iter().filter(is_kept).for_each(|item| left.value(item));
    });
    Json::parse(left.into_string()).unwrap_or(input)
}

fn write_item(summarised: &Summarised<'_>) -> String {
    let mut writer = Writer::default();
    writer.object(|item| {
        item.field("id", &*format!("cmp_{}", summarised.id));
        item.field("type", COMPACTION);
        item.field("encrypted_content", summarised.sealed);
    });
    writer.into_string()
}

fn write_answer(answer: &CompactionAnswer<'_>) -> String {
    let CompactionAnswer { item, user_items, id, model, created_s, usage } = *answer;
    let mut writer = Writer::default();
    writer.object(|body| {
        body.field("id", &*format!("resp_{id}"));
        match user_items {
            Some(_) => body.field("object", "response.compaction"),
            None => body.field("object", "response"),
        }
        body.field("created_at", &created_s);
        if user_items.is_none() {
            body.field("status", "completed");
            body.field("model", model);
        }
        body.key("output");
        body.array(|output| {
            let listed = user_items.map(|items| items.reader().list(|_, item| item.raw()));
            let listed = listed.and_then(Result::ok).unwrap_or_default();
            listed.iter().for_each(|item| output.value(item));
            output.value(item);
        });
        body.key("usage");
        write_usage(body, &usage);
    });
    writer.into_string()
}

fn write_usage(writer: &mut Writer, counts: &Counts) {
    let tokens = |count: Count| counts[count].unwrap_or_default();
    let (input, output) = (tokens(Count::Input), tokens(Count::Output));
    writer.object(|usage| {
        usage.field("input_tokens", &input);
        usage.key("input_tokens_details");
        usage.object(|it| it.field("cached_tokens", &tokens(Count::CacheRead)));
        usage.field("output_tokens", &output);
        usage.key("output_tokens_details");
        usage.object(|it| it.field("reasoning_tokens", &tokens(Count::Reasoning)));
        usage.field("total_tokens", &input.saturating_add(output));
    });
}

/// What the user said stands beside the summary: the vendor's own compaction repeats it.
fn still_counts(message: &Message<'_>) -> bool {
    let is_result = |content: &Content<'_>| matches!(content, Content::ToolResult(_));
    message.role.instructs()
        || message.role == Role::User && !message.parts.iter().any(|part| is_result(part.content()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(body: &str) -> Option<When> {
        read(body).unwrap().map(|asked| asked.when)
    }

    #[test]
    fn a_trigger_stands_at_the_end_alone() {
        let trigger = r#"{"type":"compaction_trigger"}"#;
        let user = r#"{"role":"user","content":"hello"}"#;
        assert_eq!(asked(&format!(r#"{{"input":[{user},{trigger}]}}"#)), Some(When::Now));
        for wrong in [format!("{trigger},{user}"), format!("{trigger},{trigger}")] {
            assert_eq!(read(&format!(r#"{{"input":[{wrong}]}}"#)), Err(misplaced(0)));
        }
        assert_eq!(asked(r#"{"input":"compaction_trigger"}"#), None);
        let body = format!(r#"{{"input":[{user},{trigger}],"a":1.0}}"#);
        assert_eq!(strip(&body).unwrap(), format!(r#"{{"input":[{user}],"a":1.0}}"#));
    }

    #[test]
    fn a_threshold_is_read() {
        let body = |entry: &str| format!(r#"{{"context_management":[{entry}],"input":"a"}}"#);
        let above = |tokens| Some(When::Above { tokens, then: Then::Continue });
        let entry = r#"{"type":"compaction","compact_threshold":5000}"#;
        assert_eq!(asked(&body(entry)), above(5000));
        assert_eq!(asked(&body(r#"{"type":"compaction"}"#)), above(THRESHOLD_DEFAULT));
        for (threshold, expected) in [(1000, Ok(1000)), (999, Err(low(1, 999)))] {
            let entries = format!(
                r#"{{"type":"other"}},{{"type":"compaction","compact_threshold":{threshold}}}"#
            );
            let found = read(&body(&entries)).map(|asked| asked.map(|asked| asked.when));
            assert_eq!(found, expected.map(above));
        }
        assert_eq!(asked(&body(r#"{"type":"other"}"#)), None);
        assert_eq!(strip(&body(entry)).unwrap(), r#"{"input":"a"}"#);
        assert_eq!(asked(r#"{"context_management":null}"#), None);
    }

    #[test]
    fn wrong_types_are_errors() {
        for wrong in [
            r#"{"context_management":{"type":"compaction"}}"#,
            r#"{"context_management":"compaction"}"#,
            r#"{"context_management":[{"type":"compaction","compact_threshold":"5000"}]}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
