//! The lines of a session file, and the members of the objects that stand in them.

use std::borrow::Cow;

use sabir_wire::json::{Json, Kind};

use super::error::SessionError;
use super::place::Place;
use super::{FILE_BYTES_MAX, LINE_BYTES_MAX, LINES_MAX};

/// One line: an object.
pub(super) struct Line<'a> {
    /// Counted from 1.
    pub(super) number: usize,
    pub(super) members: Members<'a>,
}

/// The members of an object, to be asked for by name. What has another type than is asked for is not there.
pub(super) struct Members<'a>(Vec<(Cow<'a, str>, Json<'a>)>);

impl<'a> Members<'a> {
    /// None if it is no object.
    pub(super) fn of(json: &Json<'a>) -> Option<Self> {
        let mut members = Vec::new();
        let mut reader = json.input_reader()?;
        let read = reader.object(|key, reader| {
            members.push((key, reader.raw()?));
            Ok(())
        });
        read.is_ok().then_some(Self(members))
    }

    /// A member that is there and not null; of several the last.
    pub(super) fn get(&self, name: &str) -> Option<&Json<'a>> {
        let named = self.0.iter().rev().find(|(key, _)| key == name);
        named.map(|(_, value)| value).filter(|value| !value.is_null())
    }

    pub(super) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        text(self.get(name)?)
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.reader().u64().ok()
    }

    pub(super) fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.as_str() == "true")
    }

    pub(super) fn object(&self, name: &str) -> Option<Self> {
        Self::of(self.get(name)?)
    }

    pub(super) fn list(&self, name: &str) -> Option<Vec<Json<'a>>> {
        list(self.get(name)?)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Json<'a>)> {
        self.0.iter().map(|(key, value)| (&**key, value))
    }
}

impl<'a> Line<'a> {
    pub(super) fn place(&self) -> Place {
        Place::of(self.number, &self.members)
    }

    /// An object that the line must have.
    pub(super) fn object(&self, name: &str) -> Result<Members<'a>, SessionError> {
        let found = self.members.object(name);
        found.ok_or_else(|| SessionError::at(self.number, format!("expected an object `{name}`")))
    }
}

pub(super) fn text<'a>(json: &Json<'a>) -> Option<Cow<'a, str>> {
    Some(json.input_reader()?.string().ok()?.into_str())
}

pub(super) fn list<'a>(json: &Json<'a>) -> Option<Vec<Json<'a>>> {
    json.input_reader()?.list(|_, reader| reader.raw()).ok()
}

pub(super) fn check_size(bytes: usize) -> Result<(), SessionError> {
    if bytes > FILE_BYTES_MAX { Err(SessionError::too_large(bytes)) } else { Ok(()) }
}

/// A file that is one JSON object over several lines, as the first versions of Gemini CLI wrote it.
pub(super) fn document(text: &str) -> Option<Members<'_>> {
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    if first.trim() != "{" {
        return None;
    }
    Members::of(&Json::parse(text).ok()?)
}

/// The lines that are JSON.
pub(super) fn valid(text: &str) -> impl Iterator<Item = Json<'_>> {
    let lines = text.lines().filter(|line| line.len() <= LINE_BYTES_MAX);
    lines.filter_map(|line| Json::parse(line).ok())
}

/// Hands over line by line. Whether the last one was cut off.
pub(super) fn each<'a>(
    text: &'a str,
    mut take: impl FnMut(Line<'a>) -> Result<(), SessionError>,
) -> Result<bool, SessionError> {
    if let Some(members) = document(text) {
        take(Line { number: 1, members })?;
        return Ok(false);
    }
    let mut lines = text.split('\n').zip(1..).peekable();
    while let Some((line, number)) = lines.next() {
        let is_last = lines.peek().is_none();
        if number > LINES_MAX {
            return Err(SessionError::too_many_lines());
        }
        if line.trim().is_empty() {
            continue;
        }
        if line.len() > LINE_BYTES_MAX {
            return Err(SessionError::line_too_long(number, line.len()));
        }
        match Json::parse(line) {
            Ok(json) => take(Line { number, members: members(&json, number)? })?,
            // Whole lines end with a line break.
            Err(_) if is_last => return Ok(true),
            Err(error) => return Err(SessionError::at(number, error.message())),
        }
    }
    Ok(false)
}

fn members<'a>(json: &Json<'a>, number: usize) -> Result<Members<'a>, SessionError> {
    let found = Members::of(json).filter(|_| json.kind() == Kind::Object);
    found.ok_or_else(|| SessionError::at(number, "expected an object"))
}
