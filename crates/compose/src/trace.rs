//! The trace: every change that building made, with where and why.

use sabir_wire::json::{Encode, Writer};
use sabir_wire::{LossKind, Report};

use crate::draining::Draining;

/// Every change, in the order in which it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "a change that nobody reads is a silent one"]
pub struct Trace {
    changes: Vec<Change>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub step: StepName,
    /// JSON pointer into the input.
    pub pointer: String,
    pub what: &'static str,
    pub why: &'static str,
    /// Both, as a loss report has them.
    reason: &'static str,
}

/// The texts of a change: what is done, why, and both in one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    pub(crate) what: &'static str,
    pub(crate) why: &'static str,
    pub(crate) reason: &'static str,
}

/// The texts of a change. They are put together by the compiler: a long history may have a change in every message.
macro_rules! words {
    ($what:literal, $why:literal $(,)?) => {
        $crate::trace::Words { what: $what, why: $why, reason: concat!($what, ": ", $why) }
    };
}

pub(crate) use words;

/// The step that made a [`Change`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepName {
    Summarise,
    Filter,
    Pair,
    Open,
    System,
}

impl Trace {
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub(crate) fn add(&mut self, step: StepName, pointer: String, words: Words) {
        let Words { what, why, reason } = words;
        self.changes.push(Change { step, pointer, what, why, reason });
    }

    /// The changes as entries of a loss report.
    pub fn into_report(self) -> Report {
        let mut report = Report::default();
        for Change { step, pointer, reason, .. } in Draining::of(self.changes) {
            report.lose(pointer, step.loss_kind(), reason);
        }
        report
    }
}

impl StepName {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Summarise => "summarise",
            Self::Filter => "filter",
            Self::Pair => "pair",
            Self::Open => "open",
            Self::System => "system",
        }
    }

    /// Whether what the step does is a repair rather than what was asked for.
    pub fn repairs(self) -> bool {
        self.loss_kind() == LossKind::Repaired
    }

    fn loss_kind(self) -> LossKind {
        match self {
            Self::Filter | Self::Pair | Self::Open => LossKind::Repaired,
            Self::Summarise => LossKind::Approximated,
            Self::System => LossKind::Synthesised,
        }
    }
}

impl Encode for Change {
    fn encode(&self, writer: &mut Writer) {
        writer.object(|object| {
            object.field("step", self.step.as_str());
            object.field("pointer", &self.pointer);
            object.field("what", self.what);
            object.field("why", self.why);
        });
    }
}
