//! Writing content blocks. Requests, answers and streams share them.

use super::media;
use crate::conversation::{
    Arguments, CallForm, Content, Part, Reasoning, ReasoningForm, ResultOutput, ToolCall,
    ToolResult,
};
use crate::json::{Text, Writer};
use crate::loss::LossKind;
use crate::protocol::anthropic_messages::types::SELF;
use crate::protocol::arguments::Change;
use crate::protocol::object::Object;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::{ArtefactKind, arguments};

/// A block in the making: what rides on it besides its content.
#[derive(Clone, Copy)]
pub(in super::super) enum Block<'n> {
    /// It came in this protocol, and what it had comes back.
    Own(&'n NodeSemantics<'n>),
    /// The same without its citations.
    Uncited(&'n NodeSemantics<'n>),
    /// It came in another.
    Foreign,
    /// The same, and the prompt may be cached up to it.
    Cached,
}

impl<'n> Block<'n> {
    fn semantics(&self) -> Option<&'n NodeSemantics<'n>> {
        match self {
            Self::Own(semantics) | Self::Uncited(semantics) => Some(semantics),
            Self::Foreign | Self::Cached => None,
        }
    }

    pub(in super::super) fn open<'w>(
        &self,
        writer: &'w mut Writer,
        kind: &'static str,
    ) -> Object<'w, 'n> {
        let extras = self.semantics().and_then(|semantics| semantics.extras());
        let mut object = Object::open(writer, extras.map(|extras| (extras, "")));
        object.word("type", kind);
        object
    }

    pub(in super::super) fn close(&self, mut object: Object<'_, '_>) {
        let marker = self.semantics().and_then(|semantics| semantics.cache());
        object.optional("cache_control", marker.map(|marker| &marker.json));
        if let Self::Cached = self {
            object.key("cache_control").object(|marker| marker.word("type", "ephemeral"));
        }
        object.close();
    }

    pub(in super::super) fn text(self, writer: &mut Writer, text: &Text<'_>) {
        let mut object = self.open(writer, "text");
        object.field("text", text);
        if let Self::Own(semantics) = self {
            write_citations(&mut object, semantics);
        }
        self.close(object);
    }

    /// Writes a call under an id and a name, and says what became of its arguments.
    pub(in super::super) fn tool_use(
        self,
        writer: &mut Writer,
        (id, name): (Option<&Text<'_>>, &Text<'_>),
        call: &ToolCall<'_>,
    ) -> Change {
        let mut object = self.open(writer, "tool_use");
        object.optional("id", id);
        object.field("name", name);
        let change = match (self.semantics(), &call.arguments) {
            (Some(_), Arguments::Json(json)) => {
                object.field("input", json);
                None
            }
            _ => arguments::write_object(object.key("input"), call),
        };
        self.close(object);
        change.or_else(|| emptied(call))
    }

    /// Writes a tool result; `content` writes the field of that name, if there is any.
    pub(in super::super) fn tool_result(
        self,
        writer: &mut Writer,
        call_id: Option<&Text<'_>>,
        is_error: bool,
        content: impl FnOnce(&mut Object<'_, '_>),
    ) {
        let mut object = self.open(writer, "tool_result");
        object.optional("tool_use_id", call_id);
        content(&mut object);
        object.optional("is_error", is_error.then_some(&true));
        self.close(object);
    }

    /// Writes an image or a document; `source` writes the object of that name.
    pub(in super::super) fn media(
        self,
        writer: &mut Writer,
        kind: &'static str,
        title: Option<&Text<'_>>,
        source: impl FnOnce(&mut Writer),
    ) {
        let mut object = self.open(writer, kind);
        source(object.key("source"));
        object.optional("title", title);
        self.close(object);
    }

    pub(in super::super) fn thinking(
        self,
        writer: &mut Writer,
        thinking: &Text<'_>,
        signature: &Text<'_>,
    ) {
        let mut object = self.open(writer, "thinking");
        object.field("thinking", thinking);
        object.field("signature", signature);
        self.close(object);
    }

    pub(in super::super) fn redacted(self, writer: &mut Writer, data: &Text<'_>) {
        let mut object = self.open(writer, "redacted_thinking");
        object.field("data", data);
        self.close(object);
    }
}

fn write_citations(object: &mut Object<'_, '_>, semantics: &NodeSemantics<'_>) {
    let own = semantics.citations().iter().filter(|citation| citation.protocol() == SELF);
    object.list_unless_empty("citations", |list| own.for_each(|it| list.value(it.json())));
}

/// Writes a part that came in this protocol, or that was put among such parts. `name` gives the name of a call.
pub(in super::super) fn write_own<'p>(
    writer: &mut Writer,
    part: &'p Part<'p>,
    block: Block<'_>,
    name: impl FnOnce(&'p Text<'p>) -> Text<'p>,
) {
    match part.content() {
        Content::Text(text) | Content::Refusal(text) => block.text(writer, text),
        Content::Media(media) => media::write_own(writer, media, part.semantics()),
        Content::ToolCall(call) => {
            block.tool_use(writer, (call.id.as_ref(), &name(&call.name)), call);
        }
        Content::ToolResult(result) => {
            let (id, is_error) = (result.call_id.as_ref(), result.is_error == Some(true));
            block.tool_result(writer, id, is_error, |object| write_own_output(object, result));
        }
        Content::Reasoning(reasoning) => {
            write_reasoning(writer, reasoning, part.semantics(), block);
        }
        Content::Opaque(opaque) => writer.value(&opaque.json),
    }
}

fn write_own_output(object: &mut Object<'_, '_>, result: &ToolResult<'_>) {
    match &result.output {
        ResultOutput::Object { response, .. } => object.field("content", &response.to_text()),
        ResultOutput::Parts(parts) => match &**parts {
            [] => {}
            [part]
                if let Content::Text(text) = part.content()
                    && !part.semantics().place().is_element() =>
            {
                object.field("content", text);
            }
            parts => object.key("content").array(|list| {
                for part in parts {
                    write_own(list, part, Block::Own(part.semantics()), Text::reborrow);
                }
            }),
        },
    }
}

/// Writes thinking with the artefact that rides on it, in the form in which this protocol's clients hand it back.
pub(in super::super) fn write_reasoning(
    writer: &mut Writer,
    reasoning: &Reasoning<'_>,
    semantics: &NodeSemantics<'_>,
    block: Block<'_>,
) {
    let carried = semantics.artefact().map(|artefact| artefact.carried_in(SELF));
    if is_sealed(reasoning, semantics) {
        return block.redacted(writer, &carried.unwrap_or_default());
    }
    let thinking = Text::joined(reasoning.texts.iter(), "\n\n").unwrap_or_default();
    block.thinking(writer, &thinking, &carried.unwrap_or_default());
}

/// Whether thinking has nothing to show but a ciphertext.
pub(in super::super) fn is_sealed(
    reasoning: &Reasoning<'_>,
    semantics: &NodeSemantics<'_>,
) -> bool {
    let is_cipher = |kind| kind == ArtefactKind::Ciphertext;
    reasoning.form == ReasoningForm::Redacted
        || reasoning.texts.iter().all(Text::is_empty)
            && semantics.artefact().is_some_and(|artefact| is_cipher(artefact.kind()))
}

/// What became of arguments that say nothing: they are an empty object.
fn emptied(call: &ToolCall<'_>) -> Change {
    let Arguments::Text(text) = &call.arguments else { return None };
    let is_object =
        text.json_body().starts_with('{') || text.to_str().trim_start().starts_with('{');
    let is_empty_call = call.form == CallForm::Function && !is_object;
    is_empty_call.then_some((LossKind::Implied, "no arguments are an empty object"))
}
