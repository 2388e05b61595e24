//! Tables of ratios, a row for each pair and a column for each size, in Markdown.

use std::fmt::Write;

use crate::case::Case;
use crate::clock::Times;

/// A case and what came of measuring it.
#[derive(Debug)]
pub struct Outcome {
    pub case: Case,
    /// How many times the reference's time it may take.
    pub bar: f64,
    pub times: Result<Times, String>,
}

impl Outcome {
    pub fn is_within(&self) -> bool {
        self.times.as_ref().is_ok_and(|times| times.ratio() <= self.bar)
    }

    /// The ratio and the time; bold and with its bar if that is missed.
    fn cell(&self) -> String {
        let times = match &self.times {
            Ok(times) => times,
            Err(error) => return format!("**{error}**"),
        };
        let ratio = times.ratio();
        let micros = times.candidate.as_secs_f64() * 1e6;
        match self.is_within() {
            true => format!("{ratio:.2} ({micros:.1} µs)"),
            false => format!("**{ratio:.2} > {}** ({micros:.1} µs)", self.bar),
        }
    }
}

/// A table for each sort of case.
pub fn render(outcomes: &[Outcome]) -> String {
    let tables = outcomes.chunk_by(|one, two| sort(one) == sort(two)).map(table);
    tables.collect::<Vec<_>>().join("\n")
}

/// What stands before the slash in the name of a row.
fn sort(outcome: &Outcome) -> String {
    outcome.case.row().split('/').next().unwrap_or_default().to_owned()
}

fn table(outcomes: &[Outcome]) -> String {
    let mut rows = outcomes.chunk_by(|one, two| one.case.row() == two.case.row()).peekable();
    let first = rows.peek().copied().unwrap_or_default();
    let mut text = format!("| {} |", sort(&outcomes[0]));
    for outcome in first {
        let _ = write!(text, " {} |", outcome.case.column());
    }
    text.push_str("\n|---|");
    text.push_str(&"---|".repeat(first.len()));
    text.push('\n');
    rows.for_each(|row| push_row(&mut text, row));
    text
}

fn push_row(text: &mut String, outcomes: &[Outcome]) {
    let name = outcomes[0].case.row();
    let _ = write!(text, "| {} |", name.split('/').nth(1).unwrap_or_default());
    for outcome in outcomes {
        let _ = write!(text, " {} |", outcome.cell());
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sabir_wire::Protocol;

    use super::*;

    fn outcome(bytes: usize, micros: u64) -> Outcome {
        let case = Case::Splice { protocol: Protocol::Gemini, bytes };
        let candidate = Duration::from_micros(micros);
        let times = Ok(Times { candidate, reference: Duration::from_micros(100) });
        Outcome { case, bar: case.bar(), times }
    }

    #[test]
    fn a_row_shows_each_size_and_marks_what_misses_its_bar() {
        let expected = "| model | 1 KB | 20 KB |\n|---|---|---|\n\
                        | gemini | 0.10 (10.0 µs) | **0.50 > 0.2** (50.0 µs) |\n";
        assert_eq!(render(&[outcome(1_000, 10), outcome(20_000, 50)]), expected);
    }

    #[test]
    fn a_case_that_fails_is_not_within_its_bar() {
        let failed = Outcome { times: Err("panicked".to_owned()), ..outcome(1_000, 1) };
        assert!(!failed.is_within());
        assert!(render(&[failed]).contains("| **panicked** |"));
    }
}
