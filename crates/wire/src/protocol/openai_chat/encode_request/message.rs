//! Writing the fields of a message, which requests and answers have alike.

use crate::conversation::{
    Arguments, CallForm, Content, Media, MediaKind, Message, Part, ResultOutput, Role, Source,
    ToolCall,
};
use crate::json::{Json, Text, Writer};
use crate::protocol::calls::{Calls, Position};
use crate::protocol::object::Object;
use crate::protocol::openai_chat::encode_request::content;
use crate::protocol::openai_chat::encode_request::turns::Few;
use crate::protocol::openai_chat::types::{EXTRA_CONTENT, EXTRA_CONTENT_GOOGLE, SELF, shape};
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::{Artefact, Extras, NodeSemantics};
use crate::protocol::{AnswerContext, arguments};
use crate::roles::{PromptRole, ProviderType, wire_role};

/// Writes a message of this protocol's own: nothing of it moves.
pub(super) fn write_own(writer: &mut Writer, message: &Message<'_>, reporter: &mut Reporter<'_>) {
    let extras = message.semantics().extras();
    let mut object = Object::open(writer, extras.map(|extras| (extras, "")));
    if let [part] = &*message.parts
        && let Content::ToolResult(result) = part.content()
        && message.role == Role::Tool
    {
        let is_legacy = part.semantics().has_shape(shape::LEGACY);
        object.word("role", if is_legacy { "function" } else { "tool" });
        object.optional("name", result.name.as_ref());
        object.optional("tool_call_id", result.call_id.as_ref());
        match &result.output {
            ResultOutput::Parts(parts) => {
                let parts: Few<&Part<'_>> = parts.iter().collect();
                write_content(&mut object, &parts, reporter);
            }
            ResultOutput::Object { response, .. } => {
                object.field("content", &response.to_text());
            }
        }
        return object.close();
    }
    if !object.is_kept("role") {
        object.word("role", role_word(message.role));
    }
    object.optional("name", message.name.as_ref());
    let parts: Few<&Part<'_>> = message.parts.iter().collect();
    Fields { parts: &parts, names: Names::Own, signed: true }.write(&mut object, reporter);
    object.close();
}

pub(super) fn role_word(role: Role) -> &'static str {
    match role {
        Role::Developer => "developer",
        role => wire_role(PromptRole::of(role), ProviderType::Openai),
    }
}

/// Writes `content`: a string where that says all, else a list.
pub(in super::super) fn write_content(
    object: &mut Object<'_, '_>,
    parts: &[&Part<'_>],
    reporter: &mut Reporter<'_>,
) {
    match parts {
        [] => object.word("content", ""),
        [part] if let Some(text) = content::bare_text(part, reporter) => {
            object.field("content", text);
        }
        parts => object.key("content").array(|writer| {
            parts.iter().for_each(|part| content::write_part(writer, part, reporter));
        }),
    }
}

/// Under which names and ids calls are written.
#[derive(Clone, Copy)]
pub(in super::super) enum Names<'c> {
    /// Their own.
    Own,
    /// Those that the receiving server takes, by the positions of the parts.
    Fitted(&'c Calls<'c>, &'c [Position]),
    /// Those that the client knows, with the number of the first part.
    Answer(&'c AnswerContext<'c>, usize),
}

/// The fields of a message that hold its parts.
pub(in super::super) struct Fields<'p, 'n> {
    pub(in super::super) parts: &'p [&'p Part<'p>],
    pub(in super::super) names: Names<'n>,
    /// Whether the receiver reads the signatures of Google's models.
    pub(in super::super) signed: bool,
}

impl Fields<'_, '_> {
    pub(in super::super) fn write(&self, object: &mut Object<'_, '_>, reporter: &mut Reporter<'_>) {
        let content: Few<&Part<'_>> =
            self.parts.iter().copied().filter(|part| stands_in_content(part)).collect();
        let is_elsewhere =
            |part: &&Part<'_>| matches!(part.content(), Content::ToolCall(_) | Content::Refusal(_));
        match content.is_empty() && self.parts.iter().any(is_elsewhere) {
            true => object.key("content").null(),
            false => write_content(object, &content, reporter),
        }
        if content.len() < self.parts.len() {
            self.write_beside(object);
        }
    }

    /// Writes what stands beside the content: mostly calls alone.
    pub(in super::super) fn write_beside(&self, object: &mut Object<'_, '_>) {
        let is_usual =
            |part: &&Part<'_>| matches!(part.content(), Content::Text(_) | Content::ToolCall(_));
        if !self.parts.iter().all(is_usual) {
            self.write_unusual(object);
        }
        self.write_calls(object);
    }

    /// Writes reasoning, refusals and sound.
    fn write_unusual(&self, object: &mut Object<'_, '_>) {
        let is_shown = match self.names {
            Names::Own | Names::Fitted(..) => true,
            Names::Answer(context, _) => context.show_reasoning,
        };
        if is_shown {
            self.write_reasoning(object);
        }
        let beside = || self.parts.iter().filter(|part| !stands_in_content(part));
        let refusals = beside().filter_map(|part| match part.content() {
            Content::Refusal(text) => Some(text),
            _ => None,
        });
        object.optional("refusal", Text::joined(refusals, "\n").as_ref());
        for part in beside().filter(|_| !matches!(self.names, Names::Answer(..))) {
            if let Content::Media(media) = part.content() {
                write_audio(object.key("audio"), media, part.semantics());
            }
        }
    }

    /// Writes reasoning that has fields of its own.
    fn write_reasoning(&self, object: &mut Object<'_, '_>) {
        let mut key = "reasoning_content";
        let mut texts: Few<&Text<'_>> = Few::new();
        for part in self.parts.iter().filter(|part| !stands_in_content(part)) {
            let Content::Reasoning(reasoning) = part.content() else { continue };
            if let Some(json) = details(part.semantics()) {
                object.field("reasoning_details", &json);
            }
            if texts.is_empty() && part.semantics().has_shape(shape::REASONING) {
                key = "reasoning";
            }
            texts.extend(&reasoning.texts);
        }
        object.optional(key, Text::joined(texts.into_iter(), "\n\n").as_ref());
    }

    fn write_calls(&self, object: &mut Object<'_, '_>) {
        let is_legacy = |part: &Part<'_>| part.semantics().has_shape(shape::LEGACY);
        let is_call = |part: &Part<'_>| match part.content() {
            Content::ToolCall(_) => !is_legacy(part),
            Content::Opaque(_) => part.semantics().has_shape(shape::IN_CALLS),
            _ => false,
        };
        let calls = || self.parts.iter().enumerate().filter(|(_, part)| is_call(part));
        if calls().next().is_some() {
            object.key("tool_calls").array(|writer| {
                calls().for_each(|(index, part)| self.write_call(writer, index, part));
            });
        }
        for part in self.parts.iter().filter(|part| is_legacy(part)) {
            match part.content() {
                Content::ToolCall(call) => {
                    let writer = object.key("function_call");
                    self.write_payload(writer, call, (&call.name, call.form), (part, ""));
                }
                Content::Opaque(opaque) => object.field("function_call", &opaque.json),
                _ => {}
            }
        }
    }

    fn write_call(&self, writer: &mut Writer, index: usize, part: &Part<'_>) {
        let call = match part.content() {
            Content::ToolCall(call) => call,
            Content::Opaque(opaque) => return writer.value(&opaque.json),
            _ => return,
        };
        let (id, name, form) = self.names.of(index, call);
        let extras = self.extras(part);
        let mut object = Object::open(writer, extras.map(|extras| (extras, "")));
        object.optional("id", id.as_ref());
        let (kind, _) = words(form);
        object.word("type", kind);
        self.write_payload(object.key(kind), call, (&name, form), (part, kind));
        if self.signed {
            write_signature(&mut object, part.semantics(), extras);
        }
        object.close();
    }

    /// Writes the name and the arguments of a call.
    fn write_payload(
        &self,
        writer: &mut Writer,
        call: &ToolCall<'_>,
        (name, form): (&Text<'_>, CallForm),
        (part, scope): (&Part<'_>, &'static str),
    ) {
        let mut object = Object::open(writer, self.extras(part).map(|extras| (extras, scope)));
        object.field("name", name);
        let writer = object.key(words(form).1);
        let input = || arguments::custom_input(&call.arguments);
        match (self.names, &call.arguments) {
            // A custom tool that was offered as a function.
            (Names::Answer(..), _)
                if form != call.form
                    && let Some(input) = input() =>
            {
                writer.value(&input);
            }
            (Names::Answer(..), Arguments::Text(text))
                if form == CallForm::Function && text.is_blank() =>
            {
                writer.value("{}");
            }
            (_, arguments) => arguments::write_string(writer, arguments),
        }
        object.close();
    }

    fn extras<'e>(&self, part: &'e Part<'e>) -> Option<&'e Extras<'e>> {
        part.semantics().extras().filter(|_| matches!(self.names, Names::Own))
    }
}

impl Names<'_> {
    /// The id, the name and the form under which a call is written.
    fn of<'t>(
        &'t self,
        index: usize,
        call: &'t ToolCall<'_>,
    ) -> (Option<Text<'t>>, Text<'t>, CallForm) {
        match self {
            Self::Own => (call.id.as_ref().map(Text::reborrow), call.name.reborrow(), call.form),
            Self::Fitted(calls, positions) => {
                let id = positions.get(index).map(|at| calls.call_id(*at, call));
                (id, calls.name(&call.name), call.form)
            }
            Self::Answer(context, first) => {
                let name = context.client_name(&call.name);
                let form = if context.is_custom(&name) { CallForm::Custom } else { call.form };
                let id = call.id.as_ref().map(Text::reborrow);
                (Some(id.unwrap_or_else(|| made_up_id(context, first + index))), name, form)
            }
        }
    }
}

/// Writes the signature of a call, if one of Google's models made it, with what stood beside it in this protocol.
pub(in super::super) fn write_signature(
    object: &mut Object<'_, '_>,
    semantics: &NodeSemantics<'_>,
    extras: Option<&Extras<'_>>,
) {
    let Some(signature) = call_signature(semantics) else { return };
    let outer = extras.map(|extras| (extras, EXTRA_CONTENT));
    let mut outer = Object::open(object.key("extra_content"), outer);
    let mut google =
        Object::open(outer.key("google"), extras.map(|extras| (extras, EXTRA_CONTENT_GOOGLE)));
    google.field("thought_signature", signature.data());
    google.close();
    outer.close();
}

/// The signature that a call may show in this protocol.
pub(in super::super) fn call_signature<'s>(
    semantics: &'s NodeSemantics<'_>,
) -> Option<&'s Artefact<'s>> {
    semantics.artefact().filter(|artefact| artefact.is_shown_on_calls_of(SELF))
}

/// The id of a call that came without one.
pub(in super::super) fn made_up_id<'t>(context: &AnswerContext<'_>, part: usize) -> Text<'t> {
    Text::plain(format!("call_{}_{part}", context.seed.to_str()))
}

/// The names of a call's payload and of its arguments.
pub(in super::super) fn words(form: CallForm) -> (&'static str, &'static str) {
    match form {
        CallForm::Function => ("function", "arguments"),
        CallForm::Custom => ("custom", "input"),
    }
}

/// Whether a part belongs into `content` rather than into a field of its own.
pub(in super::super) fn stands_in_content(part: &Part<'_>) -> bool {
    let semantics = part.semantics();
    match part.content() {
        Content::Text(_) => true,
        Content::Opaque(_) => {
            !semantics.has_shape(shape::IN_CALLS) && !semantics.has_shape(shape::LEGACY)
        }
        Content::Media(media) => !is_audio_output(media, semantics),
        Content::Reasoning(_) | Content::Refusal(_) => semantics.has_shape(shape::IN_CONTENT),
        Content::ToolCall(_) | Content::ToolResult(_) => false,
    }
}

/// Whether this is the assistant's own voice: sound of an answer, which comes without a format.
fn is_audio_output(media: &Media<'_>, semantics: &NodeSemantics<'_>) -> bool {
    media.kind == MediaKind::Audio
        && !semantics.has_shape(shape::IN_CONTENT)
        && matches!(media.source, Source::File { .. } | Source::Base64 { mime: None, .. })
}

/// Writes the voice of an answer, or the id by which its server knows it.
pub(in super::super) fn write_audio(
    writer: &mut Writer,
    media: &Media<'_>,
    semantics: &NodeSemantics<'_>,
) {
    let mut audio = Object::open(writer, semantics.extras().map(|extras| (extras, "")));
    match &media.source {
        Source::File { id, .. } => audio.field("id", id),
        Source::Base64 { data, .. } => audio.field("data", data),
        Source::Text { .. } | Source::Url { .. } => {}
    }
    audio.close();
}

/// What a server wants back to go on reasoning, if the node holds that.
pub(in super::super) fn details<'s>(semantics: &'s NodeSemantics<'_>) -> Option<Json<'s>> {
    let artefact = semantics.artefact().filter(|it| it.issuer() == SELF)?;
    Json::parse_text(artefact.data()).ok()
}
