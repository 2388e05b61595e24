//! What a request says in a way that no other protocol brings back, although it arrives there.
//!
//! The encoder of this protocol sees to what the vendor would refuse, so such a request comes back in better order.

use crate::conversation;
use crate::conversation::Content;
use crate::conversation::HostedService;
use crate::conversation::Message;
use crate::conversation::Request;
use crate::conversation::Role;
use crate::conversation::ThinkingMode;
use crate::conversation::Tool;
use crate::conversation::ToolKind;
use crate::json::Json;
use crate::json::Number;
use crate::json::Text;
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::Field;
use crate::protocol::Protocol;
use crate::protocol::anthropic_messages::encode_request::has_choice;
use crate::protocol::anthropic_messages::encode_request::is_forced;
use crate::protocol::anthropic_messages::encode_request::while_thinking;
use crate::protocol::anthropic_messages::types::SLOT;
use crate::protocol::losing::Losing;
use crate::protocol::losing::is_wordless;
use crate::schema;
use crate::schema::Dialect;
use crate::target::Effort;
use crate::target::Family;
use crate::target::Sampling;
use crate::target::Thinking;

/// Reports what is told elsewhere in another order or by other words.
pub(in crate::protocol) fn lose_on_return(
    request: &Request<'_>,
    target: Protocol,
    losing: &mut Losing<'_>,
) {
    lose_leading_role(&request.messages, losing);
    lose_limit(request, losing);
    lose_effort(request, losing);
    lose_tool_choice(request, losing);
    for message in &request.messages {
        lose_silence(message, losing);
        lose_order(message, target, losing);
    }
    lose_neighbours(&request.messages, losing);
    lose_last_space(&request.messages, losing);
    for (index, _) in request.stop.iter().enumerate().filter(|(_, text)| text.is_blank()) {
        let reason = "the vendor refuses white space as the end";
        let suffix = format!("/stop_sequences/{index}");
        losing.below(Place::default(), &suffix, LossKind::Implied, reason);
    }
    for tool in &request.tools {
        lose_schema(tool, target, losing);
    }
}

/// A system message before which nothing arrives leads the conversation, so that it comes back in the system slot.
fn lose_leading_role(messages: &[Message<'_>], losing: &mut Losing<'_>) {
    let leads = |message: &&Message<'_>| message.role == Role::System || !losing.is_heard(message);
    let leading = messages.iter().take_while(leads).count();
    let reason = "a system message before all others is the system prompt";
    for message in &messages[..leading] {
        let semantics = message.semantics();
        if message.role == Role::System && !semantics.has_shape(SLOT) {
            losing.node(semantics.place(), LossKind::Renamed, reason);
        }
    }
}

fn lose_limit(request: &Request<'_>, losing: &mut Losing<'_>) {
    let limit = request.max_output_tokens.as_ref().and_then(|limit| limit.as_whole());
    let budget = request.thinking.budget.as_ref().and_then(|budget| budget.as_whole());
    if let (Some(limit), Some(budget)) = (limit, budget)
        && limit <= budget
    {
        let reason = "the limit need not leave room for the thinking";
        losing.field(Place::default(), Field::MaxOutputTokens, LossKind::Renamed, reason);
    }
}

/// Elsewhere an effort is one for thinking, which older models are told as a budget. In the middle of a tool turn thinking
/// goes on only from thinking that came back, which is withheld from others.
fn lose_effort(request: &Request<'_>, losing: &mut Losing<'_>) {
    let root = Place::default();
    let is_effort = request.thinking.effort.is_some() && request.thinking.budget.is_none();
    if is_effort && thinks_by_budget(request) {
        let reason = "the effort stands for a budget, for which the limit need not leave room";
        losing.field(root, Field::ThinkingEffort, LossKind::Renamed, reason);
        losing.field(root, Field::MaxOutputTokens, LossKind::Renamed, reason);
    }
    let is_unknown = |word: &Text<'_>| Effort::parse(&word.to_str()).is_none();
    if request.thinking.effort.as_ref().is_some_and(is_unknown) {
        let reason = "a word that the vendor does not document";
        losing.field(root, Field::ThinkingEffort, LossKind::Renamed, reason);
    }
    let is_told = request.thinking.effort.is_some() || request.thinking.budget.is_some();
    if request.thinking.show.is_some() && !is_told {
        let reason = "thinking is shown where it is asked for";
        losing.field(root, Field::ThinkingShow, LossKind::Renamed, reason);
    }
    let speaks = |it: &&Message<'_>| it.role != Role::System && losing.is_heard(it);
    let turns = request.messages.iter().rev().filter(speaks);
    let mut last = turns
        .skip_while(|message| message.role != Role::Assistant)
        .take_while(|message| message.role == Role::Assistant);
    if last.any(has_call) {
        lose_all(&request.thinking, "thinking does not go on without what was thought", losing);
    }
    let is_on = is_told || !matches!(request.thinking.mode, None | Some(ThinkingMode::Disabled));
    if is_on {
        lose_sampling(&request.sampling, losing);
    }
    if is_on && is_forced(request) {
        let reason = "the vendor refuses thinking beside a tool that must be called";
        lose_all(&request.thinking, reason, losing);
    }
}

/// The vendor refuses most values beside thinking, so that they do not come back to it.
fn lose_sampling(sampling: &conversation::Sampling<'_>, losing: &mut Losing<'_>) {
    let rules = while_thinking(Sampling::OPEN);
    let set = [
        (Field::Temperature, &sampling.temperature, rules.temperature),
        (Field::TopP, &sampling.top_p, rules.top_p),
        (Field::TopK, &sampling.top_k, rules.top_k),
    ];
    for (field, number, accepts) in set {
        let value = number.as_ref().and_then(Number::as_f64);
        if value.is_some_and(|value| !accepts.admits(value)) {
            let reason = "the vendor refuses it beside thinking";
            losing.field(Place::default(), field, LossKind::Renamed, reason);
        }
    }
}

/// Whether the model is told by a budget how much to think.
fn thinks_by_budget(request: &Request<'_>) -> bool {
    let model = request.model.as_ref().map(|model| model.to_str()).unwrap_or_default();
    matches!(Family::of(&model).thinking, Thinking::AnthropicBudget { .. })
}

fn lose_all(thinking: &conversation::Thinking<'_>, reason: &'static str, losing: &mut Losing<'_>) {
    let conversation::Thinking { mode, effort, budget, show } = thinking;
    let set = [
        (Field::ThinkingMode, mode.is_some()),
        (Field::ThinkingEffort, effort.is_some()),
        (Field::ThinkingBudget, budget.is_some()),
        (Field::ThinkingShow, show.is_some()),
    ];
    for (field, _) in set.into_iter().filter(|(_, is_set)| *is_set) {
        losing.field(Place::default(), field, LossKind::Renamed, reason);
    }
}

fn has_call(message: &Message<'_>) -> bool {
    message.parts.iter().any(|part| matches!(part.content(), Content::ToolCall(_)))
}

/// Where none of the tools arrives, those of the history need not be declared, nor be kept from being called.
fn lose_tool_choice(request: &Request<'_>, losing: &mut Losing<'_>) {
    let stays = |tool: &Tool<'_>| matches!(&tool.kind, ToolKind::Hosted(hosted) if hosted.service == HostedService::Other);
    let is_told = request.tool_choice.is_some() || request.messages.iter().any(has_call);
    if is_told && request.tools.iter().all(stays) {
        let reason = "without tools there is nothing to call";
        let kind = match request.tool_choice {
            Some(_) => LossKind::Implied,
            None => LossKind::Synthesised,
        };
        losing.field(Place::default(), Field::ToolChoice, kind, reason);
        if request.tools.is_empty() {
            losing.field(Place::default(), Field::ToolsStatedEmpty, LossKind::Synthesised, reason);
        }
    }
}

/// The vendor refuses white space at the end of what the model is to go on with.
fn lose_last_space(messages: &[Message<'_>], losing: &mut Losing<'_>) {
    let speaks = |it: &&Message<'_>| it.role != Role::System && losing.is_heard(it);
    let last = messages.iter().rfind(speaks);
    let Some(last) = last.filter(|last| last.role == Role::Assistant) else { return };
    if let Some(part) = last.parts.iter().rfind(|part| losing.arrives(last.role, part))
        && let Content::Text(text) = part.content()
        && text.to_str().ends_with(char::is_whitespace)
    {
        let reason = "white space at the end says nothing";
        losing.node(part.semantics().place(), LossKind::Renamed, reason);
    }
}

fn lose_silence(message: &Message<'_>, losing: &mut Losing<'_>) {
    let is_wordless = message.parts.is_empty() || message.parts.iter().any(is_wordless);
    if is_wordless && !losing.is_heard(message) {
        let reason = "a message without words says nothing";
        losing.node(message.semantics().place(), LossKind::Implied, reason);
    }
}

/// Messages of one role in a row are one turn, which the vendor does not mind. Those that others do not hear part no
/// turns, nor do system messages: these stand behind the user's turn or become words of it.
fn lose_neighbours(messages: &[Message<'_>], losing: &mut Losing<'_>) {
    let mut before: Option<&Message<'_>> = None;
    let mut among: Vec<&Message<'_>> = Vec::new();
    // Whether instructions have come to stand behind the turn, where those that follow join them.
    let mut is_followed = false;
    for message in messages {
        if message.semantics().has_shape(SLOT) || !losing.is_heard(message) {
            continue;
        }
        if message.role == Role::System {
            among.push(message);
            continue;
        }
        let is_joined = before.is_some_and(|before| before.role == message.role);
        if !is_joined && among.is_empty() {
            is_followed = false;
            before = Some(message);
            continue;
        }
        let is_moved = is_joined || before.is_none_or(|before| before.role == Role::Assistant);
        let is_behind = is_moved && !among.is_empty();
        let is_several = among.len() > 1;
        let moved = among.drain(..).filter(|_| is_moved || is_several || is_followed);
        let joined = before.into_iter().filter(|_| is_joined);
        let joined = joined.chain([message].into_iter().filter(|_| is_joined || is_behind));
        let reason = "neighbours of one role are one turn";
        for message in joined.chain(moved) {
            losing.node(message.semantics().place(), LossKind::Renamed, reason);
        }
        is_followed = is_behind || is_joined && is_followed;
        before = Some(message);
    }
    let is_moved = is_followed
        || before.is_none_or(|before| before.role == Role::Assistant)
        || among.len() > 1;
    let reason = "a system message stands behind the user's turn";
    for message in among.into_iter().filter(|_| is_moved) {
        losing.node(message.semantics().place(), LossKind::Renamed, reason);
    }
}

/// Results come before other words of the user, and Chat tells an assistant's words before its calls.
fn lose_order(message: &Message<'_>, target: Protocol, losing: &mut Losing<'_>) {
    let parts = || message.parts.iter().map(|part| part.content());
    let is_moved = match message.role {
        Role::User => parts()
            .skip_while(|it| matches!(it, Content::ToolResult(_)))
            .any(|it| matches!(it, Content::ToolResult(_))),
        Role::Assistant if target == Protocol::OpenaiChat => parts()
            .skip_while(|it| !matches!(it, Content::ToolCall(_)))
            .any(|it| matches!(it, Content::Text(_))),
        _ => false,
    };
    if is_moved {
        let reason = "calls and results have a place of their own";
        losing.below(message.semantics().place(), "/content", LossKind::Renamed, reason);
    }
}

/// A schema that is respelled for another vendor does not come back by letter, nor one whose root is no plain object.
fn lose_schema(tool: &Tool<'_>, target: Protocol, losing: &mut Losing<'_>) {
    let ToolKind::Function(function) = &tool.kind else { return };
    let Some(parameters) = &function.parameters else { return };
    let is_plain = schema::root_is_object(parameters) && !has_choice(parameters);
    let is_strict = function.strict == Some(true);
    if !is_plain || (is_strict && is_respelled(parameters, target)) {
        let reason = "in the words of the target's schemas";
        let place = tool.semantics().place();
        losing.field(place, Field::ToolParameters, LossKind::Renamed, reason);
    }
}

fn is_respelled(parameters: &Json<'_>, target: Protocol) -> bool {
    let there = match target {
        Protocol::Gemini => Dialect::GeminiJsonSchema,
        Protocol::OpenaiChat | Protocol::OpenaiResponses | Protocol::AnthropicMessages => {
            Dialect::OpenaiStrict
        }
    };
    let translated = schema::translate(parameters, Dialect::AnthropicStrict, there);
    let is_supported = schema::is_supported(parameters, Dialect::AnthropicStrict);
    !is_supported || !translated.losses.is_empty() || !translated.json.same_value(parameters)
}
