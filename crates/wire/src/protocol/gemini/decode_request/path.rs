//! Paths into the arguments of a call, of which a piece says by them where its values belong.

use std::borrow::Cow;

use crate::json::Json;
use crate::protocol::partial_call::Step;

/// How deep a path may lead.
const STEPS_MAX: usize = 64;

/// The steps of a path such as `$.ports[0].name` or `$['a b']`, and whether all of them are as RFC 9535 has them.
pub(super) fn steps(path: Cow<'_, str>) -> Option<(Vec<Step<'_>>, bool)> {
    match path {
        Cow::Borrowed(path) => steps_of(path),
        Cow::Owned(path) => {
            let (steps, are_proper) = steps_of(&path)?;
            Some((steps.into_iter().map(Step::into_owned).collect(), are_proper))
        }
    }
}

fn steps_of(path: &str) -> Option<(Vec<Step<'_>>, bool)> {
    let mut rest = path.strip_prefix('$')?;
    let (mut steps, mut are_proper) = (Vec::new(), true);
    while !rest.is_empty() && steps.len() < STEPS_MAX {
        let (step, behind) = match rest.strip_prefix('.') {
            Some(named) => {
                let (name, behind) = shorthand(named)?;
                are_proper &= is_proper(name);
                (Step::Key(Cow::Borrowed(name)), behind)
            }
            None => bracketed(rest)?,
        };
        steps.push(step);
        rest = behind;
    }
    (rest.is_empty() && !steps.is_empty()).then_some((steps, are_proper))
}

/// A name behind a dot, and what stands behind it. A star is no name: it means many places.
fn shorthand(path: &str) -> Option<(&str, &str)> {
    let (name, behind) = path.split_at(path.find(['.', '[']).unwrap_or(path.len()));
    (!name.is_empty() && name != "*").then_some((name, behind))
}

/// Whether a name may stand without quotes.
fn is_proper(name: &str) -> bool {
    let is_letter = |it: char| it.is_ascii_alphabetic() || it == '_' || !it.is_ascii();
    name.starts_with(is_letter) && name.chars().all(|it| is_letter(it) || it.is_ascii_digit())
}

fn bracketed(path: &str) -> Option<(Step<'_>, &str)> {
    let rest = path.strip_prefix('[')?;
    if rest.starts_with(['\'', '"']) {
        let (key, behind) = quoted(rest)?;
        return Some((Step::Key(key), behind.strip_prefix(']')?));
    }
    let (index, behind) = rest.split_once(']')?;
    let is_number = index == "0" || !index.starts_with(['0', '+']);
    Some((Step::Index(index.parse().ok().filter(|_| is_number)?), behind))
}

/// A key in quotes, whichever they are, and what stands behind it; a backslash escapes as in JSON, and quotes too.
fn quoted(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let quote = text.chars().next()?;
    let body = &text[1..];
    let mut is_escaped = false;
    let end = body.find(|character| {
        let ends = character == quote && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        ends
    })?;
    let (key, behind) = (&body[..end], &body[end + 1..]);
    match key.contains('\\') {
        true => Some((Cow::Owned(unescaped(key)?), behind)),
        false => Some((Cow::Borrowed(key), behind)),
    }
}

fn unescaped(key: &str) -> Option<String> {
    let mut body = String::with_capacity(key.len());
    let mut characters = key.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => body.push_str("\\\""),
            '\\' => match characters.next()? {
                '\'' => body.push('\''),
                escape => body.extend(['\\', escape]),
            },
            _ => body.push(character),
        }
    }
    let text = Json::parse(format!("\"{body}\"")).ok()?;
    text.reader().string().ok().map(|text| text.to_str().into_owned())
}
