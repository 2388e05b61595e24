//! Writing items: what requests and answers spell alike.

use std::collections::BTreeMap;

use crate::conversation::Arguments;
use crate::conversation::CallForm;
use crate::conversation::Content;
use crate::conversation::Part;
use crate::conversation::ReasoningForm;
use crate::json::Text;
use crate::json::Writer;
use crate::protocol::arguments;
use crate::protocol::arguments::write_as_json;
use crate::protocol::losing::Losing;
use crate::protocol::object::Object;
use crate::protocol::openai_responses::part::Side;
use crate::protocol::openai_responses::part::write_part;
use crate::protocol::openai_responses::types::CONTINUES;
use crate::protocol::openai_responses::types::EMPTY_CONTENT;
use crate::protocol::openai_responses::types::IN_CONTENT;
use crate::protocol::openai_responses::types::NO_PARTS;
use crate::protocol::openai_responses::types::NO_SUMMARY;
use crate::protocol::openai_responses::types::OPENS;
use crate::protocol::openai_responses::types::STRING;
use crate::protocol::openai_responses::types::SUMMARY;
use crate::protocol::openai_responses::types::Shape;
use crate::protocol::openai_responses::types::THOUGHTS;
use crate::protocol::openai_responses::types::UNTYPED;
use crate::protocol::openai_responses::types::namespace_of;
use crate::protocol::openai_responses::types::piece_scope;
use crate::protocol::openai_responses::types::unqualified;
use crate::protocol::semantics::Extra;
use crate::protocol::semantics::Extras;
use crate::protocol::semantics::Item;
use crate::protocol::semantics::NodeSemantics;

/// What every item may say of itself.
#[derive(Debug, Default)]
pub(super) struct Header<'h> {
    pub(super) id: Option<Text<'h>>,
    pub(super) status: Option<Text<'h>>,
    pub(super) phase: Option<Text<'h>>,
    pub(super) extras: Option<&'h Extras<'h>>,
    pub(super) shape: Shape,
}

impl<'h> Header<'h> {
    /// The header that the wire gave, if this is the protocol that it came from.
    pub(super) fn own(losing: &Losing<'_>, semantics: &'h NodeSemantics<'_>) -> Self {
        if !losing.is_same() {
            return Self::default();
        }
        let shape = semantics.shape();
        let Some(Item { id, status, phase, extras }) = semantics.item() else {
            return Self { shape, ..Self::default() };
        };
        Self {
            id: id.as_ref().map(Text::reborrow),
            status: status.as_ref().map(Text::reborrow),
            phase: phase.as_ref().map(Text::reborrow),
            extras: Some(extras),
            shape,
        }
    }

    /// Whether the item stood in the input, so that what it does not state is not stated again.
    pub(super) fn is_own(&self) -> bool {
        self.shape.has(OPENS)
    }

    /// Opens an item of that type.
    fn open<'w>(&'h self, writer: &'w mut Writer, kind: &'static str) -> Object<'w, 'h> {
        let mut object = Object::open(writer, self.extras.map(|extras| (extras, "")));
        if !self.shape.has(UNTYPED) {
            object.word("type", kind);
        }
        object.optional("id", self.id.as_ref());
        object.optional("status", self.status.as_ref());
        object
    }

    /// A tool's name as it stands beside the namespace that the item states.
    fn tool_name<'n>(&self, name: &'n Text<'_>) -> Text<'n> {
        match self.extras.and_then(namespace_of) {
            Some(namespace) => unqualified(&namespace, name),
            None => name.reborrow(),
        }
    }
}

/// Whether a part stands in the content of a message rather than being an item of its own.
pub(super) fn is_content(part: &Part<'_>) -> bool {
    match part.content() {
        Content::Text(_) | Content::Refusal(_) | Content::Media(_) => true,
        Content::Opaque(_) => part.semantics().has_shape(IN_CONTENT),
        Content::ToolCall(_) | Content::ToolResult(_) | Content::Reasoning(_) => false,
    }
}

/// How many parts from the first on make one item.
pub(super) fn item_len(losing: &Losing<'_>, parts: &[Part<'_>]) -> usize {
    let Some((first, rest)) = parts.split_first() else { return 0 };
    let continues = |part: &&Part<'_>| match first.content() {
        Content::Reasoning(_) => {
            let is_thought = matches!(part.content(), Content::Reasoning(_));
            losing.is_same() && is_thought && part.semantics().has_shape(CONTINUES)
        }
        _ if is_content(first) => {
            let opens = losing.is_same() && part.semantics().has_shape(OPENS);
            is_content(part) && !opens
        }
        _ => false,
    };
    1 + rest.iter().take_while(continues).count()
}

/// Writes a message of these parts, all of which can stand in it.
pub(super) fn write_message<'p>(
    writer: &mut Writer,
    losing: &mut Losing<'_>,
    header: &Header<'_>,
    role: &'static str,
    parts: impl ExactSizeIterator<Item = &'p Part<'p>>,
) {
    let side = if role == "assistant" { Side::Output } else { Side::Input };
    let mut object = header.open(writer, "message");
    object.word("role", role);
    object.optional("phase", header.phase.as_ref());
    write_content(object.key("content"), losing, header.shape, (parts, side));
    object.close();
}

fn write_content<'p>(
    writer: &mut Writer,
    losing: &mut Losing<'_>,
    shape: Shape,
    (mut parts, side): (impl ExactSizeIterator<Item = &'p Part<'p>>, Side),
) {
    if parts.len() == 1
        && let Some(part) = parts.next()
    {
        return match part.content() {
            Content::Text(text) if shape.has(NO_PARTS) && text.is_empty() => writer.array(|_| {}),
            Content::Text(text) if shape.has(STRING) => writer.value(text),
            _ => writer.array(|writer| write_part(writer, losing, part, side)),
        };
    }
    writer.array(|writer| parts.for_each(|part| write_part(writer, losing, part, side)));
}

/// The name, the id and the arguments of a call, as the target knows them.
pub(super) struct Call<'c> {
    pub(super) id: Option<Text<'c>>,
    pub(super) name: Text<'c>,
    /// The namespace that the name is taken out of, where the item itself does not state one.
    pub(super) namespace: Option<Text<'c>>,
    pub(super) arguments: &'c Arguments<'c>,
    pub(super) form: CallForm,
}

pub(super) fn write_call(writer: &mut Writer, header: &Header<'_>, call: &Call<'_>) {
    let (kind, input) = match call.form {
        CallForm::Function => ("function_call", "arguments"),
        CallForm::Custom => ("custom_tool_call", "input"),
    };
    let mut object = header.open(writer, kind);
    object.optional("call_id", call.id.as_ref());
    object.optional("namespace", call.namespace.as_ref());
    object.field("name", &header.tool_name(&call.name));
    match call.arguments {
        Arguments::Text(text) if header.shape.has(Shape::AS_JSON) => {
            write_as_json(object.key(input), text);
        }
        arguments => arguments::write_string(object.key(input), arguments),
    }
    object.close();
}

/// Opens the item of a tool's result and writes all but its output.
pub(super) fn open_result<'w, 'h>(
    writer: &'w mut Writer,
    header: &'h Header<'_>,
    form: CallForm,
    (call_id, name): (Option<Text<'_>>, Option<&Text<'_>>),
) -> Object<'w, 'h> {
    let kind = match form {
        CallForm::Function => "function_call_output",
        CallForm::Custom => "custom_tool_call_output",
    };
    let mut object = header.open(writer, kind);
    object.optional("call_id", call_id.as_ref());
    object.optional("name", name.map(|name| header.tool_name(name)).as_ref());
    object
}

/// Writes the parts of one reasoning item with the ciphertext that belongs to it.
pub(super) fn write_reasoning(
    writer: &mut Writer,
    header: &Header<'_>,
    parts: &[Part<'_>],
    encrypted: Option<&Text<'_>>,
) {
    let mut object = header.open(writer, "reasoning");
    let pieces = |form: ReasoningForm| {
        parts.iter().filter_map(move |part| match part.content() {
            Content::Reasoning(it) if it.form == form => Some(&it.texts),
            _ => None,
        })
    };
    if !header.shape.has(NO_SUMMARY) || pieces(ReasoningForm::Summary).next().is_some() {
        let texts = pieces(ReasoningForm::Summary).flatten();
        write_pieces(object.key("summary"), SUMMARY, texts, header.extras);
    }
    if header.shape.has(EMPTY_CONTENT) || pieces(ReasoningForm::Raw).next().is_some() {
        let texts = pieces(ReasoningForm::Raw).flatten();
        write_pieces(object.key("content"), THOUGHTS, texts, header.extras);
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

pub(super) fn write_piece(writer: &mut Writer, kind: &str, text: &Text<'_>) {
    writer.object(|writer| {
        writer.field("type", kind);
        writer.field("text", text);
    });
}
