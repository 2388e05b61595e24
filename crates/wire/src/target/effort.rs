//! The effort ladder: one order for everything that providers call effort, budget or level.

use crate::target::family::{Family, Thinking};

/// The largest budget asked of a model whose own limit is not known.
const BUDGET_MAX: u64 = 32_768;

/// How hard a model is asked to think, from not at all to all it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

/// The nearest thing that a model accepts to what was asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit<T> {
    pub value: T,
    /// Whether `value` differs from what was asked, which belongs into the loss report.
    pub changed: bool,
}

impl Effort {
    pub const ALL: [Self; 7] =
        [Self::None, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    /// Reads the wire word; Gemini's upper case counts as well.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effort| effort.as_str().eq_ignore_ascii_case(word))
    }

    /// Whether a word that is no step leaves the effort to the model, as servers of the Chat protocol have one for.
    pub fn is_left_open(word: &str) -> bool {
        matches!(word, "default" | "auto")
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// The effort that a thinking budget of `tokens` amounts to.
    ///
    /// A budget that [`budget_for`](Self::budget_for) gives for low, medium, high or xhigh comes
    /// back as the same effort.
    pub const fn for_budget(tokens: u64) -> Self {
        match tokens {
            0 => Self::None,
            1..2_048 => Self::Low,
            2_048..=8_192 => Self::Medium,
            8_193..24_576 => Self::High,
            24_576.. => Self::Xhigh,
        }
    }

    /// The thinking budget in tokens that stands for this effort on a model of `family`.
    ///
    /// Zero means that thinking is off. Whether the budget leaves room for an answer is for the
    /// encoder to see, which knows the output limit of the request.
    pub fn budget_for(self, family: &Family) -> Fit<u64> {
        let (min, max, zero) = match family.thinking {
            Thinking::AnthropicBudget { min, max, .. } => (min, max, true),
            Thinking::GeminiBudget { min, max, zero, .. } => (min, max, zero),
            _ => (0, BUDGET_MAX, true),
        };
        if self == Self::None {
            let value = if zero { 0 } else { min };
            return Fit { value, changed: !zero };
        }
        let value = self.budget().clamp(min, max);
        Fit { value, changed: value != self.budget() && self < Self::Xhigh }
    }

    const fn budget(self) -> u64 {
        match self {
            Self::None => 0,
            Self::Minimal => 512,
            Self::Low => 1_024,
            Self::Medium => 8_192,
            Self::High => 16_384,
            Self::Xhigh => 32_768,
            Self::Max => u64::MAX,
        }
    }

    /// The nearest effort that a model of `family` has.
    ///
    /// Up to high, a missing level gives way to the next higher one, so that nothing is done with
    /// less thought than was asked for; above high it gives way to the next lower one, because
    /// the extra cost was not asked for.
    pub fn nearest(self, family: &Family) -> Fit<Self> {
        let value = self.nearest_of(family.thinking);
        Fit { value, changed: value != self }
    }

    fn nearest_of(self, thinking: Thinking) -> Self {
        if thinking.has(self) {
            return self;
        }
        let had = || Self::ALL.into_iter().filter(|effort| thinking.has(*effort));
        let above = had().find(|effort| *effort > self);
        let below = had().rev().find(|effort| *effort < self);
        let (wanted, other) = if self <= Self::High { (above, below) } else { (below, above) };
        wanted.or(other).unwrap_or(self)
    }
}
