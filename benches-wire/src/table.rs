//! Tables of ratios, a row for each pair and a column for each size, in Markdown.

use std::fmt::Write;

use sabir_benches_wire::case::Case;
use sabir_benches_wire::clock::Times;

/// A case and what came of measuring it.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) case: Case,
    pub(crate) times: Result<Times, String>,
}

impl Outcome {
    pub(crate) fn is_within(&self) -> bool {
        self.times.as_ref().is_ok_and(|times| times.ratio() <= self.case.bar())
    }

    /// The ratio and the time; bold and with its bar if that is missed.
    fn cell(&self) -> String {
        match &self.times {
            Ok(times) => {
                let ratio = times.ratio();
                match self.is_within() {
                    true => format!("{ratio:.2} ({})", micros(times)),
                    false => format!("**{ratio:.2} > {}** ({})", self.case.bar(), micros(times)),
                }
            }
            Err(error) => format!("**{error}**"),
        }
    }
}

fn micros(times: &Times) -> String {
    format!("{:.1} µs", times.candidate.as_secs_f64() * 1e6)
}

/// A table for each sort of case, and how many miss their bar.
pub(crate) fn render(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    for rows in outcomes.chunk_by(|one, two| sort(one) == sort(two)) {
        text.push_str(&table(rows));
        text.push('\n');
    }
    let missed = outcomes.iter().filter(|outcome| !outcome.is_within()).count();
    let _ = writeln!(text, "{} within their bar, {missed} not", outcomes.len() - missed);
    text
}

fn sort(outcome: &Outcome) -> String {
    let row = outcome.case.row();
    row.split('/').next().unwrap_or_default().to_owned()
}

fn table(outcomes: &[Outcome]) -> String {
    let mut text = format!("| {} |", sort(&outcomes[0]));
    let row = |outcome: &Outcome| outcome.case.row();
    let first = outcomes.chunk_by(|one, two| row(one) == row(two)).next().unwrap_or_default();
    for outcome in first {
        let _ = write!(text, " {} |", outcome.case.column());
    }
    text.push_str("\n|---|");
    text.push_str(&"---|".repeat(first.len()));
    text.push('\n');
    for outcomes in outcomes.chunk_by(|one, two| row(one) == row(two)) {
        let name = row(&outcomes[0]);
        let _ = write!(text, "| {} |", name.split('/').nth(1).unwrap_or_default());
        for outcome in outcomes {
            let _ = write!(text, " {} |", outcome.cell());
        }
        text.push('\n');
    }
    text
}
