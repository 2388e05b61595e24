//! What elements mean, as bytes that are equal for equal conversations, whichever protocol they are in: the role and what is
//! stated. Spelling, ids, cache markers, artefacts and thinking do not count.

use super::entry::element_of;
use super::normal;
use super::normal::LeftOut;
use crate::conversation::{
    Arguments, CallForm, Content, Media, MediaKind, Message, Opaque, Part, ResultOutput, Role,
    Source, ToolCall, ToolResult,
};
use crate::json::Kind;
use crate::protocol::{CacheMarker, arguments, media_type};

/// What an element says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// What it means, part by part: bytes to be hashed one after the other. None for an element that is nothing but
    /// thinking or artefacts.
    pub meanings: Vec<Vec<u8>>,
    /// The ids by which its calls and results name each other, as bytes: equal meanings whose ids differ are not to stand for
    /// each other.
    pub call_ids: Vec<u8>,
}

/// What each element of a request says, by the places of its parts.
pub(super) fn by_element(messages: &[Message<'_>], pointer: &str, count: usize) -> Vec<Element> {
    let mut elements = vec![Element::default(); count];
    for message in messages {
        for part in &message.parts {
            let element = element_of(message, part, pointer).and_then(|at| elements.get_mut(at));
            if let Some(found) = element {
                add(&mut found.meanings, speaker(message.role), part);
                if let Some(id) = part.call_id() {
                    put(&mut found.call_ids, id.to_str().as_bytes());
                }
            }
        }
    }
    elements
}

/// The tag of a role, as far as it counts.
fn speaker(role: Role) -> u8 {
    match role {
        Role::System | Role::Developer => INSTRUCTIONS,
        Role::User | Role::Tool => USER,
        Role::Assistant => ASSISTANT,
    }
}

/// The tags of speakers.
const USER: u8 = b'u';
const ASSISTANT: u8 = b'a';
const INSTRUCTIONS: u8 = b'i';

/// The tags of parts; a part begins with one of them or with its speaker.
const CALL: u8 = b'c';
const RESULT: u8 = b'r';
const TEXT: u8 = b't';
const MEDIA: u8 = b'm';
const OPAQUE: u8 = b'o';
const OBJECT: u8 = b'j';

/// What stands before a text: its speaker, its tag and its length.
const TEXT_HEAD: usize = 2 + size_of::<u64>();

/// Whether it is the meaning of something that instructs.
pub(super) fn instructs(meaning: &[u8]) -> bool {
    meaning.first() == Some(&INSTRUCTIONS)
}

/// Whether it is the meaning of something that stands on the user's side beside results.
pub(super) fn is_users(meaning: &[u8]) -> bool {
    meaning.first() == Some(&USER)
}

/// Whether it is the meaning of a tool's result.
pub(super) fn is_result(meaning: &[u8]) -> bool {
    meaning.first() == Some(&RESULT)
}

/// Whether it is the meaning of an image or the like on the user's side.
pub(super) fn is_users_media(meaning: &[u8]) -> bool {
    is_users(meaning) && meaning.get(1) == Some(&MEDIA)
}

/// The text that it is the meaning of, if it is a text's.
pub(super) fn text_of(meaning: &[u8]) -> Option<&str> {
    let is_text = meaning.get(1) == Some(&TEXT);
    std::str::from_utf8(meaning.get(TEXT_HEAD..).filter(|_| is_text)?).ok()
}

/// Adds the meaning of a part to those of its element, if it has one.
fn add(meanings: &mut Vec<Vec<u8>>, speaker: u8, part: &Part<'_>) {
    match part.content() {
        Content::Text(text) | Content::Refusal(text) => {
            let text = text.to_str();
            match meanings.last_mut() {
                _ if text.is_empty() => {}
                Some(last) if last.starts_with(&[speaker, TEXT]) => lengthen(last, &text),
                _ => {
                    let mut meaning = Vec::with_capacity(TEXT_HEAD + text.len());
                    meaning.extend([speaker, TEXT]);
                    put(&mut meaning, text.as_bytes());
                    meanings.push(meaning);
                }
            }
        }
        Content::Media(media) => meanings.push(media_meaning(speaker, media)),
        Content::ToolCall(call) => meanings.push(call_meaning(call)),
        Content::ToolResult(result) => meanings.push(result_meaning(result)),
        Content::Opaque(opaque) => meanings.push(opaque_meaning(speaker, opaque)),
        Content::Reasoning(_) => {}
    }
}

/// Adds to a text that is the only value behind its head.
fn lengthen(meaning: &mut Vec<u8>, text: &str) {
    meaning.extend_from_slice(text.as_bytes());
    let len = (meaning.len() - TEXT_HEAD) as u64;
    meaning[2..TEXT_HEAD].copy_from_slice(&len.to_le_bytes());
}

/// A value with its length before it.
fn put(meaning: &mut Vec<u8>, value: &[u8]) {
    meaning.extend((value.len() as u64).to_le_bytes());
    meaning.extend_from_slice(value);
}

fn media_meaning(speaker: u8, media: &Media<'_>) -> Vec<u8> {
    let kind = match media.kind {
        MediaKind::Image => b'i',
        MediaKind::Audio => b'a',
        MediaKind::Video => b'v',
        MediaKind::Document => b'd',
    };
    let mut meaning = vec![speaker, MEDIA, kind];
    match &media.source {
        Source::Base64 { mime, data } => {
            meaning.push(b'b');
            put(&mut meaning, mime.as_ref().map(media_type::proper).unwrap_or_default().as_bytes());
            put(&mut meaning, data.to_str().as_bytes());
        }
        Source::Text { mime: _, text } => put_tagged(&mut meaning, b't', &text.to_str()),
        Source::Url { mime: _, url } => put_tagged(&mut meaning, b'u', &url.to_str()),
        Source::File { mime: _, id } => put_tagged(&mut meaning, b'f', &id.to_str()),
    }
    meaning
}

fn put_tagged(meaning: &mut Vec<u8>, tag: u8, value: &str) {
    meaning.push(tag);
    put(meaning, value.as_bytes());
}

/// A call by its name and its arguments, as the object that they are for those who take one.
pub(in super::super) fn call_meaning(call: &ToolCall<'_>) -> Vec<u8> {
    let mut meaning = vec![CALL];
    put(&mut meaning, call.name.to_str().as_bytes());
    match (&call.arguments, call.form) {
        (Arguments::Json(json), CallForm::Function) if json.kind() == Kind::Object => {
            normal::put(&mut meaning, json);
        }
        _ => normal::put(&mut meaning, &arguments::object_of(call)),
    }
    meaning
}

fn result_meaning(result: &ToolResult<'_>) -> Vec<u8> {
    let mut inner: Vec<Vec<u8>> = Vec::new();
    if let ResultOutput::Object { response, parts: _ } = &result.output {
        match arguments::sole_text(response) {
            Some((_, text)) => add(&mut inner, USER, &Part::text(text)),
            None => {
                let mut object = vec![USER, OBJECT];
                normal::put(&mut object, response);
                inner.push(object);
            }
        }
    }
    result.output.parts().iter().for_each(|part| add(&mut inner, USER, part));
    let mut meaning = vec![RESULT];
    put(&mut meaning, &inner.concat());
    meaning
}

/// What only one protocol says, without its id and marks. A reference is nothing but an id.
fn opaque_meaning(speaker: u8, opaque: &Opaque<'_>) -> Vec<u8> {
    let mut meaning = vec![speaker, OPAQUE];
    put(&mut meaning, opaque.protocol.as_str().as_bytes());
    put(&mut meaning, opaque.kind.to_str().as_bytes());
    let start = meaning.len();
    let left_out = LeftOut { here: &UNCOUNTED, in_lists: &MARKERS };
    normal::put_without(&mut meaning, &opaque.json, &left_out);
    if meaning.len() - start == normal::EMPTY_LEN {
        meaning.truncate(start);
        normal::put(&mut meaning, &opaque.json);
    }
    meaning
}

/// Members of what only one protocol says that change from turn to turn, or say what its kind says.
const UNCOUNTED: [&str; 5] = ["type", "id", "status", CacheMarker::ANTHROPIC, CacheMarker::OPENAI];

/// The same of blocks inside it.
const MARKERS: [&str; 2] = [CacheMarker::ANTHROPIC, CacheMarker::OPENAI];
