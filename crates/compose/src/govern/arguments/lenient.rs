//! JSON as models spell it when they slip: in fences, with single quotes, with commas behind the last element, cut off before
//! its end. One pass, bounded in depth; what is meant otherwise is not guessed.

use serde_json::{Map, Value};

/// As deep as JSON is read elsewhere.
const DEPTH_MAX: usize = 128;

/// The value that a text means; none if it is not nearly JSON.
pub(super) fn parse(text: &str) -> Option<Value> {
    let mut reader = Lenient { rest: unfenced(text) };
    let value = reader.value(DEPTH_MAX)?;
    reader.skip_blank();
    reader.rest.is_empty().then_some(value)
}

/// The text within a fence of Markdown, if it stands in one.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let Some(inside) = text.strip_prefix("```") else { return text };
    let inside = inside.trim_start_matches(|it: char| it.is_ascii_alphanumeric());
    inside.strip_suffix("```").unwrap_or(inside).trim()
}

struct Lenient<'t> {
    rest: &'t str,
}

impl<'t> Lenient<'t> {
    fn value(&mut self, depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        self.skip_blank();
        match self.rest.chars().next()? {
            '{' => self.object(depth),
            '[' => self.array(depth),
            quote @ ('"' | '\'') => self.string(quote).map(Value::String),
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        self.rest = &self.rest[1..];
        let mut members = Map::new();
        loop {
            self.skip_separators();
            let key = match self.rest.chars().next() {
                None => return Some(Value::Object(members)),
                Some('}') => {
                    self.rest = &self.rest[1..];
                    return Some(Value::Object(members));
                }
                Some(quote @ ('"' | '\'')) => self.string(quote)?,
                Some(_) => self.bare_key()?,
            };
            self.skip_blank();
            if self.rest.is_empty() {
                // Cut off behind a key: nobody knows its value.
                return Some(Value::Object(members));
            }
            self.rest = self.rest.strip_prefix(':')?;
            self.skip_blank();
            if self.rest.is_empty() {
                return Some(Value::Object(members));
            }
            members.insert(key, self.value(depth)?);
        }
    }

    fn array(&mut self, depth: usize) -> Option<Value> {
        self.rest = &self.rest[1..];
        let mut elements = Vec::new();
        loop {
            self.skip_separators();
            match self.rest.chars().next() {
                None => return Some(Value::Array(elements)),
                Some(']') => {
                    self.rest = &self.rest[1..];
                    return Some(Value::Array(elements));
                }
                Some(_) => elements.push(self.value(depth)?),
            }
        }
    }

    /// A string in either kind of quotes, up to its end or that of the text.
    fn string(&mut self, quote: char) -> Option<String> {
        let mut text = String::new();
        let mut characters = self.rest[1..].chars();
        while let Some(character) = characters.next() {
            match character {
                '\\' => {
                    let Some(escaped) = characters.next() else { break };
                    push_escaped(&mut text, escaped, &mut characters);
                }
                _ if character == quote => break,
                _ => text.push(character),
            }
        }
        self.rest = characters.as_str();
        Some(text)
    }

    fn bare_key(&mut self) -> Option<String> {
        let end = self.rest.find(|it: char| !it.is_alphanumeric() && it != '_' && it != '-');
        let (key, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        (!key.is_empty()).then(|| key.to_owned())
    }

    /// A number, a boolean or null, in the words of JSON or of Python.
    fn word(&mut self) -> Option<Value> {
        let ends = |it: char| it.is_whitespace() || matches!(it, ',' | '}' | ']' | ':');
        let end = self.rest.find(ends).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        let is_cut = rest.is_empty();
        match word {
            "true" | "True" => Some(Value::Bool(true)),
            "false" | "False" => Some(Value::Bool(false)),
            "null" | "None" => Some(Value::Null),
            // A number at the very end may have lost digits, so that it is none.
            _ if is_cut => None,
            number => serde_json::from_str::<serde_json::Number>(number).ok().map(Value::Number),
        }
    }

    fn skip_blank(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Passes over blanks and the comma between elements, also one that nothing follows.
    fn skip_separators(&mut self) {
        self.skip_blank();
        if let Some(rest) = self.rest.strip_prefix(',') {
            self.rest = rest.trim_start();
        }
    }
}

fn push_escaped(text: &mut String, escaped: char, characters: &mut std::str::Chars<'_>) {
    match escaped {
        'n' => text.push('\n'),
        't' => text.push('\t'),
        'r' => text.push('\r'),
        'b' => text.push('\u{8}'),
        'f' => text.push('\u{c}'),
        'u' => text.push(code_point(characters).unwrap_or(char::REPLACEMENT_CHARACTER)),
        other => text.push(other),
    }
}

/// The character of four digits, or of two halves of a pair.
fn code_point(characters: &mut std::str::Chars<'_>) -> Option<char> {
    let unit = |characters: &mut std::str::Chars<'_>| {
        let digits = characters.as_str().get(..4)?;
        let unit = u16::from_str_radix(digits, 16).ok()?;
        *characters = characters.as_str()[4..].chars();
        Some(unit)
    };
    let first = unit(characters)?;
    if !(0xd800..0xdc00).contains(&first) {
        return char::from_u32(first.into());
    }
    *characters = characters.as_str().strip_prefix("\\u")?.chars();
    char::decode_utf16([first, unit(characters)?]).next()?.ok()
}
