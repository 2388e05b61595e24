//! The loss report, for people and for programs.

use std::fmt::Write;

use clap::ValueEnum;
use sabir_wire::{Loss, LossKind, Report, json};
use serde::Deserialize;

use crate::input::BadInput;
use crate::output::printable;

/// How the report is written on standard error.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// A table for people
    Text,
    /// One JSON object: {"losses":[{"pointer","kind","reason"}]}
    Json,
}

/// What a gateway says was lost on the way.
#[derive(Deserialize)]
struct Entry {
    pointer: String,
    kind: String,
    reason: String,
}

/// A column gets no wider than this; a longer pointer pushes its reason to the right.
const POINTER_WIDTH_MAX: usize = 48;

/// The report in a gateway's answer: a list of losses, as JSON.
pub(crate) fn read(losses: &str) -> Report {
    let losses: Vec<Entry> = serde_json::from_str(losses).unwrap_or_default();
    let mut report = Report::default();
    for Entry { pointer, kind, reason } in losses {
        let known = LossKind::ALL.into_iter().find(|it| it.as_str() == kind);
        report.lose(pointer, known.unwrap_or(LossKind::Dropped), reason);
    }
    report
}

/// The report for people: what matters first, then the rest in the order of the kinds.
pub(crate) fn text(report: &Report) -> String {
    let mut text = summary(report);
    let width = report.entries().iter().map(|loss| printable(&loss.pointer).chars().count());
    let width = width.max().unwrap_or(0).min(POINTER_WIDTH_MAX);
    for kind in LossKind::ALL.into_iter().rev() {
        for loss in report.entries().iter().filter(|loss| loss.kind == kind) {
            add_line(&mut text, loss, width);
        }
    }
    text
}

fn summary(report: &Report) -> String {
    let count = |kind: &LossKind| (report.count(*kind), *kind);
    let counts = LossKind::ALL.iter().rev().map(count).filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, kind)| format!("{count} {kind}")).collect();
    let counts = counts.join(", ");
    if report.is_empty() {
        "nothing lost\n".to_owned()
    } else if report.entries().iter().any(|loss| loss.kind.matters()) {
        format!("{counts}\n")
    } else {
        format!("nothing lost that can change the answer: {counts}\n")
    }
}

fn add_line(text: &mut String, loss: &Loss, width: usize) {
    let Loss { pointer, kind, reason } = loss;
    let pointer = match pointer.as_str() {
        "" => "(all)".to_owned(),
        pointer => printable(pointer),
    };
    let (kind, reason) = (kind.as_str(), printable(reason));
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  {kind:<12}  {pointer:<width$}  {reason}");
}

/// The report for programs.
pub(crate) fn json(report: &Report) -> String {
    object(|writer| add_losses(writer, report.entries()))
}

/// What programs get in place of a report when there is none.
pub(crate) fn json_of_error(error: &anyhow::Error) -> String {
    let (message, pointer) = match error.downcast_ref::<BadInput>() {
        Some(bad) => (bad.message.clone(), bad.pointer.as_str()),
        None => (format!("{error:#}"), ""),
    };
    object(|writer| {
        add_losses(writer, &[]);
        writer.key("error");
        writer.object(|writer| {
            writer.field("pointer", pointer);
            writer.field("message", &message);
        });
    })
}

fn object(members: impl FnOnce(&mut json::Writer)) -> String {
    let mut writer = json::Writer::default();
    writer.object(members);
    writer.into_string() + "\n"
}

fn add_losses(writer: &mut json::Writer, losses: &[Loss]) {
    writer.key("losses");
    writer.array(|writer| losses.iter().for_each(|loss| add_loss(writer, loss)));
}

fn add_loss(writer: &mut json::Writer, loss: &Loss) {
    let Loss { pointer, kind, reason } = loss;
    writer.object(|writer| {
        writer.field("pointer", pointer);
        writer.field("kind", kind.as_str());
        writer.field("reason", reason);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(entries: &[(&'static str, LossKind)]) -> Report {
        let mut report = Report::default();
        for (pointer, kind) in entries {
            report.lose(*pointer, *kind, "because");
        }
        report
    }

    #[test]
    fn an_empty_report_is_one_short_line() {
        assert_eq!(text(&Report::default()), "nothing lost\n");
        assert_eq!(json(&Report::default()), "{\"losses\":[]}\n");
    }

    #[test]
    fn what_matters_stands_first_and_columns_align() {
        let entries =
            [("/model", LossKind::Renamed), ("/a", LossKind::Dropped), ("", LossKind::Dropped)];
        let expected = "2 dropped, 1 renamed\n\
                        \x20 dropped       /a      because\n\
                        \x20 dropped       (all)   because\n\
                        \x20 renamed       /model  because\n";
        assert_eq!(text(&report(&entries)), expected);
    }

    #[test]
    fn bookkeeping_is_called_no_loss() {
        let text = text(&report(&[("/model", LossKind::Renamed)]));
        assert!(text.starts_with("nothing lost that can change the answer: 1 renamed\n"), "{text}");
    }

    #[test]
    fn keys_of_the_input_cannot_command_the_terminal() {
        let text = text(&report(&[("/\u{1b}[2J\n", LossKind::Dropped)]));
        assert!(text.contains("/\\u{1b}[2J\\n"), "{text}");
    }

    #[test]
    fn programs_get_entries_in_the_order_of_the_report() {
        let report = report(&[("/a\"", LossKind::Renamed), ("/b", LossKind::Dropped)]);
        let expected = concat!(
            r#"{"losses":[{"pointer":"/a\"","kind":"renamed","reason":"because"},"#,
            r#"{"pointer":"/b","kind":"dropped","reason":"because"}]}"#,
            "\n"
        );
        assert_eq!(json(&report), expected);
    }
}
