//! Shows what was understood of an input as JSON for people: content, places and semantics, nothing left out.
//!
//! It is a view, not a format: nothing reads it back.

mod event;
mod exchange;
mod fault;
mod part;
mod pretty;
mod response;
mod tool;

#[cfg(test)]
mod tests;

use crate::conversation::Response;
use crate::fault::Fault;
use crate::json::Writer;
use crate::loss::Loss;
use crate::protocol::Event;
use crate::protocol::Exchange;

/// What can be shown as one JSON value.
pub(crate) trait Show {
    fn show(&self, writer: &mut Writer);
}

impl Exchange<'_> {
    /// The request with its semantics as indented JSON.
    ///
    /// ```
    /// use sabir_wire::Exchange;
    /// use sabir_wire::Protocol;
    /// use sabir_wire::conversation::Request;
    ///
    /// let exchange = Exchange::new(Protocol::Gemini, Request::default());
    /// assert!(exchange.inspect().starts_with("{\n  \"protocol\": \"gemini\",\n"));
    /// ```
    pub fn inspect(&self) -> String {
        pretty(self)
    }
}

impl Response<'_> {
    /// The answer with its semantics as indented JSON.
    pub fn inspect(&self) -> String {
        pretty(self)
    }
}

impl Event<'_> {
    /// One step of a stream with its semantics as indented JSON.
    pub fn inspect(&self) -> String {
        pretty(self)
    }
}

impl Fault<'_> {
    /// What went wrong, and its class, as indented JSON.
    pub fn inspect(&self) -> String {
        pretty(self)
    }
}

impl Show for Loss {
    fn show(&self, writer: &mut Writer) {
        let Loss { pointer, kind, reason } = self;
        writer.object(|writer| {
            writer.field("pointer", pointer);
            writer.field("kind", kind.as_str());
            writer.field("reason", reason);
        });
    }
}

fn pretty(value: &impl Show) -> String {
    let mut writer = Writer::default();
    value.show(&mut writer);
    pretty::indented(writer.as_str())
}

/// A field that is left out when there is nothing to show.
pub(crate) fn optional(writer: &mut Writer, key: &str, value: Option<&impl Show>) {
    if let Some(value) = value {
        writer.key(key);
        value.show(writer);
    }
}

/// A list, which is shown even when it is empty.
pub(crate) fn list<'v, T: Show + 'v>(
    writer: &mut Writer,
    key: &str,
    values: impl IntoIterator<Item = &'v T>,
) {
    writer.key(key);
    writer.array(|writer| values.into_iter().for_each(|value| value.show(writer)));
}
