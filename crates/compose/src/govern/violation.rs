//! A request or an answer that the rules do not let pass.

use std::fmt;

/// What a rule refuses, and by how much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    TooManyTools {
        count: usize,
        max: usize,
    },
    SchemaTooLong {
        name: String,
        bytes: usize,
        max: usize,
    },
    /// A name that the target does not take, in the words of whoever found that out.
    Name(String),
    /// Two tools would have one name.
    NameTaken(String),
    TooManyRounds {
        rounds: usize,
        max: usize,
    },
    /// A hosted tool that the target has not.
    Hosted(String),
    /// A call of a tool that is denied or was not offered.
    Undeclared(String),
    /// Arguments that are not what the schema says.
    Arguments {
        name: String,
        reason: String,
    },
}

impl Violation {
    /// The rule, as the configuration calls it.
    pub fn rule(&self) -> &'static str {
        match self {
            Self::TooManyTools { .. } => "count_max",
            Self::SchemaTooLong { .. } => "schema_bytes_max",
            Self::Name(_) => "long_names",
            Self::NameTaken(_) => "rename",
            Self::TooManyRounds { .. } => "rounds_max",
            Self::Hosted(_) => "hosted",
            Self::Undeclared(_) => "undeclared",
            Self::Arguments { .. } => "arguments",
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyTools { count, max } => {
                write!(f, "expected at most {max} tools, found {count}")
            }
            Self::SchemaTooLong { name, bytes, max } => write!(
                f,
                "expected a schema of at most {max} bytes, found {bytes} in the tool `{name}`"
            ),
            Self::Name(message) => f.write_str(message),
            Self::NameTaken(name) => {
                write!(f, "two tools would be called `{name}`; name one of them otherwise")
            }
            Self::TooManyRounds { rounds, max } => write!(
                f,
                "expected at most {max} tool rounds since the user's last message, found {rounds}"
            ),
            Self::Hosted(kind) => {
                write!(f, "the provider has no hosted tool like `{kind}`")
            }
            Self::Undeclared(name) => {
                write!(f, "the model called the tool `{name}`, which it was not offered")
            }
            Self::Arguments { name, reason } => {
                write!(f, "the model called the tool `{name}` with wrong arguments: {reason}")
            }
        }
    }
}

impl std::error::Error for Violation {}
