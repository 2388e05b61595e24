//! The report of a stream, in which the same thing stands once however many frames it fills.

use std::collections::BTreeSet;

use crate::loss::{LossKind, Report};
use crate::protocol::reporter::Reporter;
use crate::protocol::{NoteAt, Protocol};

#[derive(Debug)]
pub(super) struct StreamLosses {
    source: Protocol,
    target: Protocol,
    report: Report,
    /// What was reported, by where it stands, by its kind and by its place in its frame.
    seen: BTreeSet<(NoteAt, LossKind, String)>,
}

impl StreamLosses {
    pub(super) fn new(source: Protocol, target: Protocol) -> Self {
        Self { source, target, report: Report::default(), seen: BTreeSet::new() }
    }

    /// Reports what `report` finds of what stands there, unless an earlier frame had it too.
    pub(super) fn add(&mut self, at: NoteAt, report: impl FnOnce(&mut Reporter<'_>)) {
        if self.source == self.target {
            return;
        }
        let mut found = Report::default();
        report(&mut Reporter::new(self.source, self.target, &mut found));
        for loss in found.entries() {
            if self.seen.insert((at, loss.kind, below_frame(&loss.pointer).to_owned())) {
                self.report.lose(loss.pointer.clone(), loss.kind, loss.reason.clone());
            }
        }
    }

    /// Reports what comes once.
    pub(super) fn add_once(&mut self, report: impl FnOnce(&mut Reporter<'_>)) {
        report(&mut Reporter::new(self.source, self.target, &mut self.report));
    }

    pub(super) fn extend(&mut self, report: Report) {
        self.report.extend(report);
    }

    pub(super) fn into_report(self) -> Report {
        self.report
    }
}

/// A pointer without the number of its frame, if it has one.
fn below_frame(pointer: &str) -> &str {
    let rest = pointer.trim_start_matches('/');
    let (first, below) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match first.bytes().all(|byte| byte.is_ascii_digit()) {
        true => below,
        false => pointer,
    }
}
