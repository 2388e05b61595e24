//! Writing the options of a request.

use crate::conversation::{CacheOptions, OutputFormat, OutputSchema, Request, Sampling};
use crate::json::Text;
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::object::Object;
use crate::protocol::openai_chat::encode_request::schema;
use crate::protocol::openai_chat::encode_request::tools::HasTools;
use crate::protocol::openai_chat::encode_request::turns::knows_all_fields;
use crate::protocol::openai_chat::types::{Shape, request_shape};
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::{Extras, Semantics};
use crate::protocol::{Field, tier};
use crate::schema::SchemaLanguage;
use crate::target::{Accepts, Effort, Target};

/// How many stop sequences this protocol takes. Fixture `request/sampling/many-stop-texts`.
const STOP_MAX: usize = 4;

/// The name of a schema that came without one.
const UNNAMED_SCHEMA: &str = "response";

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
        OutputFormat::Unset => return,
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

/// The options of a request, written for one target.
pub(super) struct Options<'t, 'r> {
    pub(super) request: &'t Request<'t>,
    pub(super) target: &'t Target,
    pub(super) reporter: &'t mut Reporter<'r>,
    pub(super) tools: HasTools,
    /// The language of the output schema.
    pub(super) language: SchemaLanguage,
    /// What this protocol's own request meant besides; its options stay as they are.
    pub(super) own: Option<&'t Semantics<'t>>,
}

impl Options<'_, '_> {
    pub(super) fn write(mut self, object: &mut Object<'_, '_>) {
        object.optional("stream", self.request.stream.as_ref());
        let is_own = self.own.is_some();
        if self.request.stream == Some(true) && self.target.dialect.stream_options && !is_own {
            object.key("stream_options").object(|it| it.field("include_usage", &true));
            let reason = "the usage of a stream is sent only on request";
            let root = Place::default();
            self.reporter.below(root, "/stream_options", LossKind::Synthesised, reason);
        }
        self.write_limit(object);
        let effort = self.write_thinking(object);
        self.write_sampling(object, effort);
        self.write_stop(object, effort);
        self.write_format(object);
        if !knows_all_fields(&self.target.dialect) && !is_own {
            return self.drop_identity(object);
        }
        write_identity(object, self.request);
        self.write_store(object);
        object.optional("metadata", self.request.metadata.as_ref());
        tier::write(object, "service_tier", self.request, self.reporter);
        self.write_cache_options(object);
    }

    pub(super) fn is_shaped(&self, shape: Shape) -> bool {
        self.own.is_some_and(|own| own.has_shape(shape))
    }

    /// Reports what a server would refuse because it does not know it; the end user is known everywhere.
    fn drop_identity(&mut self, object: &mut Object<'_, '_>) {
        object.optional("user", self.request.user.as_ref());
        let CacheOptions { key, options, retention } = &self.request.cache;
        let fields = [
            (Field::Verbosity, self.request.verbosity.is_some()),
            (Field::SafetyIdentifier, self.request.safety_identifier.is_some()),
            (Field::Store, self.request.store.is_some()),
            (Field::Metadata, self.request.metadata.is_some()),
            (Field::ServiceTier, self.request.service_tier.is_some()),
            (Field::CacheKey, key.is_some()),
            (Field::CacheOptions, options.is_some()),
            (Field::CacheRetention, retention.is_some()),
        ];
        self.reporter.lose_set(&fields, LossKind::Dropped, "the server does not take it");
    }

    fn write_limit(&mut self, object: &mut Object<'_, '_>) {
        let name = match self.own {
            Some(_) if self.is_shaped(request_shape::MAX_COMPLETION_TOKENS) => {
                "max_completion_tokens"
            }
            Some(_) => "max_tokens",
            None => self.target.token_limit().as_str(),
        };
        let asked = self.request.max_output_tokens.as_ref();
        object.optional(name, self.reporter.output_limit(asked, self.target).as_ref());
    }

    fn write_sampling(&mut self, object: &mut Object<'_, '_>, effort: Option<Effort>) {
        if self.own.is_some() {
            let is_random = self.is_shaped(request_shape::RANDOM_SEED);
            let seed = if is_random { "random_seed" } else { "seed" };
            return write_sampling(object, &self.request.sampling, seed);
        }
        let rules = *self.target.family.sampling_for(effort);
        let logprobs = match self.target.dialect.logprobs {
            true => rules.logprobs,
            false => Accepts::Nothing,
        };
        let mut fitted = self.request.sampling.clone();
        fitted.top_logprobs = self.reporter.alternatives(&self.request.sampling).cloned();
        for (field, value, rule) in [
            (Field::Temperature, &mut fitted.temperature, rules.temperature),
            (Field::TopP, &mut fitted.top_p, rules.top_p),
            (Field::Seed, &mut fitted.seed, rules.seed),
            (Field::PresencePenalty, &mut fitted.presence_penalty, rules.penalties),
            (Field::FrequencyPenalty, &mut fitted.frequency_penalty, rules.penalties),
            (Field::TopLogprobs, &mut fitted.top_logprobs, logprobs),
        ] {
            *value = value.take().and_then(|value| self.reporter.fitted(field, value, rule));
        }
        if fitted.temperature.is_some() && fitted.top_p.is_some() && !rules.temperature_with_top_p {
            fitted.top_p = None;
            self.reporter.dropped(Field::TopP, "the model does not take it beside a temperature");
        }
        fitted.logprobs = fitted.logprobs.filter(|_| logprobs != Accepts::Nothing);
        // Their number is accepted only beside the wish for them.
        // Fixture `request/sampling/alternatives-without-log-probabilities`.
        if fitted.top_logprobs.is_some() && fitted.logprobs.is_none() {
            fitted.logprobs = Some(true);
        }
        if self.request.sampling.logprobs == Some(true) && fitted.logprobs.is_none() {
            self.reporter.dropped(Field::Logprobs, "the model does not take it");
        }
        write_sampling(object, &fitted, self.target.dialect.seed_field);
    }

    fn write_stop(&mut self, object: &mut Object<'_, '_>, effort: Option<Effort>) {
        let stop = &self.request.stop;
        if stop.is_empty() {
            return;
        }
        if self.own.is_some() {
            return object.field("stop", stop.as_slice());
        }
        if self.target.family.sampling_for(effort).stop == Accepts::Nothing {
            return self.reporter.dropped(Field::Stop, "the model takes no stop sequences");
        }
        for index in STOP_MAX..stop.len() {
            let (at, reason) = ((Field::Stop, &*format!("/{index}")), "Chat takes at most four");
            self.reporter.within(Place::default(), at, LossKind::Dropped, reason);
        }
        object.field("stop", &stop[..stop.len().min(STOP_MAX)]);
    }

    fn write_format(&mut self, object: &mut Object<'_, '_>) {
        let extras = self.own.map(|own| own.extras());
        let output = match &self.request.output {
            OutputFormat::JsonSchema(output) if extras.is_none() => output,
            output => return write_format(object, output, extras),
        };
        if !self.target.dialect.schema_output || !self.target.family.schema_output {
            let reason = "the server takes no schema, only JSON as such";
            let fields = [
                (Field::OutputSchema, output.schema.is_some()),
                (Field::OutputSchemaName, output.name.is_some()),
                (Field::OutputSchemaDescription, output.description.is_some()),
                (Field::OutputSchemaStrict, output.strict.is_some()),
            ];
            self.reporter.lose_set(&fields, LossKind::Approximated, reason);
            return write_format(object, &OutputFormat::JsonObject, None);
        }
        let OutputSchema { name, description, schema, strict } = &**output;
        if name.is_none() {
            let reason = "Chat wants a name for every schema";
            self.reporter.synthesised(Field::OutputSchemaName, reason);
        }
        let at = (Place::default(), Field::OutputSchema);
        let schema = schema
            .as_ref()
            .map(|it| schema::translated((it, self.language), *strict, at, self.reporter));
        let named = OutputSchema {
            name: Some(name.as_ref().map_or(Text::literal(UNNAMED_SCHEMA), Text::reborrow)),
            description: description.as_ref().map(Text::reborrow),
            schema,
            strict: *strict,
        };
        write_format(object, &OutputFormat::JsonSchema(Box::new(named)), None);
    }

    /// A client of another protocol asks its own server for state, and not this vendor to keep the call.
    /// Fixture `request/state/state-is-not-asked-of-chat-servers`.
    fn write_store(&mut self, object: &mut Object<'_, '_>) {
        match self.request.store {
            Some(true) if self.own.is_none() => {
                self.reporter.dropped(Field::Store, "Chat servers are not asked to keep answers");
            }
            store => object.optional("store", store.as_ref()),
        }
    }

    fn write_cache_options(&mut self, object: &mut Object<'_, '_>) {
        let Some(options) = &self.request.cache.options else { return };
        if self.reporter.shares_vendor() {
            return object.field("prompt_cache_options", options);
        }
        self.reporter.dropped(Field::CacheOptions, "Chat names its cache settings differently");
    }
}
