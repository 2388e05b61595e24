//! Repairing a request in place, as the gateway does with every one that it translates.

use sabir_wire::conversation::{Message, Request};

use crate::draining::Draining;
use crate::log::Log;
use crate::policy::Policy;
use crate::refused::Refused;
use crate::step;
use crate::step::Notes;
use crate::step::open::LastSpeaker;
use crate::trace::Trace;
use crate::turn::Turn;

/// Mends what no provider would take: empty messages, results without calls, calls without results, results out of place
/// and an assistant who speaks first. A request that needs none of it is only read.
///
/// ```
/// use sabir_compose::Policy;
/// use sabir_compose::repair;
/// use sabir_wire::Protocol;
///
/// let body = br#"{"messages": [{"role": "user", "content": "hello"},
///     {"role": "tool", "tool_call_id": "call_1", "content": "18 degrees"}]}"#;
/// let mut decoded = Protocol::OpenaiChat.decode_request(body)?;
/// let trace = repair(decoded.edit(), &Policy::towards(Protocol::Gemini))?;
/// assert_eq!(decoded.request().messages.len(), 1);
/// assert_eq!(trace.changes()[0].pointer, "/messages/1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn repair(request: &mut Request<'_>, policy: &Policy) -> Result<Trace, Refused> {
    if is_sound(&request.messages, policy) {
        return Ok(Trace::default());
    }
    let messages = std::mem::take(&mut request.messages);
    let given = Draining::of(messages).enumerate();
    let turns: Vec<Turn<'_>> = given.map(|(index, it)| Turn::given(index, it)).collect();
    let mut notes = Notes::default();
    let turns = mended(turns, policy, &mut notes);
    step::validate::apply(&turns, &mut notes.log)
        .map_err(|kind| Refused::new(kind, Log::default()))?;
    request.messages = turns.into_iter().map(|turn| turn.message).collect();
    Ok(notes.trace)
}

/// The steps between the summary and the system prompts.
pub(crate) fn mended<'a>(
    turns: Vec<Turn<'a>>,
    policy: &Policy,
    notes: &mut Notes,
) -> Vec<Turn<'a>> {
    let last = LastSpeaker::of(&turns);
    let turns = step::filter::apply(turns, policy.blank, notes);
    let turns = step::pair::apply(turns, policy, notes);
    step::open::apply(turns, policy.opening, last, notes)
}

/// Whether every step would leave these messages alone.
fn is_sound(messages: &[Message<'_>], policy: &Policy) -> bool {
    !messages.is_empty()
        && !messages.iter().any(|message| step::filter::drops(message, policy.blank))
        && step::pair::is_sound(messages.iter())
        && !step::open::is_due(messages.iter(), policy.opening)
}
