//! Writing `thinkingConfig`: a budget or a level, as the model takes it, never both.
//! Fixture `request/thinking/gemini-budget-or-level-by-generation`.

use crate::conversation::{Thinking, ThinkingMode, ThinkingShow};
use crate::loss::LossKind;
use crate::protocol::Field;
use crate::protocol::gemini::types::THINKING_SCOPE;
use crate::protocol::object::Object;
use crate::target;
use crate::target::Effort;

use super::Scribe;

/// A budget that leaves it to the model.
const BY_ITSELF: i64 = -1;

impl<'x> Scribe<'x, '_> {
    pub(super) fn thinking_config(&mut self, config: &mut Object<'_, '_>) {
        let thinking = &self.decoded.request.thinking;
        let extras = self.extras(THINKING_SCOPE);
        let is_same = self.is_same();
        config.unless_empty("thinkingConfig", extras, |object| match is_same {
            true => self.same_thinking(object, thinking),
            false => self.foreign_thinking(object, thinking),
        });
    }

    fn same_thinking(&self, object: &mut Object<'_, '_>, thinking: &Thinking<'_>) {
        let Thinking { mode, effort, budget, show } = thinking;
        let budget = match (budget, mode) {
            (Some(budget), _) => Some(budget.reborrow()),
            (None, Some(ThinkingMode::Adaptive)) => Some(BY_ITSELF.into()),
            (None, Some(ThinkingMode::Disabled)) => Some(0_u64.into()),
            (None, Some(ThinkingMode::Enabled | ThinkingMode::BetweenTools) | None) => None,
        };
        object.optional("thinkingBudget", budget.as_ref());
        let level = effort.as_ref().map(|effort| effort.to_str().to_ascii_uppercase());
        object.optional("thinkingLevel", level.as_deref());
        let is_shown = show.as_ref().map(|show| matches!(show, ThinkingShow::Shown(_)));
        object.optional("includeThoughts", is_shown.as_ref());
    }

    fn foreign_thinking(&mut self, object: &mut Object<'_, '_>, thinking: &Thinking<'_>) {
        let Thinking { mode, effort, budget, show: _ } = thinking;
        let family = self.target.family.thinking;
        if matches!(family, target::Thinking::None | target::Thinking::Unsteered) {
            return self.refuse(thinking);
        }
        let effort = effort.as_ref().and_then(|word| Effort::parse(&word.to_str()));
        let budget = budget.as_ref().and_then(|budget| budget.as_whole());
        if *mode == Some(ThinkingMode::BetweenTools) {
            self.reporter.dropped(Field::ThinkingMode, "the vendor has no such value");
        }
        match (mode, effort, budget) {
            (Some(ThinkingMode::Disabled), _, _) => self.effort(object, Effort::None),
            (_, _, Some(tokens)) => self.budget(object, tokens),
            (_, Some(effort), None) => self.effort(object, effort),
            (Some(ThinkingMode::Adaptive | ThinkingMode::Enabled), None, None) => {
                self.refuse_words(thinking);
                self.by_itself(object);
            }
            (Some(ThinkingMode::BetweenTools) | None, None, None) => self.refuse_words(thinking),
        }
        self.show(object, thinking);
    }

    /// The model takes no word on thinking.
    fn refuse(&mut self, thinking: &Thinking<'_>) {
        let Thinking { mode, effort, budget, show } = thinking;
        let off = matches!(mode, Some(ThinkingMode::Disabled))
            || effort.as_ref().is_some_and(|word| *word == "none");
        let never = self.target.family.thinking == target::Thinking::None;
        let (kind, reason) = match off && never {
            true => (LossKind::Implied, "the model does not think"),
            false => (LossKind::Dropped, "the model's thinking cannot be configured"),
        };
        let set = [
            (Field::ThinkingMode, mode.is_some()),
            (Field::ThinkingEffort, effort.is_some()),
            (Field::ThinkingBudget, budget.is_some()),
            (Field::ThinkingShow, show.is_some()),
        ];
        self.reporter.lose_set(&set, kind, reason);
    }

    /// Words that the vendor has none for.
    fn refuse_words(&mut self, thinking: &Thinking<'_>) {
        if let Some(word) = &thinking.effort {
            self.reporter.unknown_effort(word);
        }
    }

    fn by_itself(&mut self, object: &mut Object<'_, '_>) {
        if matches!(self.target.family.thinking, target::Thinking::GeminiLevel { .. }) {
            let reason = "the model decides by itself unless a level is set";
            return self.reporter.implied(Field::ThinkingMode, reason);
        }
        object.field("thinkingBudget", &BY_ITSELF);
        self.reporter.renamed(Field::ThinkingMode, "the vendor's way to leave it to the model");
    }

    fn budget(&mut self, object: &mut Object<'_, '_>, tokens: u64) {
        if self.decoded.request.thinking.effort.is_some() {
            let reason = "the budget sets how much the model thinks";
            self.reporter.approximated(Field::ThinkingEffort, reason);
        }
        let (min, max) = match self.target.family.thinking {
            target::Thinking::GeminiLevel { .. } => {
                let effort = Effort::for_budget(tokens).nearest(&self.target.family).value;
                object.field("thinkingLevel", &level(effort));
                let reason = "the model's thinking is set by a level, not by a budget";
                return self.reporter.approximated(Field::ThinkingBudget, reason);
            }
            target::Thinking::GeminiBudget { min, max, .. } => (min, max),
            _ => (0, u64::MAX),
        };
        let fitted = tokens.clamp(min, max);
        object.field("thinkingBudget", &fitted);
        if fitted != tokens {
            let reason = "cut to the model's range of thinking budgets";
            self.reporter.approximated(Field::ThinkingBudget, reason);
        }
    }

    fn effort(&mut self, object: &mut Object<'_, '_>, effort: Effort) {
        let family = &self.target.family;
        let is_off = effort == Effort::None;
        let is_stated = self.decoded.request.thinking.effort.is_some();
        let field = if is_stated { Field::ThinkingEffort } else { Field::ThinkingMode };
        let changed = match family.thinking {
            target::Thinking::GeminiBudget { .. } => {
                let budget = effort.budget_for(family);
                object.field("thinkingBudget", &budget.value);
                // The ladder has no place on a scale of budgets, unless it says "off".
                !is_off || budget.changed
            }
            target::Thinking::GeminiLevel { .. } => {
                let nearest = effort.nearest(family);
                object.field("thinkingLevel", &level(nearest.value));
                nearest.changed
            }
            _ if is_off => {
                object.field("thinkingBudget", &0_u64);
                false
            }
            _ => {
                object.field("thinkingLevel", &level(effort));
                effort > Effort::High
            }
        };
        if changed {
            self.reporter.approximated(field, "the nearest value that the model supports");
        }
    }

    fn show(&mut self, object: &mut Object<'_, '_>, thinking: &Thinking<'_>) {
        match &thinking.show {
            None if self.reporter.source().shows_unasked(thinking) => {
                object.field("includeThoughts", &true);
                let reason = "thinking is shown to clients that need not ask for it";
                self.reporter.synthesised(Field::ThinkingShow, reason);
            }
            None => {}
            Some(ThinkingShow::Hidden) => object.field("includeThoughts", &false),
            Some(ThinkingShow::Shown(word)) => {
                object.field("includeThoughts", &true);
                if word.is_some() {
                    let reason = "thoughts are summarised in the vendor's own way";
                    self.reporter.renamed(Field::ThinkingShow, reason);
                }
            }
        }
    }
}

/// The vendor's word for an effort; its ladder ends at high.
fn level(effort: Effort) -> &'static str {
    match effort {
        Effort::None | Effort::Minimal => "MINIMAL",
        Effort::Low => "LOW",
        Effort::Medium => "MEDIUM",
        Effort::High | Effort::Xhigh | Effort::Max => "HIGH",
    }
}
