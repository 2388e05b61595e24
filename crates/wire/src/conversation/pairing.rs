//! How a result finds its call: the one rule by which histories are mended and written.

use crate::conversation::{ToolCall, ToolResult};
use crate::json::Text;

/// Something that calls and results have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallKey<'m> {
    Id(&'m Text<'m>),
    /// The name of the tool, whether the call has an id or not.
    Name(&'m Text<'m>),
    /// The name of the tool, of a call that has no id.
    Anonymous(&'m Text<'m>),
    /// Nothing but that the call has no id.
    Next,
}

/// The keys of a result, the one that counts most first.
pub type CallKeys<'m> = [Option<CallKey<'m>>; 2];

impl<'m> CallKey<'m> {
    /// The keys by which a result finds its call.
    ///
    /// A client may number what it answers although the calls came without numbers; then the name counts. One that was
    /// given a number would have sent it back, so that a result without any is for a call without one, if there is such.
    pub fn of_result(result: &'m ToolResult<'_>) -> CallKeys<'m> {
        match (&result.call_id, &result.name) {
            (Some(id), name) => [Some(Self::Id(id)), name.as_ref().map(Self::Anonymous)],
            (None, Some(name)) => [Some(Self::Anonymous(name)), Some(Self::Name(name))],
            (None, None) => [Some(Self::Next), None],
        }
    }

    /// The keys that a call is found by.
    pub fn of_call(call: &'m ToolCall<'_>) -> impl Iterator<Item = Self> {
        let name = &call.name;
        let keys = match &call.id {
            Some(id) => [Some(Self::Id(id)), Some(Self::Name(name)), None],
            None => [Some(Self::Anonymous(name)), Some(Self::Name(name)), Some(Self::Next)],
        };
        keys.into_iter().flatten()
    }

    /// Whether the call is found by this key.
    pub fn matches(self, call: &ToolCall<'_>) -> bool {
        match self {
            Self::Id(id) => call.id.as_ref() == Some(id),
            Self::Name(name) => call.name == *name,
            Self::Anonymous(name) => call.id.is_none() && call.name == *name,
            Self::Next => call.id.is_none(),
        }
    }

    /// Which of the calls that its keys have found a result answers: that of the first key, unless the other's stands in a
    /// nearer round. An id tells one call from all others, wherever that stands.
    pub fn choose<T>(
        result: &ToolResult<'_>,
        found: [Option<T>; 2],
        is_nearer: impl FnOnce(&T, &T) -> bool,
    ) -> Option<T> {
        match found {
            [Some(first), Some(second)] if result.call_id.is_none() => {
                Some(if is_nearer(&second, &first) { second } else { first })
            }
            [first, second] => first.or(second),
        }
    }
}
