//! The settings of a request of another protocol: limits, sampling, thinking, output and the end user.

use super::foreign::Encoding;
use super::schemas;
use super::thinking::BUDGET_MIN;
use super::thinking::Form;
use super::thinking::Thought;
use super::turns::LastTurn;
use crate::conversation::OutputFormat;
use crate::conversation::OutputSchema;
use crate::conversation::Request;
use crate::json::Json;
use crate::json::Number;
use crate::json::Text;
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::Field;
use crate::protocol::anthropic_messages::types::HERE;
use crate::protocol::asking::ASK_FOR_JSON;
use crate::protocol::described::described;
use crate::protocol::described::lose_description;
use crate::protocol::losing::Losing;
use crate::protocol::object::Object;
use crate::protocol::tier;
use crate::protocol::tier::Asking;
use crate::target::Accepts;
use crate::target::Effort;
use crate::target::Sampling;
use crate::target::Target;
use crate::target::Vendor;

/// What has to be decided before anything is written.
pub(super) struct Plan<'r> {
    pub(super) max_tokens: Number<'r>,
    thought: Thought,
}

impl<'r> Plan<'r> {
    pub(super) fn of(
        request: &'r Request<'r>,
        target: &Target,
        last: LastTurn,
        losing: &mut Losing<'_>,
    ) -> Self {
        let mut thought = Thought::of(request, &target.family, last, losing);
        let limit = match &request.max_output_tokens {
            Some(limit) => (limit.reborrow(), LossKind::Approximated),
            None => {
                let (kind, reason) = (LossKind::Synthesised, "a limit is required");
                losing.field(Place::default(), Field::MaxOutputTokens, kind, reason);
                (Number::from(target.required_output_tokens()), LossKind::Synthesised)
            }
        };
        let max_tokens = fit_limit(limit, &mut thought, target, losing);
        Self { max_tokens, thought }
    }

    /// Whether the model is asked to think.
    pub(super) fn thinks(&self) -> bool {
        self.thought.is_on()
    }
}

/// The limit that leaves room for the thinking and that the model can reach.
fn fit_limit<'r>(
    (limit, kind): (Number<'r>, LossKind),
    thought: &mut Thought,
    target: &Target,
    losing: &mut Losing<'_>,
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
        "the model answers no longer than this"
    };
    losing.field(Place::default(), Field::MaxOutputTokens, kind, reason);
    Number::from(fit)
}

/// What a model takes of sampling while it thinks, where only the protocol is known and not the model.
pub(in crate::protocol::anthropic_messages) fn while_thinking(rules: Sampling) -> Sampling {
    Sampling {
        temperature: Accepts::Only(1.0),
        top_p: Accepts::Between { min: 0.95, max: 1.0 },
        top_k: Accepts::Nothing,
        ..rules
    }
}

impl Encoding<'_, '_> {
    pub(super) fn write_settings(&mut self, body: &mut Object<'_, '_>) {
        self.write_sampling(body);
        self.write_stop(body);
        self.write_thinking(body);
        self.write_output(body);
        self.write_user(body);
        self.write_tier(body);
        self.lose_defaults();
    }

    fn lose(&mut self, field: Field, kind: LossKind, reason: &'static str) {
        self.losing.field(Place::default(), field, kind, reason);
    }

    fn write_sampling(&mut self, body: &mut Object<'_, '_>) {
        let thought = &self.plan.thought;
        let effort = match thought.form {
            Form::Unsaid => None,
            Form::Disabled => Some(Effort::None),
            Form::Adaptive | Form::Budget(_) => Some(Effort::High),
        };
        let family = &self.target.family;
        let mut rules: Sampling = *family.sampling_for(effort);
        if thought.is_on() && family.vendor != Vendor::Anthropic {
            rules = while_thinking(rules);
        }
        let sampling = &self.request.sampling;
        let of = |accepts| {
            if self.target.anthropic_version.takes_sampling() { accepts } else { Accepts::Nothing }
        };
        let temperature =
            self.fitted(Field::Temperature, sampling.temperature.as_ref(), of(rules.temperature));
        let is_either = sampling.top_p.is_some() && !rules.temperature_with_top_p;
        let temperature = match temperature {
            Some(number) if is_either && number.as_f64() == Some(1.0) => {
                let reason = "it is the default, and the model accepts either it or `top_p`";
                self.lose(Field::Temperature, LossKind::Implied, reason);
                None
            }
            temperature => temperature,
        };
        let has_temperature = temperature.is_some();
        body.optional("temperature", temperature.as_ref());
        let top_p = match &sampling.top_p {
            Some(_) if has_temperature && is_either => {
                let reason = "the model takes it or the temperature, not both";
                self.lose(Field::TopP, LossKind::Dropped, reason);
                None
            }
            top_p => self.fitted(Field::TopP, top_p.as_ref(), of(rules.top_p)),
        };
        body.optional("top_p", top_p.as_ref());
        let top_k = self.fitted(Field::TopK, sampling.top_k.as_ref(), of(rules.top_k));
        let top_k = top_k.map(|number| self.whole(Field::TopK, number));
        body.optional("top_k", top_k.as_ref());
    }

    /// The number as an integer, which Gemini's clients spell with a fraction.
    fn whole<'n>(&mut self, field: Field, number: Number<'n>) -> Number<'n> {
        let nearest = number.as_f64().map(f64::round).filter(|nearest| *nearest >= 0.0);
        match (number.as_i64(), number.as_whole(), nearest) {
            (None, Some(whole), _) => Number::from(whole),
            (None, None, Some(nearest)) => {
                self.lose(field, LossKind::Approximated, "an integer is required");
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
        // The protocol itself has no temperature above one.
        let most = if field == Field::Temperature { 1.0 } else { f64::INFINITY };
        let Some(fit) = accepts.fit(asked).map(|value| value.min(most)) else {
            let is_default = field != Field::TopK && asked == 1.0;
            let kind = if is_default { LossKind::Implied } else { LossKind::Dropped };
            self.lose(field, kind, "the model does not take it");
            return None;
        };
        if fit == asked {
            return Some(number.reborrow());
        }
        self.lose(field, LossKind::Approximated, "more than the model takes");
        if fit == 1.0 { Some(Number::from(1_u64)) } else { Number::from_f64(fit) }
    }

    fn write_stop(&mut self, body: &mut Object<'_, '_>) {
        let stop = &self.request.stop;
        for (index, _) in stop.iter().enumerate().filter(|(_, text)| text.is_blank()) {
            let reason = "stops of whitespace alone are refused";
            self.losing.stop(index, LossKind::Dropped, reason);
        }
        let mut kept = stop.iter().filter(|text| !text.is_blank()).peekable();
        if kept.peek().is_some() {
            body.key("stop_sequences").array(|list| kept.for_each(|text| list.value(text)));
        }
    }

    fn write_thinking(&mut self, body: &mut Object<'_, '_>) {
        let Thought { form, effort: _, display } = self.plan.thought;
        let kind = match form {
            Form::Unsaid => return,
            Form::Disabled => "disabled",
            Form::Adaptive => "adaptive",
            Form::Budget(_) => "enabled",
        };
        body.key("thinking").object(|object| {
            object.field("type", kind);
            if let Form::Budget(tokens) = form {
                object.field("budget_tokens", &tokens);
            }
            object.optional("display", display);
        });
    }

    fn write_output(&mut self, body: &mut Object<'_, '_>) {
        let effort = self.plan.thought.effort;
        let schema = match &self.request.output {
            OutputFormat::JsonSchema(schema) if self.target.family.schema_output => {
                self.output_schema(schema)
            }
            _ => None,
        };
        if effort.is_none() && schema.is_none() {
            return;
        }
        body.key("output_config").object(|object| {
            object.optional("effort", effort.map(Effort::as_str));
            if let Some(schema) = schema {
                object.key("format");
                object.object(|format| {
                    format.word("type", "json_schema");
                    format.field("schema", &schema);
                });
            }
        });
    }

    fn output_schema<'s>(&mut self, output: &OutputSchema<'s>) -> Option<Json<'s>> {
        if let Some(strict) = output.strict {
            let kind = if strict { LossKind::Implied } else { LossKind::Approximated };
            self.lose(
                Field::OutputSchemaStrict,
                kind,
                "output schemas are always strict in Messages",
            );
        }
        let Some(schema) = &output.schema else {
            self.lose(Field::OutputFormat, LossKind::Dropped, "there is no schema to hold to");
            lose_description(output.description.as_ref(), &mut self.losing);
            return None;
        };
        let (place, spelling, dialect) = (Place::default(), self.spelling, self.output_dialect);
        let at = schemas::At { place, field: Field::OutputSchema, spelling, dialect };
        let schema = schemas::translate(schema, schemas::Use::Output, at, &mut self.losing);
        Some(described(schema, output.description.as_ref(), &mut self.losing))
    }

    /// What the system prompt must ask for, since no setting can.
    pub(super) fn instruction(&mut self) -> Option<Text<'static>> {
        match &self.request.output {
            OutputFormat::Unsaid | OutputFormat::Text => None,
            OutputFormat::JsonObject => {
                let reason = "there is no such mode: the system prompt asks for it";
                self.lose(Field::OutputFormat, LossKind::Approximated, reason);
                Some(Text::literal(ASK_FOR_JSON))
            }
            OutputFormat::JsonSchema(_) if self.target.family.schema_output => None,
            OutputFormat::JsonSchema(output) => {
                let reason = "the model takes no output schema: the system prompt asks for it";
                self.lose(Field::OutputSchema, LossKind::Approximated, reason);
                let schema = output.schema.as_ref().map_or(Json::literal("{}"), Json::reborrow);
                let schema = described(schema, output.description.as_ref(), &mut self.losing);
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
                let reason = "Messages has one identifier of the end user";
                self.lose(Field::User, LossKind::Dropped, reason);
            }
            (None, Some(_)) => {
                self.lose(Field::User, LossKind::Renamed, "the id of the end user");
                self.lose(Field::SafetyIdentifier, LossKind::Synthesised, "the id of the end user");
            }
            (Some(_) | None, None) => {}
        }
        if let Some(id) = identifier.as_ref().or(user.as_ref()) {
            body.key("metadata").object(|metadata| metadata.field("user_id", id));
        }
    }

    fn write_tier(&mut self, body: &mut Object<'_, '_>) {
        let Some(tier) = &self.request.service_tier else { return };
        let asked = tier.to_str();
        let word = tier::translated(&asked, self.losing.source(), HERE, Asking::Request);
        match word {
            // Left to the vendor, which does so unasked: its word stands for a choice among tiers of its own.
            Some("auto") => return,
            Some(_) => {}
            None => self.lose(Field::ServiceTier, LossKind::Dropped, "the vendor has no such tier"),
        }
        body.optional("service_tier", word);
    }

    /// Reports what has no place here, and is no loss where it says what the target does anyway.
    fn lose_defaults(&mut self) {
        let sampling = &self.request.sampling;
        let is = |number: &Option<Number<'_>>, value: f64| {
            number.as_ref().map(|number| number.as_f64() == Some(value))
        };
        let told = [
            (Field::PresencePenalty, is(&sampling.presence_penalty, 0.0), "there are no penalties"),
            (
                Field::FrequencyPenalty,
                is(&sampling.frequency_penalty, 0.0),
                "there are no penalties",
            ),
            (Field::Candidates, is(&sampling.candidates, 1.0), "Messages returns one answer"),
            (
                Field::Logprobs,
                sampling.logprobs.map(|asked| !asked),
                "Messages returns no log probabilities",
            ),
            (
                Field::TopLogprobs,
                is(&sampling.top_logprobs, 0.0),
                "Messages returns no log probabilities",
            ),
            (
                Field::Verbosity,
                self.request.verbosity.as_ref().map(|word| *word == "medium"),
                "Messages has no such setting",
            ),
            (Field::Store, self.request.store.map(|store| !store), "Messages stores nothing"),
        ];
        for (field, is_default, reason) in told {
            if is_default == Some(false) {
                self.lose(field, LossKind::Dropped, reason);
            }
        }
    }
}
