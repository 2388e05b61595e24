//! What the classes look at: read once from the canonical request, and from nothing else.

use std::collections::HashMap;
use std::iter;

use sabir_wire::conversation::{
    CallKey, Content, HostedService, MediaKind, Message, Part, Request, Role, Tool, ToolCall,
    ToolKind, ToolResult,
};
use sabir_wire::json::Text;

use crate::class::intent::Intent;
use crate::class::offered::tool_bytes;
use crate::class::tool::{self, ToolEffect};
use crate::class::words::REMINDER_TAGS;
use crate::compact::{MESSAGE_BYTES, of_part};

/// What is known of a request before it is decided where it goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub(super) has_media_in_user_turn: bool,
    /// An image before the newest user turn.
    pub(super) has_earlier_image: bool,
    /// An image that a tool has shown since then.
    pub(super) has_shown_image: bool,
    /// The newest message is the user's.
    pub(super) is_users_turn: bool,
    pub(super) asks_for_web: bool,
    /// What the tools did whose results are the newest, the farthest-reaching of them.
    pub(super) last_tools: Option<ToolEffect>,
    pub(super) offers_tools: bool,
    pub(super) offers_web_search: bool,
    pub(super) tokens: u64,
    pub(super) is_background: bool,
}

/// What a walk over a whole conversation tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// How long it is, as bytes of text.
    pub weight: u64,
    /// The first message with an image, also one that a tool has shown.
    first_image: Option<usize>,
    /// The last message in which a tool has shown one.
    last_shown: Option<usize>,
}

impl Measured {
    /// Measures a request: its conversation, and the tools that it offers, since a provider counts both.
    pub fn of_request(request: &Request<'_>) -> Self {
        let measured = Self::of(&request.messages);
        let offered = request.tools.iter().map(tool_bytes).sum::<usize>();
        Self { weight: measured.weight + offered as u64, ..measured }
    }

    /// Measures a conversation alone.
    pub fn of(messages: &[Message<'_>]) -> Self {
        let mut measured = Self::default();
        let mut weight = messages.len() * MESSAGE_BYTES;
        for (place, message) in messages.iter().enumerate() {
            for part in &message.parts {
                match part.content() {
                    // Nearly all parts are words.
                    Content::Text(text) => weight += text.len_hint(),
                    Content::ToolResult(result) if result.output.parts().iter().any(is_image) => {
                        measured.first_image.get_or_insert(place);
                        measured.last_shown = Some(place);
                        weight += of_part(part);
                    }
                    Content::Media(media) if media.kind == MediaKind::Image => {
                        measured.first_image.get_or_insert(place);
                        weight += of_part(part);
                    }
                    _ => weight += of_part(part),
                }
            }
        }
        Self { weight: weight as u64, ..measured }
    }
}

impl Facts {
    /// Reads a request that was measured, and whose input has about so many tokens.
    pub fn read(
        request: &Request<'_>,
        (measured, tokens): (&Measured, u64),
        intent: &Intent,
    ) -> Self {
        let messages = &request.messages;
        let turn = user_turn(messages);
        let is_users_turn = turn.is_newest;
        let (mut has_media, mut asks_for_web) = (false, false);
        for part in in_turn(messages, turn).flat_map(|message| message.parts.iter()) {
            match part.content() {
                Content::Media(_) => has_media = true,
                Content::Text(text) => {
                    asks_for_web =
                        asks_for_web || intent.asks_for_web(&text.to_str()) && !is_reminder(text);
                }
                _ => {}
            }
        }
        Self {
            has_media_in_user_turn: has_media,
            has_earlier_image: measured.first_image.is_some_and(|place| place < turn.first),
            has_shown_image: measured.last_shown.is_some_and(|place| place >= turn.first),
            is_users_turn,
            asks_for_web,
            last_tools: if is_users_turn { None } else { last_tools(messages) },
            offers_tools: !request.tools.is_empty(),
            offers_web_search: request.tools.iter().any(is_web_search),
            tokens,
            is_background: false,
        }
    }

    /// The same as of the user's turn that a tool loop goes on from, but for media and length.
    pub fn at_users_turn(self) -> Self {
        match self.is_in_tool_loop() {
            true => Self { is_users_turn: true, has_shown_image: false, last_tools: None, ..self },
            false => self,
        }
    }

    /// The name that the client asked for is one of those for work that nobody waits for.
    pub fn in_background(self) -> Self {
        Self { is_background: true, ..self }
    }

    /// Whether the model is to go on with what a tool answered.
    pub fn is_in_tool_loop(&self) -> bool {
        self.last_tools.is_some()
    }
}

/// The newest turn of the user: messages in a row with what the user said, from the first to behind the last.
#[derive(Clone, Copy)]
struct UserTurn {
    first: usize,
    end: usize,
    /// Nobody has spoken since.
    is_newest: bool,
}

fn user_turn(messages: &[Message<'_>]) -> UserTurn {
    let mut turn = UserTurn { first: 0, end: 0, is_newest: false };
    let mut is_newest = true;
    for (place, message) in messages.iter().enumerate().rev() {
        match speaker(message) {
            Some(Speaker::User) if turn.end == 0 => {
                turn = UserTurn { first: 0, end: place + 1, is_newest };
            }
            Some(Speaker::User) | None => {}
            Some(Speaker::Other) if turn.end == 0 => is_newest = false,
            Some(Speaker::Other) => {
                turn.first = place + 1;
                break;
            }
        }
    }
    turn
}

/// The user's messages of a turn.
fn in_turn<'m, 'a>(
    messages: &'m [Message<'a>],
    turn: UserTurn,
) -> impl Iterator<Item = &'m Message<'a>> {
    messages[turn.first..turn.end].iter().filter(|message| message.role == Role::User)
}

/// Whose word a message is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    /// The model, or a tool.
    Other,
}

/// Whose word a message is; nobody's if agents have put it between the turns, as instructions and reminders.
fn speaker(message: &Message<'_>) -> Option<Speaker> {
    match message.role {
        Role::System | Role::Developer => None,
        Role::Assistant | Role::Tool => Some(Speaker::Other),
        // The user may say something beside results of tools.
        Role::User if message.parts.iter().any(is_word) => Some(Speaker::User),
        Role::User => message.parts.iter().any(is_result).then_some(Speaker::Other),
    }
}

fn speaks(message: &Message<'_>) -> bool {
    speaker(message).is_some()
}

/// Whether the user says something in it.
pub(crate) fn is_word_of_user(message: &Message<'_>) -> bool {
    speaker(message) == Some(Speaker::User)
}

fn is_result(part: &Part<'_>) -> bool {
    matches!(part.content(), Content::ToolResult(_))
}

fn is_word(part: &Part<'_>) -> bool {
    match part.content() {
        Content::Text(text) => !part.is_blank() && !is_reminder(text),
        Content::Media(_) => true,
        Content::ToolCall(_)
        | Content::ToolResult(_)
        | Content::Reasoning(_)
        | Content::Refusal(_)
        | Content::Opaque(_) => false,
    }
}

/// Whether an agent put this text into the user's mouth: it is one element of a name that agents use for it.
fn is_reminder(text: &Text<'_>) -> bool {
    // Nearly all texts begin with a character that can be seen and begins no element.
    match text.first_byte_hint() {
        Some(b'<' | b'\\') => {}
        Some(b'!'..=b'~') => return false,
        _ => {}
    }
    let text = text.to_str();
    let text = text.trim();
    let is_one = |tag: &&str| {
        let inner = text.strip_prefix('<').and_then(|it| it.strip_prefix(*tag));
        let inner =
            inner.and_then(|it| it.strip_suffix('>')?.strip_suffix(*tag)?.strip_suffix("</"));
        inner.is_some()
    };
    REMINDER_TAGS.iter().any(is_one)
}

fn is_image(part: &Part<'_>) -> bool {
    matches!(part.content(), Content::Media(media) if media.kind == MediaKind::Image)
}

fn is_web_search(tool: &Tool<'_>) -> bool {
    match &tool.kind {
        ToolKind::Hosted(hosted) => hosted.service == HostedService::WebSearch,
        ToolKind::Namespace(namespace) => namespace.tools.iter().any(is_web_search),
        ToolKind::Function(_) | ToolKind::Custom(_) => false,
    }
}

/// What the tools did whose results stand at the end.
fn last_tools(messages: &[Message<'_>]) -> Option<ToolEffect> {
    let ended = messages.iter().rposition(speaks)? + 1;
    let is_before = |message: &Message<'_>| speaks(message) && !message.parts.iter().any(is_result);
    let first = messages[..ended].iter().rposition(is_before).map_or(0, |before| before + 1);
    let calls = by_key(&last_calls(&messages[..first]));
    let parts = messages[first..ended].iter().flat_map(|message| message.parts.iter());
    let results = parts.filter_map(|part| match part.content() {
        Content::ToolResult(result) => Some(&**result),
        _ => None,
    });
    results.map(|result| effect(result, &calls)).max()
}

/// The calls at the end of these messages.
fn last_calls<'m>(messages: &'m [Message<'_>]) -> Vec<&'m ToolCall<'m>> {
    let assistant = messages.iter().rev().filter(|message| !message.role.instructs());
    let assistant = assistant.take_while(|message| message.role == Role::Assistant);
    let parts = assistant.flat_map(|message| message.parts.iter());
    let calls = parts.filter_map(|part| match part.content() {
        Content::ToolCall(call) => Some(&**call),
        _ => None,
    });
    calls.collect()
}

/// What each call is found by. Calls that share a name and have no ids are of one tool, and one stands for all of them.
fn by_key<'m>(calls: &[&'m ToolCall<'m>]) -> HashMap<CallKey<'m>, &'m ToolCall<'m>> {
    let keys_of = |call: &&'m ToolCall<'m>| CallKey::of_call(call).zip(iter::repeat(*call));
    calls.iter().flat_map(keys_of).collect()
}

fn effect(result: &ToolResult<'_>, calls: &HashMap<CallKey<'_>, &ToolCall<'_>>) -> ToolEffect {
    let keys = CallKey::of_result(result);
    let found = keys.iter().flatten().find_map(|key| calls.get(key));
    match (found, &result.name) {
        (Some(call), _) => tool::effect_of_call(call),
        (None, Some(name)) => tool::effect_of_name(&name.to_str()).unwrap_or(ToolEffect::Other),
        (None, None) => ToolEffect::Other,
    }
}
