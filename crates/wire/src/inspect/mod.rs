//! Shows what was understood of an input as JSON for people: content, places and semantics, nothing left out.
//!
//! It is a view, not a format: nothing reads it back.

mod event;
mod fault;
mod part;
mod request;
mod response;
mod tool;

#[cfg(test)]
mod tests;

use std::fmt::Debug;

use crate::conversation::Response;
use crate::fault::Fault;
use crate::json::{Json, Number, Text, Writer, indented};
use crate::loss::Loss;
use crate::protocol::{DecodedRequest, Event, Protocol};

/// What can be shown as one JSON value.
pub(crate) trait Show {
    /// Writes the members of the object that it is, if it is one.
    fn members(&self, _writer: &mut Writer) {}

    fn show(&self, writer: &mut Writer) {
        writer.object(|writer| self.members(writer));
    }

    /// Writes it into an object; what there is nothing of is left out.
    fn member(&self, writer: &mut Writer, key: &str) {
        writer.key(key);
        self.show(writer);
    }
}

/// Shows structs by their fields, each under its name. Those behind the semicolon are not shown, and none is forgotten.
macro_rules! show {
    ($( $type:ident { $($field:ident),* $(; $($hidden:ident),*)? } )*) => {
        $(
            impl $crate::inspect::Show for $type<'_> {
                fn members(&self, writer: &mut $crate::json::Writer) {
                    let $type { $($field,)* $( $($hidden: _,)* )? } = self;
                    $(
                        let key = $crate::inspect::camel(stringify!($field));
                        $crate::inspect::Show::member($field, writer, &key);
                    )*
                }
            }
        )*
    };
}

/// Shows values as they are written.
macro_rules! show_values {
    ($($type:ty),*) => {
        $(
            impl Show for $type {
                fn show(&self, writer: &mut Writer) {
                    writer.value(self);
                }
            }
        )*
    };
}

/// Shows enums by the names of their variants.
macro_rules! show_names {
    ($($type:ty),*) => {
        $(
            impl $crate::inspect::Show for $type {
                fn show(&self, writer: &mut $crate::json::Writer) {
                    writer.value(&$crate::inspect::name(self));
                }
            }
        )*
    };
}

pub(crate) use show;
pub(crate) use show_names;

show_values!(Text<'_>, Json<'_>, Number<'_>, bool, u32, u64);

impl<T: Show> Show for Option<T> {
    fn member(&self, writer: &mut Writer, key: &str) {
        if let Some(value) = self {
            value.member(writer, key);
        }
    }
}

impl<T: Show> Show for Box<T> {
    fn members(&self, writer: &mut Writer) {
        (**self).members(writer);
    }

    fn show(&self, writer: &mut Writer) {
        (**self).show(writer);
    }
}

impl<T: Show> Show for Vec<T> {
    fn show(&self, writer: &mut Writer) {
        writer.array(|writer| self.iter().for_each(|value| value.show(writer)));
    }
}

impl Show for Protocol {
    fn show(&self, writer: &mut Writer) {
        writer.value(self.as_str());
    }
}

/// A name of Rust's as JSON has it.
pub(crate) fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (initial, rest) = word.split_at(1);
        name + &initial.to_uppercase() + rest
    })
}

/// The name of a variant as JSON has it.
pub(crate) fn name(variant: &impl Debug) -> String {
    let name = format!("{variant:?}");
    let (initial, rest) = name.split_at(1);
    initial.to_lowercase() + rest
}

/// Writes the members of a value of several sorts, and before them of which sort it is.
fn tagged(writer: &mut Writer, sort: &str, value: &impl Show) {
    writer.field("type", sort);
    value.members(writer);
}

impl DecodedRequest<'_> {
    /// The request with its semantics as indented JSON.
    ///
    /// ```
    /// use sabir_wire::DecodedRequest;
    /// use sabir_wire::Protocol;
    /// use sabir_wire::conversation::Request;
    ///
    /// let decoded = DecodedRequest::new(Protocol::Gemini, Request::default());
    /// assert!(decoded.inspect().starts_with("{\n  \"protocol\": \"gemini\",\n"));
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
    fn members(&self, writer: &mut Writer) {
        let Loss { pointer, kind, reason } = self;
        writer.field("pointer", pointer);
        writer.field("kind", kind.as_str());
        writer.field("reason", reason);
    }
}

fn pretty(value: &impl Show) -> String {
    indented(&Writer::written(|writer| value.show(writer)))
}
