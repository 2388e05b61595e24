//! Results of tools that are longer than the rules allow: cut, with a note at the end of what is left.

use sabir_wire::conversation::{Content, Part, Parts, Request, ResultOutput, ToolResult};
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
    match &result.output {
        ResultOutput::Parts(parts) => text_bytes(parts, max) > max,
        ResultOutput::Object { response, parts } => {
            response.as_str().len() > max && object_text(response).len() > max
                || text_bytes(parts, max) > max
        }
    }
}

/// The bytes of all texts; texts that are short even as they are spelled are not looked into.
fn text_bytes(parts: &Parts<'_>, max: usize) -> usize {
    let texts = || parts.iter().filter_map(text_of);
    match texts().map(Text::len_hint).sum::<usize>() {
        bytes if bytes <= max => bytes,
        _ => texts().map(|text| text.to_str().len()).sum(),
    }
}

fn text_of<'p>(part: &'p Part<'_>) -> Option<&'p Text<'p>> {
    match part.content() {
        Content::Text(text) => Some(text),
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
            result.output = match result.output {
                ResultOutput::Parts(parts) => ResultOutput::Parts(cut_texts(parts, max)),
                ResultOutput::Object { response, parts } => ResultOutput::Object {
                    response: cut_object(response, max),
                    parts: cut_texts(parts, max),
                },
            };
            Part::new(Content::ToolResult(result))
        }
        content => Part::new(content),
    }
}

/// The texts up to the limit, and the note behind them. What is no text stays.
fn cut_texts(parts: Parts<'_>, max: usize) -> Parts<'_> {
    let bytes = text_bytes(&parts, max);
    if bytes <= max {
        return parts;
    }
    let (mut left, mut is_noted) = (max, false);
    let cut = parts.into_iter().filter_map(|part| {
        let Some(text) = text_of(&part) else { return Some(part) };
        let text = text.to_str();
        if is_noted {
            return None;
        }
        if text.len() <= left {
            left -= text.len();
            drop(text);
            return Some(part);
        }
        is_noted = true;
        let kept = up_to(&text, left);
        Some(Part::text(Text::plain(noted(kept, max - left + kept.len(), bytes))))
    });
    cut.collect()
}

/// What an object says in words: its only member if that is text, else all of it.
fn object_text(response: &Json<'_>) -> String {
    only_text(response).map_or_else(|| response.as_str().to_owned(), |(_, text)| text)
}

fn cut_object<'p>(response: Json<'p>, max: usize) -> Json<'p> {
    let (key, text) =
        only_text(&response).unwrap_or_else(|| ("output".to_owned(), response.as_str().to_owned()));
    if text.len() <= max {
        return response;
    }
    let kept = up_to(&text, max);
    let mut writer = Writer::default();
    writer.object(|it| it.field(&key, &*noted(kept, kept.len(), text.len())));
    Json::parse(writer.into_string()).unwrap_or(response)
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

fn up_to(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

fn noted(kept: &str, kept_bytes: usize, bytes: usize) -> String {
    format!("{kept}\n[truncated: {kept_bytes} of {bytes} bytes]")
}
