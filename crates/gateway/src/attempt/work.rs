//! What an agent that works is asked: the whole conversation as a prompt, and, where somebody keeps the conversation, what is new in it
//! for an agent that knows the rest.

use sabir_backend::agent::{Digest, Speaker, Task, Thread};
use sabir_compose::assemble::Dialogue;
use sabir_wire::Report;
use sabir_wire::conversation::{Content, Message, Role};
use sabir_wire::protocol::DecodedRequest;

use crate::attempt::agent::{assembled, input, overflow};
use crate::config::types;
use crate::failure::Result;

/// The task of a request, and of the conversation that goes by this key.
pub(super) fn task(
    decoded: &DecodedRequest<'_>,
    agent: &types::Agent,
    conversation: Option<String>,
    report: &mut Report,
) -> Result<Task> {
    let messages = &decoded.request().messages;
    let whole = assembled(decoded, agent, report)?;
    let thread = conversation.map(|key| thread(messages, agent, key)).transpose()?;
    Ok(Task { prompt: whole.prompt, system: whole.system_flag, thread })
}

fn thread(messages: &[Message<'_>], agent: &types::Agent, key: String) -> Result<Thread> {
    let answered = messages.iter().rposition(|message| message.role == Role::Assistant);
    let new = answered.map_or(0, |last| last + 1);
    let before = answered.map_or_else(Digest::default, |_| content(&messages[..new]));
    let dialogue = Dialogue::of(&messages[new..]);
    let prompt = agent.kind.assemble(&input(&dialogue, agent.bytes_max)).map_err(overflow)?.prompt;
    Ok(Thread { key, before, through: content(messages), prompt })
}

/// What messages mean, as a number. Protocols differ in where one message ends and the next begins, and in what they repeat of thoughts.
fn content(messages: &[Message<'_>]) -> Digest {
    let mut digest = Digest::default();
    for stretch in messages.chunk_by(|one, other| speaker(one) == speaker(other)) {
        let mut utterance = digest.begin(speaker(&stretch[0]));
        for part in stretch.iter().flat_map(|message| &message.parts) {
            match part.content() {
                Content::Text(text) | Content::Refusal(text) => utterance.push(&text.to_str()),
                Content::Reasoning(_) => {}
                Content::ToolCall(call) => utterance.push(&call.name.to_str()),
                Content::ToolResult(_) => utterance.push("\u{1}result"),
                Content::Media(_) | Content::Opaque(_) => utterance.push("\u{1}other"),
            }
        }
        digest = utterance.end();
    }
    digest
}

fn speaker(message: &Message<'_>) -> Speaker {
    match message.role {
        Role::Assistant => Speaker::Agent,
        role if role.instructs() => Speaker::System,
        _ => Speaker::User,
    }
}
