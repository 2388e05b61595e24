//! What a transcript has no room for: the content that is refused, and what rides on messages and is left out.

use std::borrow::Cow;

use sabir_store::{NewMessage, Record, Result};
use sabir_wire::conversation::{
    Arguments, CallForm, Content, MediaKind, Message, Part, ResultOutput, Role,
};
use sabir_wire::json::{Json, Text};
use sabir_wire::protocol::NodeSemantics;
use sabir_wire::{LossKind, Report};

use crate::lines::read;

/// What a file leaves out of instructions and messages, each reason once: whoever reads the file finds nothing of it.
pub(crate) fn left_out<'m>(
    system: Option<&Record>,
    lines: impl IntoIterator<Item = &'m NewMessage>,
) -> Result<Report> {
    let mut lost = Vec::new();
    // In their own protocol, so that all is there that may be lost.
    if let Some((protocol, text)) = system.and_then(read) {
        let restored = protocol.restore_settings(Some(text), None, protocol);
        note(&restored.map_err(unreadable)?.0, &mut lost);
    }
    for (protocol, text) in lines.into_iter().filter_map(|line| read(&line.record)) {
        note(&protocol.restore_messages(text, 0, protocol).map_err(unreadable)?, &mut lost);
    }
    let mut report = Report::default();
    lost.into_iter().for_each(|(kind, reason)| report.lose("", kind, reason));
    Ok(report)
}

fn note(messages: &[Message<'_>], lost: &mut Vec<Lost>) {
    let parts = messages.iter().flat_map(|message| &message.parts).flat_map(lost_of_part);
    for found in messages.iter().flat_map(lost_of_message).chain(parts) {
        if !lost.contains(&found) {
            lost.push(found);
        }
    }
}

fn unreadable(error: sabir_wire::Error) -> sabir_store::Error {
    sabir_store::Error::unreadable(error.to_string())
}

/// What is lost, and why.
pub(crate) type Lost = (LossKind, Cow<'static, str>);

/// What a transcript has no room for of a message, beside its parts.
pub(crate) fn lost_of_message(message: &Message<'_>) -> Vec<Lost> {
    let mut lost = riding(message.semantics());
    if message.role == Role::Developer {
        lost.push((LossKind::Approximated, NO_DEVELOPERS.into()));
    }
    if message.name.is_some() {
        lost.push((LossKind::Dropped, "a transcript has no names of speakers".into()));
    }
    if has_several_texts(&message.parts) {
        lost.push((LossKind::Approximated, ONE_TEXT.into()));
    }
    lost
}

const NO_DEVELOPERS: &str = "a transcript has no developers: what they say is the system's";

/// The same of a part.
pub(crate) fn lost_of_part(part: &Part<'_>) -> Vec<Lost> {
    let mut lost: Vec<Lost> =
        lost_of(part).into_iter().map(|reason| (LossKind::Dropped, reason.into())).collect();
    // What is lost as a whole is lost with all that rides on it.
    if matches!(part.content(), Content::Reasoning(_) | Content::Opaque(_) | Content::Media(_)) {
        return lost;
    }
    lost.extend(riding(part.semantics()));
    lost.extend(inner(part).iter().flat_map(|part| riding(part.semantics())));
    match part.content() {
        Content::ToolCall(call) if !matches!(call.form, CallForm::Function) => {
            lost.push((
                LossKind::Approximated,
                "a transcript has no calls but of functions".into(),
            ));
        }
        Content::ToolResult(result) => {
            if result.is_error == Some(true) {
                lost.push((
                    LossKind::Dropped,
                    "a transcript has no marks of failed results".into(),
                ));
            }
            if has_several_texts(inner(part)) {
                lost.push((LossKind::Approximated, ONE_TEXT.into()));
            }
        }
        _ => {}
    }
    lost
}

/// What rides on a message or a part beyond its content. Ids of items say nothing to whoever reads.
fn riding(semantics: &NodeSemantics<'_>) -> Vec<Lost> {
    let extras = semantics.extras().into_iter().flat_map(|extras| extras.iter());
    let named = extras.filter(|extra| is_stated(&extra.json)).map(|extra| &*extra.key);
    let named = named.chain(semantics.cache().map(|marker| marker.key));
    let mut lost: Vec<Lost> = named
        .map(|name| (LossKind::Dropped, format!("a transcript has no `{name}`").into()))
        .collect();
    if !semantics.citations().is_empty() {
        lost.push((LossKind::Dropped, "a transcript has no citations".into()));
    }
    lost
}

/// Whether a member that no protocol declares says anything.
pub(crate) fn is_stated(value: &Json<'_>) -> bool {
    !matches!(value.as_str(), "null" | "[]" | "{}" | "\"\"")
}

/// Whether there is more than one text among parts.
fn has_several_texts(parts: &[Part<'_>]) -> bool {
    let is_text = |part: &&Part<'_>| match part.content() {
        Content::Text(text) | Content::Refusal(text) => !text.to_str().is_empty(),
        _ => false,
    };
    parts.iter().filter(is_text).count() > 1
}

/// The parts of a result.
pub(crate) fn inner<'p, 'a>(part: &'p Part<'a>) -> &'p [Part<'a>] {
    match part.content() {
        Content::ToolResult(result) => match &result.output {
            ResultOutput::Parts(parts) | ResultOutput::Object { parts, .. } => parts,
        },
        _ => &[],
    }
}

pub(super) const NO_REASONING: &str = "a transcript has no reasoning";

/// What becomes of several texts.
pub(crate) const ONE_TEXT: &str = "a transcript has one text in a message: several are joined";

/// The content that a transcript has no room for: why, for each.
pub(super) fn lost_of(part: &Part<'_>) -> Vec<&'static str> {
    match part.content() {
        Content::Text(text) | Content::Refusal(text) => halved([text]),
        Content::ToolCall(call) => match &call.arguments {
            Arguments::Text(arguments) => halved([&call.name, arguments]),
            Arguments::Json(_) => halved([&call.name]),
        },
        Content::Media(media) => vec![match media.kind {
            MediaKind::Image => "a transcript has no images",
            MediaKind::Audio => "a transcript has no audio",
            MediaKind::Video => "a transcript has no video",
            MediaKind::Document => "a transcript has no files",
        }],
        Content::ToolResult(result) => {
            let (ResultOutput::Parts(parts) | ResultOutput::Object { parts, .. }) = &result.output;
            parts.iter().flat_map(lost_of).collect()
        }
        Content::Reasoning(_) => vec![NO_REASONING],
        Content::Opaque(_) => vec!["a transcript has only texts, calls and their results"],
    }
}

/// Half of a surrogate pair is no character, and would become another one.
fn halved<'t, const N: usize>(texts: [&'t Text<'t>; N]) -> Vec<&'static str> {
    let is_halved = texts.into_iter().any(Text::has_lone_surrogate);
    is_halved.then_some("a transcript has no halves of surrogate pairs").into_iter().collect()
}
