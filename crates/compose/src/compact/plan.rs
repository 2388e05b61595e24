//! Choosing what is summarised: the oldest turns, as far as the newest stay whole and calls stay with their results.

use std::ops::Range;

use sabir_wire::conversation::{Content, Message, Role};

use super::boundary::boundaries;
use super::weight;

/// What stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// The newest turns of the user that stay whole, with all that followed them.
    pub turns: usize,
    /// The room that may be kept, as [`weight`](super::weight) counts it. Where the newest turns take more, fewer stay; the
    /// newest message, with what it belongs to, always does.
    pub bytes_max: usize,
}

/// Which messages a summary takes the place of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    covered: Range<usize>,
    carried: Option<usize>,
}

impl Plan {
    /// A summary of everything but the instructions that lead the conversation; none if there is nothing else.
    pub fn whole(messages: &[Message<'_>]) -> Option<Self> {
        let first = messages.iter().take_while(|message| message.role.instructs()).count();
        (first < messages.len()).then_some(Self { covered: first..messages.len(), carried: None })
    }

    /// The messages that the summary covers.
    pub fn covered(&self) -> Range<usize> {
        self.covered.clone()
    }

    /// The newest message of the user, where it is among the covered: it stays whole all the same.
    pub fn carried(&self) -> Option<usize> {
        self.carried
    }
}

/// Chooses the messages to be summarised; none if there is nothing that could be. Instructions that lead the conversation
/// are never among them.
///
/// ```
/// use sabir_compose::compact::{Keep, plan};
/// use sabir_wire::conversation::{Message, Part, Role};
///
/// let stated = |role, text: &'static str| Message::new(role, vec![Part::text(text)]);
/// let messages = [
///     stated(Role::System, "Be brief."),
///     stated(Role::User, "Hello"),
///     stated(Role::Assistant, "Hi."),
///     stated(Role::User, "What now?"),
/// ];
/// let keep = Keep { turns: 1, bytes_max: 1000 };
/// assert_eq!(plan(&messages, keep).map(|plan| plan.covered()), Some(1..3));
/// ```
pub fn plan(messages: &[Message<'_>], keep: Keep) -> Option<Plan> {
    plan_where(messages, keep, |_| true)
}

/// The same where the conversation can be cut before some of its messages alone.
pub fn plan_where(
    messages: &[Message<'_>],
    keep: Keep,
    may_cut: impl Fn(usize) -> bool,
) -> Option<Plan> {
    let first = messages.iter().take_while(|message| message.role.instructs()).count();
    let is_boundary = boundaries(messages);
    let turns: Vec<usize> = (first..messages.len()).filter(|&at| opens(&messages[at])).collect();
    let by_turns = match turns.len().checked_sub(keep.turns) {
        // Nothing stays whole for its place alone.
        Some(left) if left == turns.len() => messages.len().saturating_sub(1),
        Some(left) => turns[left],
        None => first,
    };
    let by_room = messages.len() - fitting(messages, keep.bytes_max);
    let wanted = by_turns.max(by_room).max(first).min(messages.len().saturating_sub(1));
    let is_cut = |at: &usize| is_boundary[*at] && may_cut(*at);
    let later = || (wanted.max(first + 1)..messages.len()).filter(is_cut);
    // A turn of the user is the best beginning of what stays.
    let cut = later().find(|&at| opens(&messages[at])).or_else(|| later().next());
    let cut = cut.or_else(|| (first + 1..wanted).rev().find(is_cut)).filter(|_| wanted > first)?;
    let carried = turns.last().copied().filter(|&newest| newest < cut);
    let covers_more = (first..cut).any(|at| Some(at) != carried);
    covers_more.then_some(Plan { covered: first..cut, carried })
}

/// Whether a message opens a turn of the user: something that is said, and not the result of a tool.
fn opens(message: &Message<'_>) -> bool {
    let is_result = |content: &Content<'_>| matches!(content, Content::ToolResult(_));
    message.role == Role::User
        && !message.is_blank()
        && !message.parts.iter().any(|part| is_result(part.content()))
}

/// How many of the newest messages fit.
fn fitting(messages: &[Message<'_>], bytes_max: usize) -> usize {
    let mut left = bytes_max;
    let fits = |message: &&Message<'_>| match left.checked_sub(weight::of_message(message)) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    messages.iter().rev().take_while(fits).count()
}
