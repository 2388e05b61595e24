//! Reasoning details and audio, which come in fragments that mean nothing by themselves and are emitted when the choice ends.

use crate::error::Result;
use crate::json::{Json, Kind, Reader, Text, Writer};
use crate::place::Place;
use crate::protocol::openai_chat::decode_stream::extra;
use crate::protocol::semantics::NodeSemantics;

/// The `reasoning_details` of a choice.
#[derive(Debug, Default)]
pub(super) struct Details {
    list: Vec<Detail>,
    /// Where the first of them stood.
    place: Place,
}

/// One of them: its members in order.
#[derive(Debug)]
struct Detail(Vec<(String, Value)>);

#[derive(Debug, PartialEq)]
enum Value {
    Text(Text<'static>),
    Json(Json<'static>),
}

impl Details {
    /// Adds fragments; those of one index and type make one detail.
    pub(super) fn add(&mut self, reader: &mut Reader<'_>, place: Place) -> Result<()> {
        if self.list.is_empty() {
            self.place = place;
        }
        reader.array(|_, reader| {
            if reader.kind()? != Kind::Object {
                return reader.skip();
            }
            let fragment = Detail::read(reader)?;
            match self.list.iter_mut().find(|detail| detail.continues_in(&fragment)) {
                Some(detail) => detail.merge(fragment),
                None => self.list.push(fragment),
            }
            Ok(())
        })
    }

    /// All of them as one list, and where it begins.
    pub(super) fn take(&mut self) -> Option<(Json<'static>, Place)> {
        let details = std::mem::take(&mut self.list);
        if details.is_empty() {
            return None;
        }
        let list = Json::of_list(|list| details.iter().for_each(|detail| detail.write(list)));
        Some((list, self.place))
    }
}

impl Detail {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let mut members = Vec::new();
        reader.object(|key, reader| {
            let value = match reader.kind()? {
                Kind::String => Value::Text(reader.string()?.into_owned()),
                _ => Value::Json(reader.raw()?.into_owned()),
            };
            members.push((key.into_owned(), value));
            Ok(())
        })?;
        Ok(Self(members))
    }

    fn member(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    fn continues_in(&self, fragment: &Detail) -> bool {
        let known = |name: &&str| self.member(name).is_some();
        ["index", "type"].iter().all(|it| known(it) && self.member(it) == fragment.member(it))
    }

    fn merge(&mut self, fragment: Detail) {
        for (key, value) in fragment.0 {
            let known = self.0.iter_mut().find(|(known, _)| *known == key);
            match (known, value) {
                (Some((_, Value::Text(text))), Value::Text(more)) if grows(&key) => {
                    text.push(&more)
                }
                (Some((_, known)), value) => *known = value,
                (None, value) => self.0.push((key, value)),
            }
        }
    }

    fn write(&self, writer: &mut Writer) {
        writer.object(|object| {
            for (key, value) in &self.0 {
                match value {
                    Value::Text(text) => object.field(key, text),
                    Value::Json(json) => object.field(key, json),
                }
            }
        });
    }
}

/// Whether fragments of this member are stretches of one text.
fn grows(key: &str) -> bool {
    matches!(key, "text" | "summary" | "data")
}

/// The spoken answer of a choice.
#[derive(Debug)]
pub(super) struct Audio {
    data: Text<'static>,
    transcript: Option<(Text<'static>, Place)>,
    /// What else was stated about it.
    semantics: NodeSemantics<'static>,
}

impl Audio {
    pub(super) fn at(place: Place) -> Self {
        Self { data: Text::default(), transcript: None, semantics: NodeSemantics::at(place) }
    }

    pub(super) fn add(&mut self, reader: &mut Reader<'_>, place: Place) -> Result<()> {
        reader.object(|key, reader| {
            match (&*key, reader.kind()?) {
                ("data", Kind::String) => self.data.push(&reader.string()?),
                ("transcript", Kind::String) => {
                    let more = reader.string()?;
                    let begun = self.transcript.get_or_insert_with(|| (Text::default(), place));
                    begun.0.push(&more);
                }
                _ => {
                    let json = reader.raw()?.into_owned();
                    self.semantics.merge(extra(place, ("", &key), json));
                }
            }
            Ok(())
        })
    }

    /// The sound, and what else was stated about it.
    pub(super) fn finish(mut self) -> (Text<'static>, NodeSemantics<'static>) {
        if let Some((transcript, place)) = self.transcript {
            self.semantics.merge(extra(place, ("", "transcript"), Json::of_text(&transcript)));
        }
        (self.data, self.semantics)
    }
}
