//! The arguments that several commands share, and how their values are read.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, ValueEnum};
use sabir_wire::Protocol;

use crate::Sabir;
use crate::input::Input;

/// What is read, and as what.
#[derive(Args)]
pub(crate) struct Subject {
    /// The protocol of the input; `chat`, `responses` and `messages` will do
    #[arg(long, value_name = "PROTOCOL", value_parser = protocols())]
    pub(crate) from: Protocol,

    /// What the input is
    #[arg(long, value_enum, default_value_t = Kind::Request)]
    pub(crate) kind: Kind,

    /// The HTTP status that came with an error [default: what its body states, else 400]
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(100..=599))]
    pub(crate) status: Option<u16>,

    /// The file to read; standard input if there is none, or if it is `-`
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// A request body
    Request,
    /// A whole answer
    Response,
    /// An answer as server-sent events
    Stream,
    /// The body of an error
    Error,
}

impl Kind {
    /// The kind with its article.
    pub(crate) fn phrase(self) -> &'static str {
        match self {
            Self::Request => "a request",
            Self::Response => "a response",
            Self::Stream => "a stream",
            Self::Error => "an error",
        }
    }
}

impl Subject {
    /// Ends the program with a usage error where an option does not belong to the kind of input.
    pub(crate) fn checked(self) -> Self {
        if self.status.is_some() && self.kind != Kind::Error {
            let message = "--status belongs to --kind error: nothing else comes with one";
            Sabir::command().error(ErrorKind::ArgumentConflict, message).exit();
        }
        self
    }

    pub(crate) fn input(&self) -> Input {
        match &self.file {
            Some(path) if path.as_os_str() != "-" => Input::File(path.clone()),
            _ => Input::Stdin,
        }
    }
}

/// Reads a protocol's name; completions and errors list the four full names, the short ones count too.
pub(crate) fn protocols() -> impl TypedValueParser<Value = Protocol> {
    let names = Protocol::ALL.map(|protocol| {
        PossibleValue::new(protocol.as_str()).aliases(protocol.facts().aliases.iter().copied())
    });
    PossibleValuesParser::new(names)
        .try_map(|name| Protocol::parse(&name).ok_or("expected the name of a protocol"))
}
