//! Results of tools that are longer than the rules allow: cut, with a note at the end of what is left. What counts is all that a
//! result says in words: its texts, documents that are text, and the object that Gemini has before them.

use sabir_wire::conversation::{
    Content, Media, Part, Parts, Request, ResultOutput, Source, ToolResult,
};
use sabir_wire::json::{Json, Kind, Text, Writer};
use sabir_wire::{LossKind, Report};

/// Whether a result is longer.
pub(super) fn are_longer(request: &Request<'_>, max: usize) -> bool {
    results(request).any(|result| is_longer(result, max))
}

/// Cuts what is longer.
pub(super) fn cut(request: &mut Request<'_>, max: usize, report: &mut Report) {
    for message in &mut request.messages {
        if !message.parts.iter().any(|part| is_longer_part(part, max)) {
            continue;
        }
        let parts = std::mem::take(&mut message.parts);
        message.parts = parts.into_iter().map(|part| cut_part(part, max, report)).collect();
    }
}

fn results<'r>(request: &'r Request<'r>) -> impl Iterator<Item = &'r ToolResult<'r>> {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    parts.filter_map(|part| match part.content() {
        Content::ToolResult(result) => Some(&**result),
        _ => None,
    })
}

fn is_longer_part(part: &Part<'_>, max: usize) -> bool {
    matches!(part.content(), Content::ToolResult(result) if is_longer(result, max))
}

fn is_longer(result: &ToolResult<'_>, max: usize) -> bool {
    bytes_spelled(&result.output) > max && bytes(&result.output) > max
}

/// At least the bytes of all that a result says, without looking into it.
fn bytes_spelled(output: &ResultOutput<'_>) -> usize {
    let texts: usize = output.parts().iter().filter_map(text_of).map(Text::len_hint).sum();
    match output {
        ResultOutput::Parts(_) => texts,
        ResultOutput::Object { response, .. } => texts + response.as_str().len(),
    }
}

/// The bytes of all that a result says.
fn bytes(output: &ResultOutput<'_>) -> usize {
    let texts = output.parts().iter().filter_map(text_of);
    let texts: usize = texts.map(|text| text.to_str().len()).sum();
    match output {
        ResultOutput::Parts(_) => texts,
        ResultOutput::Object { response, .. } => texts + object_text(response).len(),
    }
}

fn text_of<'p>(part: &'p Part<'_>) -> Option<&'p Text<'p>> {
    match part.content() {
        Content::Text(text) => Some(text),
        Content::Media(media) => match &media.source {
            Source::Text { text, .. } => Some(text),
            Source::Base64 { .. } | Source::Url { .. } | Source::File { .. } => None,
        },
        _ => None,
    }
}

fn cut_part<'p>(part: Part<'p>, max: usize, report: &mut Report) -> Part<'p> {
    if !is_longer_part(&part, max) {
        return part;
    }
    let pointer = part.semantics().place().to_string();
    report.lose(pointer, LossKind::Approximated, "the result is cut by the gateway's rules");
    match part.into_content() {
        Content::ToolResult(mut result) => {
            let mut room = Room { left: max, max, bytes: bytes(&result.output), is_noted: false };
            result.output = match result.output {
                ResultOutput::Parts(parts) => ResultOutput::Parts(room.cut_texts(parts)),
                ResultOutput::Object { response, parts } => ResultOutput::Object {
                    response: room.cut_object(response),
                    parts: room.cut_texts(parts),
                },
            };
            Part::new(Content::ToolResult(result))
        }
        content => Part::new(content),
    }
}

/// What of a result still has room.
struct Room {
    left: usize,
    max: usize,
    /// Of the whole result.
    bytes: usize,
    /// Nothing may follow the note.
    is_noted: bool,
}

impl Room {
    /// What is left of a text that does not fit, and the note behind it; none if all of it fits.
    fn cut(&mut self, text: &str) -> Option<String> {
        if text.len() <= self.left {
            self.left -= text.len();
            return None;
        }
        let kept = &text[..text.floor_char_boundary(self.left)];
        let kept_bytes = self.max - self.left + kept.len();
        self.is_noted = true;
        Some(format!("{kept}\n[truncated: {kept_bytes} of {} bytes]", self.bytes))
    }

    /// The texts up to the limit, and the note behind them. What is no text stays.
    fn cut_texts<'p>(&mut self, parts: Parts<'p>) -> Parts<'p> {
        let cut = parts.into_iter().filter_map(|part| {
            let Some(text) = text_of(&part) else { return Some(part) };
            if self.is_noted {
                return None;
            }
            let noted = self.cut(&text.to_str());
            Some(match noted {
                Some(noted) => with_text(part, noted),
                None => part,
            })
        });
        cut.collect()
    }

    /// An object up to the limit. One that has to be cut and has more than a text is its JSON from then on.
    fn cut_object<'p>(&mut self, response: Json<'p>) -> Json<'p> {
        let (key, text) = only_text(&response)
            .unwrap_or_else(|| ("output".to_owned(), response.as_str().to_owned()));
        let Some(noted) = self.cut(&text) else { return response };
        let mut writer = Writer::default();
        writer.object(|it| it.field(&key, &*noted));
        Json::parse(writer.into_string()).unwrap_or(response)
    }
}

/// The part with another text in it.
fn with_text<'p>(part: Part<'p>, text: String) -> Part<'p> {
    let text = Text::plain(text);
    match part.into_content() {
        Content::Media(media) => {
            let Media { kind, detail, name, .. } = *media;
            let source = Source::Text { mime: None, text };
            Part::new(Content::Media(Box::new(Media { kind, source, detail, name })))
        }
        _ => Part::text(text),
    }
}

/// What an object says in words: its only member if that is text, else all of it.
fn object_text(response: &Json<'_>) -> String {
    only_text(response).map_or_else(|| response.as_str().to_owned(), |(_, text)| text)
}

/// The only member of an object and its text, if it is one.
fn only_text(response: &Json<'_>) -> Option<(String, String)> {
    let (mut members, mut found) = (0, None);
    let mut reader = response.reader();
    let read = reader.object(|key, reader| {
        members += 1;
        match reader.kind()? {
            Kind::String => {
                found = Some((key.into_owned(), reader.string()?.to_str().into_owned()))
            }
            _ => reader.skip()?,
        }
        Ok(())
    });
    read.ok()?;
    found.filter(|_| members == 1)
}
