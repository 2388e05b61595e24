//! Writing the options of a request.

use crate::conversation::{CacheOptions, OutputFormat, OutputSchema, Request};
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::object::Object;
use crate::protocol::openai_chat::encode_request::schema;
use crate::protocol::openai_chat::encode_request::turns::knows_all_fields;
use crate::protocol::openai_chat::types::{Shape, request_shape};
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::Semantics;
use crate::protocol::{Field, tier};
use crate::schema::SchemaLanguage;
use crate::target::{Accepts, Effort, Target};

/// How many stop sequences this protocol takes. Fixture `request/sampling/many-stop-texts`.
const STOP_MAX: usize = 4;

/// The name of a schema that came without one.
const UNNAMED_SCHEMA: &str = "response";

/// The options of a request, written for one target.
pub(super) struct Options<'t, 'r> {
    pub(super) request: &'t Request<'t>,
    pub(super) target: &'t Target,
    pub(super) reporter: &'t mut Reporter<'r>,
    /// Whether the request ended up with tools that the client runs.
    pub(super) has_tools: bool,
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
        object.optional("verbosity", self.request.verbosity.as_ref());
        object.optional("safety_identifier", self.request.safety_identifier.as_ref());
        object.optional("user", self.request.user.as_ref());
        object.optional("prompt_cache_key", self.request.cache.key.as_ref());
        object.optional("prompt_cache_retention", self.request.cache.retention.as_ref());
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
        let is_own = self.own.is_some();
        let asked = &self.request.sampling;
        let rules = *self.target.family.sampling_for(effort);
        let takes_logprobs = match self.target.dialect.logprobs {
            true => rules.logprobs,
            false => Accepts::Nothing,
        };
        let alternatives = self.reporter.alternatives(asked);
        let [temperature, mut top_p, seed, presence, frequency, top_logprobs] = [
            (Field::Temperature, asked.temperature.as_ref(), rules.temperature),
            (Field::TopP, asked.top_p.as_ref(), rules.top_p),
            (Field::Seed, asked.seed.as_ref(), rules.seed),
            (Field::PresencePenalty, asked.presence_penalty.as_ref(), rules.penalties),
            (Field::FrequencyPenalty, asked.frequency_penalty.as_ref(), rules.penalties),
            (Field::TopLogprobs, alternatives, takes_logprobs),
        ]
        .map(|(field, number, rule)| self.reporter.fitted(field, number?.reborrow(), rule));
        let is_either = !is_own && !rules.temperature_with_top_p;
        if is_either && temperature.is_some() && top_p.take().is_some() {
            self.reporter.dropped(Field::TopP, "the model does not take it beside a temperature");
        }
        let logprobs = match takes_logprobs {
            _ if is_own => asked.logprobs,
            Accepts::Nothing => None,
            // Their number is accepted only beside the wish for them.
            // Fixture `request/sampling/alternatives-without-log-probabilities`.
            _ => asked.logprobs.or(top_logprobs.is_some().then_some(true)),
        };
        if asked.logprobs == Some(true) && logprobs.is_none() {
            self.reporter.dropped(Field::Logprobs, "the model does not take it");
        }
        object.optional("temperature", temperature.as_ref());
        object.optional("top_p", top_p.as_ref());
        object.optional(self.seed_name(), seed.as_ref());
        object.optional("presence_penalty", presence.as_ref());
        object.optional("frequency_penalty", frequency.as_ref());
        object.optional("n", asked.candidates.as_ref());
        object.optional("logprobs", logprobs.as_ref());
        object.optional("top_logprobs", top_logprobs.as_ref());
    }

    fn seed_name(&self) -> &'static str {
        match self.own {
            Some(_) if self.is_shaped(request_shape::RANDOM_SEED) => "random_seed",
            Some(_) => "seed",
            None => self.target.dialect.seed_field,
        }
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
            self.reporter.stop(index, LossKind::Dropped, "Chat takes at most four");
        }
        object.field("stop", &stop[..stop.len().min(STOP_MAX)]);
    }

    fn write_format(&mut self, object: &mut Object<'_, '_>) {
        let (kind, schema) = match &self.request.output {
            OutputFormat::Unset => return,
            OutputFormat::Text => ("text", None),
            OutputFormat::JsonObject => ("json_object", None),
            OutputFormat::JsonSchema(output) if self.takes_schema(output) => {
                ("json_schema", Some(output))
            }
            OutputFormat::JsonSchema(_) => ("json_object", None),
        };
        let within = |scope| self.own.map(|own| (own.extras(), scope));
        let mut format = Object::open(object.key("response_format"), within("response_format"));
        format.word("type", kind);
        if let Some(schema) = schema {
            let extras = within("response_format/json_schema");
            format.unless_empty("json_schema", extras, |object| self.write_schema(object, schema));
        }
        format.close();
    }

    /// Whether the server holds an answer to a schema; what is lost where it does not is reported.
    fn takes_schema(&mut self, output: &OutputSchema<'_>) -> bool {
        let OutputSchema { name, description, schema, strict } = output;
        let takes = self.target.dialect.schema_output && self.target.family.schema_output;
        if !takes {
            let reason = "the server takes no schema, only JSON as such";
            let fields = [
                (Field::OutputSchema, schema.is_some()),
                (Field::OutputSchemaName, name.is_some()),
                (Field::OutputSchemaDescription, description.is_some()),
                (Field::OutputSchemaStrict, strict.is_some()),
            ];
            self.reporter.lose_set(&fields, LossKind::Approximated, reason);
        }
        takes || self.own.is_some()
    }

    fn write_schema(&mut self, object: &mut Object<'_, '_>, output: &OutputSchema<'_>) {
        let OutputSchema { name, description, schema, strict } = output;
        object.optional("name", name.as_ref());
        if name.is_none() && self.own.is_none() {
            object.word("name", UNNAMED_SCHEMA);
            let reason = "Chat wants a name for every schema";
            self.reporter.synthesised(Field::OutputSchemaName, reason);
        }
        object.optional("description", description.as_ref());
        if let Some(schema) = schema {
            let at = (Place::default(), Field::OutputSchema);
            let schema = schema::translated((schema, self.language, *strict), at, self.reporter);
            object.field("schema", &schema);
        }
        object.optional("strict", strict.as_ref());
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
