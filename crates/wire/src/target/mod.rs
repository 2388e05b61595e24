//! What an encoder must know of the receiving model.

/// The receiver of a request.
#[derive(Clone, Debug, Default)]
pub struct Target;
