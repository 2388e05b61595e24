//! Writing log probabilities: the tokens that were chosen and, in a list beside them, those that might have been.

use crate::error::Result;
use crate::json::{Json, Kind, Number, Reader, Text, Writer};
use crate::protocol::Logprobs;
use crate::protocol::gemini::decode_response::token_bytes;
use crate::protocol::object::{put, set};
use crate::protocol::semantics::Fidelity;

/// The `logprobsResult` of an answer; none if it has no tokens.
pub(in super::super) fn logprobs_result(logprobs: &Logprobs<'_>) -> Option<Json<'static>> {
    match logprobs.origin() {
        Some(results) => Some(joined(results)),
        None => EntryList::read(&mut logprobs.entries().reader()).ok()?.result(),
    }
}

/// Whether log probabilities of another protocol come back from here as they were.
pub(in super::super) fn fidelity(logprobs: &Logprobs<'_>) -> Fidelity {
    let entries = logprobs.entries();
    let parsed = EntryList::read(&mut entries.reader());
    Fidelity::whole_if(parsed.is_ok_and(|parsed| parsed.is_plain))
}

const LISTS: [&str; 2] = ["chosenCandidates", "topCandidates"];

/// The results of a stream as one: its lists go on, and of all else the last word holds.
fn joined(results: &[Json<'_>]) -> Json<'static> {
    if let [one] = results {
        return one.clone().into_owned();
    }
    let mut lists = LISTS.map(|_| None::<Vec<Json<'_>>>);
    let mut others: Vec<(String, Json<'_>)> = Vec::new();
    for result in results {
        // They were read before, so reading them again cannot fail.
        let _ = result.reader().object(|key, value| {
            let list = LISTS.iter().position(|name| *name == key);
            match (list, value.kind()?) {
                (Some(list), Kind::Array) => {
                    let values = value.list(|_, value| value.raw());
                    values.map(|values| lists[list].get_or_insert_default().extend(values))
                }
                _ => {
                    others.retain(|(known, _)| *known != key);
                    others.push((key.into_owned(), value.raw()?.into_owned()));
                    Ok(())
                }
            }
        });
    }
    Json::of_object(|object| {
        LISTS.iter().zip(&lists).for_each(|(name, list)| object.optional(name, list.as_ref()));
        others.iter().for_each(|(key, json)| object.field(key, json));
    })
}

/// A list of entries, read.
struct EntryList<'a> {
    entries: Vec<Entry<'a>>,
    /// Whether all of it has a counterpart here.
    is_plain: bool,
}

#[derive(Default)]
struct Entry<'a> {
    token: Option<Text<'a>>,
    logprob: Option<Number<'a>>,
    bytes: Option<Json<'a>>,
    top: Vec<Entry<'a>>,
}

impl<'a> EntryList<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let mut parsed = Self { entries: Vec::new(), is_plain: true };
        parsed.entries = parsed.list(reader)?;
        Ok(parsed)
    }

    fn list(&mut self, reader: &mut Reader<'a>) -> Result<Vec<Entry<'a>>> {
        reader.list(|_, reader| self.entry(reader))
    }

    fn entry(&mut self, reader: &mut Reader<'a>) -> Result<Entry<'a>> {
        let mut entry = Entry::default();
        reader.object(|key, reader| match (&*key, reader.kind()?) {
            ("token", Kind::String) => set(&mut entry.token, reader.string()),
            ("logprob", Kind::Number) => set(&mut entry.logprob, reader.number()),
            ("bytes", _) => set(&mut entry.bytes, reader.raw()),
            ("top_logprobs", Kind::Array) => put(&mut entry.top, self.list(reader)),
            _ => {
                self.is_plain = false;
                reader.skip()
            }
        })?;
        self.is_plain &= entry.is_plain();
        Ok(entry)
    }

    fn result(&self) -> Option<Json<'static>> {
        if self.entries.is_empty() {
            return None;
        }
        Some(Json::of_object(|object| {
            object.array_field("chosenCandidates", |list| {
                self.entries.iter().for_each(|entry| entry.write(list));
            });
            if self.entries.iter().any(|entry| !entry.top.is_empty()) {
                object.array_field("topCandidates", |list| {
                    self.entries.iter().for_each(|entry| entry.write_top(list));
                });
            }
        }))
    }
}

impl Entry<'_> {
    /// Whether it says no more than can be read from its token.
    fn is_plain(&self) -> bool {
        let (Some(token), Some(_), Some(bytes)) = (&self.token, &self.logprob, &self.bytes) else {
            return false;
        };
        let token = token.to_str();
        match token_bytes(&token) {
            Some(expected) => is_list_of(bytes, expected),
            None => matches!(&*bytes.compact(), "null" | "[]"),
        }
    }

    fn write(&self, list: &mut Writer) {
        list.object(|candidate| {
            candidate.optional("token", self.token.as_ref());
            candidate.optional("logProbability", self.logprob.as_ref());
        });
    }

    fn write_top(&self, list: &mut Writer) {
        list.object(|top| {
            top.array_field("candidates", |list| {
                self.top.iter().for_each(|entry| entry.write(list))
            });
        });
    }
}

fn is_list_of(json: &Json<'_>, expected: &[u8]) -> bool {
    let bytes = json.reader().list(|_, reader| reader.u64());
    bytes.is_ok_and(|bytes| bytes.into_iter().eq(expected.iter().map(|byte| u64::from(*byte))))
}
