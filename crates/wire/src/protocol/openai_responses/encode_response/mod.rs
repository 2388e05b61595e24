//! Writing whole answers, and the response objects that streams begin and end with.

pub(super) mod output;
mod required_action;

use std::borrow::Cow;

use crate::conversation::{Content, Finish, FinishKind, Part, Response, Usage};
use crate::fault::Fault;
use crate::json::{Json, Text, Writer};
use crate::loss::Report;
use crate::place::Place;
use crate::protocol::object::Object;
use crate::protocol::openai_responses::encode_response::output::encode_output;
use crate::protocol::openai_responses::encode_response::required_action::RequiredAction;
use crate::protocol::openai_responses::fault::write_response_error;
use crate::protocol::openai_responses::types::SELF;
use crate::protocol::openai_responses::usage::USAGE;
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::tier::Asking;
use crate::protocol::translation::ANSWER_BYTES;
use crate::protocol::{AnswerContext, Field, Protocol, Start, tier};

pub(in super::super) fn encode_response(
    response: &Response<'_>,
    source: Protocol,
    context: &AnswerContext<'_>,
    report: &mut Report,
) -> String {
    let mut reporter = Reporter::new(source, SELF, report);
    reporter.response(response);
    let candidate = response.candidates.first();
    for extra in response.candidates.iter().skip(1) {
        reporter.dropped(extra, "Responses gives one answer");
    }
    let parts = candidate.map(|candidate| &*candidate.message.parts);
    let finish = candidate.and_then(|candidate| candidate.finish.as_ref());
    let refused = parts.is_some_and(|parts| parts.iter().any(is_refusal));
    let ending = ResponseEnd::of(finish, response.fault.as_ref(), refused);
    let output = parts.map(|parts| encode_output(&mut reporter, context, (parts, &ending)));
    let called = parts.is_some_and(|parts| parts.iter().any(is_call));
    if let Some(finish) = finish {
        let place = candidate.map(|it| it.semantics().place()).unwrap_or_default();
        report_finish(&mut reporter, (place, called), finish);
    }
    let id = Some(response_id(&reporter, context, response.id.as_ref()));
    let start = Start { id, ..Start::of(response) };
    let semantics = response.semantics();
    if let Some(tier) = &start.service_tier {
        tier::report(tier, Asking::Answer(semantics.place()), &mut reporter);
    }
    if let Some(usage) = &response.usage {
        USAGE.report(usage, &mut reporter);
    }
    let mut writer = Writer::with_capacity(ANSWER_BYTES);
    let end = End { ending, usage: response.usage.as_ref(), output: output.as_ref() };
    write_response(&mut writer, &reporter, context, (&start, semantics, &end));
    writer.into_string()
}

pub(super) fn is_call(part: &Part<'_>) -> bool {
    matches!(part.content(), Content::ToolCall(_))
}

pub(super) fn is_refusal(part: &Part<'_>) -> bool {
    matches!(part.content(), Content::Refusal(_))
}

/// Reports ends that a status says less of; `called` says that a tool was called.
pub(super) fn report_finish(
    reporter: &mut Reporter<'_>,
    (place, called): (Place, bool),
    finish: &Finish<'_>,
) {
    let reason = match finish.kind {
        FinishKind::Stop if called => {
            let reason = "an answer that calls a tool ends with the call";
            return reporter.repaired((place, Field::FinishReason), reason);
        }
        FinishKind::ToolCalls if !called => "an answer without a call just ends",
        FinishKind::Stop
        | FinishKind::ToolCalls
        | FinishKind::Length
        | FinishKind::ContentFilter
        | FinishKind::Failed => return,
        FinishKind::StopSequence => "Responses does not state that a stop sequence was met",
        FinishKind::ContextFull => "a full context is returned as an output limit",
        FinishKind::PromptFilter => "a refused prompt is returned as a filtered answer",
        FinishKind::Refusal => "a refusal is returned as its text or as a filtered answer",
        FinishKind::Pause => "a pause is returned as an end",
        FinishKind::MalformedCall => "an unreadable call is returned as an end",
        FinishKind::Other => "the target has no such finish reason",
    };
    reporter.approximated((place, Field::FinishReason), reason);
}

/// What is known of an answer when it ends.
pub(super) struct End<'e> {
    pub(super) ending: ResponseEnd<'e>,
    pub(super) usage: Option<&'e Usage<'e>>,
    /// The list of items; none for an answer that came without.
    pub(super) output: Option<&'e Json<'e>>,
}

/// How an answer ends.
#[derive(Clone, Debug, Default)]
pub(super) struct ResponseEnd<'e> {
    /// None if it has not ended, or the wire's own word for where it stands is among the extras.
    pub(super) status: Option<Text<'e>>,
    /// Why it ended before its end.
    details: Option<Json<'e>>,
    fault: Option<&'e Fault<'e>>,
}

impl<'e> ResponseEnd<'e> {
    /// `refused` says that a part is a refusal, so that the end need not state it.
    pub(super) fn of(
        finish: Option<&'e Finish<'e>>,
        fault: Option<&'e Fault<'e>>,
        refused: bool,
    ) -> Self {
        let failed = Self { fault, ..Self::with("failed") };
        let Some(finish) = finish else {
            return if fault.is_some() { failed } else { Self::default() };
        };
        if let Some(status) = finish.raw.as_ref().filter(|raw| is_own_status(&raw.to_str())) {
            return Self { status: Some(status.reborrow()), details: None, fault };
        }
        if fault.is_some() {
            // One of several answers may be complete when the stream breaks off.
            return failed;
        }
        let is_own =
            |it: &&Json<'_>| it.reader().peek_tag("reason").is_ok_and(|it| it == finish.raw);
        if let Some(details) = finish.details.as_ref().filter(is_own) {
            return Self { details: Some(details.reborrow()), ..Self::with("incomplete") };
        }
        match finish.kind {
            FinishKind::Stop
            | FinishKind::StopSequence
            | FinishKind::ToolCalls
            | FinishKind::Pause
            | FinishKind::MalformedCall
            | FinishKind::Other => Self::with("completed"),
            FinishKind::Refusal if refused => Self::with("completed"),
            FinishKind::Length | FinishKind::ContextFull => {
                Self::early(r#"{"reason":"max_output_tokens"}"#)
            }
            FinishKind::ContentFilter | FinishKind::PromptFilter | FinishKind::Refusal => {
                Self::early(r#"{"reason":"content_filter"}"#)
            }
            FinishKind::Failed => failed,
        }
    }

    pub(super) fn with(status: &'static str) -> Self {
        Self { status: Some(Text::literal(status)), ..Self::default() }
    }

    fn early(details: &'static str) -> Self {
        Self { details: Some(Json::literal(details)), ..Self::with("incomplete") }
    }

    fn word(&self) -> Cow<'_, str> {
        self.status.as_ref().map_or("completed".into(), Text::to_str)
    }

    /// Whether the answer ends before all is said.
    pub(super) fn is_early(&self) -> bool {
        self.event() != "response.completed"
    }

    /// The type of the event that ends a stream in this way.
    pub(super) fn event(&self) -> &'static str {
        match &*self.word() {
            "incomplete" => "response.incomplete",
            "failed" | "cancelled" => "response.failed",
            _ => "response.completed",
        }
    }
}

fn is_own_status(word: &str) -> bool {
    matches!(word, "completed" | "incomplete" | "failed" | "cancelled")
}

/// Writes a response object.
pub(super) fn write_response(
    writer: &mut Writer,
    reporter: &Reporter<'_>,
    context: &AnswerContext<'_>,
    (start, semantics, end): (&Start<'_>, &NodeSemantics<'_>, &End<'_>),
) {
    let mut object = Object::open(writer, reporter.own_extras(semantics, ""));
    write_head(&mut object, (reporter, context), (start, semantics));
    let required = required_action(context, end);
    let ending = match &required {
        Some(_) => &ResponseEnd::with("requires_action"),
        None => &end.ending,
    };
    write_ending(&mut object, reporter, ending);
    if let Some(required) = &required {
        required.write(object.key("required_action"));
    }
    let output = required.as_ref().map(|required| &required.output).or(end.output);
    object.field("output", output.unwrap_or(&EMPTY));
    if let Some(usage) = end.usage {
        USAGE.write(object.key(USAGE.member), usage, None, USAGE.stating(reporter.source()));
    }
    if reporter.is_same() && context.in_background {
        object.field("background", &true);
    }
    if let Some(echo) = context.echo.as_ref().filter(|_| reporter.is_same()) {
        echo.write_tools(&mut object);
    }
    if !reporter.is_same() {
        if end.usage.is_none() {
            object.key(USAGE.member).null();
        }
        write_settings(&mut object, context, end);
    }
    if let Some(conversation) = &context.conversation {
        object.key("conversation").object(|it| it.field("id", conversation));
    }
    object.close();
}

/// A list without items.
pub(super) const EMPTY: Json<'static> = Json::literal("[]");

/// What the client has to do, where it wants to be asked.
fn required_action(context: &AnswerContext<'_>, end: &End<'_>) -> Option<RequiredAction> {
    let is_complete = end.ending.status.as_ref().is_some_and(|status| *status == *"completed");
    end.output.filter(|_| context.requires_action && is_complete).and_then(RequiredAction::of)
}

fn write_head(
    object: &mut Object<'_, '_>,
    (reporter, context): (&Reporter<'_>, &AnswerContext<'_>),
    (start, semantics): (&Start<'_>, &NodeSemantics<'_>),
) {
    let is_foreign = !reporter.is_same();
    object.optional("id", start.id.as_ref());
    object.word("object", "response");
    match &start.created {
        Some(created) => object.field("created_at", created),
        None => object.optional("created_at", is_foreign.then_some(&context.created_s)),
    }
    match context.model.as_ref().or(start.model.as_ref()) {
        Some(model) => object.field("model", model),
        None => object.optional("model", is_foreign.then_some("")),
    }
    // A tier that became known at the end is among the extras and is newer.
    let later = reporter.own_extras(semantics, "").is_some_and(|(extras, scope)| {
        extras.within(scope).any(|extra| extra.key == "service_tier")
    });
    if let Some(tier) = start.service_tier.as_ref().filter(|_| !later) {
        let word = tier::word(tier, Asking::Answer(semantics.place()), reporter.source(), SELF);
        object.optional("service_tier", word.as_ref());
    } else if context.echo.is_some() && is_foreign {
        object.word("service_tier", "default");
    }
}

/// The id of an answer: its own, or for another protocol's, and in the background, one made from the seed. Clients take an id without `resp_` for
/// something else, and the upstream's id refers to nothing that can be asked for here.
/// Fixture `answer/ids/ids-of-responses-are-made-here`.
pub(super) fn response_id<'t>(
    reporter: &Reporter<'_>,
    context: &AnswerContext<'_>,
    id: Option<&'t Text<'_>>,
) -> Text<'t> {
    let minted = || Text::plain(format!("resp_{}", context.seed.to_str()));
    let is_own = reporter.is_same() && !context.in_background;
    id.filter(|_| is_own).map_or_else(minted, Text::reborrow)
}

fn write_ending(object: &mut Object<'_, '_>, reporter: &Reporter<'_>, ending: &ResponseEnd<'_>) {
    let ResponseEnd { status, details, fault } = ending;
    let is_foreign = !reporter.is_same();
    match status {
        Some(status) => object.field("status", status),
        None => object.optional("status", is_foreign.then_some("completed")),
    }
    match fault {
        Some(fault) => write_response_error(object.key("error"), fault),
        None if !is_foreign => {}
        None if ending.word() == "failed" => {
            let error = r#"{"code":"server_error","message":"the model could not answer"}"#;
            object.field("error", &Json::literal(error));
        }
        None => object.key("error").null(),
    }
    match details {
        Some(details) => object.field("incomplete_details", details),
        None if is_foreign => object.key("incomplete_details").null(),
        None => {}
    }
}

/// Writes what clients expect of every response and no other protocol states: the settings of the request, or those that it
/// does not change.
fn write_settings(object: &mut Object<'_, '_>, context: &AnswerContext<'_>, end: &End<'_>) {
    match &context.echo {
        Some(echo) => {
            // No other protocol states when it was complete, and an answer has one time here.
            let is_complete = end.ending.word() == "completed";
            object.field("completed_at", &is_complete.then_some(context.created_s));
            echo.write(object);
        }
        None => write_boilerplate(object),
    }
}

/// The settings that a request did not change.
fn write_boilerplate(object: &mut Object<'_, '_>) {
    for key in ["instructions", "max_output_tokens", "previous_response_id"] {
        object.key(key).null();
    }
    object.key("metadata").object(|_| {});
    object.field("parallel_tool_calls", &true);
    for key in ["temperature", "top_p"] {
        object.key(key).null();
    }
    object.field("reasoning", &Json::literal(r#"{"effort":null,"summary":null}"#));
    object.field("text", &Json::literal(r#"{"format":{"type":"text"}}"#));
    object.field("tool_choice", "auto");
    object.key("tools").array(|_| {});
    object.field("truncation", "disabled");
}
