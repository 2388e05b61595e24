//! Figures held against their bars.

use std::time::Duration;

/// What has been judged so far.
#[derive(Debug, Default)]
pub struct Verdicts {
    within: usize,
    over: Vec<String>,
}

impl Verdicts {
    /// Holds a figure against its bar and writes it, bold if it is over.
    pub fn judge(&mut self, name: &str, figure: f64, bar: f64) -> String {
        // A figure that could not be computed is no figure within its bar.
        if figure <= bar {
            self.within += 1;
            return format!("{figure:.2}");
        }
        self.over.push(format!("{name}: {figure:.2} > {bar:.2}"));
        format!("**{figure:.2}**")
    }

    /// The same for a figure that must not be under its bar.
    pub fn judge_least(&mut self, name: &str, figure: f64, bar: f64) -> String {
        if figure >= bar {
            self.within += 1;
            return format!("{figure:.2}");
        }
        self.over.push(format!("{name}: {figure:.2} < {bar:.2}"));
        format!("**{figure:.2}**")
    }

    /// Says what missed its bar; whether all is well.
    pub fn print(&self) -> bool {
        println!("\n{} within their bar, {} not", self.within, self.over.len());
        self.over.iter().for_each(|line| println!("- {line}"));
        self.over.is_empty()
    }
}

pub fn ratio(one: Duration, two: Duration) -> f64 {
    one.as_secs_f64() / two.as_secs_f64()
}
