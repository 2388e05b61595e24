//! How thinking is asked for, by what the family of the model takes.

use crate::conversation::{AllowedMode, Request, ThinkingMode, ThinkingShow, ToolChoice};
use crate::loss::LossKind;
use crate::protocol::Field;
use crate::protocol::reporter::Reporter;
use crate::protocol::turns::Turns;
use crate::target::{Disable, Effort, Family, Thinking};

/// The least budget that the vendor takes. Fixture `request/thinking/effort-with-a-small-output-limit`.
pub(super) const BUDGET_MIN: u64 = 1024;

/// What is written of thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Thought {
    pub(super) form: Form,
    pub(super) effort: Option<Effort>,
    pub(super) display: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Omitted,
    /// In the client's own words, which are this protocol's.
    AsAsked,
    Disabled,
    Adaptive,
    Budget(u64),
}

/// What the client wishes.
#[derive(Clone, Copy)]
enum Wish {
    Nothing,
    Off,
    On,
    Effort(Effort),
    Budget(u64),
}

impl Thought {
    pub(super) const OMITTED: Self = Self { form: Form::Omitted, effort: None, display: None };

    pub(super) fn of(
        request: &Request<'_>,
        family: &Family,
        turns: &Turns<'_>,
        reporter: &mut Reporter<'_>,
    ) -> Self {
        let (wish, field) = wish(request);
        let mut mapping = Mapping { family, field, reporter };
        let effort = request.thinking.effort.as_ref();
        if let Some(word) = effort.filter(|word| Effort::parse(&word.to_str()).is_none()) {
            mapping.reporter.unknown_effort(word);
        }
        let mut thought = mapping.by_family(wish);
        if thought.is_on() && turns.lack_thinking() {
            thought = mapping.without_return(thought);
        }
        if family.thinking == Thinking::Unknown && thought.is_on() && is_forced(request) {
            thought = mapping.giving_way(thought);
        }
        let none = "there is no thinking to show";
        match &request.thinking.show {
            _ if thought.is_on() => thought.display = display(request, thought.form, reporter),
            Some(ThinkingShow::Shown(_)) => reporter.dropped(Field::ThinkingShow, none),
            Some(ThinkingShow::Hidden) => reporter.implied(Field::ThinkingShow, none),
            None => {}
        }
        thought
    }

    fn budget(tokens: u64) -> Self {
        Self { form: Form::Budget(tokens), ..Self::OMITTED }
    }

    pub(super) fn is_on(&self) -> bool {
        matches!(self.form, Form::Adaptive | Form::Budget(_))
    }
}

/// What the client wishes, and the field that says so.
fn wish(request: &Request<'_>) -> (Wish, Field) {
    let thinking = &request.thinking;
    let effort = thinking.effort.as_ref().and_then(|word| Effort::parse(&word.to_str()));
    let budget = thinking.budget.as_ref().map(|budget| budget.as_whole());
    match (thinking.mode, budget, effort) {
        (Some(ThinkingMode::Disabled), _, _) => (Wish::Off, Field::ThinkingMode),
        (_, Some(Some(0)), _) => (Wish::Off, Field::ThinkingBudget),
        (_, Some(Some(budget)), _) => (Wish::Budget(budget), Field::ThinkingBudget),
        (_, _, Some(Effort::None)) => (Wish::Off, Field::ThinkingEffort),
        (_, _, Some(effort)) => (Wish::Effort(effort), Field::ThinkingEffort),
        // A budget below zero leaves it to the model.
        (_, Some(None), None) => (Wish::On, Field::ThinkingBudget),
        (Some(_), None, None) => (Wish::On, Field::ThinkingMode),
        (None, None, None) => (Wish::Nothing, Field::ThinkingEffort),
    }
}

/// Maps what a request in another protocol asks for to what a family takes.
struct Mapping<'t, 'l> {
    family: &'t Family,
    field: Field,
    reporter: &'t mut Reporter<'l>,
}

impl Mapping<'_, '_> {
    fn lose(&mut self, kind: LossKind, reason: &'static str) {
        self.reporter.lose(self.field, kind, reason);
    }

    /// A model of which nothing is known is taken for one of the newest.
    fn by_family(&mut self, wish: Wish) -> Thought {
        let family = self.family;
        match (wish, family.thinking) {
            (Wish::Nothing, _) => Thought::OMITTED,
            (wish, Thinking::None) => {
                let is_off = matches!(wish, Wish::Off);
                let kind = if is_off { LossKind::Implied } else { LossKind::Dropped };
                self.lose(kind, "the model does not think");
                Thought::OMITTED
            }
            (Wish::Off, Thinking::AnthropicAdaptive { disable: Disable::Never, .. }) => {
                self.lose(LossKind::Approximated, "the model always thinks");
                Thought { effort: Some(Effort::Low), ..Thought::OMITTED }
            }
            (Wish::Off, _) => Thought { form: Form::Disabled, ..Thought::OMITTED },
            (Wish::On, Thinking::AnthropicBudget { .. }) => {
                self.lose(LossKind::Approximated, "the model's thinking is set by an amount");
                Thought::budget(Effort::Medium.budget_for(family).value)
            }
            (Wish::On, _) => Thought { form: Form::Adaptive, ..Thought::OMITTED },
            (Wish::Effort(effort), Thinking::AnthropicBudget { .. }) => {
                let fit = effort.budget_for(family);
                let kind = if fit.changed { LossKind::Approximated } else { LossKind::Renamed };
                self.lose(kind, "the model takes a budget in place of an effort");
                Thought::budget(fit.value)
            }
            (Wish::Effort(effort), Thinking::AnthropicAdaptive { .. }) => {
                self.with_effort(effort, effort.nearest(family).value)
            }
            (Wish::Effort(effort), _) => self.with_effort(effort, effort.max(Effort::Low)),
            (Wish::Budget(tokens), Thinking::AnthropicBudget { min, max, .. }) => {
                self.with_budget(tokens, min, max)
            }
            (Wish::Budget(tokens), Thinking::AnthropicAdaptive { budget_too: false, .. }) => {
                self.lose(LossKind::Approximated, "the model takes an effort in place of a budget");
                let effort = Effort::for_budget(tokens).nearest(family).value;
                Thought { form: Form::Adaptive, effort: Some(effort), display: None }
            }
            (Wish::Budget(tokens), _) => self.with_budget(tokens, BUDGET_MIN, u64::MAX),
        }
    }

    fn with_effort(&mut self, asked: Effort, effort: Effort) -> Thought {
        if asked != effort {
            self.lose(LossKind::Approximated, "the nearest effort that the model has");
        }
        Thought { form: Form::Adaptive, effort: Some(effort), display: None }
    }

    fn with_budget(&mut self, asked: u64, min: u64, max: u64) -> Thought {
        let tokens = asked.clamp(min, max);
        if tokens != asked {
            self.lose(LossKind::Approximated, "the nearest budget that the model takes");
        }
        Thought::budget(tokens)
    }

    /// Most models refuse to be made to call a tool while they think; of one that is not known, the client's plain word for
    /// the call counts more than thinking, of which an effort is left.
    /// Fixture `request/thinking/forced-tool-with-a-thinking-budget`.
    fn giving_way(&mut self, thought: Thought) -> Thought {
        let kind = match thought.effort {
            Some(_) => LossKind::Approximated,
            None => LossKind::Dropped,
        };
        self.lose(kind, "the model may refuse to think where it has to call a tool");
        Thought { form: Form::Omitted, ..thought }
    }

    /// In the middle of a tool turn thinking goes on only from thinking that came back.
    /// Fixture `request/thinking/tool-loop-without-its-thinking`.
    fn without_return(&mut self, thought: Thought) -> Thought {
        let Some(form) = without_thinking(self.family.thinking) else { return thought };
        let reason = "thinking is off: the request lacks the thinking of this tool turn";
        self.lose(LossKind::Approximated, reason);
        Thought { form, ..Thought::OMITTED }
    }
}

/// How thinking is turned off; none for a model that always thinks.
pub(super) fn without_thinking(thinking: Thinking) -> Option<Form> {
    match thinking {
        Thinking::AnthropicAdaptive { disable: Disable::Never, .. } => None,
        thinking if thinking.by_default() => Some(Form::Disabled),
        _ => Some(Form::Omitted),
    }
}

/// Whether the model has to call a tool.
fn is_forced(request: &Request<'_>) -> bool {
    match &request.tool_choice {
        Some(ToolChoice::Required | ToolChoice::Named { .. }) => true,
        Some(ToolChoice::Allowed { mode, .. }) => *mode == AllowedMode::Required,
        Some(ToolChoice::Auto | ToolChoice::None | ToolChoice::Other { .. }) | None => false,
    }
}

/// Whether thinking is shown. Clients that cannot ask for it are shown all there is.
fn display(request: &Request<'_>, form: Form, reporter: &mut Reporter<'_>) -> Option<&'static str> {
    match &request.thinking.show {
        Some(ThinkingShow::Hidden) => Some("omitted"),
        Some(ThinkingShow::Shown(word)) => {
            let is_plain = word.as_ref().is_none_or(|word| *word == "auto");
            let kind = if is_plain { LossKind::Renamed } else { LossKind::Approximated };
            reporter.lose(Field::ThinkingShow, kind, "thinking is shown as a summary");
            Some("summarized")
        }
        None if !reporter.source().conventions().can_ask_for_thoughts => {
            let reason = "thinking is shown to clients that cannot ask for it";
            reporter.synthesised(Field::ThinkingShow, reason);
            Some("summarized")
        }
        None => {
            if matches!(form, Form::Budget(_)) {
                let reason = "models with a thinking budget show their thinking by default";
                reporter.synthesised(Field::ThinkingShow, reason);
            }
            None
        }
    }
}
