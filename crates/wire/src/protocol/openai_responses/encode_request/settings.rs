//! Writing the settings of a request: what this protocol can say of them, and what the model's family takes.

use crate::conversation::{OutputFormat, OutputSchema, Request, ThinkingMode, ThinkingShow};
use crate::json::{Number, Text};
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::object::Object;
use crate::protocol::openai_responses::types::{INCLUDE_LOGPROBS, MAX_OUTPUT_TOKENS_MIN};
use crate::protocol::reporter::Reporter;
use crate::protocol::schema_language::fitted;
use crate::protocol::semantics::Extras;
use crate::protocol::{DecodedRequest, Field, schema_language, tier};
use crate::target::{Accepts, Effort, Sampling, Target, Thinking};

/// Writes the settings of one request.
pub(super) struct Settings<'s, 'r> {
    pub(super) reporter: &'s mut Reporter<'r>,
    pub(super) decoded: &'s DecodedRequest<'s>,
    pub(super) target: &'s Target,
}

impl<'s> Settings<'s, '_> {
    fn request(&self) -> &'s Request<'s> {
        &self.decoded.request
    }

    fn extras(&self, scope: &'static str) -> Option<(&'s Extras<'s>, &'static str)> {
        self.reporter.is_same().then(|| (self.decoded.semantics().extras(), scope))
    }

    pub(super) fn write(&mut self, object: &mut Object<'_, '_>) {
        let request = self.request();
        self.limit(object);
        self.reasoning(object);
        self.sampling(object);
        self.text(object);
        object.optional("safety_identifier", request.safety_identifier.as_ref());
        object.optional("user", request.user.as_ref());
        object.optional("metadata", request.metadata.as_ref());
        tier::write(object, "service_tier", request, self.reporter);
        self.store(object);
        object.optional("prompt_cache_key", request.cache.key.as_ref());
        object.optional("prompt_cache_options", request.cache.options.as_ref());
        object.optional("prompt_cache_retention", request.cache.retention.as_ref());
        self.include(object);
    }

    /// The vendor keeps for a month what is not refused to it, and a client of another protocol has not asked for that.
    /// Fixture `request/state/calls-to-responses-are-not-stored`.
    fn store(&mut self, object: &mut Object<'_, '_>) {
        match self.request().store {
            None if self.reporter.is_same() => {}
            None => {
                object.field("store", &false);
                let reason = "the answer is not stored by this vendor unless asked for";
                self.reporter.synthesised(Field::Store, reason);
            }
            Some(store) => object.field("store", &store),
        }
    }

    fn limit(&mut self, object: &mut Object<'_, '_>) {
        let key = "max_output_tokens";
        let least = MAX_OUTPUT_TOKENS_MIN;
        let is_foreign = !self.reporter.is_same();
        let asked = self.request().max_output_tokens.as_ref();
        let limit = self.reporter.output_limit(asked, self.target);
        if is_foreign && limit.as_ref().and_then(Number::as_whole).is_some_and(|it| it < least) {
            object.field(key, &least);
            let reason = "the smallest limit that is accepted is 16";
            return self.reporter.approximated(Field::MaxOutputTokens, reason);
        }
        object.optional(key, limit.as_ref());
    }

    /// What the family takes of sampling at the effort that is asked for.
    fn accepted(&self) -> Sampling {
        let effort = self.request().thinking.effort.as_ref();
        let effort = effort.and_then(|effort| Effort::parse(&effort.to_str()));
        *self.target.family.sampling_for(effort)
    }

    fn sampling(&mut self, object: &mut Object<'_, '_>) {
        let sampling = &self.request().sampling;
        let family = self.accepted();
        let temperature = sampling.temperature.as_ref();
        self.fitted(object, (Field::Temperature, "temperature"), family.temperature, temperature);
        self.fitted(object, (Field::TopP, "top_p"), family.top_p, sampling.top_p.as_ref());
        let logprobs = self.reporter.alternatives(sampling);
        self.fitted(object, (Field::TopLogprobs, "top_logprobs"), family.logprobs, logprobs);
        self.candidates();
    }

    /// Writes a number as far as the family takes it.
    fn fitted(
        &mut self,
        object: &mut Object<'_, '_>,
        (field, key): (Field, &'static str),
        accepts: Accepts,
        number: Option<&Number<'_>>,
    ) {
        let number = number.map(Number::reborrow);
        let fit = number.and_then(|number| self.reporter.fitted(field, number, accepts));
        object.optional(key, fit.as_ref());
    }

    fn candidates(&mut self) {
        let Some(count) = &self.request().sampling.candidates else { return };
        if count.as_whole() != Some(1) {
            self.reporter.dropped(Field::Candidates, "Responses gives one answer");
        }
    }

    fn text(&mut self, object: &mut Object<'_, '_>) {
        let Request { output, verbosity, .. } = self.request();
        let format = match output {
            OutputFormat::Unset => None,
            OutputFormat::Text => Some(("text", None)),
            OutputFormat::JsonObject => Some(("json_object", None)),
            OutputFormat::JsonSchema(schema) => Some(("json_schema", Some(&**schema))),
        };
        object.unless_empty("text", self.extras("text"), |text| {
            if let Some((kind, schema)) = format {
                let mut format = Object::open(text.key("format"), self.extras("text/format"));
                format.word("type", kind);
                if let Some(schema) = schema {
                    self.schema(&mut format, schema);
                }
                format.close();
            }
            text.optional("verbosity", verbosity.as_ref());
        });
    }

    fn schema(&mut self, format: &mut Object<'_, '_>, output: &OutputSchema<'_>) {
        let OutputSchema { name, description, schema, strict } = output;
        match name {
            Some(name) => format.field("name", name),
            None if self.reporter.is_same() => {}
            None => {
                format.word("name", "response");
                self.reporter.synthesised(Field::OutputSchemaName, "a schema needs a name");
            }
        }
        format.optional("description", description.as_ref());
        if let Some(schema) = schema {
            let schema = (schema, schema_language::of_output(self.decoded), *strict);
            let at = (Place::default(), Field::OutputSchema);
            format.field("schema", &fitted(self.reporter, schema, at, |pointer| pointer));
        }
        format.optional("strict", strict.as_ref());
    }

    /// Log probabilities are asked for among the includes.
    fn include(&mut self, object: &mut Object<'_, '_>) {
        let stated = self.decoded.semantics().responses().and_then(|own| own.include());
        if let Some(include) = stated.filter(|_| self.reporter.is_same()) {
            return object.field("include", include);
        }
        match self.request().sampling.logprobs {
            Some(true) if self.accepted().logprobs == Accepts::Nothing => {
                self.reporter.dropped(Field::Logprobs, "models of this family refuse it");
            }
            Some(true) => object.key("include").array(|writer| writer.value(INCLUDE_LOGPROBS)),
            Some(false) | None => {}
        }
    }

    fn reasoning(&mut self, object: &mut Object<'_, '_>) {
        let effort = self.effort();
        let summary = self.summary(effort.as_ref());
        object.unless_empty("reasoning", self.extras("reasoning"), |reasoning| {
            reasoning.optional("effort", effort.as_ref());
            reasoning.optional("summary", summary.as_ref());
            if let Some(own) = self.decoded.semantics().responses() {
                reasoning.optional("context", own.reasoning_context());
                reasoning.optional("generate_summary", own.generate_summary());
                reasoning.optional("mode", own.reasoning_mode());
            }
        });
    }

    /// The effort to ask for, from whatever the client set for thinking; this protocol's own stays.
    fn effort(&mut self) -> Option<Text<'s>> {
        let thinking = &self.request().thinking;
        if self.reporter.is_same() {
            return thinking.effort.clone();
        }
        let mode = thinking.mode;
        if mode == Some(ThinkingMode::Disabled) {
            self.reporter.synthesised(Field::ThinkingEffort, "the effort turns thinking off");
            return self.fit_effort(Effort::None, Field::ThinkingMode);
        }
        let effort = match (&thinking.effort, &thinking.budget) {
            (Some(word), _) => match Effort::parse(&word.to_str()) {
                Some(effort) => self.fit_effort(effort, Field::ThinkingEffort),
                None => {
                    self.reporter.unknown_effort(word);
                    None
                }
            },
            (None, Some(budget)) => self.budget_effort(budget),
            (None, None) => None,
        };
        let is_unused = thinking.budget.is_some() && thinking.effort.is_some();
        let fields = [(Field::ThinkingMode, mode.is_some()), (Field::ThinkingBudget, is_unused)];
        let reason = "the effort sets how much the model thinks";
        self.reporter.lose_set(&fields, LossKind::Approximated, reason);
        effort
    }

    fn budget_effort(&mut self, budget: &Number<'_>) -> Option<Text<'s>> {
        let Some(tokens) = budget.as_whole() else {
            self.reporter.implied(Field::ThinkingBudget, "the model decides by itself");
            return None;
        };
        let reason = "a budget is mapped to the nearest effort";
        self.reporter.approximated(Field::ThinkingBudget, reason);
        self.reporter.synthesised(Field::ThinkingEffort, reason);
        let effort = Effort::for_budget(tokens).nearest(&self.target.family).value;
        self.steers().then(|| Text::literal(effort.as_str()))
    }

    /// Whether the model takes an effort at all.
    fn steers(&self) -> bool {
        !matches!(self.target.family.thinking, Thinking::None | Thinking::Unsteered)
    }

    fn fit_effort(&mut self, effort: Effort, field: Field) -> Option<Text<'s>> {
        if !self.steers() {
            let (kind, reason) = match effort {
                Effort::None => (LossKind::Implied, "the model does not think on request"),
                _ => (LossKind::Dropped, "models of this family take no effort"),
            };
            self.reporter.lose(field, kind, reason);
            return None;
        }
        let fit = effort.nearest(&self.target.family);
        if fit.changed {
            self.reporter.approximated(field, "the nearest effort that the model has");
        }
        Some(Text::literal(fit.value.as_str()))
    }

    /// How thinking is to be shown. Some clients need not ask for it and get it with an effort.
    fn summary(&mut self, effort: Option<&Text<'_>>) -> Option<Text<'s>> {
        let (auto, is_own) = (Text::literal("auto"), self.reporter.is_same());
        if !is_own && !self.steers() {
            if self.request().thinking.show.is_some() {
                let reason = "models of this family show no thinking";
                self.reporter.dropped(Field::ThinkingShow, reason);
            }
            return None;
        }
        match &self.request().thinking.show {
            Some(ThinkingShow::Shown(Some(word)))
                if is_own || matches!(&*word.to_str(), "auto" | "concise" | "detailed") =>
            {
                Some(word.reborrow())
            }
            Some(ThinkingShow::Shown(word)) => {
                if word.is_some() {
                    let reason = "thinking is shown in the vendor's own way";
                    self.reporter.renamed(Field::ThinkingShow, reason);
                }
                Some(auto)
            }
            Some(ThinkingShow::Hidden) => {
                self.reporter.implied(Field::ThinkingShow, "thinking is shown only when asked for");
                None
            }
            None => {
                let asks = effort.is_some_and(|effort| *effort != "none");
                if !asks || !self.reporter.source().shows_unasked(&self.request().thinking) {
                    return None;
                }
                let reason = "with an effort the thinking is asked for";
                self.reporter.synthesised(Field::ThinkingShow, reason);
                Some(auto)
            }
        }
    }
}
