//! Thinking of a Claude in a tool turn that another vendor began: it goes on only from thinking of its own, and is refused
//! where the last calls have none.

use memchr::memmem;
use sabir_wire::conversation::{Content, Message, Part, Request, Role, Thinking, ThinkingMode};
use sabir_wire::target::Disable;
use sabir_wire::{LossKind, Report, target};

/// How the ids of Anthropic's calls begin, and how those do that this gateway makes up in its answers.
const IDS: [&str; 3] = ["toolu_", "srvtoolu_", "mcptoolu_"];
const MINTED: &str = "toolu_ex_";

/// Whether a body may ask for thinking and hold calls that another vendor made; false only if it does not.
pub(super) fn may_be_needed(body: &str) -> bool {
    const KEY: &str = r#""id":"#;
    let asks = |mode: &&[u8]| memmem::find(body.as_bytes(), mode).is_some();
    if ![b"\"enabled\"".as_slice(), b"\"adaptive\""].iter().any(asks) {
        return false;
    }
    memmem::find_iter(body.as_bytes(), KEY).any(|at| {
        let id = body[at + KEY.len()..].trim_start().strip_prefix('"');
        id.is_some_and(is_others)
    })
}

/// Whether a conversation holds calls that another vendor made.
pub(super) fn holds_foreign_calls(request: &Request<'_>) -> bool {
    let is_others = |part: &Part<'_>| match part.content() {
        Content::ToolCall(call) => call.id.as_ref().is_some_and(|id| is_others(&id.to_str())),
        _ => false,
    };
    request.messages.iter().flat_map(|message| &message.parts).any(is_others)
}

fn is_others(id: &str) -> bool {
    id.starts_with(MINTED) || !IDS.iter().any(|it| id.starts_with(it))
}

/// Switches thinking off for a call whose last calls of tools are without it, if the model can do without.
pub(super) fn switch_off(request: &mut Request<'_>, takes: target::Thinking) -> Report {
    let mut report = Report::default();
    if is_on(&request.thinking) && !is_lasting(takes) && calls_unthinking(&request.messages) {
        let mode = takes.by_default().then_some(ThinkingMode::Disabled);
        request.thinking =
            Thinking { mode, effort: request.thinking.effort.take(), ..Thinking::default() };
        let reason =
            "the last calls of tools come without thinking of this vendor, so that it cannot go on";
        report.lose("/thinking", LossKind::Approximated, reason);
    }
    report
}

fn is_on(thinking: &Thinking<'_>) -> bool {
    match thinking.mode {
        Some(mode) => mode != ThinkingMode::Disabled,
        None => thinking.budget.is_some(),
    }
}

fn is_lasting(takes: target::Thinking) -> bool {
    matches!(takes, target::Thinking::AnthropicAdaptive { disable: Disable::Never, .. })
}

/// Whether the assistant's turn is last and calls tools, and has not thought before.
fn calls_unthinking(messages: &[Message<'_>]) -> bool {
    let last = messages.iter().rfind(|message| message.role == Role::Assistant);
    let any = |is: fn(&Part<'_>) -> bool| last.is_some_and(|message| message.parts.iter().any(is));
    any(|part| matches!(part.content(), Content::ToolCall(_)))
        && !any(|part| matches!(part.content(), Content::Reasoning(_)))
}
