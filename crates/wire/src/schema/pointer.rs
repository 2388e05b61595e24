//! Where a piece of a schema stood in the input, however far it has travelled since.

use std::borrow::Cow;
use std::fmt;
use std::rc::Rc;

use crate::json::push_key;

/// A JSON pointer that shares its beginning with its neighbours; the text is made when asked for.
#[derive(Clone, Default)]
pub(super) struct Pointer<'s>(Option<Rc<Step<'s>>>);

struct Step<'s> {
    parent: Pointer<'s>,
    segment: Cow<'s, str>,
}

impl<'s> Pointer<'s> {
    pub(super) fn child(&self, segment: impl Into<Cow<'s, str>>) -> Self {
        Self(Some(Rc::new(Step { parent: self.clone(), segment: segment.into() })))
    }

    pub(super) fn element(&self, index: usize) -> Self {
        self.child(index.to_string())
    }

    /// The pointer that `text` spells, with its escapes undone.
    pub(super) fn parse(text: &str) -> Self {
        let segments = text.split('/').skip(1);
        segments.fold(Self::default(), |pointer, segment| {
            pointer.child(match segment.contains('~') {
                true => segment.replace("~1", "/").replace("~0", "~"),
                false => segment.to_owned(),
            })
        })
    }

    /// From the root down.
    pub(super) fn segments(&self) -> Vec<&str> {
        let mut segments = Vec::new();
        let mut next = &self.0;
        while let Some(step) = next {
            segments.push(step.segment.as_ref());
            next = &step.parent.0;
        }
        segments.reverse();
        segments
    }
}

impl fmt::Display for Pointer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pointer = String::new();
        self.segments().iter().for_each(|segment| push_key(&mut pointer, segment));
        f.write_str(&pointer)
    }
}
