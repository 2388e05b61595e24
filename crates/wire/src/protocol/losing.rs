//! Reporting losses: one walk over everything that is set, against the target's table of fates.
//!
//! What a target never carries is found here, so an encoder cannot forget it; what depends on a value or a model is
//! reported by the encoder that decides.

use crate::conversation::Candidate;
use crate::conversation::Content;
use crate::conversation::FinishKind;
use crate::conversation::Media;
use crate::conversation::MediaKind;
use crate::conversation::Message;
use crate::conversation::OutputFormat;
use crate::conversation::Part;
use crate::conversation::Response;
use crate::conversation::Role;
use crate::conversation::Source;
use crate::conversation::Tool;
use crate::conversation::ToolKind;
use crate::conversation::Usage;
use crate::json::Text;
use crate::loss::LossKind;
use crate::loss::Report;
use crate::place::Place;
use crate::protocol::ArtefactKind;
use crate::protocol::Exchange;
use crate::protocol::Fate;
use crate::protocol::Field;
use crate::protocol::Protocol;
use crate::protocol::anthropic_messages;
use crate::protocol::gemini;
use crate::protocol::openai_chat::UNNAMED_FILE;
use crate::protocol::semantics::Declared;
use crate::protocol::semantics::Extras;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::semantics::Shape;

/// The report of one translation in the making: who speaks, who is spoken to, and what is lost between them.
pub(in crate::protocol) struct Losing<'r> {
    source: Protocol,
    target: Protocol,
    /// The shape of the whole request, which decides how some of its fields are spelled.
    shape: Shape,
    report: &'r mut Report,
}

impl<'r> Losing<'r> {
    pub(in crate::protocol) fn new(
        source: Protocol,
        target: Protocol,
        report: &'r mut Report,
    ) -> Self {
        Self { source, target, shape: Shape::default(), report }
    }

    pub(in crate::protocol) fn shaped(mut self, shape: Shape) -> Self {
        self.shape = shape;
        self
    }

    /// Whether both sides speak the same protocol, so that nothing is lost and extras come back.
    pub(in crate::protocol) fn is_same(&self) -> bool {
        self.source == self.target
    }

    pub(in crate::protocol) fn source(&self) -> Protocol {
        self.source
    }

    /// Reports what happened to `field` of the node at `place`.
    pub(in crate::protocol) fn field(
        &mut self,
        place: Place,
        field: Field,
        kind: LossKind,
        reason: impl Into<std::borrow::Cow<'static, str>>,
    ) {
        let suffix = self.source.pointer(field, self.shape);
        match suffix {
            "" => self.node(place, kind, reason),
            suffix => self.below(place, suffix, kind, reason),
        }
    }

    /// Reports what happened inside `field` of the node at `place`; `suffix` is empty or begins with a slash.
    pub(in crate::protocol) fn within(
        &mut self,
        place: Place,
        (field, suffix): (Field, &str),
        kind: LossKind,
        reason: impl Into<std::borrow::Cow<'static, str>>,
    ) {
        let suffix = format!("{}{suffix}", self.source.pointer(field, self.shape));
        self.below(place, &suffix, kind, reason);
    }

    /// Reports what happened to the whole node at `place`.
    pub(in crate::protocol) fn node(
        &mut self,
        place: Place,
        kind: LossKind,
        reason: impl Into<std::borrow::Cow<'static, str>>,
    ) {
        if self.is_same() {
            return;
        }
        let reason = reason.into();
        if matches!(kind, LossKind::Renamed | LossKind::Approximated)
            && let Some(twin) = place.twin()
        {
            self.report.lose(twin.pointer(""), kind, reason.clone());
        }
        self.report.lose(place.pointer(""), kind, reason);
    }

    /// Reports what happened at a pointer relative to the node at `place`; `suffix` is as [`Place::pointer`] takes it.
    pub(in crate::protocol) fn below(
        &mut self,
        place: Place,
        suffix: &str,
        kind: LossKind,
        reason: impl Into<std::borrow::Cow<'static, str>>,
    ) {
        if !self.is_same() {
            self.report.lose(place.pointer(suffix), kind, reason);
        }
    }

    /// Reports what happened to the item whose content opened at `place` in a stream of Responses, where only its id tells it.
    pub(in crate::protocol) fn item(
        &mut self,
        place: Place,
        kind: LossKind,
        reason: impl Into<std::borrow::Cow<'static, str>>,
    ) {
        if self.source == Protocol::OpenaiResponses {
            self.below(place, "../item_id", kind, reason);
        }
    }

    /// Consults the target's table for a field that is set.
    fn set(&mut self, place: Place, field: Field) {
        match self.target.fate(field) {
            Fate::Carried | Fate::Depends(_) => {}
            Fate::Lost(kind, reason) => self.field(place, field, kind, reason),
        }
    }

    fn set_if(&mut self, place: Place, field: Field, is_set: impl Into<IsSet>) {
        if is_set.into().0 {
            self.set(place, field);
        }
    }

    /// Reports all that the target never carries of a request.
    pub(in crate::protocol) fn request(&mut self, exchange: &Exchange<'_>) {
        self.shape = exchange.semantics().shape();
        if self.is_same() {
            return;
        }
        self.request_fields(exchange);
        self.request_semantics(exchange);
        self.joined_turns(&exchange.request.messages);
        for message in &exchange.request.messages {
            self.message(message);
        }
        for tool in &exchange.request.tools {
            self.tool(tool);
        }
        if self.source == Protocol::AnthropicMessages {
            anthropic_messages::lose_on_return(&exchange.request, self.target, self);
        }
    }

    /// Gemini's neighbouring contents of one side are one turn, and a content without words is none: elsewhere they
    /// may be told apart, but they do not come back that way.
    fn joined_turns(&mut self, messages: &[Message<'_>]) {
        if self.source != Protocol::Gemini {
            return;
        }
        let is_turn = |message: &&Message<'_>| !message.role.instructs();
        let mut before: Option<&Message<'_>> = None;
        for message in messages.iter().filter(is_turn) {
            let place = message.semantics().place();
            if message.is_blank() {
                self.node(place, LossKind::Implied, "a turn without words");
                continue;
            }
            let same_side = before
                .filter(|it| (it.role == Role::Assistant) == (message.role == Role::Assistant));
            if let Some(before) = same_side {
                let reason = "neighbours of one side are one turn";
                self.node(before.semantics().place(), LossKind::Renamed, reason);
                self.node(place, LossKind::Renamed, reason);
            }
            before = Some(message);
        }
    }

    fn request_fields(&mut self, exchange: &Exchange<'_>) {
        let crate::conversation::Request {
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
        } = &exchange.request;
        let root = Place::default();
        self.set_if(root, Field::Model, model);
        self.set_if(root, Field::Stream, stream);
        self.set_if(root, Field::ToolChoice, tool_choice);
        self.set_if(root, Field::ParallelToolCalls, parallel_tool_calls);
        self.set_if(root, Field::MaxOutputTokens, max_output_tokens);
        self.sampling(sampling);
        self.set_if(root, Field::Stop, !stop.is_empty());
        self.output(output);
        self.set_if(root, Field::Verbosity, verbosity);
        self.thinking(thinking);
        self.set_if(root, Field::SafetyIdentifier, safety_identifier);
        self.set_if(root, Field::User, user);
        self.set_if(root, Field::Metadata, metadata);
        self.set_if(root, Field::ServiceTier, service_tier);
        self.set_if(root, Field::Store, store);
        let crate::conversation::CacheOptions { key, options, retention } = cache;
        self.set_if(root, Field::CacheKey, key);
        self.set_if(root, Field::CacheOptions, options);
        self.set_if(root, Field::CacheRetention, retention);
    }

    fn sampling(&mut self, sampling: &crate::conversation::Sampling<'_>) {
        let crate::conversation::Sampling {
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
            OutputFormat::Unsaid => {}
            OutputFormat::Text | OutputFormat::JsonObject => self.set(root, Field::OutputFormat),
            OutputFormat::JsonSchema(schema) => {
                let crate::conversation::OutputSchema { name, description, schema, strict } =
                    &**schema;
                self.set_if(root, Field::OutputSchemaName, name);
                self.set_if(root, Field::OutputSchemaDescription, description);
                self.set_if(root, Field::OutputSchema, schema);
                self.set_if(root, Field::OutputSchemaStrict, strict);
            }
        }
    }

    fn thinking(&mut self, thinking: &crate::conversation::Thinking<'_>) {
        let crate::conversation::Thinking { mode, effort, budget, show } = thinking;
        let root = Place::default();
        self.set_if(root, Field::ThinkingMode, mode);
        self.set_if(root, Field::ThinkingEffort, effort);
        self.set_if(root, Field::ThinkingBudget, budget);
        self.set_if(root, Field::ThinkingShow, show);
    }

    fn request_semantics(&mut self, exchange: &Exchange<'_>) {
        let root = Place::default();
        let semantics = exchange.semantics();
        let session = semantics.session();
        self.set_if(root, Field::PreviousResponse, &session.previous_response_id);
        self.set_if(root, Field::Conversation, &session.conversation);
        self.set_if(root, Field::ToolsStatedEmpty, semantics.tools_stated_empty());
        let mut declared: Vec<&'static Declared> = Vec::new();
        declared.extend(semantics.chat().iter().flat_map(|it| it.set()).map(|(it, _)| it));
        declared.extend(semantics.responses().iter().flat_map(|it| it.set()).map(|(it, _)| it));
        declared.extend(semantics.anthropic().iter().flat_map(|it| it.set()).map(|(it, _)| it));
        declared.extend(semantics.gemini().iter().flat_map(|it| it.set()).map(|(it, _)| it));
        for Declared { path, kind, reason } in declared {
            self.report.lose(["/", path].concat(), *kind, *reason);
        }
        for path in semantics.respelled() {
            self.report.lose(["/", path].concat(), LossKind::Renamed, RESPELLED);
        }
        for (path, reason) in semantics.unsaid() {
            self.report.lose(["/", path].concat(), LossKind::Synthesised, *reason);
        }
        self.extras(root, semantics.extras());
    }

    fn message(&mut self, message: &Message<'_>) {
        let place = message.semantics().place();
        self.set_if(place, Field::MessageName, &message.name);
        self.semantics(message.semantics());
        for part in &message.parts {
            self.part(part);
        }
    }

    fn part(&mut self, part: &Part<'_>) {
        let place = part.semantics().place();
        self.semantics(part.semantics());
        match part.content() {
            Content::Text(_) => self.set(place, Field::Text),
            Content::Media(media) => self.media(place, media),
            Content::ToolCall(call) => {
                self.set(place, Field::ToolCall);
                self.set_if(place, Field::CallId, &call.id);
            }
            Content::ToolResult(result) => self.result(place, result),
            Content::Reasoning(_) => self.set(place, Field::Reasoning),
            Content::Refusal(_) => self.set(place, Field::Refusal),
            Content::Opaque(_) => self.set(place, Field::Opaque),
        }
    }

    /// A file of the name that Chat gives to nameless ones gets it again.
    fn media_name(&mut self, place: Place, name: Option<&Text<'_>>) {
        let Some(name) = name else { return };
        let is_given_again = self.source == Protocol::OpenaiChat && *name == UNNAMED_FILE;
        match self.target.fate(Field::MediaName) {
            Fate::Lost(..) if is_given_again => {
                let reason = "the name of files that have none";
                self.field(place, Field::MediaName, LossKind::Implied, reason);
            }
            _ => self.set(place, Field::MediaName),
        }
    }

    fn media(&mut self, place: Place, media: &Media<'_>) {
        let Media { kind, source, detail, name } = media;
        let field = match kind {
            MediaKind::Image => Field::Image,
            MediaKind::Audio => Field::Audio,
            MediaKind::Video => Field::Video,
            MediaKind::Document => Field::Document,
        };
        self.set(place, field);
        self.set_if(place, Field::MediaDetail, detail);
        self.media_name(place, name.as_ref());
        match source {
            Source::File { .. } => self.set(place, Field::MediaFile),
            Source::Url { .. } => self.set(place, Field::MediaUrl),
            Source::Base64 { .. } | Source::Text { .. } => {}
        }
    }

    fn result(&mut self, place: Place, result: &crate::conversation::ToolResult<'_>) {
        let crate::conversation::ToolResult { call_id, name, output, is_error, form: _ } = result;
        self.set(place, Field::ToolResult);
        self.set_if(place, Field::ResultCallId, call_id);
        self.set_if(place, Field::ResultName, name);
        self.set_if(place, Field::ResultIsError, is_error);
        for part in output.parts() {
            self.part(part);
        }
    }

    fn tool(&mut self, tool: &Tool<'_>) {
        let place = tool.semantics().place();
        self.tool_semantics(tool.semantics());
        match &tool.kind {
            ToolKind::Function(function) => {
                let crate::conversation::FunctionTool {
                    name: _,
                    description,
                    parameters,
                    strict,
                    output_schema,
                } = function;
                self.set(place, Field::Tool);
                self.set_if(place, Field::ToolDescription, description);
                self.set_if(place, Field::ToolParameters, parameters);
                self.set_if(place, Field::ToolStrict, strict);
                if strict.is_none() && self.source == Protocol::OpenaiResponses {
                    let reason = "left out, it is strict only where that is possible";
                    self.field(place, Field::ToolStrict, LossKind::Implied, reason);
                }
                self.set_if(place, Field::ToolOutputSchema, output_schema);
            }
            ToolKind::Custom(custom) => {
                self.set(place, Field::CustomTool);
                self.set_if(place, Field::CustomFormat, &custom.format);
            }
            ToolKind::Hosted(_) => self.set(place, Field::HostedTool),
            ToolKind::Namespace(namespace) => {
                self.set(place, Field::NamespaceTool);
                namespace.tools.iter().for_each(|tool| self.tool(tool));
            }
        }
    }

    fn tool_semantics(&mut self, semantics: &NodeSemantics<'_>) {
        if semantics.has_shape(Shape::RESPELLED) {
            self.node(semantics.place(), LossKind::Renamed, RESPELLED);
        }
        self.set_if(semantics.place(), Field::ToolCacheMarker, semantics.cache().is_some());
        if let Some(extras) = semantics.extras() {
            self.extras(semantics.place(), extras);
        }
    }

    /// Reports all that the target never carries of a node's semantics.
    pub(in crate::protocol) fn semantics(&mut self, semantics: &NodeSemantics<'_>) {
        let place = semantics.place();
        if semantics.has_shape(Shape::RESPELLED) {
            let place = match self.source {
                Protocol::OpenaiResponses => place.of_item(),
                Protocol::OpenaiChat | Protocol::AnthropicMessages | Protocol::Gemini => place,
            };
            self.node(place, LossKind::Renamed, RESPELLED);
        }
        if let Some(extras) = semantics.extras() {
            self.extras(place, extras);
        }
        self.set_if(place, Field::CacheMarker, semantics.cache().is_some());
        if let Some(artefact) = semantics.artefact() {
            self.set(
                place,
                match artefact.kind() {
                    ArtefactKind::Signature => Field::Signature,
                    ArtefactKind::Ciphertext => Field::Ciphertext,
                },
            );
        }
        self.set_if(place, Field::Citations, !semantics.citations().is_empty());
        self.set_if(place, Field::PartLogprobs, semantics.logprobs().is_some());
        if let Some(item) = semantics.item() {
            let place = place.of_item();
            self.set_if(place, Field::ItemId, &item.id);
            self.set_if(place, Field::ItemStatus, &item.status);
            self.set_if(place, Field::ItemPhase, &item.phase);
            self.extras(place, &item.extras);
        }
    }

    /// Reports undeclared fields, which no other protocol can carry; those that say nothing are no loss.
    pub(in crate::protocol) fn extras(&mut self, place: Place, extras: &Extras<'_>) {
        if self.is_same() {
            return;
        }
        for extra in extras.iter().filter(|extra| !extra.is_void()) {
            let suffix = extra.pointer();
            let (kind, reason) = self
                .source
                .declared(suffix.trim_start_matches('/'))
                .map_or((LossKind::Dropped, UNKNOWN_FIELD), |declared| {
                    (declared.kind, declared.reason)
                });
            self.report.lose(place.pointer(&suffix), kind, reason);
        }
    }

    /// Reports all that the target never carries of a whole response.
    pub(in crate::protocol) fn response(&mut self, response: &Response<'_>) {
        if self.is_same() {
            return;
        }
        let root = response.semantics().place();
        self.set_if(root, Field::ResponseId, &response.id);
        self.set_if(root, Field::ResponseModel, &response.model);
        self.set_if(root, Field::ResponseCreated, &response.created);
        self.set_if(root, Field::ResponseServiceTier, &response.service_tier);
        self.semantics(response.semantics());
        for candidate in &response.candidates {
            self.candidate(candidate);
        }
        if let Some(usage) = &response.usage {
            self.usage(usage);
        }
        if self.source == Protocol::AnthropicMessages {
            anthropic_messages::lose_answer_on_return(response, self.target, self);
        }
    }

    fn candidate(&mut self, candidate: &Candidate<'_>) {
        let place = candidate.semantics().place();
        self.semantics(candidate.semantics());
        self.message(&candidate.message);
        if let Some(finish) = &candidate.finish {
            self.finish(place, finish);
        }
    }

    /// Reports what the target never carries of a candidate's end.
    pub(in crate::protocol) fn finish(
        &mut self,
        place: Place,
        finish: &crate::conversation::Finish<'_>,
    ) {
        self.set(place, Field::FinishReason);
        if self.source == Protocol::Gemini && gemini::is_finer(finish) {
            self.field(place, Field::FinishReason, LossKind::Approximated, FINER_FINISH);
        }
        if self.source == Protocol::AnthropicMessages && finish.kind == FinishKind::Pause {
            self.field(place, Field::FinishReason, LossKind::Approximated, FINER_FINISH);
        }
        self.set_if(place, Field::StopSequence, &finish.stop_sequence);
        self.set_if(place, Field::FinishDetails, &finish.details);
    }

    /// Reports what the target never carries of a usage report. A count of zero that is not carried is implied.
    pub(in crate::protocol) fn usage(&mut self, usage: &Usage<'_>) {
        if self.is_same() {
            return;
        }
        let place = usage.semantics().place();
        let counts = [
            (Field::UsageInput, usage.input),
            (Field::UsageCacheRead, usage.cache_read),
            (Field::UsageCacheWrite, usage.cache_write),
            (Field::UsageCacheWrite5m, usage.cache_write_5m),
            (Field::UsageCacheWrite1h, usage.cache_write_1h),
            (Field::UsageToolPrompt, usage.tool_prompt),
            (Field::UsageOutput, usage.output),
            (Field::UsageReasoning, usage.reasoning),
            (Field::UsageTotal, usage.total),
        ];
        for (field, count) in counts {
            match (count, self.target.fate(field)) {
                (Some(0), Fate::Lost(..)) => {
                    self.field(place, field, LossKind::Implied, "a count of zero");
                }
                (Some(_), Fate::Lost(kind, reason)) => self.field(place, field, kind, reason),
                (Some(_) | None, _) => {}
            }
        }
        if let Some(extras) = usage.semantics().extras() {
            self.usage_extras(place, extras);
        }
    }

    fn usage_extras(&mut self, place: Place, extras: &Extras<'_>) {
        for extra in extras.iter().filter(|extra| !extra.is_void()) {
            let suffix = extra.pointer();
            let declared = self.source.declared(suffix.trim_start_matches('/'));
            let (kind, reason) = match (extra.json.as_str(), declared) {
                ("0" | "0.0", _) => (LossKind::Implied, "a count of zero"),
                (_, Some(declared)) => (declared.kind, declared.reason),
                (_, None) => (LossKind::Dropped, "a count that only this vendor reports"),
            };
            self.report.lose(place.pointer(&suffix), kind, reason);
        }
    }
}

const UNKNOWN_FIELD: &str = "the target protocol has no such field";
const FINER_FINISH: &str = "other protocols have fewer finish reasons";
const RESPELLED: &str = "the target spells this its own way";

/// Whether a field is set, from the forms in which fields are held.
struct IsSet(bool);

impl From<bool> for IsSet {
    fn from(is_set: bool) -> Self {
        Self(is_set)
    }
}

impl<T> From<&Option<T>> for IsSet {
    fn from(value: &Option<T>) -> Self {
        Self(value.is_some())
    }
}
