//! The settings of a request: limits, sampling, thinking, output and the end user.

use super::thinking::{BUDGET_MIN, Form, Thought};
use super::{Encoding, schemas};
use crate::conversation::{
    OutputFormat, OutputSchema, Request, Thinking, ThinkingMode, ThinkingShow,
};
use crate::json::{Json, Number, Text};
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::anthropic_messages::types::{OUTPUT_FORMAT, SELF};
use crate::protocol::described::{described, report_description};
use crate::protocol::json_mode::ASK_FOR_JSON;
use crate::protocol::object::Object;
use crate::protocol::reporter::Reporter;
use crate::protocol::turns::Turns;
use crate::protocol::{Fate, Field, tier};
use crate::schema::SchemaLanguage;
use crate::target::{Accepts, Effort, Sampling, Target, Vendor};

/// What has to be decided before anything is written.
pub(super) struct Plan<'r> {
    pub(super) max_tokens: Option<Number<'r>>,
    pub(super) thought: Thought,
}

impl<'r> Plan<'r> {
    pub(super) fn of(
        request: &'r Request<'r>,
        target: &Target,
        turns: &Turns<'_>,
        reporter: &mut Reporter<'_>,
    ) -> Self {
        let mut thought = Thought::of(request, &target.family, turns, reporter);
        let limit = match &request.max_output_tokens {
            Some(limit) => (limit.reborrow(), LossKind::Approximated),
            None => {
                reporter.synthesised(Field::MaxOutputTokens, "Messages requires a token limit");
                (Number::from(target.required_output_tokens()), LossKind::Synthesised)
            }
        };
        let max_tokens = Some(fit_limit(limit, &mut thought, target, reporter));
        Self { max_tokens, thought }
    }
}

/// The limit that leaves room for the thinking and that the model can reach.
/// Fixture `request/thinking/budget-beyond-the-limit`.
fn fit_limit<'r>(
    (limit, kind): (Number<'r>, LossKind),
    thought: &mut Thought,
    target: &Target,
    reporter: &mut Reporter<'_>,
) -> Number<'r> {
    let Some(asked) = limit.as_whole() else { return limit };
    let most = target.family.output_tokens_max.unwrap_or(u64::MAX);
    let mut fit = asked.min(most);
    if let Form::Budget(tokens) = &mut thought.form {
        if fit <= *tokens {
            fit = tokens.saturating_add(fit.max(1)).min(most);
        }
        // What the model can reach may still be less than the budget.
        *tokens = (*tokens).min(fit.saturating_sub(1)).max(BUDGET_MIN);
    }
    if fit == asked {
        // Integers are refused that have a fraction, be it zero.
        return if limit.as_u64().is_some() { limit } else { Number::from(asked) };
    }
    let reason = if fit > asked {
        "the limit must leave room for the thinking"
    } else {
        "the model's maximum output"
    };
    reporter.lose(Field::MaxOutputTokens, kind, reason);
    Number::from(fit)
}

impl<'r> Encoding<'r, '_> {
    pub(super) fn write_settings(&mut self, body: &mut Object<'_, '_>) {
        self.write_sampling(body);
        self.write_stop(body);
        self.write_thinking(body);
        self.write_output(body);
        self.write_user(body);
        tier::write(body, "service_tier", self.request, &mut self.reporter);
        self.report_defaults();
    }

    fn write_sampling(&mut self, body: &mut Object<'_, '_>) {
        let sampling = &self.request.sampling;
        if self.is_own() {
            body.optional("temperature", sampling.temperature.as_ref());
            body.optional("top_p", sampling.top_p.as_ref());
            return body.optional("top_k", sampling.top_k.as_ref());
        }
        let thought = &self.plan.thought;
        let effort = match thought.form {
            Form::Omitted | Form::AsAsked => None,
            Form::Disabled => Some(Effort::None),
            Form::Adaptive | Form::Budget(_) => Some(Effort::High),
        };
        let family = &self.target.family;
        let mut rules: Sampling = *family.sampling_for(effort);
        if thought.is_on() && family.vendor != Vendor::Anthropic {
            // Only the protocol is known and not the model. Fixture `request/thinking/sampling-beside-thinking`.
            rules.temperature = Accepts::Only(1.0);
            rules.top_p = Accepts::Between { min: 0.95, max: 1.0 };
            rules.top_k = Accepts::Nothing;
        }
        if !self.target.anthropic_version.takes_sampling() {
            [rules.temperature, rules.top_p, rules.top_k] = [Accepts::Nothing; 3];
        }
        let is_either = sampling.top_p.is_some() && !rules.temperature_with_top_p;
        let temperature = sampling.temperature.as_ref();
        let mut temperature = self.fitted(Field::Temperature, temperature, rules.temperature);
        if is_either && temperature.as_ref().and_then(Number::as_f64) == Some(1.0) {
            let reason = "it is the default, and the model accepts either it or `top_p`";
            self.reporter.implied(Field::Temperature, reason);
            temperature = None;
        }
        body.optional("temperature", temperature.as_ref());
        let top_p = match &sampling.top_p {
            Some(_) if temperature.is_some() && is_either => {
                let reason = "the model takes it or the temperature, not both";
                self.reporter.dropped(Field::TopP, reason);
                None
            }
            top_p => self.fitted(Field::TopP, top_p.as_ref(), rules.top_p),
        };
        body.optional("top_p", top_p.as_ref());
        let top_k = self.fitted(Field::TopK, sampling.top_k.as_ref(), rules.top_k);
        let top_k = top_k.map(|number| self.whole(Field::TopK, number));
        body.optional("top_k", top_k.as_ref());
    }

    /// The number as an integer, which Gemini's clients spell with a fraction.
    /// Fixture `request/thinking/budgets-with-an-exponent`.
    fn whole<'n>(&mut self, field: Field, number: Number<'n>) -> Number<'n> {
        let nearest = number.as_f64().map(f64::round).filter(|nearest| *nearest >= 0.0);
        match (number.as_i64(), number.as_whole(), nearest) {
            (None, Some(whole), _) => Number::from(whole),
            (None, None, Some(nearest)) => {
                self.reporter.approximated(field, "an integer is required");
                Number::from(nearest as u64)
            }
            _ => number,
        }
    }

    /// The value of a sampling parameter that can be sent, with what it changes reported.
    fn fitted<'n>(
        &mut self,
        field: Field,
        number: Option<&'n Number<'n>>,
        accepts: Accepts,
    ) -> Option<Number<'n>> {
        let number = number?;
        let asked = number.as_f64()?;
        // The protocol itself has no temperature above one. Fixture `request/sampling/temperature-above-one`.
        let most = if field == Field::Temperature { 1.0 } else { f64::INFINITY };
        let Some(fit) = accepts.fit(asked).map(|value| value.min(most)) else {
            let is_default = field != Field::TopK && asked == 1.0;
            let kind = if is_default { LossKind::Implied } else { LossKind::Dropped };
            self.reporter.lose(field, kind, "the model does not take it");
            return None;
        };
        if fit == asked {
            return Some(number.reborrow());
        }
        self.reporter.approximated(field, "above the model's maximum");
        if fit == 1.0 { Some(Number::from(1_u64)) } else { Number::from_f64(fit) }
    }

    fn write_stop(&mut self, body: &mut Object<'_, '_>) {
        let is_refused = |text: &Text<'_>| text.is_blank() && self.own.is_none();
        let stop = &self.request.stop;
        for (index, _) in stop.iter().enumerate().filter(|(_, text)| is_refused(text)) {
            let reason = "Messages refuses stop sequences of whitespace alone";
            self.reporter.stop(index, LossKind::Dropped, reason);
        }
        body.list_unless_empty("stop_sequences", |list| {
            stop.iter().filter(|text| !is_refused(text)).for_each(|text| list.value(text));
        });
    }

    fn write_thinking(&mut self, body: &mut Object<'_, '_>) {
        let (asked, Thought { form, effort: _, display }) =
            (&self.request.thinking, self.plan.thought);
        let shown = display.map(Text::literal);
        let (kind, budget, shown) = match form {
            Form::Omitted => return,
            Form::AsAsked => (asked_word(asked.mode), asked.budget.clone(), asked_show(asked)),
            Form::Disabled => ("disabled", None, None),
            Form::Adaptive => ("adaptive", None, shown),
            Form::Budget(tokens) => ("enabled", Some(Number::from(tokens)), shown),
        };
        let mut object = Object::open(body.key("thinking"), self.extras("thinking"));
        object.word("type", kind);
        object.optional("budget_tokens", budget.as_ref());
        object.optional("display", shown.as_ref());
        object.close();
    }

    fn write_output(&mut self, body: &mut Object<'_, '_>) {
        let made = self.plan.thought.effort.map(|effort| Text::literal(effort.as_str()));
        let effort = made.or_else(|| self.own.and(self.request.thinking.effort.clone()));
        let format = self.format();
        let is_beta = self.own.is_some_and(|semantics| semantics.has_shape(OUTPUT_FORMAT));
        if let Some(format) = format.as_ref().filter(|_| is_beta) {
            self.write_format(body, ("output_format", "output_format"), format);
        }
        let namespace = self.own.and_then(|semantics| semantics.anthropic());
        body.unless_empty("output_config", self.extras("output_config"), |object| {
            object.optional("effort", effort.as_ref());
            if let Some(format) = format.as_ref().filter(|_| !is_beta) {
                self.write_format(object, ("format", "output_config/format"), format);
            }
            object.optional("task_budget", namespace.and_then(|it| it.task_budget()));
        });
    }

    fn write_format(
        &self,
        outer: &mut Object<'_, '_>,
        (key, scope): (&'static str, &'static str),
        schema: &Json<'_>,
    ) {
        let mut object = Object::open(outer.key(key), self.extras(scope));
        object.word("type", "json_schema");
        object.field("schema", schema);
        object.close();
    }

    /// The schema that the answer is held to.
    fn format(&mut self) -> Option<Json<'r>> {
        match &self.request.output {
            OutputFormat::JsonSchema(output) if self.is_own() => {
                Some(output.schema.as_ref().map_or(Json::literal("null"), Json::reborrow))
            }
            OutputFormat::JsonSchema(output) if self.target.family.schema_output => {
                self.output_schema(output)
            }
            _ => None,
        }
    }

    fn output_schema(&mut self, output: &'r OutputSchema<'r>) -> Option<Json<'r>> {
        if let Some(strict) = output.strict {
            let kind = if strict { LossKind::Implied } else { LossKind::Approximated };
            let reason = "output schemas are always strict in Messages";
            self.reporter.lose(Field::OutputSchemaStrict, kind, reason);
        }
        let Some(schema) = &output.schema else {
            self.reporter.dropped(Field::OutputFormat, "there is no schema to hold to");
            report_description(output.description.as_ref(), &mut self.reporter);
            return None;
        };
        let (place, language) = (Place::default(), self.output_language);
        let at = schemas::At { place, field: Field::OutputSchema, language };
        let schema =
            schemas::translate(schema, SchemaLanguage::AnthropicStrict, at, &mut self.reporter);
        Some(described(schema, output.description.as_ref(), &mut self.reporter))
    }

    /// What the system prompt must ask for, since no setting can. Fixture `request/schema/json-object-mode`.
    pub(super) fn instruction(&mut self) -> Option<Text<'static>> {
        match &self.request.output {
            _ if self.is_own() => None,
            OutputFormat::Unset | OutputFormat::Text => None,
            OutputFormat::JsonObject => {
                let reason = "Messages has no JSON mode; the system prompt asks for JSON";
                self.reporter.approximated(Field::OutputFormat, reason);
                Some(Text::literal(ASK_FOR_JSON))
            }
            OutputFormat::JsonSchema(_) if self.target.family.schema_output => None,
            OutputFormat::JsonSchema(output) => {
                let reason = "the model takes no output schema; the system prompt asks for JSON";
                self.reporter.approximated(Field::OutputSchema, reason);
                let schema = output.schema.as_ref().map_or(Json::literal("{}"), Json::reborrow);
                let schema = described(schema, output.description.as_ref(), &mut self.reporter);
                let schema = schema.compact();
                Some(Text::plain(format!(
                    "{ASK_FOR_JSON} It must match this JSON schema:\n{schema}"
                )))
            }
        }
    }

    fn write_user(&mut self, body: &mut Object<'_, '_>) {
        let (identifier, user) = (&self.request.safety_identifier, &self.request.user);
        match (identifier, user) {
            (Some(_), Some(_)) => {
                self.reporter.dropped(Field::User, "Messages has one identifier of the end user");
            }
            (None, Some(_)) => {
                self.reporter.renamed(Field::User, "the id of the end user");
                self.reporter.synthesised(Field::SafetyIdentifier, "the id of the end user");
            }
            (Some(_) | None, None) => {}
        }
        body.unless_empty("metadata", self.extras("metadata"), |metadata| {
            metadata.optional("user_id", identifier.as_ref().or(user.as_ref()));
        });
    }

    /// Reports what has no place here, and is no loss where it says what the target does anyway.
    fn report_defaults(&mut self) {
        let sampling = &self.request.sampling;
        let is = |number: &Option<Number<'_>>, value: f64| {
            number.as_ref().map(|number| number.as_f64() == Some(value))
        };
        let is_medium = |word: &Text<'_>| *word == "medium";
        let settings = [
            (Field::PresencePenalty, is(&sampling.presence_penalty, 0.0)),
            (Field::FrequencyPenalty, is(&sampling.frequency_penalty, 0.0)),
            (Field::Candidates, is(&sampling.candidates, 1.0)),
            (Field::Logprobs, sampling.logprobs.map(|asked| !asked)),
            (Field::TopLogprobs, is(&sampling.top_logprobs, 0.0)),
            (Field::Verbosity, self.request.verbosity.as_ref().map(is_medium)),
            (Field::Store, self.request.store.map(|store| !store)),
        ];
        for (field, is_default) in settings {
            if let (Some(false), Fate::Depends(reason)) = (is_default, SELF.fate(field)) {
                self.reporter.dropped(field, reason);
            }
        }
    }
}

/// The client's own word for how it wants the model to think.
fn asked_word(mode: Option<ThinkingMode>) -> &'static str {
    match mode {
        Some(ThinkingMode::Enabled) | None => "enabled",
        Some(ThinkingMode::Adaptive) => "adaptive",
        Some(ThinkingMode::BetweenTools) => "between_tools",
        Some(ThinkingMode::Disabled) => "disabled",
    }
}

/// The client's own word for how it wants to see the thinking.
fn asked_show<'r>(thinking: &'r Thinking<'r>) -> Option<Text<'r>> {
    thinking.show.as_ref().map(|show| match show {
        ThinkingShow::Shown(Some(word)) => word.reborrow(),
        ThinkingShow::Shown(None) => Text::literal("summarized"),
        ThinkingShow::Hidden => Text::literal("omitted"),
    })
}
