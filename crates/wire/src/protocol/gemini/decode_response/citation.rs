//! Reading sources: which stretch of the answer rests on which page.

use crate::characters::Characters;
use crate::conversation::{Content, Part};
use crate::error::Result;
use crate::json::{Json, Kind, Reader, Text};
use crate::protocol::Citation;
use crate::protocol::gemini::types::SELF;
use crate::protocol::object::{put, set};

/// The sources of one candidate. They stay raw among its extras too, since not all of them have a place elsewhere.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Grounding<'a> {
    chunks: Vec<Page<'a>>,
    supports: Vec<Support<'a>>,
}

/// A page that was read.
#[derive(Clone, Debug)]
struct Page<'a> {
    url: Option<Text<'a>>,
    title: Option<Text<'a>>,
    json: Json<'a>,
}

/// A stretch of text, in bytes of its part, and the pages that it rests on.
#[derive(Clone, Debug, Default)]
struct Support<'a> {
    part: usize,
    start: usize,
    end: Option<usize>,
    text: Option<Text<'a>>,
    chunks: Vec<usize>,
}

impl<'a> Grounding<'a> {
    pub(super) fn read_grounding(&mut self, json: &Json<'a>) {
        let Some(mut reader) = json.input_reader() else { return };
        let (mut chunks, mut supports) = (Vec::new(), Vec::new());
        // What has an unexpected shape is no source; the raw object is kept all the same.
        let read = reader.object(|key, reader| match (&*key, reader.kind()?) {
            ("groundingChunks", Kind::Array) => {
                reader.list(|_, reader| page(reader)).map(|more| chunks.extend(more))
            }
            ("groundingSupports", Kind::Array) => {
                reader.list(|_, reader| support(reader)).map(|more| supports.extend(more))
            }
            _ => reader.skip(),
        });
        if read.is_ok() {
            // Sources that were read before are listed behind these pages.
            // Fixture `answer/hosted/gemini-citations-before-grounding`.
            for index in self.supports.iter_mut().flat_map(|support| &mut support.chunks) {
                *index += chunks.len();
            }
            chunks.append(&mut self.chunks);
            supports.append(&mut self.supports);
            (self.chunks, self.supports) = (chunks, supports);
        }
    }

    pub(super) fn read_citations(&mut self, json: &Json<'a>) {
        let Some(mut reader) = json.input_reader() else { return };
        let _ = reader.object(|key, reader| match (&*key, reader.kind()?) {
            ("citationSources" | "citations", Kind::Array) => reader.array(|_, reader| {
                let mut support = span(&mut reader.checkpoint())?;
                support.chunks.push(self.chunks.len());
                let json = reader.checkpoint().raw()?;
                let (url, title) = address(reader)?;
                self.chunks.push(Page { url, title, json });
                self.supports.push(support);
                Ok(())
            }),
            _ => reader.skip(),
        });
    }

    pub(in super::super) fn is_empty(&self) -> bool {
        self.supports.is_empty()
    }

    /// The citations, each with the index of the part that it stands on.
    pub(super) fn citations(&self, parts: &[Part<'_>]) -> Vec<(usize, Citation<'a>)> {
        if self.is_empty() {
            return Vec::new();
        }
        let characters = |part: &Part<'_>| match part.content() {
            Content::Text(text) => Some(Characters::from(text)),
            _ => None,
        };
        let texts: Vec<Option<Characters>> = parts.iter().map(characters).collect();
        let first = texts.iter().position(Option::is_some);
        self.citations_on(first, |part| texts.get(part)?.as_ref())
    }

    /// The same for parts of which only texts are known, each by its number, and which of them is the first.
    pub(in super::super) fn citations_on<'t>(
        &self,
        first: Option<usize>,
        text: impl Fn(usize) -> Option<&'t Characters>,
    ) -> Vec<(usize, Citation<'a>)> {
        let mut citations = Vec::new();
        for support in &self.supports {
            let known = |part| text(part).map(|text| (part, text));
            let found = known(support.part).or_else(|| first.and_then(known));
            let Some((index, text)) = found else { continue };
            let span = support.characters(text);
            for page in support.chunks.iter().filter_map(|chunk| self.chunks.get(*chunk)) {
                citations.push((index, citation(page, support, span)));
            }
        }
        citations
    }
}

impl Support<'_> {
    /// The stretch in characters, if its ends stand between characters.
    fn characters(&self, text: &Characters) -> Option<(u64, u64)> {
        let end = self.end?;
        text.text().get(self.start..end)?;
        let [start, end] = [self.start, end].map(|byte| u64::try_from(text.before(byte)));
        Some((start.ok()?, end.ok()?))
    }
}

fn citation<'a>(page: &Page<'a>, support: &Support<'a>, span: Option<(u64, u64)>) -> Citation<'a> {
    let Page { url, title, json } = page.clone();
    Citation { url, title, cited_text: support.text.clone(), span, ..Citation::new(SELF, json) }
}

/// Reads a chunk: an object whose one member says what sort of page it is.
fn page<'a>(reader: &mut Reader<'a>) -> Result<Page<'a>> {
    let json = reader.checkpoint().raw()?;
    let mut found = (None, None);
    reader.object(|_, reader| match reader.kind()? {
        Kind::Object => put(&mut found, address(reader)),
        _ => reader.skip(),
    })?;
    let (url, title) = found;
    Ok(Page { url, title, json })
}

fn address<'a>(reader: &mut Reader<'a>) -> Result<(Option<Text<'a>>, Option<Text<'a>>)> {
    let (mut url, mut title) = (None, None);
    reader.object(|key, reader| match (&*key, reader.kind()?) {
        ("uri", Kind::String) => set(&mut url, reader.string()),
        ("title", Kind::String) => set(&mut title, reader.string()),
        _ => reader.skip(),
    })?;
    Ok((url, title))
}

fn support<'a>(reader: &mut Reader<'a>) -> Result<Support<'a>> {
    let mut segment = Support::default();
    let mut chunks = Vec::new();
    reader.object(|key, reader| match (&*key, reader.kind()?) {
        ("segment", Kind::Object) => put(&mut segment, span(reader)),
        ("groundingChunkIndices", Kind::Array) => reader.array(|_, reader| {
            chunks.extend(usize::try_from(reader.u64()?).ok());
            Ok(())
        }),
        _ => reader.skip(),
    })?;
    Ok(Support { chunks, ..segment })
}

/// Reads a segment; an offset that is not stated is zero.
fn span<'a>(reader: &mut Reader<'a>) -> Result<Support<'a>> {
    let mut support = Support::default();
    reader.object(|key, reader| match (&*key, reader.kind()?) {
        ("partIndex", Kind::Number) => put(&mut support.part, index(reader)),
        ("startIndex", Kind::Number) => put(&mut support.start, index(reader)),
        ("endIndex", Kind::Number) => set(&mut support.end, index(reader)),
        ("text", Kind::String) => set(&mut support.text, reader.string()),
        _ => reader.skip(),
    })?;
    Ok(support)
}

fn index(reader: &mut Reader<'_>) -> Result<usize> {
    Ok(usize::try_from(reader.u64()?).unwrap_or(usize::MAX))
}
