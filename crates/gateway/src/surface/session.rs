//! Parameters by which a client refers to what only a provider of its own protocol keeps.

use sabir_wire::json::{Kind, Reader, Text};
use sabir_wire::{Fault, FaultKind};

/// How a protocol's clients refer to what their provider keeps.
pub(crate) struct Session {
    pub(crate) parameters: &'static [SessionParameter],
    /// The type of items of a conversation that the provider keeps.
    pub(crate) reference: Option<&'static str>,
    /// The message for a client that refers to something which the provider does not keep.
    pub(crate) refuse: fn(String, &'static str) -> Fault<'static>,
}

pub(crate) struct SessionParameter {
    pub(crate) name: &'static str,
    pub(crate) asks: Asks,
}

/// The values of a parameter that refer to something.
pub(crate) enum Asks {
    /// Any value of these kinds.
    Of(&'static [Kind]),
    /// An object whose `type` is this.
    Typed(&'static str),
}

impl Session {
    /// The parameter of that name, if its value refers to something.
    pub(crate) fn asked(&self, name: &str, value: &Reader<'_>) -> Option<&'static str> {
        let parameter = self.parameters.iter().find(|parameter| parameter.name == name)?;
        parameter.asks.is_met(value).then_some(parameter.name)
    }
}

impl Asks {
    fn is_met(&self, value: &Reader<'_>) -> bool {
        let mut value = value.clone();
        match (self, value.kind()) {
            (Self::Of(kinds), Ok(kind)) => kinds.contains(&kind),
            (Self::Typed(own), Ok(Kind::Object)) => {
                matches!(value.peek_tag("type"), Ok(Some(kind)) if kind == *own)
            }
            _ => false,
        }
    }
}

/// A bad request that names the parameter.
pub(super) fn refuse(message: String, parameter: &'static str) -> Fault<'static> {
    let mut fault = Fault::new(FaultKind::BadRequest, Text::plain(message));
    fault.param = Some(Text::literal(parameter));
    fault
}
