//! Lists of models, in the shape of each protocol.

use sabir_wire::json::{Kind, Reader, Text, Writer};

use crate::surface::{Capabilities, all, without_collection};

/// The shape of a protocol's list of models.
pub(crate) struct ModelList {
    /// The query that asks for all models at once, where they come in pages.
    pub(crate) whole_page: &'static str,
    /// The field that holds the models.
    pub(crate) field: &'static str,
    /// Writes the fields before the models.
    pub(crate) write_head: fn(&[Listed], &mut Writer),
    /// Writes the fields of one model.
    pub(crate) write_model: fn(&Listed, &mut Writer),
}

/// A model in a list.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) name: String,
    /// What is known of whoever answers first.
    pub(crate) capabilities: Option<Capabilities>,
}

impl Listed {
    /// How many tokens go in and come out, where that is known.
    pub(crate) fn limits(&self) -> (Option<u64>, Option<u64>) {
        let known = self.capabilities;
        (known.and_then(|it| it.context_window), known.and_then(|it| it.max_output_tokens))
    }
}

impl ModelList {
    pub(crate) fn write(&self, models: &[Listed]) -> String {
        let mut writer = Writer::with_capacity(models.len() * 160 + 128);
        writer.object(|it| {
            (self.write_head)(models, it);
            it.key(self.field);
            it.array(|list| {
                for model in models {
                    list.object(|it| (self.write_model)(model, it));
                }
            });
        });
        writer.into_string()
    }

    pub(crate) fn write_one(&self, model: &Listed) -> String {
        let mut writer = Writer::with_capacity(256);
        writer.object(|it| (self.write_model)(model, it));
        writer.into_string()
    }
}

/// The ids in a list of any shape: a server may have that of another protocol than it is asked in.
pub(crate) fn ids(body: &[u8]) -> Vec<String> {
    let mut ids = Vec::new();
    let Ok(mut reader) = Reader::from_slice(body) else { return ids };
    let is_list = |key: &str| all().any(|surface| surface.model_list.field == key);
    let _ = reader.object(|key, reader| match reader.kind()? {
        Kind::Array if is_list(&key) => reader.array(|_, reader| {
            ids.extend(id(reader)?);
            Ok(())
        }),
        _ => reader.skip(),
    });
    ids
}

/// The id of a model; where there is none, its name without the collection before it.
fn id(reader: &mut Reader<'_>) -> sabir_wire::Result<Option<String>> {
    let mut found: Option<Text<'_>> = None;
    reader.object(|key, reader| {
        match (&*key, reader.kind()?) {
            ("id", Kind::String) => found = Some(reader.string()?),
            ("name", Kind::String) if found.is_none() => found = Some(reader.string()?),
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(found.map(|id| without_collection(&id.to_str()).to_owned()))
}
