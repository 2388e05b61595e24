//! What an agent CLI cannot take of a request: taken out and reported before anything is written for it. Where it takes no
//! conversation, the conversation becomes one prompt.

use sabir_backend::agent::OWN_CHOICE;
use sabir_compose::assemble;
use sabir_compose::assemble::{ContextMessage, Dialogue, Input, Utterance};
use sabir_wire::conversation::{
    AllowedMode, Content, Message, OutputFormat, Part, Request, Role, ToolChoice, ToolKind,
};
use sabir_wire::json::{Json, Number, Text};
use sabir_wire::protocol::{Declared, DecodedRequest, Field};
use sabir_wire::{Fault, FaultKind, LossKind, Overflow, Protocol, Report};

use crate::attempt::simplify::simplifies;
use crate::attempt::work;
use crate::config::types;
use crate::config::types::History;
use crate::failure::{Failure, Result, Whose};
use crate::upstream::{Agent, kind_of_agent};

/// A request as its agent takes it.
#[derive(Debug, Default)]
pub(super) struct Adapted {
    pub(super) report: Report,
    /// What is sent instead of a body, to an agent that takes a prompt.
    pub(super) prompt: Option<String>,
}

const NO_SETTING: &str = "the agent CLI has no such setting";

/// Takes a setting out of a request, and returns whether it was there.
type Take = fn(&mut Request<'_>) -> bool;

/// A setting, what it means to lose it, and how it is taken out.
type Setting = (Field, LossKind, Take);

/// Settings that no CLI has.
const SETTINGS: [Setting; 15] = [
    (Field::Temperature, LossKind::Dropped, |it| it.sampling.temperature.take().is_some()),
    (Field::TopP, LossKind::Dropped, |it| it.sampling.top_p.take().is_some()),
    (Field::TopK, LossKind::Dropped, |it| it.sampling.top_k.take().is_some()),
    (Field::Seed, LossKind::Dropped, |it| it.sampling.seed.take().is_some()),
    (Field::PresencePenalty, LossKind::Dropped, |it| it.sampling.presence_penalty.take().is_some()),
    (Field::FrequencyPenalty, LossKind::Dropped, |it| {
        it.sampling.frequency_penalty.take().is_some()
    }),
    (Field::Candidates, LossKind::Dropped, |it| {
        let is_one = |count: &Number<'_>| count.as_f64() == Some(1.0);
        it.sampling.candidates.take().is_some_and(|count| !is_one(&count))
    }),
    (Field::Logprobs, LossKind::Dropped, |it| it.sampling.logprobs.take() == Some(true)),
    (Field::TopLogprobs, LossKind::Dropped, |it| it.sampling.top_logprobs.take().is_some()),
    (Field::Stop, LossKind::Dropped, |it| !std::mem::take(&mut it.stop).is_empty()),
    (Field::Verbosity, LossKind::Dropped, |it| it.verbosity.take().is_some()),
    (Field::ThinkingBudget, LossKind::Dropped, |it| it.thinking.budget.take().is_some()),
    (Field::ParallelToolCalls, LossKind::Dropped, |it| {
        it.parallel_tool_calls.take() == Some(false)
    }),
    (Field::Metadata, LossKind::Dropped, |it| it.metadata.take().is_some()),
    (Field::ServiceTier, LossKind::Approximated, |it| it.service_tier.take().is_some()),
];

const TOKEN_LIMIT: Setting =
    (Field::MaxOutputTokens, LossKind::Dropped, |it| it.max_output_tokens.take().is_some());

const THINKING: [Setting; 2] = [
    (Field::ThinkingMode, LossKind::Dropped, |it| it.thinking.mode.take().is_some()),
    (Field::ThinkingEffort, LossKind::Dropped, |it| it.thinking.effort.take().is_some()),
];

const SCHEMA: Setting = (Field::OutputFormat, LossKind::Dropped, |it| {
    let is_stated = matches!(it.output, OutputFormat::JsonObject | OutputFormat::JsonSchema(_));
    it.output = OutputFormat::Unset;
    is_stated
});

const JSON_MODE: Setting = (Field::OutputFormat, LossKind::Dropped, |it| {
    let is_stated = matches!(it.output, OutputFormat::JsonObject);
    if is_stated {
        it.output = OutputFormat::Unset;
    }
    is_stated
});

/// The settings that a CLI has not, beyond those that none has.
fn lacking(kind: assemble::Agent) -> Vec<Setting> {
    match kind {
        assemble::Agent::ClaudeCode => vec![SCHEMA],
        assemble::Agent::OpenaiCodex => vec![JSON_MODE, TOKEN_LIMIT],
        assemble::Agent::GoogleGemini | assemble::Agent::Plain => {
            [SCHEMA, TOKEN_LIMIT].into_iter().chain(THINKING).collect()
        }
    }
}

/// Whether a CLI takes a conversation, or nothing but a prompt.
fn takes_conversation(agent: &types::Agent) -> bool {
    kind_of_agent(agent.kind).takes_conversation(&agent.command)
}

/// Makes a request one that the agent can take, whose model is asked in `upstream`.
pub(super) fn adapt(
    decoded: &mut DecodedRequest<'_>,
    (cli, upstream): (&Agent, Protocol),
    conversation: Option<String>,
) -> Result<Adapted> {
    let mut report = Report::default();
    let (agent, history) = (&cli.config, cli.history());
    if history != agent.history {
        let pointer =
            decoded.request().messages.first().map(|it| it.semantics().place().to_string());
        let reason = "this version of the agent CLI takes no conversation: it gets a prompt of it";
        report.lose(pointer.unwrap_or_default(), LossKind::Approximated, reason);
    }
    if decoded.protocol() == upstream {
        leave_to_the_vendor(decoded, &mut report);
    }
    strip(decoded, &SETTINGS, &mut report);
    if agent.work.is_some() {
        strip(decoded, &lacking(assemble::Agent::Plain), &mut report);
        strip_tools(decoded, "the agent works with its own tools", &mut report);
        report_prompt(decoded, &mut report);
        let task = work::task(decoded, agent, conversation, &mut report)?;
        return Ok(Adapted { report, prompt: Some(task.to_body()) });
    }
    strip(decoded, &lacking(agent.kind), &mut report);
    if takes_conversation(agent) && history == History::Replay {
        choose_tools(decoded, &mut report);
        offer_functions(decoded, agent.kind, &mut report);
        report_renamed(decoded, agent.kind, &mut report);
        guard_commands(decoded, agent.kind, &mut report);
        if agent.kind == assemble::Agent::GoogleGemini {
            suit_gemini(decoded, &mut report);
        }
        return Ok(Adapted { report, prompt: None });
    }
    strip_tools(decoded, "a prompt has no tools", &mut report);
    report_prompt(decoded, &mut report);
    let output = assembled(decoded, agent, &mut report)?;
    if !takes_conversation(agent) {
        return Ok(Adapted { report, prompt: Some(output.prompt) });
    }
    let flag = output.system_flag.map(|flag| message(Role::System, flag));
    decoded.edit().messages =
        flag.into_iter().chain([message(Role::User, output.prompt)]).collect();
    Ok(Adapted { report, prompt: None })
}

/// What a vendor's API takes from its own clients, and its CLI does not. Towards other protocols the encoders report it.
fn leave_to_the_vendor(decoded: &DecodedRequest<'_>, report: &mut Report) {
    let semantics = decoded.semantics();
    let declared = |it: (&'static Declared, &Json<'_>)| it.0;
    let set = (semantics.chat().into_iter().flat_map(|it| it.set()).map(declared))
        .chain(semantics.responses().into_iter().flat_map(|it| it.set()).map(declared))
        .chain(semantics.anthropic().into_iter().flat_map(|it| it.set()).map(declared))
        .chain(semantics.gemini().into_iter().flat_map(|it| it.set()).map(declared));
    for Declared { path, kind, .. } in set.filter(|it| it.kind != LossKind::Implied) {
        report.lose(format!("/{path}"), *kind, NO_SETTING);
    }
    for extra in semantics.extras().iter() {
        report.lose(extra.pointer(), LossKind::Dropped, NO_SETTING);
    }
}

fn message(role: Role, text: String) -> Message<'static> {
    Message::new(role, vec![Part::text(text)])
}

fn strip(
    decoded: &mut DecodedRequest<'_>,
    settings: &[(Field, LossKind, Take)],
    report: &mut Report,
) {
    for (field, kind, take) in settings {
        if take(decoded.edit()) {
            report.lose(decoded.pointer(None, *field), *kind, NO_SETTING);
        }
    }
}

/// A model may be kept from tools, but no CLI makes it use one.
fn choose_tools(decoded: &mut DecodedRequest<'_>, report: &mut Report) {
    let Some(choice) = decoded.edit().tool_choice.take() else { return };
    let reason = match choice {
        ToolChoice::Auto => return,
        ToolChoice::None => {
            decoded.edit().tools.clear();
            return;
        }
        ToolChoice::Named { name, .. } => {
            keep_tools(decoded, &[name]);
            Some(UNFORCED)
        }
        ToolChoice::Allowed { mode, tools } => {
            let names: Vec<_> = tools.into_iter().filter_map(|tool| tool.name).collect();
            keep_tools(decoded, &names);
            (mode == AllowedMode::Required).then_some(UNFORCED)
        }
        ToolChoice::Required | ToolChoice::Other { .. } => Some(UNFORCED),
    };
    if let Some(reason) = reason {
        report.lose(decoded.pointer(None, Field::ToolChoice), LossKind::Dropped, reason);
    }
}

const UNFORCED: &str = "an agent CLI chooses among its tools itself";

/// Offers no other tools than these.
fn keep_tools(decoded: &mut DecodedRequest<'_>, names: &[Text<'_>]) {
    decoded.edit().tools.retain(|tool| match &tool.kind {
        ToolKind::Function(function) => names.contains(&function.name),
        ToolKind::Custom(custom) => names.contains(&custom.name),
        ToolKind::Namespace(_) | ToolKind::Hosted(_) => true,
    });
}

/// Only the client's own tools are offered: in the CLI nothing else runs.
fn offer_functions(decoded: &mut DecodedRequest<'_>, kind: assemble::Agent, report: &mut Report) {
    let is_own_choice = decoded.request().model.as_ref().is_some_and(|it| *it == *OWN_CHOICE);
    decoded.edit().tools.retain(|tool| {
        let pointer = || tool.semantics().place().to_string();
        if let Some(reason) = unoffered(&tool.kind, kind, is_own_choice) {
            report.lose(pointer(), LossKind::Dropped, reason);
            return false;
        }
        if kind == assemble::Agent::OpenaiCodex && is_simplified(&tool.kind) {
            report.lose(pointer(), LossKind::Approximated, "the agent CLI simplifies the schema");
        }
        true
    });
}

/// Why a CLI is not offered a tool; nothing if it is.
fn unoffered(
    tool: &ToolKind<'_>,
    kind: assemble::Agent,
    is_own_choice: bool,
) -> Option<&'static str> {
    match tool {
        ToolKind::Hosted(_) => Some("the agent CLI runs no tools of a vendor"),
        _ if kind != assemble::Agent::OpenaiCodex => None,
        // Its own models call tools from programs that they write.
        _ if is_own_choice => Some("Codex takes tools for a model that is named"),
        ToolKind::Function(_) => None,
        ToolKind::Custom(_) | ToolKind::Namespace(_) => Some("the agent CLI takes functions alone"),
    }
}

fn is_simplified(tool: &ToolKind<'_>) -> bool {
    match tool {
        ToolKind::Function(function) => function.parameters.as_ref().is_some_and(simplifies),
        ToolKind::Custom(_) | ToolKind::Namespace(_) | ToolKind::Hosted(_) => false,
    }
}

/// Some CLIs show their models tools of other names, and the client its own.
fn report_renamed(decoded: &DecodedRequest<'_>, kind: assemble::Agent, report: &mut Report) {
    let reason = match kind {
        assemble::Agent::GoogleGemini => "Gemini CLI shows it as `mcp_sabir_…`",
        _ => "the agent CLI keeps such names for itself, and shows it as `_…`",
    };
    for tool in &decoded.request().tools {
        if matches!(&tool.kind, ToolKind::Function(it) if kind_of_agent(kind).renames(&it.name.to_str()))
        {
            report.lose(tool.semantics().place().to_string(), LossKind::Renamed, reason);
        }
    }
}

fn strip_tools(decoded: &mut DecodedRequest<'_>, reason: &'static str, report: &mut Report) {
    let request = decoded.edit();
    request.tool_choice = None;
    for tool in request.tools.drain(..) {
        let pointer = tool.semantics().place().to_string();
        report.lose(pointer, LossKind::Dropped, reason);
    }
}

/// How texts begin that a CLI takes for commands of its own, and what in front of them makes them texts.
fn commands(kind: assemble::Agent) -> (&'static [&'static str], &'static str) {
    match kind {
        assemble::Agent::ClaudeCode => (&["/"], "\n"),
        // White space it passes over.
        assemble::Agent::GoogleGemini => {
            (&["/", "$", "?", "<session_context>", "<hook_context>"], INVISIBLE)
        }
        assemble::Agent::OpenaiCodex | assemble::Agent::Plain => (&[], ""),
    }
}

/// A character that is nothing to a model and something to a program.
const INVISIBLE: &str = "\u{200b}";

/// A text of the user must not be a command of the CLI.
fn guard_commands(decoded: &mut DecodedRequest<'_>, kind: assemble::Agent, report: &mut Report) {
    let (beginnings, guard) = commands(kind);
    let is_command = |text: &str| {
        let text = text.trim_start_matches(|it: char| it.is_whitespace() || it == '\u{feff}');
        beginnings.iter().any(|beginning| text.starts_with(beginning))
    };
    for message in &mut decoded.edit().messages {
        if message.role != Role::User {
            continue;
        }
        let parts = std::mem::take(&mut message.parts);
        let guarded = parts.into_iter().map(|part| match part.content() {
            Content::Text(text) if is_command(&text.to_str()) => {
                let pointer = part.semantics().place().to_string();
                report.lose(pointer, LossKind::Approximated, GUARDED);
                Part::text(format!("{guard}{}", text.to_str()))
            }
            _ => part,
        });
        message.parts = guarded.collect();
    }
}

const GUARDED: &str = "a character in front keeps the CLI from taking it for a command";

/// What Gemini CLI needs beside: it fills in variables of a system prompt, and answers nothing but texts.
fn suit_gemini(decoded: &mut DecodedRequest<'_>, report: &mut Report) {
    for message in decoded.edit().messages.iter_mut().filter(|message| message.role.instructs()) {
        let parts = std::mem::take(&mut message.parts);
        let kept = parts.into_iter().map(|part| match part.content() {
            Content::Text(text) if text.to_str().contains("${") => {
                let pointer = part.semantics().place().to_string();
                let reason = "an invisible character keeps the CLI from filling in its variables";
                report.lose(pointer, LossKind::Approximated, reason);
                Part::text(text.to_str().replace("${", &format!("${INVISIBLE}{{")))
            }
            _ => part,
        });
        message.parts = kept.collect();
    }
    let last = decoded.request().messages.last();
    let answered = last.and_then(|message| message.parts.last().map(|part| (message, part)));
    if let Some((message, part)) = answered
        && !matches!(part.content(), Content::Text(_))
    {
        let pointer = message.semantics().place().to_string();
        let reason = "an invisible character stands behind it: the CLI answers texts alone";
        report.lose(pointer, LossKind::Synthesised, reason);
    }
}

/// What a prompt states in words, and what it cannot state.
fn report_prompt(decoded: &DecodedRequest<'_>, report: &mut Report) {
    for part in decoded.request().messages.iter().flat_map(|message| &message.parts) {
        let (kind, reason) = match part.content() {
            Content::Text(_) | Content::Refusal(_) => continue,
            Content::Media(_) => (LossKind::Dropped, "a prompt names media and does not hold them"),
            Content::ToolCall(_) => (LossKind::Approximated, "a prompt tells of calls in words"),
            Content::ToolResult(_) => {
                (LossKind::Approximated, "a prompt tells of results in words")
            }
            Content::Reasoning(_) => (LossKind::Withheld, "thinking is for whoever thought it"),
            Content::Opaque(_) => (LossKind::Dropped, "a prompt names it and does not hold it"),
        };
        report.lose(part.semantics().place().to_string(), kind, reason);
    }
}

/// The prompt of the whole conversation, within the budget.
pub(super) fn assembled(
    decoded: &DecodedRequest<'_>,
    agent: &types::Agent,
    report: &mut Report,
) -> Result<assemble::Output> {
    let messages = &decoded.request().messages;
    let dialogue = Dialogue::of(messages);
    let output = agent.kind.assemble(&input(&dialogue, agent.bytes_max)).map_err(overflow)?;
    let assemble::Trimmed { context_messages, task_bytes } = output.trimmed;
    let place = |index: usize| {
        let message = messages.get(index);
        message.map_or_else(String::new, |message| message.semantics().place().to_string())
    };
    if context_messages > 0 {
        let first = messages.iter().position(|message| !message.role.instructs()).unwrap_or(0);
        let reason = format!("the prompt's budget left out the {context_messages} oldest messages");
        report.lose(place(first), LossKind::Dropped, reason);
    }
    if task_bytes > 0 {
        let reason = format!("the prompt's budget cut {task_bytes} bytes");
        report.lose(place(messages.len().saturating_sub(1)), LossKind::Dropped, reason);
    }
    Ok(output)
}

/// The whole conversation, word for word: a client's text has no markers.
pub(super) fn input<'d>(dialogue: &'d Dialogue<'_>, bytes_max: usize) -> Input<'d> {
    let (current, earlier) = match dialogue.utterances.split_last() {
        Some((current, earlier)) => (&*current.content, earlier),
        None => ("", &[][..]),
    };
    let context = |it: &'d Utterance<'_>| ContextMessage {
        from: (&*it.from).into(),
        to: it.to.first().map(|to| (&**to).into()),
        content: (&*it.content).into(),
    };
    Input {
        context: earlier.iter().map(context).collect(),
        current_message: current.into(),
        system_instruction: dialogue.system_instruction.as_deref().map(Into::into),
        bytes_max,
        ..Input::default()
    }
}

pub(super) fn overflow(overflow: assemble::Overflow) -> Box<Failure> {
    let message = format!("{overflow}; raise `max_bytes` of the [[provider]]");
    let mut fault = Fault::overflowing(Overflow::default(), message);
    fault.kind = FaultKind::ContextTooLong;
    Failure::stating(Whose::Client, fault)
}
