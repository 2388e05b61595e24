//! Reading the parts of a content: one piece of data each, and what is said about it.

use crate::base64;
use crate::conversation::{
    Arguments, CallForm, Content, Media, MediaKind, Opaque, Part, Parts, Reasoning, ReasoningForm,
    ResultOutput, Source, ToolCall, ToolResult,
};
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Json, Kind, Reader, Text};
use crate::place::{Place, Step};
use crate::protocol::gemini::types::name::{PART_NAMES, camel};
use crate::protocol::gemini::types::{RESOLUTIONS, SELF, Shape, THOUGHT_TRUE};
use crate::protocol::object::{Members, put, read_object, set};
use crate::protocol::semantics::{Extras, NodeSemantics};
use crate::protocol::{Artefact, ArtefactKind, media_type};

use super::read_parts;

/// Reads one part, whatever it holds: what the conversation has no word for is kept whole.
pub(in super::super) fn content_part<'a>(
    reader: &mut Reader<'a>,
    place: Place,
) -> Result<Part<'a>> {
    let mut start = reader.checkpoint();
    let mut draft = PartDraft { place, ..PartDraft::default() };
    let mut extras = Extras::default();
    read_object(reader, "", &mut extras, |key, reader| draft.member(key, reader))?;
    match draft.opaque() {
        Some(kind) => Ok(opaque_part(Text::plain(kind), start.raw()?, place)),
        None => Ok(draft.finish(extras)),
    }
}

/// A part that is kept whole.
pub(in super::super) fn opaque_part<'a>(kind: Text<'a>, json: Json<'a>, place: Place) -> Part<'a> {
    let opaque = Box::new(Opaque { protocol: SELF, kind, json });
    Part::new(Content::Opaque(opaque)).with_semantics(NodeSemantics::at(place))
}

/// Joins a foreign signature to the thoughts that it seals: a stream told them piece by piece, each a part, and the
/// signature in an empty part behind them.
pub(super) fn join_sealed(parts: &mut Parts<'_>) {
    if !parts.iter().any(is_foreign_seal) {
        return;
    }
    let mut joined: Vec<Part<'_>> = Vec::with_capacity(parts.len());
    for part in std::mem::take(parts) {
        match joined.last_mut() {
            Some(last) if is_foreign_seal(&part) && is_unsealed(last) => {
                last.semantics_mut().merge(part.semantics().clone());
                join_thoughts(&mut joined);
            }
            _ => joined.push(part),
        }
    }
    *parts = joined.into();
}

/// Joins the thoughts before the last one, as far as nothing seals them, to it: one signature is for all of them.
fn join_thoughts(parts: &mut Vec<Part<'_>>) {
    let Some(mut whole) = parts.pop() else { return };
    let first = parts.iter().rposition(|part| !is_unsealed(part)).map_or(0, |at| at + 1);
    if first < parts.len() {
        let thoughts = parts[first..].iter().chain([&whole]).filter_map(thought_of);
        let pieces = thoughts.flat_map(|thought| &thought.texts).map(Text::to_str);
        let (form, texts) = (ReasoningForm::Summary, vec![Text::plain(pieces.collect::<String>())]);
        *whole.content_mut() = Content::Reasoning(Box::new(Reasoning { form, texts }));
        parts.truncate(first);
    }
    parts.push(whole);
}

fn thought_of<'p, 'a>(part: &'p Part<'a>) -> Option<&'p Reasoning<'a>> {
    match part.content() {
        Content::Reasoning(thought) => Some(thought),
        _ => None,
    }
}

fn is_foreign_seal(part: &Part<'_>) -> bool {
    let foreign = part.semantics().artefact().is_some_and(|it| it.issuer() != SELF);
    foreign && thought_of(part).is_some_and(|thought| thought.texts.is_empty())
}

fn is_unsealed(part: &Part<'_>) -> bool {
    part.semantics().artefact().is_none() && thought_of(part).is_some()
}

/// A part that is being read.
#[derive(Default)]
struct PartDraft<'a> {
    place: Place,
    shape: Shape,
    data: Option<Content<'a>>,
    is_thought: bool,
    signature: Option<Text<'a>>,
    detail: Option<Text<'a>>,
    /// Data beside the first, of which a part has one.
    further: Option<String>,
    /// The first field that the conversation has no word for: the part's data, or beside data something about it.
    unknown: Option<String>,
}

impl<'a> PartDraft<'a> {
    fn member(&mut self, key: &str, reader: &mut Members<'_, 'a>) -> Result<()> {
        let name = camel(PART_NAMES, key, &mut self.shape);
        let is_first = self.data.is_none() && self.further.is_none();
        match name {
            "text" if is_first => self.data = Some(Content::Text(reader.string()?)),
            "functionCall" if is_first => self.data = Some(function_call(reader)?),
            "functionResponse" if is_first => {
                self.data = Some(function_response(reader, self.place)?);
            }
            "inlineData" if is_first => self.data = Some(self.inline_data(reader)?),
            "fileData" if is_first => self.data = Some(self.file_data(reader)?),
            "thought" if reader.kind()? == Kind::Boolean => self.is_thought = reader.boolean()?,
            "thoughtSignature" => self.signature = Some(reader.string()?),
            "mediaResolution" => self.detail = detail(&mut reader.checkpoint()),
            "text" | "functionCall" | "functionResponse" | "inlineData" | "fileData" => {
                self.further.get_or_insert_with(|| key.to_owned());
            }
            _ => {
                self.unknown.get_or_insert_with(|| key.to_owned());
            }
        }
        Ok(())
    }

    /// What the part is, if the conversation has no word for it.
    fn opaque(&mut self) -> Option<String> {
        let unknown = self.unknown.take().filter(|_| self.data.is_none());
        self.further.take().or(unknown)
    }

    /// Tells thoughts from text, and media how closely they are looked at.
    fn finish(mut self, extras: Extras<'a>) -> Part<'a> {
        let content = match self.data.unwrap_or_else(|| Content::Text(Text::default())) {
            Content::Text(text) if self.is_thought => {
                let texts = if text.is_empty() { Vec::new() } else { vec![text] };
                Content::Reasoning(Box::new(Reasoning { form: ReasoningForm::Summary, texts }))
            }
            mut content => {
                if let Content::Media(media) = &mut content {
                    media.detail = self.detail;
                }
                if self.is_thought {
                    self.shape = self.shape.with(THOUGHT_TRUE);
                }
                content
            }
        };
        let mut semantics = NodeSemantics::at(self.place).shaped(self.shape).keeping(extras);
        if let Some(signature) = self.signature {
            semantics.set_artefact(Artefact::read(SELF, ArtefactKind::Signature, signature));
        }
        Part::new(content).with_semantics(semantics)
    }

    fn inline_data(&mut self, reader: &mut Members<'_, 'a>) -> Result<Content<'a>> {
        let (mime, data) = self.blob(("inlineData", "data"), reader)?;
        let data = standard(data);
        Ok(media(media_kind(mime.as_ref(), None), Source::Base64 { mime, data }))
    }

    fn file_data(&mut self, reader: &mut Members<'_, 'a>) -> Result<Content<'a>> {
        let (mime, uri) = self.blob(("fileData", "fileUri"), reader)?;
        let kind = media_kind(mime.as_ref(), Some(&uri));
        let source = match is_public(&uri.to_str()) {
            true => Source::Url { mime, url: uri },
            false => Source::File { mime, id: uri },
        };
        Ok(media(kind, source))
    }

    /// Reads an object of a MIME type and data of that type, which stand under `name`.
    fn blob(
        &mut self,
        (scope, name): (&'static str, &'static str),
        reader: &mut Members<'_, 'a>,
    ) -> Result<(Option<Text<'a>>, Text<'a>)> {
        let (mut mime, mut data) = (None, None);
        reader.inside(scope, |key, reader| match camel(PART_NAMES, key, &mut self.shape) {
            "mimeType" => set(&mut mime, reader.string()),
            key if key == name => set(&mut data, reader.string()),
            _ => Ok(()),
        })?;
        Ok((mime, data.ok_or_else(|| missing(name))?))
    }
}

fn function_call<'a>(reader: &mut Members<'_, 'a>) -> Result<Content<'a>> {
    let (mut id, mut name, mut arguments) = (None, None, None);
    reader.inside("functionCall", |key, reader| match key {
        "id" => set(&mut id, reader.string()),
        "name" => set(&mut name, reader.string()),
        "args" => set(&mut arguments, reader.raw()),
        _ => Ok(()),
    })?;
    Ok(Content::ToolCall(Box::new(ToolCall {
        id,
        name: name.filter(|name| !name.is_empty()).ok_or_else(|| missing("name"))?,
        arguments: Arguments::Json(arguments.unwrap_or(Json::literal("{}"))),
        form: CallForm::Function,
    })))
}

fn function_response<'a>(reader: &mut Members<'_, 'a>, place: Place) -> Result<Content<'a>> {
    let (mut call_id, mut name, mut response) = (None, None, Json::literal("{}"));
    let mut parts = Parts::default();
    reader.inside("functionResponse", |key, reader| match key {
        "id" => set(&mut call_id, reader.string()),
        "name" => set(&mut name, reader.string()),
        "response" => put(&mut response, reader.raw()),
        "parts" => put(&mut parts, read_parts(reader, place, Step::FunctionResponseParts)),
        _ => Ok(()),
    })?;
    Ok(Content::ToolResult(Box::new(ToolResult {
        call_id,
        name,
        is_error: is_error(&response).then_some(true),
        output: ResultOutput::Object { response, parts },
        form: CallForm::Function,
    })))
}

/// Data in the standard alphabet of base64, which is the only one that others read.
/// Fixture `request/media/url-safe-base64-is-made-standard`.
fn standard(data: Text<'_>) -> Text<'_> {
    let spelled = data.to_str();
    let is_url_safe = spelled.contains(['-', '_'])
        && !spelled.contains(['+', '/'])
        && base64::decode(&spelled).is_some();
    if !is_url_safe {
        return data;
    }
    let mut standard = spelled.replace('-', "+").replace('_', "/");
    let padding = standard.len().next_multiple_of(4) - standard.len();
    standard.extend(std::iter::repeat_n('=', padding));
    Text::plain(standard)
}

/// Whether a result is what the vendor documents for failures: an object of `error` alone.
/// Fixture `request/results/error-results-stay-errors`.
fn is_error(response: &Json<'_>) -> bool {
    // Its only member is its first, and results are long.
    if !matches!(response.reader().first_key(), Ok(Some(key)) if key == "error") {
        return false;
    }
    let (mut members, mut error) = (0, false);
    let read = response.reader().object(|key, reader| {
        members += 1;
        error = key == "error" && reader.kind()? != Kind::Null;
        reader.skip()
    });
    read.is_ok() && error && members == 1
}

fn media<'a>(kind: MediaKind, source: Source<'a>) -> Content<'a> {
    Content::Media(Box::new(Media { kind, source, detail: None, name: None }))
}

/// What a media type speaks of; without one the address must tell.
fn media_kind(mime: Option<&Text<'_>>, uri: Option<&Text<'_>>) -> MediaKind {
    match (mime, uri) {
        (Some(mime), _) => kind_of_mime(&mime.to_str()),
        (None, Some(uri)) => kind_of_address(&uri.to_str()),
        (None, None) => MediaKind::Document,
    }
}

fn kind_of_mime(mime: &str) -> MediaKind {
    match mime.split('/').next().map(str::to_ascii_lowercase).as_deref() {
        Some("image") => MediaKind::Image,
        Some("audio") => MediaKind::Audio,
        Some("video") => MediaKind::Video,
        _ => MediaKind::Document,
    }
}

fn kind_of_address(uri: &str) -> MediaKind {
    let host_is = |host: &str| uri.contains(&format!("://{host}/"));
    if ["youtu.be", "youtube.com", "www.youtube.com"].iter().any(|host| host_is(host)) {
        return MediaKind::Video;
    }
    media_type::of_name(uri).map_or(MediaKind::Document, kind_of_mime)
}

/// Whether anyone can read the address; the vendor's own files and buckets need its keys.
fn is_public(uri: &str) -> bool {
    let is_web = uri.starts_with("https://") || uri.starts_with("http://");
    is_web && !uri.contains("://generativelanguage.googleapis.com/")
}

/// The detail of an image that a media resolution amounts to.
fn detail(reader: &mut Reader<'_>) -> Option<Text<'static>> {
    let level = reader.peek_tag("level").ok()??;
    let (detail, _) = RESOLUTIONS.into_iter().find(|(_, known)| level == *known)?;
    Some(Text::literal(detail))
}

pub(super) fn missing(field: &str) -> Error {
    Error::new(ErrorKind::Missing, format!("expected `{field}`"))
}
