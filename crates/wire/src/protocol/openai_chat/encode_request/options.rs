//! Writing the options of a request.

use crate::conversation::CacheOptions;
use crate::conversation::OutputFormat;
use crate::conversation::OutputSchema;
use crate::conversation::Request;
use crate::conversation::Sampling;
use crate::conversation::Thinking;
use crate::conversation::ThinkingMode;
use crate::conversation::ThinkingShow;
use crate::json::Number;
use crate::json::Text;
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::Field;
use crate::protocol::Protocol;
use crate::protocol::losing::Losing;
use crate::protocol::object::Object;
use crate::protocol::openai_chat::encode_request::limit_name;
use crate::protocol::openai_chat::encode_request::schema;
use crate::protocol::openai_chat::encode_request::tools::HasTools;
use crate::protocol::openai_chat::types::request_shape;
use crate::protocol::semantics::Extras;
use crate::protocol::semantics::Semantics;
use crate::target::Accepts;
use crate::target::Effort;
use crate::target::ReasoningField;
use crate::target::ReasoningRequest;
use crate::target::Target;
use crate::target::Thinking as Steering;

/// How many stop sequences this protocol takes.
const STOP_MAX: usize = 4;

/// The name of a schema that came without one.
const UNNAMED_SCHEMA: &str = "response";

/// Writes the options of this protocol's own request.
pub(super) fn write_same(
    object: &mut Object<'_, '_>,
    request: &Request<'_>,
    semantics: &Semantics<'_>,
) {
    object.optional("stream", request.stream.as_ref());
    object.optional(limit_name(semantics), request.max_output_tokens.as_ref());
    let seed = match semantics.has_shape(request_shape::RANDOM_SEED) {
        true => "random_seed",
        false => "seed",
    };
    write_sampling(object, &request.sampling, seed);
    match request.stop.as_slice() {
        [] if !semantics.has_shape(request_shape::STOP_EMPTY) => {}
        [stop] if semantics.has_shape(request_shape::STOP_STRING) => object.field("stop", stop),
        stop => object.field("stop", stop),
    }
    write_format(object, &request.output, Some(semantics.extras()));
    write_same_thinking(object, &request.thinking, semantics);
    write_identity(object, request);
    object.optional("metadata", request.metadata.as_ref());
    object.optional("service_tier", request.service_tier.as_ref());
    object.optional("prompt_cache_options", request.cache.options.as_ref());
}

fn write_sampling(object: &mut Object<'_, '_>, sampling: &Sampling<'_>, seed_name: &'static str) {
    let Sampling {
        temperature,
        top_p,
        top_k: _,
        seed,
        presence_penalty,
        frequency_penalty,
        candidates,
        logprobs,
        top_logprobs,
    } = sampling;
    object.optional("temperature", temperature.as_ref());
    object.optional("top_p", top_p.as_ref());
    object.optional(seed_name, seed.as_ref());
    object.optional("presence_penalty", presence_penalty.as_ref());
    object.optional("frequency_penalty", frequency_penalty.as_ref());
    object.optional("n", candidates.as_ref());
    object.optional("logprobs", logprobs.as_ref());
    object.optional("top_logprobs", top_logprobs.as_ref());
}

/// Writes what every request carries as it is.
fn write_identity(object: &mut Object<'_, '_>, request: &Request<'_>) {
    object.optional("verbosity", request.verbosity.as_ref());
    object.optional("safety_identifier", request.safety_identifier.as_ref());
    object.optional("user", request.user.as_ref());
    object.optional("store", request.store.as_ref());
    let CacheOptions { key, options: _, retention } = &request.cache;
    object.optional("prompt_cache_key", key.as_ref());
    object.optional("prompt_cache_retention", retention.as_ref());
}

fn write_format(
    object: &mut Object<'_, '_>,
    output: &OutputFormat<'_>,
    extras: Option<&Extras<'_>>,
) {
    let kind = match output {
        OutputFormat::Unsaid => return,
        OutputFormat::Text => "text",
        OutputFormat::JsonObject => "json_object",
        OutputFormat::JsonSchema(_) => "json_schema",
    };
    let outer = extras.map(|extras| (extras, "response_format"));
    let mut format = Object::open(object.key("response_format"), outer);
    format.field("type", kind);
    if let OutputFormat::JsonSchema(schema) = output {
        let OutputSchema { name, description, schema, strict } = &**schema;
        let stated =
            name.is_some() || description.is_some() || schema.is_some() || strict.is_some();
        let inner = extras.map(|extras| (extras, "response_format/json_schema"));
        if stated || inner.is_some_and(|(extras, scope)| extras.within(scope).next().is_some()) {
            let mut object = Object::open(format.key("json_schema"), inner);
            object.optional("name", name.as_ref());
            object.optional("description", description.as_ref());
            object.optional("schema", schema.as_ref());
            object.optional("strict", strict.as_ref());
            object.close();
        }
    }
    format.close();
}

fn write_same_thinking(
    object: &mut Object<'_, '_>,
    thinking: &Thinking<'_>,
    semantics: &Semantics<'_>,
) {
    let Thinking { mode, effort, budget, show } = thinking;
    if semantics.has_shape(request_shape::REASONING_OBJECT) {
        let extras = Some((semantics.extras(), "reasoning"));
        let mut reasoning = Object::open(object.key("reasoning"), extras);
        reasoning.optional("effort", effort.as_ref());
        reasoning.optional("max_tokens", budget.as_ref());
        reasoning.optional("exclude", show.as_ref().map(is_hidden).as_ref());
        reasoning.close();
    } else {
        object.optional("reasoning_effort", effort.as_ref());
    }
    if semantics.has_shape(request_shape::THINKING_SWITCH) {
        let extras = Some((semantics.extras(), "thinking"));
        let mut switch = Object::open(object.key("thinking"), extras);
        let disabled = *mode == Some(ThinkingMode::Disabled);
        switch.field("type", if disabled { "disabled" } else { "enabled" });
        switch.close();
    }
}

fn is_hidden(show: &ThinkingShow<'_>) -> bool {
    match show {
        ThinkingShow::Shown(_) => false,
        ThinkingShow::Hidden => true,
    }
}

/// The options of another protocol's request, written for one target.
pub(super) struct Options<'t, 'r> {
    pub(super) request: &'t Request<'t>,
    pub(super) target: &'t Target,
    pub(super) losing: &'t mut Losing<'r>,
    pub(super) tools: HasTools,
}

impl Options<'_, '_> {
    pub(super) fn write(mut self, object: &mut Object<'_, '_>) {
        object.optional("stream", self.request.stream.as_ref());
        if self.request.stream == Some(true) && self.target.dialect.stream_options {
            object.key("stream_options").object(|it| it.field("include_usage", &true));
            let reason = "the usage of a stream is told only when asked for";
            let root = Place::default();
            self.losing.below(root, "/stream_options", LossKind::Synthesised, reason);
        }
        self.write_limit(object);
        let effort = self.write_thinking(object);
        self.write_sampling(object, effort);
        self.write_stop(object, effort);
        self.write_format(object);
        write_identity(object, self.request);
        object.optional("metadata", self.request.metadata.as_ref());
        self.write_tier(object);
        self.write_cache_options(object);
    }

    fn lose(&mut self, field: Field, kind: LossKind, reason: &'static str) {
        self.losing.field(Place::default(), field, kind, reason);
    }

    fn write_limit(&mut self, object: &mut Object<'_, '_>) {
        let name = self.target.token_limit().as_str();
        match (&self.request.max_output_tokens, self.target.max_output_tokens) {
            (Some(limit), _) => object.field(name, limit),
            (None, Some(limit)) => {
                object.field(name, &limit);
                self.lose(Field::MaxOutputTokens, LossKind::Synthesised, "the operator's limit");
            }
            (None, None) => {}
        }
    }

    /// Writes how much to reason, and returns the effort that the model will make.
    fn write_thinking(&mut self, object: &mut Object<'_, '_>) -> Option<Effort> {
        let family = &self.target.family;
        if !family.chat_tools_while_reasoning && self.tools == HasTools::Yes {
            object.field("reasoning_effort", Effort::None.as_str());
            if self.asked_effort() != Some(Effort::None) {
                let reason = "the model takes tools on Chat only without reasoning";
                self.lose(Field::ThinkingEffort, LossKind::Approximated, reason);
            }
            self.explain_unused();
            return Some(Effort::None);
        }
        self.report_show();
        match self.target.dialect.reasoning_request {
            ReasoningRequest::Absent => {
                self.drop_thinking("the server cannot be asked to reason");
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

    fn explain_unused(&mut self) {
        let Thinking { mode, effort: _, budget, show } = &self.request.thinking;
        let (mode, budget, show) = (mode.is_some(), budget.is_some(), show.is_some());
        let reason = "the model does not reason in this request";
        for (field, is_set) in [
            (Field::ThinkingMode, mode),
            (Field::ThinkingBudget, budget),
            (Field::ThinkingShow, show),
        ] {
            if is_set {
                self.lose(field, LossKind::Approximated, reason);
            }
        }
    }

    fn drop_thinking(&mut self, reason: &'static str) {
        let Thinking { mode, effort, budget, show: _ } = &self.request.thinking;
        let (mode, effort, budget) = (mode.is_some(), effort.is_some(), budget.is_some());
        for (field, is_set) in [
            (Field::ThinkingMode, mode),
            (Field::ThinkingEffort, effort),
            (Field::ThinkingBudget, budget),
        ] {
            if is_set {
                self.lose(field, LossKind::Dropped, reason);
            }
        }
    }

    fn report_show(&mut self) {
        if self.target.dialect.reasoning_request == ReasoningRequest::Object {
            return;
        }
        match (&self.request.thinking.show, self.target.dialect.reasoning_field) {
            (None, _) => {}
            (Some(ThinkingShow::Shown(_)), ReasoningField::Absent) => {
                let reason = "the server does not show its reasoning";
                self.lose(Field::ThinkingShow, LossKind::Dropped, reason);
            }
            (Some(_), _) => {
                let reason = "the server decides what it shows";
                self.lose(Field::ThinkingShow, LossKind::Implied, reason);
            }
        }
    }

    fn write_effort(&mut self, object: &mut Object<'_, '_>) -> Option<Effort> {
        let family = &self.target.family;
        let Some(asked) = self.asked_effort() else {
            return self.write_unknown_effort(object);
        };
        let off = asked == Effort::None;
        if off && !family.thinking.by_default() && self.request.thinking.effort.is_none() {
            let reason = "the model does not reason unless asked to";
            self.lose(Field::ThinkingMode, LossKind::Implied, reason);
            self.report_budget();
            return Some(Effort::None);
        }
        if !off && matches!(family.thinking, Steering::None | Steering::Unsteered) {
            self.drop_thinking("the model takes no effort");
            return None;
        }
        let fit = asked.nearest(family);
        object.field("reasoning_effort", fit.value.as_str());
        if fit.changed {
            let reason = "the model has other steps of effort";
            self.lose(Field::ThinkingEffort, LossKind::Approximated, reason);
        }
        if let Some(mode) = self.request.thinking.mode {
            let kind = match mode {
                ThinkingMode::Disabled => LossKind::Renamed,
                ThinkingMode::Enabled | ThinkingMode::Adaptive | ThinkingMode::BetweenTools => {
                    LossKind::Approximated
                }
            };
            self.lose(Field::ThinkingMode, kind, "Chat has only steps of effort");
        }
        self.report_budget();
        Some(fit.value)
    }

    fn report_budget(&mut self) {
        if self.request.thinking.budget.is_some() {
            let reason = "Chat has steps of effort, no budget";
            self.lose(Field::ThinkingBudget, LossKind::Approximated, reason);
        }
    }

    /// Passes on a word that is no step of the ladder; thinking without any measure needs no field.
    fn write_unknown_effort(&mut self, object: &mut Object<'_, '_>) -> Option<Effort> {
        if let Some(word) = &self.request.thinking.effort {
            object.field("reasoning_effort", word);
        }
        if self.request.thinking.mode.is_some() {
            let reason = "Chat has only steps of effort";
            self.lose(Field::ThinkingMode, LossKind::Approximated, reason);
        }
        self.report_budget();
        None
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
            self.lose(Field::ThinkingMode, LossKind::Renamed, "the server has a switch");
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
        object.key("reasoning").object(|it| match (budget, asked) {
            (Some(budget), Some(asked)) if asked != Effort::None => {
                it.field("max_tokens", budget);
                it.optional("exclude", show.as_ref().map(is_hidden).as_ref());
            }
            (_, Some(asked)) => {
                it.field("effort", asked.as_str());
                it.optional("exclude", show.as_ref().map(is_hidden).as_ref());
            }
            (_, None) => it.optional("exclude", show.as_ref().map(is_hidden).as_ref()),
        });
        if mode.is_some() {
            self.lose(Field::ThinkingMode, LossKind::Renamed, "the server has an object for it");
        }
        asked
    }

    fn write_sampling(&mut self, object: &mut Object<'_, '_>, effort: Option<Effort>) {
        let rules = *self.target.family.sampling_for(effort);
        let logprobs = match self.target.dialect.logprobs {
            true => rules.logprobs,
            false => Accepts::Nothing,
        };
        let sampling = &self.request.sampling;
        let mut fit = |field, value: &Option<Number<'_>>, rule| {
            fitted(self.losing, field, value.as_ref(), rule).map(Number::into_owned)
        };
        let temperature = fit(Field::Temperature, &sampling.temperature, rules.temperature);
        let mut top_p = fit(Field::TopP, &sampling.top_p, rules.top_p);
        let seed = fit(Field::Seed, &sampling.seed, rules.seed);
        let presence = fit(Field::PresencePenalty, &sampling.presence_penalty, rules.penalties);
        let frequency = fit(Field::FrequencyPenalty, &sampling.frequency_penalty, rules.penalties);
        let top_logprobs = fit(Field::TopLogprobs, &sampling.top_logprobs, logprobs);
        if temperature.is_some() && top_p.is_some() && !rules.temperature_with_top_p {
            top_p = None;
            let reason = "the model does not take it beside a temperature";
            self.lose(Field::TopP, LossKind::Dropped, reason);
        }
        let wants_logprobs = sampling.logprobs.filter(|_| logprobs != Accepts::Nothing);
        if sampling.logprobs == Some(true) && wants_logprobs.is_none() {
            self.lose(Field::Logprobs, LossKind::Dropped, "the model does not take it");
        }
        let fitted = Sampling {
            temperature,
            top_p,
            top_k: None,
            seed,
            presence_penalty: presence,
            frequency_penalty: frequency,
            candidates: sampling.candidates.as_ref().map(Number::reborrow),
            logprobs: wants_logprobs,
            top_logprobs,
        };
        write_sampling(object, &fitted, self.target.dialect.seed_field);
    }

    fn write_stop(&mut self, object: &mut Object<'_, '_>, effort: Option<Effort>) {
        let stop = &self.request.stop;
        if stop.is_empty() {
            return;
        }
        if self.target.family.sampling_for(effort).stop == Accepts::Nothing {
            return self.lose(Field::Stop, LossKind::Dropped, "the model takes no stop sequences");
        }
        if stop.len() > STOP_MAX {
            let reason = "Chat takes at most four stop sequences";
            self.lose(Field::Stop, LossKind::Approximated, reason);
        }
        object.field("stop", &stop[..stop.len().min(STOP_MAX)]);
    }

    fn write_format(&mut self, object: &mut Object<'_, '_>) {
        let OutputFormat::JsonSchema(output) = &self.request.output else {
            return write_format(object, &self.request.output, None);
        };
        if !self.target.dialect.schema_output || !self.target.family.schema_output {
            let reason = "the server takes no schema, only JSON as such";
            for (field, is_set) in [
                (Field::OutputSchema, output.schema.is_some()),
                (Field::OutputSchemaName, output.name.is_some()),
                (Field::OutputSchemaDescription, output.description.is_some()),
                (Field::OutputSchemaStrict, output.strict.is_some()),
            ] {
                if is_set {
                    self.lose(field, LossKind::Approximated, reason);
                }
            }
            return write_format(object, &OutputFormat::JsonObject, None);
        }
        let OutputSchema { name, description, schema, strict } = &**output;
        if name.is_none() {
            let reason = "Chat wants a name for every schema";
            self.lose(Field::OutputSchemaName, LossKind::Synthesised, reason);
        }
        let named = OutputSchema {
            name: Some(name.as_ref().map_or(Text::literal(UNNAMED_SCHEMA), Text::reborrow)),
            description: description.as_ref().map(Text::reborrow),
            schema: schema.as_ref().map(|it| schema::translated(it).into_owned()),
            strict: *strict,
        };
        write_format(object, &OutputFormat::JsonSchema(Box::new(named)), None);
    }

    fn write_tier(&mut self, object: &mut Object<'_, '_>) {
        let Some(tier) = &self.request.service_tier else { return };
        match &*tier.to_str() {
            "auto" | "default" | "flex" | "scale" | "priority" | "fast" => {
                object.field("service_tier", tier);
            }
            "standard_only" | "standard" => object.field("service_tier", "default"),
            "ultrafast" => {
                object.field("service_tier", "fast");
                let reason = "Chat has no faster tier than fast";
                self.lose(Field::ServiceTier, LossKind::Approximated, reason);
            }
            _ => self.lose(Field::ServiceTier, LossKind::Dropped, "Chat has no such tier"),
        }
    }

    fn write_cache_options(&mut self, object: &mut Object<'_, '_>) {
        let Some(options) = &self.request.cache.options else { return };
        if self.losing.source() == Protocol::OpenaiResponses {
            return object.field("prompt_cache_options", options);
        }
        let reason = "Chat has other words for the cache";
        self.lose(Field::CacheOptions, LossKind::Dropped, reason);
    }
}

/// The value of a parameter that the model takes; what is changed or left out is reported.
fn fitted<'n>(
    losing: &mut Losing<'_>,
    field: Field,
    value: Option<&'n Number<'_>>,
    rule: Accepts,
) -> Option<Number<'n>> {
    let value = value?;
    let number = value.as_f64()?;
    let root = Place::default();
    match rule.fit(number) {
        Some(fit) if fit == number => Some(value.reborrow()),
        Some(fit) => {
            losing.field(root, field, LossKind::Approximated, "the model takes a smaller range");
            Number::from_f64(fit)
        }
        None => {
            losing.field(root, field, LossKind::Dropped, "the model does not take it");
            None
        }
    }
}
