//! Writing whole answers, and the response objects that streams begin and end with.

use crate::conversation::Content;
use crate::conversation::Finish;
use crate::conversation::FinishKind;
use crate::conversation::Part;
use crate::conversation::Response;
use crate::conversation::Usage;
use crate::fault::Fault;
use crate::json::Json;
use crate::json::Number;
use crate::json::Text;
use crate::json::Writer;
use crate::loss::LossKind;
use crate::loss::Report;
use crate::place::Place;
use crate::protocol::Asked;
use crate::protocol::Field;
use crate::protocol::Protocol;
use crate::protocol::exchange::ANSWER_BYTES;
use crate::protocol::losing::Losing;
use crate::protocol::object::Object;
use crate::protocol::openai_responses::fault::write_response_error;
use crate::protocol::openai_responses::output::encode_output;
use crate::protocol::openai_responses::part::own_extras;
use crate::protocol::openai_responses::types::OBJECT;
use crate::protocol::openai_responses::types::THIS;
use crate::protocol::openai_responses::types::tier_word;
use crate::protocol::openai_responses::usage::USAGE;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::tier::Asking;

pub(in crate::protocol) fn encode_response(
    response: &Response<'_>,
    source: Protocol,
    asked: &Asked<'_>,
    report: &mut Report,
) -> String {
    let mut losing = Losing::new(source, THIS, report);
    losing.response(response);
    let candidate = response.candidates.first();
    for extra in response.candidates.iter().skip(1) {
        let place = extra.semantics().place();
        losing.node(place, LossKind::Dropped, "Responses gives one answer");
    }
    let parts = candidate.map(|candidate| &*candidate.message.parts);
    let finish = candidate.and_then(|candidate| candidate.finish.as_ref());
    let refused = parts.is_some_and(|parts| parts.iter().any(is_refusal));
    let ending = Ending::of(finish, response.fault.as_ref(), refused);
    let output = parts.map(|parts| encode_output(&mut losing, asked, (parts, &ending)));
    let called = parts.is_some_and(|parts| parts.iter().any(is_call));
    if let Some(finish) = finish {
        let place = candidate.map(|it| it.semantics().place()).unwrap_or_default();
        report_finish(&mut losing, (place, called), finish);
    }
    let head = Head {
        id: response_id(&losing, asked, response.id.as_ref()),
        model: response.model.as_ref().map(Text::reborrow),
        created: response.created.as_ref().map(Number::reborrow),
        service_tier: response.service_tier.as_ref().map(Text::reborrow),
        semantics: response.semantics(),
    };
    report_tier(&mut losing, response);
    if let Some(usage) = &response.usage {
        USAGE.report(usage, &mut losing);
    }
    let mut writer = Writer::with_capacity(ANSWER_BYTES);
    let end = End { ending, usage: response.usage.as_ref(), output: output.as_deref() };
    write_response(&mut writer, &losing, asked, (&head, &end));
    writer.into_string()
}

pub(super) fn is_call(part: &Part<'_>) -> bool {
    matches!(part.content(), Content::ToolCall(_))
}

pub(super) fn is_refusal(part: &Part<'_>) -> bool {
    matches!(part.content(), Content::Refusal(_))
}

/// Reports a tier that has no name here.
pub(super) fn report_tier(losing: &mut Losing<'_>, response: &Response<'_>) {
    let Some(tier) = &response.service_tier else { return };
    if tier_word(tier, losing.source(), Asking::Answer).is_none() {
        let (place, reason) = (response.semantics().place(), "only its own vendor has this tier");
        losing.field(place, Field::ResponseServiceTier, LossKind::Dropped, reason);
    }
}

/// Reports ends that a status says less of; `called` says that a tool was called.
pub(super) fn report_finish(
    losing: &mut Losing<'_>,
    (place, called): (Place, bool),
    finish: &Finish<'_>,
) {
    let reason = match finish.kind {
        FinishKind::Stop if called => {
            let reason = "an answer that calls a tool ends with the call";
            return losing.field(place, Field::FinishReason, LossKind::Repaired, reason);
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
    losing.field(place, Field::FinishReason, LossKind::Approximated, reason);
}

/// What is known of an answer when it begins.
#[derive(Clone, Debug)]
pub(super) struct Head<'h> {
    pub(super) id: Option<Text<'h>>,
    pub(super) model: Option<Text<'h>>,
    pub(super) created: Option<Number<'h>>,
    pub(super) service_tier: Option<Text<'h>>,
    pub(super) semantics: &'h NodeSemantics<'h>,
}

/// What is known of it when it ends.
pub(super) struct End<'e> {
    pub(super) ending: Ending<'e>,
    pub(super) usage: Option<&'e Usage<'e>>,
    /// The items as a JSON list; none for an answer that came without.
    pub(super) output: Option<&'e str>,
}

/// How an answer ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ending<'e> {
    /// It has not ended, or the wire's own word for where it stands is among the extras.
    Open,
    InProgress,
    Completed,
    Incomplete(&'static str),
    /// An end before the end, in the vendor's own shape.
    IncompleteOwn(&'e Json<'e>),
    Failed(Option<&'e Fault<'e>>),
    /// The vendor's own status.
    Status(&'e Text<'e>, Option<&'e Fault<'e>>),
}

impl<'e> Ending<'e> {
    /// `refused` says that a part is a refusal, so that the end need not tell of it.
    pub(super) fn of(
        finish: Option<&'e Finish<'e>>,
        fault: Option<&'e Fault<'e>>,
        refused: bool,
    ) -> Self {
        let Some(finish) = finish else {
            return match fault {
                Some(_) => Self::Failed(fault),
                None => Self::Open,
            };
        };
        let own = finish.raw.as_ref().filter(|raw| is_own_status(&raw.to_str()));
        if let Some(status) = own {
            return Self::Status(status, fault);
        }
        if fault.is_some() {
            // One of several answers may be complete when the stream breaks off.
            return Self::Failed(fault);
        }
        if let (Some(details), true) = (&finish.details, is_own_reason(finish)) {
            return Self::IncompleteOwn(details);
        }
        match finish.kind {
            FinishKind::Stop
            | FinishKind::StopSequence
            | FinishKind::ToolCalls
            | FinishKind::Pause
            | FinishKind::MalformedCall
            | FinishKind::Other => Self::Completed,
            FinishKind::Refusal if refused => Self::Completed,
            FinishKind::Length | FinishKind::ContextFull => Self::Incomplete("max_output_tokens"),
            FinishKind::ContentFilter | FinishKind::PromptFilter | FinishKind::Refusal => {
                Self::Incomplete("content_filter")
            }
            FinishKind::Failed => Self::Failed(fault),
        }
    }

    /// Whether the answer ends before all is said.
    pub(super) fn is_early(&self) -> bool {
        self.event() != "response.completed"
    }

    /// The type of the event that ends a stream in this way.
    pub(super) fn event(&self) -> &'static str {
        match self {
            Self::Open | Self::InProgress | Self::Completed => "response.completed",
            Self::Incomplete(_) | Self::IncompleteOwn(_) => "response.incomplete",
            Self::Failed(_) => "response.failed",
            Self::Status(status, _) => match &*status.to_str() {
                "incomplete" => "response.incomplete",
                "failed" | "cancelled" => "response.failed",
                _ => "response.completed",
            },
        }
    }
}

fn is_own_status(word: &str) -> bool {
    matches!(word, "completed" | "incomplete" | "failed" | "cancelled")
}

/// Whether the details of an end are this vendor's: a reason and perhaps more.
fn is_own_reason(finish: &Finish<'_>) -> bool {
    finish.details.as_ref().is_some_and(|details| {
        details.reader().peek_tag("reason").is_ok_and(|reason| reason == finish.raw)
    })
}

/// Writes a response object.
pub(super) fn write_response(
    writer: &mut Writer,
    losing: &Losing<'_>,
    asked: &Asked<'_>,
    (head, end): (&Head<'_>, &End<'_>),
) {
    let semantics = head.semantics;
    let mut object = Object::open(writer, own_extras(losing, semantics, ""));
    let is_said = semantics.extras().is_some() || semantics.has_shape(OBJECT);
    let is_own = losing.is_same() && is_said;
    write_head(&mut object, (losing, asked), head, is_own);
    write_ending(&mut object, end, is_own);
    match end.output {
        Some(output) => object.field("output", &Json::trusted(output.into())),
        None if is_own => {}
        None => object.key("output").array(|_| {}),
    }
    match end.usage {
        Some(usage) => {
            USAGE.write(object.key(USAGE.member), usage, None, USAGE.stating(losing.source()))
        }
        None if is_own => {}
        None => object.key("usage").null(),
    }
    match &asked.echo {
        Some(echo) if !is_own => {
            write_completion(&mut object, asked, end);
            echo.write(&mut object);
        }
        None if !is_own => write_boilerplate(&mut object),
        _ => {}
    }
    object.close();
}

fn write_head(
    object: &mut Object<'_, '_>,
    (losing, asked): (&Losing<'_>, &Asked<'_>),
    head: &Head<'_>,
    is_own: bool,
) {
    match &head.id {
        Some(id) => object.field("id", id),
        None if is_own => {}
        None => object.field("id", &minted_response_id(asked)),
    }
    if !is_own || head.semantics.has_shape(OBJECT) {
        object.field("object", "response");
    }
    match &head.created {
        Some(created) => object.field("created_at", created),
        None if is_own => {}
        None => object.field("created_at", &asked.created_s),
    }
    match asked.model.as_ref().or(head.model.as_ref()) {
        Some(model) => object.field("model", model),
        None if is_own => {}
        None => object.field("model", ""),
    }
    // A tier that became known at the end is among the extras and is newer.
    let later = head
        .semantics
        .extras()
        .is_some_and(|extras| is_own && extras.within("").any(|extra| extra.key == "service_tier"));
    if !later && let Some(tier) = &head.service_tier {
        let word = tier_word(tier, losing.source(), Asking::Answer);
        object.optional("service_tier", word.as_ref());
    } else if asked.echo.is_some() && !is_own {
        object.field("service_tier", "default");
    }
}

/// The id of an answer: its own, or for another protocol's one made from the seed. Clients take an id without `resp_` for
/// something else, and the upstream's id refers to nothing that can be asked for here.
pub(super) fn response_id<'t>(
    losing: &Losing<'_>,
    asked: &Asked<'_>,
    id: Option<&'t Text<'_>>,
) -> Option<Text<'t>> {
    match losing.is_same() {
        true => id.map(Text::reborrow),
        false => Some(Text::plain(minted_response_id(asked))),
    }
}

fn minted_response_id(asked: &Asked<'_>) -> String {
    format!("resp_{}", asked.seed.to_str())
}

fn write_ending(object: &mut Object<'_, '_>, end: &End<'_>, is_own: bool) {
    let fault = match end.ending {
        Ending::Failed(fault) | Ending::Status(_, fault) => fault,
        Ending::Open
        | Ending::InProgress
        | Ending::Completed
        | Ending::Incomplete(_)
        | Ending::IncompleteOwn(_) => None,
    };
    match end.ending {
        Ending::Open if is_own => {}
        Ending::Open | Ending::Completed => object.field("status", "completed"),
        Ending::InProgress => object.field("status", "in_progress"),
        Ending::Incomplete(_) | Ending::IncompleteOwn(_) => object.field("status", "incomplete"),
        Ending::Failed(_) => object.field("status", "failed"),
        Ending::Status(status, _) => object.field("status", status),
    }
    match (fault, end.ending) {
        (Some(fault), _) => write_response_error(object.key("error"), fault),
        (None, Ending::Failed(_)) => {
            let error = r#"{"code":"server_error","message":"the model could not answer"}"#;
            object.field("error", &Json::literal(error));
        }
        (None, _) if is_own => {}
        (None, _) => object.key("error").null(),
    }
    match end.ending {
        Ending::Incomplete(reason) => {
            object.key("incomplete_details").object(|writer| writer.field("reason", reason));
        }
        Ending::IncompleteOwn(details) => object.field("incomplete_details", details),
        _ if is_own => {}
        _ => object.key("incomplete_details").null(),
    }
}

/// When a response was complete: no other protocol tells, and an answer has one time here.
fn write_completion(object: &mut Object<'_, '_>, asked: &Asked<'_>, end: &End<'_>) {
    match end.ending {
        Ending::Open | Ending::Completed => object.field("completed_at", &asked.created_s),
        _ => object.key("completed_at").null(),
    }
}

/// What clients expect of every response and no other protocol tells: the settings that the request did not change.
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
