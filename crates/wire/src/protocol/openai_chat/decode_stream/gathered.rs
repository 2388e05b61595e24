//! What comes in fragments that mean nothing by themselves and is told when the choice ends.

use crate::error::Result;
use crate::json::Json;
use crate::json::Kind;
use crate::json::Reader;
use crate::json::Text;
use crate::json::Writer;
use crate::protocol::semantics::Extras;

/// The `reasoning_details` of a choice.
#[derive(Debug, Default)]
pub(super) struct Details(Vec<Detail>);

/// One of them: its members in order.
#[derive(Debug)]
struct Detail(Vec<(String, Value)>);

#[derive(Debug)]
enum Value {
    Text(Text<'static>),
    Json(Json<'static>),
}

impl Details {
    /// Adds fragments; those of one index and type make one detail.
    pub(super) fn add(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        reader.array(|_, reader| {
            if reader.kind()? != Kind::Object {
                return reader.skip();
            }
            let fragment = Detail::read(reader)?;
            match self.0.iter_mut().find(|detail| detail.continues_in(&fragment)) {
                Some(detail) => detail.merge(fragment),
                None => self.0.push(fragment),
            }
            Ok(())
        })
    }

    /// All of them as one list.
    pub(super) fn take(&mut self) -> Option<Json<'static>> {
        let details = std::mem::take(&mut self.0);
        if details.is_empty() {
            return None;
        }
        let mut writer = Writer::default();
        writer.array(|writer| details.iter().for_each(|detail| detail.write(writer)));
        Json::parse(writer.into_string()).ok()
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
        let same = |name: &str| match (self.member(name), fragment.member(name)) {
            (Some(Value::Text(one)), Some(Value::Text(two))) => one == two,
            (Some(Value::Json(one)), Some(Value::Json(two))) => one == two,
            _ => false,
        };
        same("index") && same("type")
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
#[derive(Debug, Default)]
pub(super) struct Audio {
    data: Text<'static>,
    transcript: Option<Text<'static>>,
    others: Vec<(String, Json<'static>)>,
}

impl Audio {
    pub(super) fn add(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        reader.object(|key, reader| {
            match (&*key, reader.kind()?) {
                ("data", Kind::String) => self.data.push(&reader.string()?),
                ("transcript", Kind::String) => {
                    let more = reader.string()?;
                    self.transcript.get_or_insert_default().push(&more);
                }
                _ => {
                    let json = reader.raw()?.into_owned();
                    self.others.retain(|(known, _)| *known != key);
                    self.others.push((key.into_owned(), json));
                }
            }
            Ok(())
        })
    }

    /// The sound, and what else was said of it.
    pub(super) fn finish(self) -> Option<(Text<'static>, Extras<'static>)> {
        let mut extras = Extras::default();
        for (key, json) in self.others {
            extras.keep("", key.into(), json);
        }
        if let Some(transcript) = self.transcript {
            let mut writer = Writer::default();
            writer.value(&transcript);
            extras.keep("", "transcript".into(), Json::parse(writer.into_string()).ok()?);
        }
        Some((self.data, extras))
    }
}

/// What a chunk of content says.
pub(super) enum ChunkText<'f> {
    Text(Text<'f>),
    Thinking(Vec<Text<'f>>),
}

/// The text of a chunk of content that is nothing but text or thinking.
pub(super) fn chunk_text<'f>(json: &Json<'f>) -> Option<ChunkText<'f>> {
    let mut reader = json.input_reader()?;
    let kind = reader.peek_tag("type").ok()??;
    let mut text = None;
    let mut thinking = Vec::new();
    reader
        .object(|key, reader| match (&*key, reader.kind()?) {
            ("text", Kind::String) => reader.string().map(|it| text = Some(it)),
            ("thinking", Kind::Array) => reader.array(|_, reader| {
                if let Some(text) = reader.peek_tag("text")? {
                    thinking.push(text);
                }
                reader.skip()
            }),
            _ => reader.skip(),
        })
        .ok()?;
    match (&*kind.to_str(), text) {
        ("text", Some(text)) => Some(ChunkText::Text(text)),
        ("thinking", None) => Some(ChunkText::Thinking(thinking)),
        _ => None,
    }
}
