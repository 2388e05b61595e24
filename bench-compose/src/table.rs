//! A table of ratios in Markdown, with the bar that its cells stay under.

use sabir_benches_wire::clock::Times;

/// What was measured, a row for each variant and a column for each size.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<(String, Vec<Times>)>,
    /// How many times the reference's time each cell may take.
    pub(crate) bar: f64,
}

impl Table {
    pub(crate) fn is_within(&self) -> bool {
        self.rows.iter().flat_map(|(_, cells)| cells).all(|times| times.ratio() <= self.bar)
    }

    pub(crate) fn render(&self) -> String {
        let mut text = format!("| {} | {} |\n", self.name, self.columns.join(" | "));
        text.push_str(&format!("|---|{}\n", "---|".repeat(self.columns.len())));
        for (name, cells) in &self.rows {
            let cells: Vec<String> = cells.iter().map(|times| self.cell(*times)).collect();
            text.push_str(&format!("| {name} | {} |\n", cells.join(" | ")));
        }
        text
    }

    /// The ratio and the time; bold and with the bar if that is missed.
    fn cell(&self, times: Times) -> String {
        let (ratio, micros) = (times.ratio(), times.candidate.as_secs_f64() * 1e6);
        match ratio <= self.bar {
            true => format!("{ratio:.2} ({micros:.1} µs)"),
            false => format!("**{ratio:.2} > {}** ({micros:.1} µs)", self.bar),
        }
    }
}
