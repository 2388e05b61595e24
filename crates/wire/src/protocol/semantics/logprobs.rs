//! Log probabilities: how likely each token of a text was, and which others might have stood in its place.

use crate::json::{Json, Kind};
use crate::owned::into_owned;
use crate::place::Place;

/// The log probabilities of a part's tokens. Those of a stream stay in the lists they came in, so that adding is cheap.
#[derive(Clone, Debug)]
pub struct Logprobs<'a> {
    lists: Vec<Json<'a>>,
    origin: Option<Origin<'a>>,
    /// Where a stream stated the first of them; the root if the part has it.
    place: Place,
}

/// What the entries were read from.
#[derive(Clone, Debug)]
struct Origin<'a> {
    /// The objects that they came in, as their protocol spells them.
    objects: Vec<Json<'a>>,
    holds_more: bool,
}

impl<'a> Logprobs<'a> {
    /// Entries in the form that both OpenAI protocols have: a list of objects with `token`, `logprob`, `bytes` and
    /// `top_logprobs`.
    pub fn new(entries: Json<'a>) -> Self {
        Self { lists: vec![entries], origin: None, place: Place::default() }
    }

    /// The same in a frame of a stream, at `place`.
    pub(in super::super) fn at(self, place: Place) -> Self {
        Self { place, ..self }
    }

    /// Where they stand, if their part does not have it.
    pub fn place(&self) -> Option<Place> {
        Some(self.place).filter(|place| !place.is_root())
    }

    /// The same from an object of a protocol that writes them otherwise.
    pub(in super::super) fn with_original(mut self, object: Json<'a>, fidelity: Fidelity) -> Self {
        let holds_more = fidelity == Fidelity::Partial;
        self.origin = Some(Origin { objects: vec![object], holds_more });
        self
    }

    /// All entries in one list.
    pub fn entries(&self) -> Json<'_> {
        match self.lists.as_slice() {
            [one] => one.reborrow(),
            lists => joined(lists),
        }
    }

    /// The objects that the entries came in, where their protocol writes them otherwise.
    pub(in super::super) fn origin(&self) -> Option<&[Json<'a>]> {
        self.origin.as_ref().map(|origin| origin.objects.as_slice())
    }

    /// Whether the entries are not all that was stated.
    pub(in super::super) fn is_partial(&self) -> bool {
        self.origin.as_ref().is_some_and(|origin| origin.holds_more)
    }

    /// The log probabilities of several texts, one behind the other.
    pub(in super::super) fn joined(all: impl Iterator<Item = Self>) -> Option<Self> {
        all.reduce(|mut all, more| {
            all.add(more);
            all
        })
    }

    /// Adds those of the text that follows.
    pub(in super::super) fn add(&mut self, more: Logprobs<'a>) {
        self.lists.extend(more.lists);
        self.origin = match (self.origin.take(), more.origin) {
            (Some(mut origin), Some(more)) => {
                origin.objects.extend(more.objects);
                origin.holds_more |= more.holds_more;
                Some(origin)
            }
            _ => None,
        };
    }
}

into_owned! {
    pub struct Logprobs { lists, origin, place }
    struct Origin { objects, holds_more }
}

/// Adds log probabilities to those there are, if there are any.
pub(in super::super) fn add_to<'a>(known: &mut Option<Logprobs<'a>>, more: Logprobs<'a>) {
    match known {
        Some(known) => known.add(more),
        None => *known = Some(more),
    }
}

/// Whether a form can hold all that another one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Fidelity {
    Whole,
    Partial,
}

impl Fidelity {
    pub(in super::super) fn whole_if(is_whole: bool) -> Self {
        if is_whole { Self::Whole } else { Self::Partial }
    }
}

fn joined(lists: &[Json<'_>]) -> Json<'static> {
    Json::of_list(|writer| {
        for list in lists.iter().filter(|list| list.kind() == Kind::Array) {
            // The lists were checked when they were read, so reading them again cannot fail.
            let _ = list.reader().array(|_, element| {
                writer.value(&element.raw()?);
                Ok(())
            });
        }
    })
}
