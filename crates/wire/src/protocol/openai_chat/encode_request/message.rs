//! Writing messages: the fields of one, and a list of them in the order that Chat demands.

use crate::conversation::Content;
use crate::conversation::Media;
use crate::conversation::Message;
use crate::conversation::Part;
use crate::conversation::ResultOutput;
use crate::conversation::Role;
use crate::conversation::Source;
use crate::conversation::ToolCall;
use crate::conversation::ToolResult;
use crate::json::Json;
use crate::json::Text;
use crate::json::Writer;
use crate::protocol::arguments;
use crate::protocol::arguments::write_as_json;
use crate::protocol::calls::Calls;
use crate::protocol::calls::Position;
use crate::protocol::losing::Losing;
use crate::protocol::object::Object;
use crate::protocol::openai_chat::encode_request::content;
use crate::protocol::openai_chat::encode_request::signature::Side;
use crate::protocol::openai_chat::encode_request::signature::write_signature;
use crate::protocol::openai_chat::types::Shape;
use crate::protocol::openai_chat::types::shape;
use crate::protocol::semantics::NodeSemantics;
use crate::roles::PromptRole;
use crate::roles::ProviderType;
use crate::roles::wire_role;

/// Writes a message of this protocol's own as it was.
pub(super) fn write_same(writer: &mut Writer, message: &Message<'_>, losing: &mut Losing<'_>) {
    let semantics = message.semantics();
    let parts: Vec<&Part<'_>> = message.parts.iter().collect();
    if let [part] = parts.as_slice()
        && let Content::ToolResult(result) = part.content()
        && message.role == Role::Tool
    {
        return write_same_result(writer, result, part.semantics(), (message, losing));
    }
    let mut object = Object::open(writer, semantics.extras().map(|extras| (extras, "")));
    if !semantics.has_shape(shape::OWN_WORD) {
        object.field("role", role_word(message.role));
    }
    object.optional("name", message.name.as_ref());
    let mut fields =
        Fields { parts: &parts, shape: semantics.shape(), names: &Names::Own, signed: true };
    fields.write(&mut object, losing);
    object.close();
}

fn write_same_result(
    writer: &mut Writer,
    result: &ToolResult<'_>,
    part: &NodeSemantics<'_>,
    (message, losing): (&Message<'_>, &mut Losing<'_>),
) {
    let mut object = Object::open(writer, message.semantics().extras().map(|extras| (extras, "")));
    let legacy = part.has_shape(shape::LEGACY);
    object.field("role", if legacy { "function" } else { "tool" });
    object.optional("name", result.name.as_ref());
    object.optional("tool_call_id", result.call_id.as_ref());
    match &result.output {
        ResultOutput::Parts(parts) => {
            let parts: Vec<&Part<'_>> = parts.iter().collect();
            write_content(&mut object, &parts, part.shape(), losing);
        }
        ResultOutput::Object { response, .. } => {
            arguments::write_string(
                object.key("content"),
                &crate::conversation::Arguments::Json(response.reborrow()),
            );
        }
    }
    object.close();
}

pub(super) fn role_word(role: Role) -> &'static str {
    match role {
        Role::Developer => "developer",
        role => wire_role(PromptRole::of(role), ProviderType::Openai),
    }
}

/// Writes `content`: a string where that says all, else a list; nothing where there is nothing to say.
pub(in crate::protocol::openai_chat) fn write_content(
    object: &mut Object<'_, '_>,
    parts: &[&Part<'_>],
    shape: Shape,
    losing: &mut Losing<'_>,
) {
    match parts {
        [] if !shape.has(shape::CONTENT_LIST) => {}
        [part] if !shape.has(shape::CONTENT_LIST) && content::is_bare_text(part, losing) => {
            let is_json = losing.is_same() && part.semantics().is_as_json();
            match part.content() {
                Content::Text(text) if is_json => write_as_json(object.key("content"), text),
                Content::Text(text) => object.field("content", text),
                _ => {}
            }
        }
        parts => object.key("content").array(|writer| {
            parts.iter().for_each(|part| content::write_part(writer, part, losing));
        }),
    }
}

/// Under which names and ids calls are written.
pub(in crate::protocol::openai_chat) enum Names<'c> {
    /// Their own.
    Own,
    /// Those that the receiving server takes, by the positions of the parts.
    Fitted(&'c Calls<'c>, &'c [Position]),
}

/// The fields of a message that hold its parts.
pub(in crate::protocol::openai_chat) struct Fields<'p, 'n> {
    pub(in crate::protocol::openai_chat) parts: &'p [&'p Part<'p>],
    pub(in crate::protocol::openai_chat) shape: Shape,
    pub(in crate::protocol::openai_chat) names: &'n Names<'n>,
    /// Whether the receiving server reads the signatures of Google's models.
    pub(in crate::protocol::openai_chat) signed: bool,
}

impl Fields<'_, '_> {
    pub(in crate::protocol::openai_chat) fn write(
        &mut self,
        object: &mut Object<'_, '_>,
        losing: &mut Losing<'_>,
    ) {
        let content: Vec<&Part<'_>> =
            self.parts.iter().copied().filter(|part| stands_in_content(part)).collect();
        write_content(object, &content, self.shape, losing);
        self.write_beside(object);
    }

    /// Writes what stands beside the content.
    pub(in crate::protocol::openai_chat) fn write_beside(&self, object: &mut Object<'_, '_>) {
        write_reasoning(object, self.parts);
        for part in self.parts {
            match part.content() {
                Content::Refusal(text) if !stands_in_content(part) => object.field("refusal", text),
                Content::Media(media) if !stands_in_content(part) => {
                    write_audio(object, media, part.semantics());
                }
                _ => {}
            }
        }
        self.write_calls(object);
    }

    fn write_calls(&self, object: &mut Object<'_, '_>) {
        let is_call = |part: &Part<'_>| match part.content() {
            Content::ToolCall(_) => !part.semantics().has_shape(shape::LEGACY),
            Content::Opaque(_) => part.semantics().has_shape(shape::IN_CALLS),
            _ => false,
        };
        if self.shape.has(shape::CALLS_EMPTY) || self.parts.iter().any(|part| is_call(part)) {
            object.key("tool_calls").array(|writer| {
                for (index, part) in self.parts.iter().enumerate().filter(|(_, part)| is_call(part))
                {
                    self.write_call(writer, index, part);
                }
            });
        }
        let legacy = self.parts.iter().find(|part| {
            part.semantics().has_shape(shape::LEGACY)
                && matches!(part.content(), Content::ToolCall(_) | Content::Opaque(_))
        });
        match legacy.map(|part| (part.content(), part.semantics())) {
            Some((Content::ToolCall(call), semantics)) => {
                write_payload(object.key("function_call"), call, &call.name, (semantics, ""));
            }
            Some((Content::Opaque(opaque), _)) => object.field("function_call", &opaque.json),
            _ => {}
        }
    }

    fn write_call(&self, writer: &mut Writer, index: usize, part: &Part<'_>) {
        let semantics = part.semantics();
        let call = match part.content() {
            Content::ToolCall(call) => call,
            Content::Opaque(opaque) => return writer.value(&opaque.json),
            _ => return,
        };
        let own = matches!(self.names, Names::Own);
        let extras = semantics.extras().filter(|_| own);
        let mut object = Object::open(writer, extras.map(|extras| (extras, "")));
        let (id, name) = match self.names {
            Names::Own => (call.id.as_ref().map(Text::reborrow), call.name.reborrow()),
            Names::Fitted(calls, positions) => {
                let id = positions.get(index).map(|at| calls.call_id(*at, call));
                (id, calls.name(&call.name))
            }
        };
        object.optional("id", id.as_ref());
        let kind = payload_name(call);
        if !(own && semantics.has_shape(shape::OWN_WORD)) {
            object.word("type", kind);
        }
        let blank = NodeSemantics::default();
        let semantics = if own { semantics } else { &blank };
        write_payload(object.key(kind), call, &name, (semantics, kind));
        match self.names {
            Names::Own => write_signature(&mut object, part.semantics(), Side::Own),
            Names::Fitted(..) if self.signed => {
                write_signature(&mut object, part.semantics(), Side::Foreign);
            }
            Names::Fitted(..) => {}
        }
        object.close();
    }
}

fn payload_name(call: &ToolCall<'_>) -> &'static str {
    match call.form {
        crate::conversation::CallForm::Function => "function",
        crate::conversation::CallForm::Custom => "custom",
    }
}

/// Writes the name and the arguments of a call.
fn write_payload(
    writer: &mut Writer,
    call: &ToolCall<'_>,
    name: &Text<'_>,
    (semantics, scope): (&NodeSemantics<'_>, &'static str),
) {
    let mut object = Object::open(writer, semantics.extras().map(|extras| (extras, scope)));
    object.field("name", name);
    let key = match call.form {
        crate::conversation::CallForm::Function => "arguments",
        crate::conversation::CallForm::Custom => "input",
    };
    match &call.arguments {
        crate::conversation::Arguments::Text(text) if semantics.is_as_json() => {
            write_as_json(object.key(key), text);
        }
        arguments => {
            if !semantics.has_shape(shape::ARGUMENTS_ABSENT) {
                arguments::write_string(object.key(key), arguments);
            }
        }
    }
    object.close();
}

/// Whether a part belongs into `content` rather than into a field of its own.
pub(in crate::protocol::openai_chat) fn stands_in_content(part: &Part<'_>) -> bool {
    let semantics = part.semantics();
    match part.content() {
        Content::Text(_) => true,
        Content::Opaque(_) => {
            !semantics.has_shape(shape::IN_CALLS) && !semantics.has_shape(shape::LEGACY)
        }
        Content::Media(media) => !is_spoken(media, semantics),
        Content::Reasoning(_) | Content::Refusal(_) => semantics.has_shape(shape::IN_CONTENT),
        Content::ToolCall(_) | Content::ToolResult(_) => false,
    }
}

/// Whether this is the assistant's own voice: sound of an answer, which comes without a format.
fn is_spoken(media: &Media<'_>, semantics: &NodeSemantics<'_>) -> bool {
    media.kind == crate::conversation::MediaKind::Audio
        && !semantics.has_shape(shape::IN_CONTENT)
        && matches!(media.source, Source::File { .. } | Source::Base64 { mime: None, .. })
}

fn write_audio(object: &mut Object<'_, '_>, media: &Media<'_>, semantics: &NodeSemantics<'_>) {
    let extras = semantics.extras().map(|extras| (extras, ""));
    let mut audio = Object::open(object.key("audio"), extras);
    match &media.source {
        Source::File { id, .. } => audio.field("id", id),
        Source::Base64 { data, .. } => audio.field("data", data),
        Source::Text { .. } | Source::Url { .. } => {}
    }
    audio.close();
}

/// Writes reasoning that has fields of its own.
fn write_reasoning(object: &mut Object<'_, '_>, parts: &[&Part<'_>]) {
    let mut text: Option<(&'static str, Text<'_>)> = None;
    for part in parts.iter().filter(|part| !stands_in_content(part)) {
        let semantics = part.semantics();
        let Content::Reasoning(reasoning) = part.content() else { continue };
        if let Some(json) = details(part) {
            object.field("reasoning_details", &json);
            continue;
        }
        let key = match semantics.has_shape(shape::REASONING) {
            true => "reasoning",
            false => "reasoning_content",
        };
        for piece in &reasoning.texts {
            match &mut text {
                Some((_, text)) => {
                    text.push(&Text::plain("\n\n"));
                    text.push(piece);
                }
                None => text = Some((key, piece.reborrow())),
            }
        }
    }
    if let Some((key, text)) = text {
        object.field(key, &text);
    }
}

/// What a server wants back to go on reasoning, if the part holds that.
pub(in crate::protocol::openai_chat) fn details<'p>(part: &'p Part<'_>) -> Option<Json<'p>> {
    let artefact = part.semantics().artefact()?;
    if artefact.issuer() != crate::protocol::Protocol::OpenaiChat {
        return None;
    }
    Json::parse_text(artefact.data()).ok()
}
