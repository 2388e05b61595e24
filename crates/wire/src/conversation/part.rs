//! A part: one piece of content. Parts do not change; an edit is a new part, so nothing stated about the old one sticks.

use crate::conversation::Parts;
use crate::json::{Json, Text};
use crate::owned::into_owned;
use crate::protocol::{NodeSemantics, Protocol};

/// One piece of a message, with what the wire meant by it.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    pub(crate) content: Content<'a>,
    pub(crate) semantics: NodeSemantics<'a>,
}

/// What a [`Part`] holds.
#[derive(Clone, Debug)]
pub enum Content<'a> {
    Text(Text<'a>),
    Media(Box<Media<'a>>),
    ToolCall(Box<ToolCall<'a>>),
    ToolResult(Box<ToolResult<'a>>),
    Reasoning(Box<Reasoning<'a>>),
    Refusal(Text<'a>),
    Opaque(Box<Opaque<'a>>),
}

/// An image, a sound, a film or a document.
#[derive(Clone, Debug)]
pub struct Media<'a> {
    pub kind: MediaKind,
    pub source: Source<'a>,
    /// How closely an image is to be looked at: `low`, `high`, `auto`, `original`.
    pub detail: Option<Text<'a>>,
    /// The file's name, or a document's title.
    pub name: Option<Text<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MediaKind {
    Image,
    Audio,
    Video,
    Document,
}

/// Where the bytes of a [`Media`] are.
#[derive(Clone, Debug)]
pub enum Source<'a> {
    /// Base64 in the body. The type is absent where the protocol leaves it to the receiver.
    Base64 {
        mime: Option<Text<'a>>,
        data: Text<'a>,
    },
    /// Plain text in the body.
    Text {
        mime: Option<Text<'a>>,
        text: Text<'a>,
    },
    Url {
        mime: Option<Text<'a>>,
        url: Text<'a>,
    },
    /// A file that the vendor holds; no other vendor can read it.
    File {
        mime: Option<Text<'a>>,
        id: Text<'a>,
    },
}

/// The model asks for a tool.
#[derive(Clone, Debug)]
pub struct ToolCall<'a> {
    /// What the result will be paired by; Gemini may leave it out.
    pub id: Option<Text<'a>>,
    pub name: Text<'a>,
    pub arguments: Arguments<'a>,
    pub form: CallForm,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CallForm {
    /// Arguments are JSON by a schema.
    #[default]
    Function,
    /// The input is free text.
    Custom,
}

/// The arguments of a call as the protocol spells them.
#[derive(Clone, Debug)]
pub enum Arguments<'a> {
    /// A JSON value in the body (Anthropic, Gemini).
    Json(Json<'a>),
    /// A string that should hold JSON (OpenAI), or a custom tool's input.
    Text(Text<'a>),
}

/// What a tool answered.
#[derive(Clone, Debug)]
pub struct ToolResult<'a> {
    pub call_id: Option<Text<'a>>,
    /// The tool's name, where the protocol pairs by it or repeats it.
    pub name: Option<Text<'a>>,
    pub output: ResultOutput<'a>,
    pub is_error: Option<bool>,
    pub form: CallForm,
}

#[derive(Clone, Debug)]
pub enum ResultOutput<'a> {
    /// Text, images and documents; none of them is an empty answer.
    Parts(Parts<'a>),
    /// A JSON object (Gemini), with media beside it.
    Object { response: Json<'a>, parts: Parts<'a> },
}

/// The model's thinking, as far as it is shown.
///
/// What only its issuer can read (signatures, ciphertext) is in the part's semantics as an artefact.
#[derive(Clone, Debug)]
pub struct Reasoning<'a> {
    pub form: ReasoningForm,
    /// The visible text in the pieces that the protocol sent: none for thinking that is only signed or encrypted.
    pub texts: Vec<Text<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReasoningForm {
    /// The chain of thought itself.
    Raw,
    /// A summary for people.
    Summary,
    /// Only its issuer can read it.
    Redacted,
}

/// Something that one protocol says and the conversation has no word for, kept whole.
#[derive(Clone, Debug)]
pub struct Opaque<'a> {
    pub protocol: Protocol,
    /// The `type` or member name by which the protocol names it.
    pub kind: Text<'a>,
    pub json: Json<'a>,
}

/// The kind of what may name a tool and is no call: a piece of one that lacks others, or one that cannot be read.
pub(crate) const BROKEN_CALL: &str = "functionCall";

impl Opaque<'_> {
    /// Whether it may name a tool and is no call, so that nobody can say what would be called.
    pub fn is_broken_call(&self) -> bool {
        self.kind == *BROKEN_CALL
    }
}

impl<'a> Part<'a> {
    pub fn new(content: Content<'a>) -> Self {
        Self { content, semantics: NodeSemantics::default() }
    }

    pub fn text(text: impl Into<Text<'a>>) -> Self {
        Self::new(Content::Text(text.into()))
    }

    pub fn content(&self) -> &Content<'a> {
        &self.content
    }

    /// The call that this part is, if it is one.
    pub(crate) fn tool_call(&self) -> Option<&ToolCall<'a>> {
        if let Content::ToolCall(call) = &self.content { Some(call) } else { None }
    }

    /// The id by which a call and its result name each other.
    pub(crate) fn call_id(&self) -> Option<&Text<'a>> {
        match &self.content {
            Content::ToolCall(call) => call.id.as_ref(),
            Content::ToolResult(result) => result.call_id.as_ref(),
            _ => None,
        }
    }

    /// What the wire meant by this part beyond its content.
    pub fn semantics(&self) -> &NodeSemantics<'a> {
        &self.semantics
    }

    pub fn into_content(self) -> Content<'a> {
        self.content
    }

    pub(crate) fn forget_semantics(&mut self) {
        self.semantics = NodeSemantics::default();
        if let Content::ToolResult(result) = &mut self.content {
            let (ResultOutput::Parts(parts) | ResultOutput::Object { parts, .. }) =
                &mut result.output;
            parts.iter_mut().for_each(Part::forget_semantics);
        }
    }

    pub(crate) fn with_semantics(mut self, semantics: NodeSemantics<'a>) -> Self {
        self.semantics = semantics;
        self
    }

    pub(crate) fn semantics_mut(&mut self) -> &mut NodeSemantics<'a> {
        &mut self.semantics
    }

    pub(crate) fn content_mut(&mut self) -> &mut Content<'a> {
        &mut self.content
    }

    /// Whether this is blank text that nobody signed.
    pub fn is_blank(&self) -> bool {
        let is_signed = || self.semantics.artefact().is_some();
        matches!(&self.content, Content::Text(text) if text.is_blank() && !is_signed())
    }
}

impl<'a> Arguments<'a> {
    /// The text of their JSON, or the free text that they are.
    pub(crate) fn into_text(self) -> Text<'a> {
        match self {
            Self::Text(text) => text,
            Self::Json(json) => json.to_text().into_owned(),
        }
    }
}

impl<'a> Source<'a> {
    /// The declared media type.
    pub fn mime(&self) -> Option<&Text<'a>> {
        match self {
            Self::Base64 { mime, .. }
            | Self::Text { mime, .. }
            | Self::Url { mime, .. }
            | Self::File { mime, .. } => mime.as_ref(),
        }
    }
}

impl<'a> ResultOutput<'a> {
    /// The parts of the answer, media beside an object included.
    pub fn parts(&self) -> &[Part<'a>] {
        match self {
            Self::Parts(parts) | Self::Object { parts, .. } => parts,
        }
    }
}

into_owned! {
    pub struct Part { content, semantics }
    pub enum Content {
        Text(text),
        Media(media),
        ToolCall(call),
        ToolResult(result),
        Reasoning(reasoning),
        Refusal(text),
        Opaque(opaque),
    }
    pub struct Media { kind, source, detail, name }
    pub enum Source { Base64 { mime, data }, Text { mime, text }, Url { mime, url }, File { mime, id } }
    pub struct ToolCall { id, name, arguments, form }
    pub enum Arguments { Json(json), Text(text) }
    pub struct ToolResult { call_id, name, output, is_error, form }
    pub enum ResultOutput { Parts(parts), Object { response, parts } }
    pub struct Reasoning { form, texts }
    pub struct Opaque { protocol, kind, json }
}
