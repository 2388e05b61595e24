//! What a call did to the world, guessed from the name of its tool, and for shells from the command.

use sabir_wire::conversation::{Arguments, ToolCall};
use sabir_wire::json::{Json, Kind, Reader};

use crate::class::shell;
use crate::class::words::{
    COMMAND_MEMBERS, EDITORS, NOTES, READERS, SEARCHERS, SHELLS, VIEWING, WRITERS,
};

/// What a tool did, from the least to the farthest-reaching.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolEffect {
    Other,
    Read,
    Searched,
    Wrote,
}

pub(super) fn effect_of_call(call: &ToolCall<'_>) -> ToolEffect {
    let name = plain_name(&call.name.to_str());
    if SHELLS.contains(&name.as_str()) {
        return command(call).map_or(ToolEffect::Other, |words| shell::effect(&words));
    }
    if EDITORS.contains(&name.as_str()) {
        return effect_of_editor(call);
    }
    effect_of_plain(&name).unwrap_or(ToolEffect::Other)
}

pub(super) fn effect_of_name(name: &str) -> Option<ToolEffect> {
    effect_of_plain(&plain_name(name))
}

/// A tool that views and edits, by what it is told to do.
fn effect_of_editor(call: &ToolCall<'_>) -> ToolEffect {
    match command(call).as_deref() {
        Some([word, ..]) if VIEWING.contains(&word.as_str()) => ToolEffect::Read,
        _ => ToolEffect::Wrote,
    }
}

fn effect_of_plain(name: &str) -> Option<ToolEffect> {
    let by_words = [
        (NOTES, ToolEffect::Other),
        (WRITERS, ToolEffect::Wrote),
        (SEARCHERS, ToolEffect::Searched),
        (READERS, ToolEffect::Read),
    ];
    let is_meant = |words: &[&str]| words.iter().any(|word| has_words(name, word));
    by_words.into_iter().find(|(words, _)| is_meant(words)).map(|(_, effect)| effect)
}

/// Whether the words, joined by underscores, stand in the name.
fn has_words(name: &str, words: &str) -> bool {
    name.match_indices(words).any(|(at, _)| {
        let (before, after) = (&name[..at], &name[at + words.len()..]);
        (before.is_empty() || before.ends_with('_')) && (after.is_empty() || after.starts_with('_'))
    })
}

/// The name in lower case with underscores between its words, without the server that it came from.
fn plain_name(name: &str) -> String {
    let own = name.rsplit("__").next().unwrap_or(name);
    let mut plain = String::with_capacity(own.len() + 4);
    let mut was_lower = false;
    for character in own.chars() {
        if character.is_uppercase() && was_lower {
            plain.push('_');
        }
        was_lower = character.is_lowercase() || character.is_ascii_digit();
        match character.is_alphanumeric() {
            true => plain.extend(character.to_lowercase()),
            false if plain.ends_with('_') || plain.is_empty() => {}
            false => plain.push('_'),
        }
    }
    plain
}

/// The words of the command in a call's arguments.
fn command(call: &ToolCall<'_>) -> Option<Vec<String>> {
    match &call.arguments {
        Arguments::Json(json) => command_in(json),
        Arguments::Text(text) => {
            let text = text.to_str();
            match Json::parse(&*text) {
                Ok(json) => command_in(&json),
                // A custom tool takes the command itself.
                Err(_) => Some(vec![text.into_owned()]),
            }
        }
    }
}

/// The first member that holds a command: a string, or a list of words.
fn command_in(json: &Json<'_>) -> Option<Vec<String>> {
    let mut found = None;
    let read = json.reader().object(|key, reader| {
        if found.is_some() || !COMMAND_MEMBERS.iter().any(|name| *key == **name) {
            return reader.skip();
        }
        found = match reader.kind()? {
            Kind::String => Some(vec![reader.string()?.into_str().into_owned()]),
            Kind::Array => Some(words(reader)?),
            _ => return reader.skip(),
        };
        Ok(())
    });
    read.ok().and(found)
}

fn words(reader: &mut Reader<'_>) -> sabir_wire::Result<Vec<String>> {
    let mut words = Vec::new();
    reader.array(|_, reader| {
        match reader.kind()? {
            Kind::String => words.push(reader.string()?.into_str().into_owned()),
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(words)
}
