//! Writing labels: of the metadata of other protocols only what the vendor takes as one.
//! Fixture `request/fields/metadata-that-is-no-label`.

use crate::json::{Json, Kind, push_key};
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::Field;
use crate::protocol::object::Object;

use super::Scribe;

/// How many labels a request may have.
const LABELS_MAX: usize = 64;

/// How long the key or the value of a label may be, in characters and in bytes.
const CHARS_MAX: usize = 63;
const BYTES_MAX: usize = 128;

impl Scribe<'_, '_> {
    pub(super) fn labels(&mut self, object: &mut Object<'_, '_>) {
        let Some(metadata) = &self.decoded.request.metadata else { return };
        if self.is_same() {
            return object.field("labels", metadata);
        }
        let mut written = 0;
        let labels = Json::of_object(|labels| {
            let read = metadata.reader().object(|key, reader| {
                let value = match reader.kind()? {
                    Kind::String => Some(reader.string()?),
                    _ => reader.skip().map(|()| None)?,
                };
                match value.filter(|value| is_key(&key) && is_value(&value.to_str())) {
                    Some(value) if written < LABELS_MAX => {
                        labels.field(&key, &value);
                        written += 1;
                    }
                    _ => self.report_label(&key),
                }
                Ok(())
            });
            if read.is_err() {
                self.reporter.dropped(Field::Metadata, "labels are pairs of short texts");
            }
        });
        if written > 0 {
            object.field("labels", &labels);
        }
    }

    fn report_label(&mut self, key: &str) {
        let mut suffix = String::new();
        push_key(&mut suffix, key);
        let reason = "labels are limited in length and to lower-case letters";
        let field = (Field::Metadata, suffix.as_str());
        self.reporter.within(Place::default(), field, LossKind::Dropped, reason);
    }
}

fn is_key(key: &str) -> bool {
    key.chars().next().is_some_and(char::is_alphabetic) && is_value(key)
}

fn is_value(text: &str) -> bool {
    let is_allowed = |letter: char| match letter {
        '_' | '-' => true,
        letter => letter.is_alphanumeric() && !letter.is_uppercase(),
    };
    text.len() <= BYTES_MAX && text.chars().count() <= CHARS_MAX && text.chars().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_a_small_alphabet() {
        for key in ["team", "cost-center_2", "équipe", &"a".repeat(63)] {
            assert!(is_key(key), "{key}");
        }
        for key in ["", "Team", "2team", "_team", "team id", "team.id", &"a".repeat(64)] {
            assert!(!is_key(key), "{key}");
        }
        assert!(is_value("") && is_value("42") && !is_value("a@example.com"));
    }
}
