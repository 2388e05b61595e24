//! How servers say that a prompt does not fit the window of their model: their texts as data, each with the place where it was
//! seen. Most of them come under a status that says no more than that the request was bad.

/// By how much a prompt does not fit, as far as anybody said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overflow {
    /// What was asked for: the prompt, and where a server adds it up, the answer that was to follow.
    pub tokens: Option<u64>,
    /// What the model takes.
    pub window: Option<u64>,
}

impl Overflow {
    /// Both counts, if both are known.
    pub(crate) fn counts(self) -> Option<(u64, u64)> {
        self.tokens.zip(self.window)
    }
}

/// How much of an error is looked at. Servers say in a sentence what is wrong; the rest may repeat the prompt.
const TEXT_BYTES_MAX: usize = 8 * 1024;

/// What a text says of a prompt that does not fit; none if it speaks of something else.
pub(crate) fn find(text: &str) -> Option<Overflow> {
    let text = text[..text.floor_char_boundary(TEXT_BYTES_MAX)].to_ascii_lowercase();
    templates().find_map(|template| read(template, &text))
}

/// The texts, most telling first; the file says how to read and extend it.
fn templates() -> impl Iterator<Item = &'static str> {
    include_str!("overflow.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Reads a text by a template that may begin anywhere in it.
fn read(template: &str, text: &str) -> Option<Overflow> {
    let begin = literal(template);
    let mut places = text.match_indices(begin);
    places.find_map(|(at, _)| read_on(&template[begin.len()..], &text[at + begin.len()..]))
}

/// Reads a text by what is left of a template.
fn read_on(mut template: &str, mut text: &str) -> Option<Overflow> {
    let (mut found, mut output) = (Overflow::default(), 0);
    while let Some(first) = template.chars().next() {
        (template, text) = match first {
            '{' => {
                let (name, rest) = template[1..].split_once('}')?;
                let (number, behind) = number(text)?;
                match name {
                    "tokens" => found.tokens = Some(number),
                    "output" => output = number,
                    "window" => found.window = Some(number),
                    _ => {}
                }
                (rest, behind)
            }
            '*' => {
                let literal = literal(&template[1..]);
                (&template[1..], &text[text.find(literal)?..])
            }
            _ => {
                let literal = literal(template);
                (&template[literal.len()..], text.strip_prefix(literal)?)
            }
        };
    }
    let tokens = found.tokens.map(|tokens| tokens.saturating_add(output));
    Some(Overflow { tokens, ..found })
}

/// What a template begins with, up to what stands for something else.
fn literal(template: &str) -> &str {
    &template[..template.find(['{', '*']).unwrap_or(template.len())]
}

/// The number that a text begins with, and what follows it. Some servers set thousands apart.
fn number(text: &str) -> Option<(u64, &str)> {
    let is_part = |byte: u8| byte.is_ascii_digit() || byte == b',';
    let length = text.bytes().take_while(|byte| is_part(*byte)).count();
    let digits = text[..length].trim_end_matches(',');
    let number = digits.replace(',', "").parse().ok()?;
    Some((number, &text[digits.len()..]))
}

#[cfg(test)]
mod tests;
