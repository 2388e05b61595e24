//! The edits of a context that clients of Messages ask for beside compaction: old results of tools and old thinking are cleared.

use sabir_compose::clear::{Clearing, Inputs, ToolUses, Trigger};
use sabir_wire::json::{Kind, Reader};
use sabir_wire::protocol::DecodedRequest;

use crate::surface::ContextEdits;

const TOOL_USES: &str = "clear_tool_uses_20250919";
const THINKING: &str = "clear_thinking_20251015";

/// The vendor's own choices.
const TRIGGER_TOKENS: u64 = 100_000;
const KEEP_TOOL_USES: usize = 3;
const KEEP_THINKING_TURNS: usize = 1;

pub(super) fn read(decoded: &DecodedRequest<'_>) -> sabir_wire::Result<Option<ContextEdits>> {
    let semantics = decoded.semantics().anthropic();
    match semantics.and_then(|semantics| semantics.context_management()) {
        Some(management) if management.kind() == Kind::Object => {
            edits_in(&mut management.reader()).map(Some)
        }
        _ => Ok(None),
    }
}

fn edits_in(management: &mut Reader<'_>) -> sabir_wire::Result<ContextEdits> {
    let (mut clearings, mut is_all) = (Vec::new(), true);
    management.object(|key, reader| match &*key {
        "edits" => reader.array(|_, edit| {
            let kind = edit.peek_tag("type")?;
            match kind.as_ref().map(|kind| kind.to_str()).as_deref() {
                Some(TOOL_USES) => clearings.push(Clearing::ToolUses(tool_uses(edit)?)),
                Some(THINKING) => clearings.extend(thinking(edit)?),
                _ => {
                    is_all = false;
                    edit.skip()?;
                }
            }
            Ok(())
        }),
        _ => {
            is_all = false;
            reader.skip()
        }
    })?;
    Ok(ContextEdits { clearings, member: is_all.then_some("context_management") })
}

fn tool_uses(edit: &mut Reader<'_>) -> sabir_wire::Result<ToolUses> {
    let mut uses = ToolUses {
        trigger: Trigger::Tokens(TRIGGER_TOKENS),
        keep: KEEP_TOOL_USES,
        tokens_min: 0,
        inputs: Inputs::Keep,
        exclude: Vec::new(),
    };
    edit.object(|key, value| {
        match (&*key, value.kind()?) {
            (_, Kind::Null) => value.skip()?,
            ("trigger", _) => {
                let (kind, amount) = amount(value)?;
                uses.trigger = match &*kind {
                    "tool_uses" => Trigger::ToolUses(whole(amount)),
                    _ => Trigger::Tokens(amount),
                };
            }
            ("keep", _) => uses.keep = whole(amount(value)?.1),
            ("clear_at_least", _) => uses.tokens_min = amount(value)?.1,
            ("clear_tool_inputs", Kind::Array) => uses.inputs = Inputs::ClearOf(names(value)?),
            ("clear_tool_inputs", _) => {
                uses.inputs = if value.boolean()? { Inputs::Clear } else { Inputs::Keep };
            }
            ("exclude_tools", _) => uses.exclude = names(value)?,
            _ => value.skip()?,
        }
        Ok(())
    })?;
    Ok(uses)
}

/// None where all of it is kept.
fn thinking(edit: &mut Reader<'_>) -> sabir_wire::Result<Option<Clearing>> {
    let mut keep_turns = Some(KEEP_THINKING_TURNS);
    edit.object(|key, value| {
        match (&*key, value.kind()?) {
            // The one word for it is `all`.
            ("keep", Kind::String) => {
                value.skip()?;
                keep_turns = None;
            }
            ("keep", Kind::Object) => {
                let (kind, turns) = amount(value)?;
                keep_turns = (kind != "all").then(|| whole(turns));
            }
            ("keep", Kind::Null) => value.skip()?,
            ("keep", _) => value.object(|_, value| value.skip())?,
            _ => value.skip()?,
        }
        Ok(())
    })?;
    Ok(keep_turns.map(|keep_turns| Clearing::Thinking { keep_turns }))
}

/// A number with what it counts.
fn amount(reader: &mut Reader<'_>) -> sabir_wire::Result<(String, u64)> {
    let (mut kind, mut amount) = (String::new(), 0);
    reader.object(|key, value| {
        match &*key {
            "type" => kind = value.string()?.into_str().into_owned(),
            "value" => amount = value.u64()?,
            _ => value.skip()?,
        }
        Ok(())
    })?;
    Ok((kind, amount))
}

fn names(reader: &mut Reader<'_>) -> sabir_wire::Result<Vec<String>> {
    reader.list(|_, name| Ok(name.string()?.into_str().into_owned()))
}

fn whole(amount: u64) -> usize {
    usize::try_from(amount).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use sabir_wire::Protocol;

    use super::*;

    fn edits(edits: &str) -> sabir_wire::Result<Option<ContextEdits>> {
        let body = format!(
            r#"{{"model":"m","max_tokens":9,"messages":[{{"role":"user","content":"a"}}],"context_management":{{"edits":[{edits}]}}}}"#
        );
        read(&Protocol::AnthropicMessages.decode_request_text(&body)?)
    }

    #[test]
    fn what_is_not_said_is_the_vendors_choice() {
        let plain =
            edits(r#"{"type":"clear_tool_uses_20250919"},{"type":"clear_thinking_20251015"}"#);
        let plain = plain.unwrap().unwrap();
        let expected = ToolUses {
            trigger: Trigger::Tokens(100_000),
            keep: 3,
            tokens_min: 0,
            inputs: Inputs::Keep,
            exclude: Vec::new(),
        };
        let thinking = Clearing::Thinking { keep_turns: 1 };
        assert_eq!(plain.clearings, [Clearing::ToolUses(expected), thinking]);
        assert_eq!(plain.member, Some("context_management"));
    }

    #[test]
    fn everything_may_be_said() {
        let all = r#"{"type":"clear_tool_uses_20250919","trigger":{"type":"tool_uses","value":5},
            "keep":{"type":"tool_uses","value":2},"clear_at_least":{"type":"input_tokens","value":70},
            "clear_tool_inputs":true,"exclude_tools":["a","b"]}"#;
        let expected = ToolUses {
            trigger: Trigger::ToolUses(5),
            keep: 2,
            tokens_min: 70,
            inputs: Inputs::Clear,
            exclude: vec!["a".to_owned(), "b".to_owned()],
        };
        assert_eq!(edits(all).unwrap().unwrap().clearings, [Clearing::ToolUses(expected)]);
        for (keep, expected) in [
            (r#""all""#, &[][..]),
            (r#"{"type":"all"}"#, &[]),
            (r#"{"type":"thinking_turns","value":4}"#, &[Clearing::Thinking { keep_turns: 4 }]),
        ] {
            let edit = format!(r#"{{"type":"clear_thinking_20251015","keep":{keep}}}"#);
            assert_eq!(edits(&edit).unwrap().unwrap().clearings, expected, "{keep}");
        }
    }

    #[test]
    fn what_nobody_here_knows_is_still_reported() {
        let edits = edits(r#"{"type":"clear_tool_uses_20250919"},{"type":"clear_x"}"#).unwrap();
        let edits = edits.unwrap();
        assert_eq!((edits.clearings.len(), edits.member), (1, None));
    }

    #[test]
    fn wrong_types_are_errors() {
        for wrong in [
            r#"{"type":"clear_tool_uses_20250919","trigger":5}"#,
            r#"{"type":"clear_tool_uses_20250919","keep":{"type":"tool_uses","value":"3"}}"#,
            r#"{"type":"clear_tool_uses_20250919","clear_tool_inputs":"yes"}"#,
            r#"{"type":"clear_tool_uses_20250919","exclude_tools":[1]}"#,
            r#"{"type":"clear_thinking_20251015","keep":3}"#,
        ] {
            assert!(edits(wrong).is_err(), "{wrong}");
        }
    }
}
