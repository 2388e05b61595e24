//! Writing `generationConfig` and `toolConfig`: how to answer, think and choose tools.

use std::borrow::Cow;

use crate::conversation::{AllowedMode, OutputFormat, OutputSchema, ToolChoice};
use crate::json::{Number, Text};
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::choosing::Offer;
use crate::protocol::described::{described, report_description};
use crate::protocol::gemini::types::{
    GENERATION_SCOPE, SELF, TOOL_CHOICE_SCOPE, TOOL_CONFIG_SCOPE,
};
use crate::protocol::object::Object;
use crate::protocol::{Field, schema_language};
use crate::schema::SchemaLanguage;
use crate::target::{Accepts, Effort, Family};

use super::Scribe;

/// How many stop sequences the vendor takes. Fixture `request/sampling/many-stop-texts`.
const STOP_MAX: usize = 5;

impl<'x> Scribe<'x, '_> {
    pub(super) fn generation_config(&mut self, body: &mut Object<'_, '_>) {
        let extras = self.extras(GENERATION_SCOPE);
        body.unless_empty("generationConfig", extras, |object| {
            self.sampling(object);
            self.stop(object);
            self.output(object);
            self.thinking_config(object);
            self.declared(object, GENERATION_SCOPE);
        })
    }

    fn sampling(&mut self, object: &mut Object<'_, '_>) {
        let request = &self.decoded.request;
        let sampling = &request.sampling;
        let effort = request.thinking.effort.as_ref();
        let effort = effort.and_then(|word| Effort::parse(&word.to_str()));
        let accepted = *self.target.family.sampling_for(effort);
        let (penalties, is_foreign) = (accepted.penalties, !self.is_same());
        let limits = [
            ("temperature", Field::Temperature, &sampling.temperature, accepted.temperature),
            ("topP", Field::TopP, &sampling.top_p, accepted.top_p),
            ("topK", Field::TopK, &sampling.top_k, accepted.top_k),
            ("seed", Field::Seed, &sampling.seed, accepted.seed),
            ("presencePenalty", Field::PresencePenalty, &sampling.presence_penalty, penalties),
            ("frequencyPenalty", Field::FrequencyPenalty, &sampling.frequency_penalty, penalties),
            ("logprobs", Field::TopLogprobs, &sampling.top_logprobs, accepted.logprobs),
            ("candidateCount", Field::Candidates, &sampling.candidates, Accepts::Anything),
        ];
        for (key, field, number, accepts) in limits {
            let Some(number) = number else { continue };
            match field {
                Field::TopLogprobs
                    if is_foreign && self.reporter.alternatives(sampling).is_none() => {}
                Field::Seed if is_foreign && !fits_32_bits(number) => {
                    self.reporter.dropped(field, "the vendor's seeds have 32 bits");
                }
                _ => {
                    let fit = self.reporter.fitted(field, number.reborrow(), accepts);
                    object.optional(key, fit.as_ref());
                }
            }
        }
        self.logprobs(object, accepted.logprobs);
        let limit = self.reporter.output_limit(request.max_output_tokens.as_ref(), self.target);
        object.optional("maxOutputTokens", limit.as_ref());
    }

    fn logprobs(&mut self, object: &mut Object<'_, '_>, accepts: Accepts) {
        let sampling = &self.decoded.request.sampling;
        let is_taken = self.is_same() || accepts != Accepts::Nothing;
        match sampling.logprobs {
            Some(logprobs) if is_taken => object.field("responseLogprobs", &logprobs),
            Some(_) => self.reporter.dropped(Field::Logprobs, "the model refuses the parameter"),
            // Their number is accepted only beside the wish for them.
            // Fixture `request/sampling/alternatives-without-log-probabilities`.
            None if is_taken && !self.is_same() && sampling.alternatives().is_some() => {
                object.field("responseLogprobs", &true);
            }
            None => {}
        }
    }

    fn stop(&mut self, object: &mut Object<'_, '_>) {
        let stop = self.decoded.request.stop.as_slice();
        if stop.is_empty() {
            return;
        }
        if !self.is_same() && self.target.family.sampling.stop == Accepts::Nothing {
            return self.reporter.dropped(Field::Stop, "the model refuses the parameter");
        }
        let kept = if self.is_same() { stop } else { &stop[..stop.len().min(STOP_MAX)] };
        object.key("stopSequences").array(|list| {
            kept.iter().for_each(|text| list.value(text));
        });
        for index in kept.len()..stop.len() {
            self.reporter.stop(index, LossKind::Dropped, "the vendor takes five stop sequences");
        }
    }

    fn output(&mut self, object: &mut Object<'_, '_>) {
        let (field, schema) = match &self.decoded.request.output {
            OutputFormat::Unset => return,
            OutputFormat::Text => return object.field("responseMimeType", "text/plain"),
            OutputFormat::JsonObject => (Field::OutputFormat, None),
            OutputFormat::JsonSchema(schema) => (Field::OutputSchema, Some(&**schema)),
        };
        let has_tools = !self.decoded.request.tools.is_empty();
        if !self.is_same() && has_tools && !self.target.family.schema_output_with_tools {
            let description = schema.and_then(|schema| schema.description.as_ref());
            report_description(description, &mut self.reporter);
            return self.reporter.dropped(field, "the model takes no output format beside tools");
        }
        object.field("responseMimeType", "application/json");
        if let Some(schema) = schema {
            self.output_schema(object, schema);
        }
    }

    fn output_schema(&mut self, object: &mut Object<'_, '_>, output: &OutputSchema<'_>) {
        let OutputSchema { name: _, description, schema, strict } = output;
        let from = schema_language::of_output(self.decoded);
        let language = if self.is_same() { from } else { self.language() };
        let is_json_schema = language == SchemaLanguage::GeminiJsonSchema;
        let key = if is_json_schema { "responseJsonSchema" } else { "responseSchema" };
        if let Some(schema) = schema {
            let schema = self.translated((Place::default(), Field::OutputSchema), schema, from);
            object.field(key, &described(schema, description.as_ref(), &mut self.reporter));
        } else {
            report_description(description.as_ref(), &mut self.reporter);
            self.reporter.renamed(Field::OutputFormat, "without a schema it becomes JSON mode");
        }
        if let Some(strict) = strict {
            let kind = if *strict { LossKind::Implied } else { LossKind::Approximated };
            let reason = "Gemini always enforces the schema";
            self.reporter.lose(Field::OutputSchemaStrict, kind, reason);
        }
    }

    pub(super) fn tool_config(&mut self, body: &mut Object<'_, '_>) {
        let extras = self.extras(TOOL_CONFIG_SCOPE);
        body.unless_empty("toolConfig", extras, |object| {
            self.tool_choice(object);
            self.declared(object, TOOL_CONFIG_SCOPE);
            // Models that take hosted tools beside functions have to be asked to show the calls of both. Of a model that is not
            // known it is not known either. Fixture `request/hosted/calls-of-hosted-tools-show-anyway`.
            if self.mixes_tools && self.target.family.name != Family::UNKNOWN.name {
                object.field("includeServerSideToolInvocations", &true);
            }
        });
        if self.decoded.request.parallel_tool_calls == Some(false) {
            let reason = "the model may always call several tools at once";
            self.reporter.dropped(Field::ParallelToolCalls, reason);
        }
    }

    fn tool_choice(&mut self, config: &mut Object<'_, '_>) {
        let extras = self.extras(TOOL_CHOICE_SCOPE);
        let key = "functionCallingConfig";
        let request = &self.decoded.request;
        // Only functions are chosen among; hosted tools are used as the model sees fit.
        let choice = match self.is_same() {
            true => request.tool_choice.as_ref().map(Cow::Borrowed),
            false => Offer::of(request, |_| false).choice(request, &mut self.reporter),
        };
        if let Some(ToolChoice::Other { protocol, json }) = choice.as_deref() {
            if *protocol == SELF {
                return config.field(key, json);
            }
            return self.reporter.dropped(Field::ToolChoice, "the vendor has no such choice");
        }
        config.unless_empty(key, extras, |object| {
            if let Some(choice) = &choice {
                self.choice(object, choice);
            }
        });
    }

    fn choice(&mut self, object: &mut Object<'_, '_>, choice: &ToolChoice<'_>) {
        match choice {
            ToolChoice::Auto => object.word("mode", "AUTO"),
            ToolChoice::None => object.word("mode", "NONE"),
            ToolChoice::Required => object.word("mode", "ANY"),
            ToolChoice::Named { name, form: _ } => {
                object.word("mode", "ANY");
                self.allowed(object, std::iter::once(name));
            }
            ToolChoice::Allowed { mode, tools } => {
                let word = match mode {
                    AllowedMode::Auto => "VALIDATED",
                    AllowedMode::Required => "ANY",
                };
                object.word("mode", word);
                if tools.iter().any(|tool| tool.name.is_none()) {
                    let reason = "only functions can be allowed by name";
                    self.reporter.approximated(Field::ToolChoice, reason);
                }
                self.allowed(object, tools.iter().filter_map(|tool| tool.name.as_ref()));
            }
            ToolChoice::Other { .. } => {}
        }
    }

    fn allowed<'n>(&self, object: &mut Object<'_, '_>, names: impl Iterator<Item = &'n Text<'n>>) {
        object.key("allowedFunctionNames").array(|list| {
            names.for_each(|name| list.value(&self.tool_name(name)));
        });
    }
}

fn fits_32_bits(number: &Number<'_>) -> bool {
    number.as_i64().is_some_and(|seed| i32::try_from(seed).is_ok())
}
