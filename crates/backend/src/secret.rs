//! A key that must reach its provider and nobody else: not logs, not errors, not `Debug`.

use std::fmt;

/// A key. What it is shows only where [`Secret::expose`] is called.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// The key itself, for the one header that carries it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_hides_the_key() {
        assert!(!format!("{:?}", Secret::new("sk-very-private")).contains("private"));
    }
}
