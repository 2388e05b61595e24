//! Writing how much the model is to think.

use crate::conversation::{Thinking, ThinkingMode, ThinkingShow};
use crate::json::Number;
use crate::loss::LossKind;
use crate::protocol::Field;
use crate::protocol::object::Object;
use crate::protocol::openai_chat::encode_request::options::Options;
use crate::protocol::openai_chat::types::request_shape;
use crate::protocol::semantics::Semantics;
use crate::target::{Effort, ReasoningField, ReasoningRequest, Thinking as Steering};

fn is_hidden(show: &ThinkingShow<'_>) -> bool {
    matches!(show, ThinkingShow::Hidden)
}

impl Options<'_, '_> {
    /// Writes how much this protocol's own request wants the model to think.
    fn write_own_thinking(&self, object: &mut Object<'_, '_>, own: &Semantics<'_>) {
        let Thinking { mode, effort, budget, show } = &self.request.thinking;
        if self.is_shaped(request_shape::REASONING_OBJECT) {
            let extras = Some((own.extras(), "reasoning"));
            let mut reasoning = Object::open(object.key("reasoning"), extras);
            reasoning.optional("effort", effort.as_ref());
            reasoning.optional("max_tokens", budget.as_ref());
            reasoning.optional("exclude", show.as_ref().map(is_hidden).as_ref());
            reasoning.close();
        } else {
            object.optional("reasoning_effort", effort.as_ref());
        }
        if self.is_shaped(request_shape::THINKING_SWITCH) {
            let extras = Some((own.extras(), "thinking"));
            let mut switch = Object::open(object.key("thinking"), extras);
            let disabled = *mode == Some(ThinkingMode::Disabled);
            switch.field("type", if disabled { "disabled" } else { "enabled" });
            switch.close();
        }
    }

    /// Writes how much to reason, and returns the effort that the model will make.
    pub(super) fn write_thinking(&mut self, object: &mut Object<'_, '_>) -> Option<Effort> {
        if let Some(own) = self.own {
            self.write_own_thinking(object, own);
            return None;
        }
        let family = &self.target.family;
        if !family.chat_tools_while_reasoning && self.has_tools {
            object.field("reasoning_effort", Effort::None.as_str());
            if self.asked_effort() != Some(Effort::None) {
                let reason = "the model takes tools on Chat only without reasoning";
                let kind = match self.request.thinking.effort {
                    Some(_) => LossKind::Approximated,
                    None => LossKind::Synthesised,
                };
                self.reporter.lose(Field::ThinkingEffort, kind, reason);
            }
            let reason = "the model does not reason in this request";
            self.lose_thinking(Field::ThinkingEffort, LossKind::Approximated, reason);
            return Some(Effort::None);
        }
        self.report_show();
        let request = self.target.dialect.reasoning_request;
        let word =
            self.request.thinking.effort.as_ref().filter(|_| request != ReasoningRequest::Absent);
        if let Some(word) = word.filter(|word| Effort::parse(&word.to_str()).is_none()) {
            self.reporter.unknown_effort(word);
        }
        match request {
            ReasoningRequest::Absent => {
                let reason = "the server cannot be asked to reason";
                self.lose_thinking(Field::ThinkingShow, LossKind::Dropped, reason);
                None
            }
            ReasoningRequest::Effort => self.write_effort(object),
            ReasoningRequest::Switch => self.write_switch(object),
            ReasoningRequest::Object => self.write_object(object),
        }
    }

    /// What the request asks for in steps of the ladder; a budget is rounded to one.
    fn asked_effort(&self) -> Option<Effort> {
        let Thinking { mode, effort, budget, show: _ } = &self.request.thinking;
        if *mode == Some(ThinkingMode::Disabled) {
            return Some(Effort::None);
        }
        let word = effort.as_ref().and_then(|word| Effort::parse(&word.to_str()));
        let budget = budget.as_ref().and_then(Number::as_u64);
        word.or_else(|| budget.map(Effort::for_budget))
    }

    /// Reports what happened to those settings of thinking that are set, but for one that is reported apart.
    fn lose_thinking(&mut self, apart: Field, kind: LossKind, reason: &'static str) {
        let Thinking { mode, effort, budget, show } = &self.request.thinking;
        let fields = [
            (Field::ThinkingMode, mode.is_some()),
            (Field::ThinkingEffort, effort.is_some()),
            (Field::ThinkingBudget, budget.is_some()),
            (Field::ThinkingShow, show.is_some()),
        ];
        let fields = fields.map(|(field, is_set)| (field, is_set && field != apart));
        self.reporter.lose_set(&fields, kind, reason);
    }

    fn report_show(&mut self) {
        if self.target.dialect.reasoning_request == ReasoningRequest::Object {
            return;
        }
        match (&self.request.thinking.show, self.target.dialect.reasoning_field) {
            (None, _) => {}
            (Some(ThinkingShow::Shown(_)), ReasoningField::Absent) => {
                let reason = "the server does not show its reasoning";
                self.reporter.dropped(Field::ThinkingShow, reason);
            }
            (Some(_), _) => {
                let reason = "the server decides what thinking it shows";
                self.reporter.implied(Field::ThinkingShow, reason);
            }
        }
    }

    fn write_effort(&mut self, object: &mut Object<'_, '_>) -> Option<Effort> {
        let family = &self.target.family;
        let Some(asked) = self.asked_effort() else {
            // Thinking without any measure needs no field.
            if self.request.thinking.mode.is_some() {
                self.reporter.approximated(Field::ThinkingMode, "Chat has effort levels only");
            }
            self.report_budget();
            return None;
        };
        let off = asked == Effort::None;
        if off && !family.thinking.by_default() && self.request.thinking.effort.is_none() {
            self.reporter.implied(Field::ThinkingMode, "the model does not reason unless asked to");
            self.report_budget();
            return Some(Effort::None);
        }
        if !off && matches!(family.thinking, Steering::None | Steering::Unsteered) {
            let reason = "the model takes no effort";
            self.lose_thinking(Field::ThinkingShow, LossKind::Dropped, reason);
            return None;
        }
        let fit = asked.nearest(family);
        object.field("reasoning_effort", fit.value.as_str());
        if fit.changed {
            self.reporter.approximated(self.asked_in(), "the model has other effort levels");
        }
        if let Some(mode) = self.request.thinking.mode {
            let kind = match mode {
                ThinkingMode::Disabled => LossKind::Renamed,
                ThinkingMode::Enabled | ThinkingMode::Adaptive | ThinkingMode::BetweenTools => {
                    LossKind::Approximated
                }
            };
            self.reporter.lose(Field::ThinkingMode, kind, "Chat has effort levels only");
        }
        self.report_budget();
        if self.request.thinking.effort.is_none() {
            self.reporter.synthesised(Field::ThinkingEffort, "sent in place of the budget");
        }
        if self.request.thinking.show.is_none() {
            self.reporter.synthesised(Field::ThinkingShow, "thinking that is asked for is shown");
        }
        Some(fit.value)
    }

    /// The field in which the request says how much to reason.
    fn asked_in(&self) -> Field {
        let Thinking { mode: _, effort, budget, show: _ } = &self.request.thinking;
        match (effort, budget) {
            (Some(_), _) => Field::ThinkingEffort,
            (None, Some(_)) => Field::ThinkingBudget,
            (None, None) => Field::ThinkingMode,
        }
    }

    fn report_budget(&mut self) {
        if self.request.thinking.budget.is_some() {
            let reason = "Chat has effort levels, no thinking budget";
            self.reporter.approximated(Field::ThinkingBudget, reason);
        }
    }

    fn write_switch(&mut self, object: &mut Object<'_, '_>) -> Option<Effort> {
        let asked = self.asked_effort();
        if asked.is_none() && self.request.thinking.mode.is_none() {
            return None;
        }
        let off = asked == Some(Effort::None);
        let word = if off { "disabled" } else { "enabled" };
        object.key("thinking").object(|it| it.field("type", word));
        if let Some(asked) = asked.filter(|_| !off) {
            object.field("reasoning_effort", asked.as_str());
        }
        if self.request.thinking.mode.is_some() {
            self.reporter.renamed(Field::ThinkingMode, "the server has a switch");
        }
        self.report_budget();
        asked
    }

    fn write_object(&mut self, object: &mut Object<'_, '_>) -> Option<Effort> {
        let asked = self.asked_effort();
        let Thinking { mode, effort: _, budget, show } = &self.request.thinking;
        if asked.is_none() && mode.is_none() && show.is_none() {
            return None;
        }
        object.key("reasoning").object(|it| {
            match (budget, asked) {
                (Some(budget), Some(asked)) if asked != Effort::None => {
                    it.field("max_tokens", budget);
                }
                (_, asked) => it.optional("effort", asked.map(Effort::as_str)),
            }
            it.optional("exclude", show.as_ref().map(is_hidden).as_ref());
        });
        if mode.is_some() {
            self.reporter.renamed(Field::ThinkingMode, "the server has an object for it");
        }
        asked
    }
}
