//! Writing items: what requests and answers spell alike.

use std::collections::BTreeMap;

use crate::conversation::{Arguments, CallForm, Content, Part, ReasoningForm};
use crate::json::{Text, Writer};
use crate::protocol::arguments;
use crate::protocol::object::Object;
use crate::protocol::openai_responses::encode_request::part::{Side, write_part};
use crate::protocol::openai_responses::types::{
    CONTINUES, IN_CONTENT, SUMMARY, THOUGHTS, namespace_of, piece_scope, unqualified,
};
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::{Extra, Extras, Item, NodeSemantics};

/// What every item may say of itself.
#[derive(Debug, Default)]
pub(in super::super) struct Header<'h> {
    pub(in super::super) id: Option<Text<'h>>,
    pub(in super::super) status: Option<Text<'h>>,
    pub(in super::super) phase: Option<Text<'h>>,
    pub(in super::super) extras: Option<&'h Extras<'h>>,
}

impl<'h> Header<'h> {
    /// The header that the wire gave; other protocols have none.
    pub(in super::super) fn of(semantics: &'h NodeSemantics<'_>) -> Self {
        let Some(Item { id, status, phase, extras }) = semantics.item() else {
            return Self::default();
        };
        Self {
            id: id.as_ref().map(Text::reborrow),
            status: status.as_ref().map(Text::reborrow),
            phase: phase.as_ref().map(Text::reborrow),
            extras: Some(extras),
        }
    }

    /// Opens an item of that type.
    pub(in super::super) fn open<'w>(
        &'h self,
        writer: &'w mut Writer,
        kind: &'static str,
    ) -> Object<'w, 'h> {
        let mut object = Object::open(writer, self.extras.map(|extras| (extras, "")));
        object.word("type", kind);
        object.optional("id", self.id.as_ref());
        object.optional("status", self.status.as_ref());
        object
    }

    /// A tool's name as it stands beside the namespace that the item states.
    pub(super) fn tool_name<'n>(&self, name: &'n Text<'_>) -> Text<'n> {
        match self.extras.and_then(namespace_of) {
            Some(namespace) => unqualified(&namespace, name),
            None => name.reborrow(),
        }
    }
}

/// Whether a part stands in the content of a message rather than being an item of its own.
pub(in super::super) fn is_content(part: &Part<'_>) -> bool {
    match part.content() {
        Content::Text(_) | Content::Refusal(_) | Content::Media(_) => true,
        Content::Opaque(_) => part.semantics().has_shape(IN_CONTENT),
        Content::ToolCall(_) | Content::ToolResult(_) | Content::Reasoning(_) => false,
    }
}

/// How many parts from the first on make one item.
pub(in super::super) fn item_len(parts: &[Part<'_>]) -> usize {
    let Some((first, rest)) = parts.split_first() else { return 0 };
    let is_thought = |part: &Part<'_>| matches!(part.content(), Content::Reasoning(_));
    let is_alike = |part: &Part<'_>| {
        is_content(first) && is_content(part) || is_thought(first) && is_thought(part)
    };
    let continues = |part: &&Part<'_>| part.semantics().has_shape(CONTINUES) && is_alike(part);
    1 + rest.iter().take_while(continues).count()
}

/// Writes a message of these parts, all of which can stand in it.
pub(in super::super) fn write_message<'p>(
    writer: &mut Writer,
    reporter: &mut Reporter<'_>,
    header: &Header<'_>,
    role: &'static str,
    parts: impl Iterator<Item = &'p Part<'p>>,
) {
    let side = if role == "assistant" { Side::Output } else { Side::Input };
    let mut object = header.open(writer, "message");
    object.word("role", role);
    object.optional("phase", header.phase.as_ref());
    let content = object.key("content");
    content.array(|writer| parts.for_each(|part| write_part(writer, reporter, part, side)));
    object.close();
}

/// The name, the id and the arguments of a call, as the target knows them.
pub(in super::super) struct Call<'c> {
    pub(in super::super) id: Text<'c>,
    pub(in super::super) name: Text<'c>,
    /// The namespace that the name is taken out of, where the item itself does not state one.
    pub(in super::super) namespace: Option<Text<'c>>,
    pub(in super::super) arguments: &'c Arguments<'c>,
    pub(in super::super) form: CallForm,
}

pub(in super::super) fn write_call(writer: &mut Writer, header: &Header<'_>, call: &Call<'_>) {
    let (kind, input) = match call.form {
        CallForm::Function => ("function_call", "arguments"),
        CallForm::Custom => ("custom_tool_call", "input"),
    };
    let mut object = header.open(writer, kind);
    object.field("call_id", &call.id);
    object.optional("namespace", call.namespace.as_ref());
    object.field("name", &header.tool_name(&call.name));
    arguments::write_string(object.key(input), call.arguments);
    object.close();
}

/// Writes the parts of one reasoning item with what seals it. Another vendor's thinking is shown as a summary.
pub(in super::super) fn write_reasoning(
    writer: &mut Writer,
    reporter: &Reporter<'_>,
    header: &Header<'_>,
    (parts, encrypted): (&[Part<'_>], Option<&Text<'_>>),
) {
    let mut object = header.open(writer, "reasoning");
    let is_raw = |form: ReasoningForm| reporter.is_same() && form == ReasoningForm::Raw;
    let texts = |raw: bool| {
        let thoughts = parts.iter().filter_map(move |part| match part.content() {
            Content::Reasoning(it) if is_raw(it.form) == raw => Some(&it.texts),
            _ => None,
        });
        thoughts.flatten()
    };
    write_pieces(object.key("summary"), SUMMARY, texts(false), header.extras);
    if texts(true).next().is_some() {
        write_pieces(object.key("content"), THOUGHTS, texts(true), header.extras);
    }
    object.optional("encrypted_content", encrypted);
    object.close();
}

/// Writes the pieces of a summary or of the thoughts themselves, with what else the item's input had in them.
fn write_pieces<'t>(
    writer: &mut Writer,
    (list, kind): (&'static str, &'static str),
    texts: impl Iterator<Item = &'t Text<'t>>,
    extras: Option<&Extras<'_>>,
) {
    let mut by_piece: BTreeMap<&str, Vec<&Extra<'_>>> = BTreeMap::new();
    for extra in extras.into_iter().flat_map(Extras::iter).filter(|it| !it.scope.is_empty()) {
        by_piece.entry(&extra.scope).or_default().push(extra);
    }
    writer.array(|writer| {
        for (index, text) in texts.enumerate() {
            writer.object(|writer| {
                writer.field("type", kind);
                writer.field("text", text);
                if !by_piece.is_empty() {
                    let extras = by_piece.get(&*piece_scope(list, index)).into_iter().flatten();
                    extras.for_each(|extra| writer.field(&extra.key, &extra.json));
                }
            });
        }
    });
}

pub(in super::super) fn write_piece(writer: &mut Writer, kind: &str, text: &Text<'_>) {
    writer.object(|writer| {
        writer.field("type", kind);
        writer.field("text", text);
    });
}
