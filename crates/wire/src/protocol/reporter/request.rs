//! The walk over a request: its settings, its own fields of every protocol, its messages and its tools.

use super::{Reporter, Side};
use std::collections::BTreeSet;

use crate::conversation::{
    CacheOptions, CallForm, Content, FunctionTool, HostedService, HostedTool, Message,
    OutputFormat, OutputSchema, Request, Sampling, Thinking, Tool, ToolKind,
};
use crate::json::{Number, Text};
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::semantics::{Declared, NodeSemantics};
use crate::protocol::{DecodedRequest, Field};
use crate::target::{Accepts, Effort, Target};

impl Reporter<'_> {
    /// Reports all that the target never carries of a request.
    pub(in super::super) fn request(&mut self, decoded: &DecodedRequest<'_>) {
        self.spelling = decoded.semantics().spelling();
        self.respell(Place::default(), self.spelling);
        self.side = Side::Request;
        if self.is_same() {
            return;
        }
        self.request_fields(decoded);
        self.request_semantics(decoded);
        decoded.request.messages.iter().for_each(|message| self.message(message));
        for tool in &decoded.request.tools {
            self.turn_to(tool.semantics().place());
            if !self.is_same() {
                self.tool(tool);
            }
        }
        self.turn_home();
        self.early_results(&decoded.request.messages);
    }

    /// The number of alternatives, if log probabilities are wanted. Without them servers refuse it, or take it as the wish.
    /// A protocol's own number stays.
    pub(in super::super) fn alternatives<'s>(
        &mut self,
        sampling: &'s Sampling<'s>,
    ) -> Option<&'s Number<'s>> {
        if self.is_same() {
            return sampling.top_logprobs.as_ref();
        }
        let count = sampling.alternatives()?;
        if sampling.logprobs != Some(false) {
            return Some(count);
        }
        if count.as_f64() != Some(0.0) {
            self.implied(Field::TopLogprobs, "no log probabilities are asked for");
        }
        None
    }

    /// The value of a parameter that the model takes; what is changed or left out is reported.
    pub(in super::super) fn fitted<'n>(
        &mut self,
        field: Field,
        number: Number<'n>,
        accepts: Accepts,
    ) -> Option<Number<'n>> {
        if self.is_same() {
            return Some(number);
        }
        let asked = number.as_f64();
        match asked.and_then(|asked| accepts.fit(asked)) {
            None => {
                self.dropped(field, "the model does not take it");
                None
            }
            fit if fit == asked => Some(number),
            Some(fit) => {
                self.approximated(field, "the model takes a smaller range");
                Number::from_f64(fit)
            }
        }
    }

    /// The limit of output tokens: what the operator allows is for a client that says nothing of it.
    pub(in super::super) fn output_limit<'n>(
        &mut self,
        asked: Option<&'n Number<'n>>,
        target: &Target,
    ) -> Option<Number<'n>> {
        if asked.is_some() || self.is_same() {
            return asked.map(Number::reborrow);
        }
        let limit = target.max_output_tokens?;
        self.synthesised(Field::MaxOutputTokens, "the operator's limit");
        Some(Number::from(limit))
    }

    /// Reports a word for an effort that is no step of the ladder: no model has it.
    pub(in super::super) fn unknown_effort(&mut self, word: &Text<'_>) {
        match Effort::is_left_open(&word.to_str()) {
            true => self.implied(Field::ThinkingEffort, "the effort is left to the model"),
            false => self.dropped(Field::ThinkingEffort, "no model has an effort of this name"),
        }
    }

    /// Reports what happened to those of several fields that are set.
    pub(in super::super) fn lose_set(
        &mut self,
        fields: &[(Field, bool)],
        kind: LossKind,
        reason: &'static str,
    ) {
        for (field, _) in fields.iter().filter(|(_, is_set)| *is_set) {
            self.lose(*field, kind, reason);
        }
    }

    fn request_fields(&mut self, decoded: &DecodedRequest<'_>) {
        let Request {
            model,
            stream,
            messages: _,
            tools: _,
            tool_choice,
            parallel_tool_calls,
            max_output_tokens,
            sampling,
            stop,
            output,
            verbosity,
            thinking,
            safety_identifier,
            user,
            metadata,
            service_tier,
            store,
            cache,
        } = &decoded.request;
        let root = Place::default();
        self.set_if(root, Field::Model, model);
        self.set_if(root, Field::Stream, stream);
        self.set_if(root, Field::ToolChoice, tool_choice);
        self.set_if(root, Field::ParallelToolCalls, parallel_tool_calls);
        self.set_if(root, Field::MaxOutputTokens, max_output_tokens);
        self.sampling(sampling);
        self.set_if(root, Field::Stop, &stop.first());
        self.output(output);
        self.set_if(root, Field::Verbosity, verbosity);
        self.thinking(thinking);
        self.set_if(root, Field::SafetyIdentifier, safety_identifier);
        self.set_if(root, Field::User, user);
        self.set_if(root, Field::Metadata, metadata);
        self.set_if(root, Field::ServiceTier, service_tier);
        self.set_if(root, Field::Store, store);
        let CacheOptions { key, options, retention } = cache;
        self.set_if(root, Field::CacheKey, key);
        self.set_if(root, Field::CacheOptions, options);
        self.set_if(root, Field::CacheRetention, retention);
    }

    fn sampling(&mut self, sampling: &Sampling<'_>) {
        let Sampling {
            temperature,
            top_p,
            top_k,
            seed,
            presence_penalty,
            frequency_penalty,
            candidates,
            logprobs,
            top_logprobs,
        } = sampling;
        let root = Place::default();
        self.set_if(root, Field::Temperature, temperature);
        self.set_if(root, Field::TopP, top_p);
        self.set_if(root, Field::TopK, top_k);
        self.set_if(root, Field::Seed, seed);
        self.set_if(root, Field::PresencePenalty, presence_penalty);
        self.set_if(root, Field::FrequencyPenalty, frequency_penalty);
        self.set_if(root, Field::Candidates, candidates);
        self.set_if(root, Field::Logprobs, logprobs);
        self.set_if(root, Field::TopLogprobs, top_logprobs);
    }

    fn output(&mut self, output: &OutputFormat<'_>) {
        let root = Place::default();
        match output {
            OutputFormat::Unset => {}
            OutputFormat::Text | OutputFormat::JsonObject => self.set(root, Field::OutputFormat),
            OutputFormat::JsonSchema(schema) => {
                let OutputSchema { name, description, schema, strict } = &**schema;
                self.set_if(root, Field::OutputSchemaName, name);
                self.set_if(root, Field::OutputSchemaDescription, description);
                self.set_if(root, Field::OutputSchema, schema);
                self.set_if(root, Field::OutputSchemaStrict, strict);
            }
        }
    }

    fn thinking(&mut self, thinking: &Thinking<'_>) {
        let Thinking { mode, effort, budget, show } = thinking;
        let root = Place::default();
        self.set_if(root, Field::ThinkingMode, mode);
        self.set_if(root, Field::ThinkingEffort, effort);
        self.set_if(root, Field::ThinkingBudget, budget);
        self.set_if(root, Field::ThinkingShow, show);
    }

    fn request_semantics(&mut self, decoded: &DecodedRequest<'_>) {
        let root = Place::default();
        let semantics = decoded.semantics();
        let session = semantics.session();
        self.set_if(root, Field::PreviousResponse, &session.previous_response_id);
        self.set_if(root, Field::Conversation, &session.conversation);
        if semantics.tools_stated_empty() {
            self.set(root, Field::ToolsStatedEmpty);
        }
        let mut declared: Vec<&'static Declared> = Vec::new();
        declared.extend(semantics.chat().iter().flat_map(|it| it.set()).map(|(it, _)| it));
        declared.extend(semantics.responses().iter().flat_map(|it| it.set()).map(|(it, _)| it));
        declared.extend(semantics.anthropic().iter().flat_map(|it| it.set()).map(|(it, _)| it));
        declared.extend(semantics.gemini().iter().flat_map(|it| it.set()).map(|(it, _)| it));
        // What says nothing of the conversation is in the table alone.
        for Declared { path, kind, reason } in declared {
            if *kind != LossKind::Implied {
                self.below(root, &["/", path].concat(), *kind, *reason);
            }
        }
        self.extras(root, semantics.extras());
    }

    /// A result does not say itself what it answers where its call does not stand before it.
    fn early_results(&mut self, messages: &[Message<'_>]) {
        let mut customs: BTreeSet<&Text<'_>> = BTreeSet::new();
        messages.iter().flat_map(|message| &message.parts).for_each(|part| match part.content() {
            Content::ToolCall(call) if call.form == CallForm::Custom => customs.extend(&call.id),
            Content::ToolResult(result)
                if result.form == CallForm::Custom
                    && !result.call_id.as_ref().is_some_and(|id| customs.contains(id)) =>
            {
                self.approximated(part, "no call with this id is of a custom tool");
            }
            _ => {}
        });
    }

    fn tool(&mut self, tool: &Tool<'_>) {
        let place = tool.semantics().place();
        self.tool_semantics(tool.semantics());
        match &tool.kind {
            ToolKind::Function(function) => {
                let FunctionTool { name: _, description, parameters, strict, output_schema } =
                    function;
                self.set(place, Field::Tool);
                self.set_if(place, Field::ToolDescription, description);
                self.set_if(place, Field::ToolParameters, parameters);
                self.set_if(place, Field::ToolStrict, strict);
                self.set_if(place, Field::ToolOutputSchema, output_schema);
            }
            ToolKind::Custom(custom) => {
                self.set(place, Field::CustomTool);
                self.set_if(place, Field::CustomFormat, &custom.format);
            }
            ToolKind::Hosted(hosted) => {
                self.set(place, Field::HostedTool);
                self.version(place, hosted);
            }
            ToolKind::Namespace(namespace) => {
                self.set(place, Field::NamespaceTool);
                namespace.tools.iter().for_each(|tool| self.tool(tool));
            }
        }
    }

    /// Some protocols name the version of a tool in its type, and the counterpart elsewhere has one of its own.
    fn version(&mut self, place: Place, hosted: &HostedTool<'_>) {
        let is_named = hosted.protocol.conventions().versions_hosted_tools;
        let is_usual = USUAL_VERSIONS.contains(&&*hosted.kind.to_str());
        if hosted.service != HostedService::Other && is_named && !is_usual {
            let reason = "the target's tool for it is of another version";
            self.below(place, "/type", LossKind::Approximated, reason);
        }
    }

    fn tool_semantics(&mut self, semantics: &NodeSemantics<'_>) {
        self.respell(semantics.place(), semantics.spelling());
        self.set_if(semantics.place(), Field::ToolCacheMarker, &semantics.cache());
        if let Some(extras) = semantics.extras() {
            self.extras(semantics.place(), extras);
        }
    }
}

/// The types of hosted tools whose counterparts elsewhere do the same.
const USUAL_VERSIONS: [&str; 5] = [
    "web_search",
    "code_interpreter",
    "web_search_20250305",
    "web_fetch_20250910",
    "code_execution_20250825",
];
