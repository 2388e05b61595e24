//! Log probabilities: how likely each token of a text was, and which others might have stood in its place.

use crate::json::Json;
use crate::json::Kind;
use crate::json::Writer;

/// The log probabilities of a part's tokens.
#[derive(Clone, Debug)]
pub struct Logprobs<'a> {
    pub(super) entries: Json<'a>,
    origin: Option<Origin<'a>>,
}

/// What the entries were read from.
#[derive(Clone, Debug)]
struct Origin<'a> {
    /// A list of the objects that they came in, as their protocol spells them.
    objects: Json<'a>,
    says_more: bool,
}

impl<'a> Logprobs<'a> {
    /// Entries in the form that both OpenAI protocols have: a list of objects with `token`, `logprob`, `bytes` and
    /// `top_logprobs`.
    pub fn new(entries: Json<'a>) -> Self {
        Self { entries, origin: None }
    }

    /// The same from an object of a protocol that tells them otherwise.
    pub(in crate::protocol) fn told_by(mut self, object: &Json<'_>, fidelity: Fidelity) -> Self {
        let mut objects = Writer::default();
        objects.array(|list| list.value(object));
        let objects = Json::trusted(objects.into_string().into());
        self.origin = Some(Origin { objects, says_more: fidelity == Fidelity::Partial });
        self
    }

    pub fn entries(&self) -> &Json<'a> {
        &self.entries
    }

    /// The list of objects that the entries came in, where their protocol tells them otherwise.
    pub(in crate::protocol) fn origin(&self) -> Option<&Json<'a>> {
        self.origin.as_ref().map(|origin| &origin.objects)
    }

    /// Whether the entries are not all that was said.
    pub(in crate::protocol) fn is_partial(&self) -> bool {
        self.origin.as_ref().is_some_and(|origin| origin.says_more)
    }

    /// These, and those of the text that follows.
    pub(in crate::protocol) fn joined(&self, more: &Logprobs<'_>) -> Logprobs<'static> {
        let origin = match (&self.origin, &more.origin) {
            (Some(one), Some(other)) => Some(Origin {
                objects: joined_lists(&one.objects, &other.objects),
                says_more: one.says_more || other.says_more,
            }),
            _ => None,
        };
        Logprobs { entries: joined_lists(&self.entries, &more.entries), origin }
    }

    pub fn into_owned(self) -> Logprobs<'static> {
        let own = |origin: Origin<'a>| Origin {
            objects: origin.objects.into_owned(),
            says_more: origin.says_more,
        };
        Logprobs { entries: self.entries.into_owned(), origin: self.origin.map(own) }
    }
}

/// Whether a form can tell all that another one says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::protocol) enum Fidelity {
    Whole,
    Partial,
}

impl Fidelity {
    pub(in crate::protocol) fn whole_if(is_whole: bool) -> Self {
        if is_whole { Self::Whole } else { Self::Partial }
    }
}

fn joined_lists(before: &Json<'_>, more: &Json<'_>) -> Json<'static> {
    let mut writer = Writer::default();
    writer.array(|writer| {
        for list in [before, more] {
            let mut reader = list.reader();
            if list.kind() == Kind::Array {
                // Both lists were checked when they were read, so reading them again cannot fail.
                let _ = reader.array(|_, element| {
                    writer.value(&element.raw()?);
                    Ok(())
                });
            }
        }
    });
    Json::trusted(writer.into_string().into())
}
