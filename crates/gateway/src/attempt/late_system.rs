//! System messages that do not come first. Where a protocol takes them anywhere, not every model behind it does: the
//! operator says where they go. The encoders of the other protocols see to theirs.

use sabir_wire::conversation::{Content, Message, Part, Parts, Request, Role};
use sabir_wire::target::LateSystem;
use sabir_wire::{LossKind, Protocol, Report};

/// What marks the text of a system message as not the user's.
const MARK: &str = "[system]\n";

/// Puts late system messages where the operator wants them, and returns which.
pub(super) fn place(request: &mut Request<'_>, upstream: Protocol, late: LateSystem) -> Report {
    let mut report = Report::default();
    let leading = request.messages.iter().take_while(|it| it.role.instructs()).count();
    if upstream.facts().takes_late_system && request.messages[leading..].iter().any(is_instruction)
    {
        match late {
            LateSystem::Native => {}
            LateSystem::Lift => lift(&mut request.messages, leading, &mut report),
            LateSystem::Inline => mark(&mut request.messages[leading..], &mut report),
        }
    }
    report
}

/// Whether a message instructs by text: what a protocol keeps in such a place beside text stays there.
fn is_instruction(message: &Message<'_>) -> bool {
    let is_text = |part: &Part<'_>| matches!(part.content(), Content::Text(_));
    message.role.instructs() && message.parts.iter().all(is_text)
}

fn lift(messages: &mut Vec<Message<'_>>, leading: usize, report: &mut Report) {
    let (late, rest): (Vec<_>, Vec<_>) = messages.drain(leading..).partition(is_instruction);
    for message in &late {
        report_moved(message, "lifted to the beginning, as configured", report);
    }
    messages.extend(late);
    messages.extend(rest);
}

fn mark(messages: &mut [Message<'_>], report: &mut Report) {
    for message in messages.iter_mut().filter(|message| is_instruction(message)) {
        report_moved(message, "a late system message is marked text of the user", report);
        let parts = std::mem::take(&mut message.parts);
        let marked = parts.into_iter().map(|part| match part.into_content() {
            Content::Text(text) => Part::text(format!("{MARK}{}", text.to_str())),
            other => Part::new(other),
        });
        *message = Message::new(Role::User, marked.collect::<Parts<'_>>());
    }
}

fn report_moved(message: &Message<'_>, reason: &'static str, report: &mut Report) {
    let pointer = message.semantics().place().to_string();
    report.lose(pointer, LossKind::Approximated, reason);
}
