//! Patterns of model names: `gpt-*`, `o[0-9]*`, `claude-?`.

/// A pattern, or a plain name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
