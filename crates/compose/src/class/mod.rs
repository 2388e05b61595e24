//! What kind of work a request is: ten classes, each a small rule with its reason, tried in a fixed order. Which targets a
//! class has, and whether it has any, is the caller's matter.

mod chinese;
mod facts;
mod intent;
mod offered;
mod scope;
mod shell;
mod tool;
mod words;

pub(crate) use facts::is_word_of_user;
pub use facts::{Facts, Measured};
pub use intent::Intent;
pub use offered::tool_bytes;
pub use tool::ToolEffect;

/// The kinds of work that a route can be chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    Multimodal,
    Vision,
    LongContext,
    WebSearch,
    Thinking,
    Coding,
    Search,
    Tools,
    Background,
    Default,
}

/// From so many tokens on a request is long.
pub const LONG_TOKENS: u64 = 180_000;

impl Class {
    /// All classes, in the order in which they are tried.
    pub const ALL: [Self; 10] = [
        Self::Multimodal,
        Self::Vision,
        Self::LongContext,
        Self::WebSearch,
        Self::Thinking,
        Self::Coding,
        Self::Search,
        Self::Tools,
        Self::Background,
        Self::Default,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Multimodal => "multimodal",
            Self::Vision => "vision",
            Self::LongContext => "long_context",
            Self::WebSearch => "web_search",
            Self::Thinking => "thinking",
            Self::Coding => "coding",
            Self::Search => "search",
            Self::Tools => "tools",
            Self::Background => "background",
            Self::Default => "default",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }

    /// Why a request is of this class, if it is.
    pub fn reason(self, facts: &Facts) -> Option<&'static str> {
        match self {
            Self::Multimodal => multimodal(facts),
            Self::Vision => vision(facts),
            Self::LongContext => long_context(facts),
            Self::WebSearch => web_search(facts),
            Self::Thinking => thinking(facts),
            Self::Coding => coding(facts),
            Self::Search => search(facts),
            Self::Tools => tools(facts),
            Self::Background => background(facts),
            Self::Default => Some("no other class fits"),
        }
    }
}

/// A class, and why a request is of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classified {
    pub class: Class,
    pub reason: &'static str,
}

/// The first class that fits and that the caller has targets for; [`Class::Default`] if it has for none.
pub fn classify(facts: &Facts, has_targets: impl Fn(Class) -> bool) -> Classified {
    let of_class = |class: Class| Some(Classified { class, reason: class.reason(facts)? });
    let mut fitting =
        Class::ALL.into_iter().filter(|class| has_targets(*class)).filter_map(of_class);
    let nothing = Classified { class: Class::Default, reason: "no class that fits has targets" };
    fitting.next().unwrap_or(nothing)
}

fn multimodal(facts: &Facts) -> Option<&'static str> {
    facts.has_media_in_user_turn.then_some("media in the newest user turn")
}

fn vision(facts: &Facts) -> Option<&'static str> {
    let has_image = facts.has_earlier_image || facts.has_shown_image;
    has_image.then_some("an image earlier in the conversation")
}

fn long_context(facts: &Facts) -> Option<&'static str> {
    (facts.tokens >= LONG_TOKENS).then_some("the input is long")
}

fn web_search(facts: &Facts) -> Option<&'static str> {
    if facts.is_in_tool_loop() {
        return None;
    }
    match (facts.asks_for_web, facts.offers_web_search) {
        (true, _) => Some("the user asks for a web search"),
        (false, true) => Some("a hosted web search is offered"),
        (false, false) => None,
    }
}

fn thinking(facts: &Facts) -> Option<&'static str> {
    match (facts.is_users_turn, facts.last_tools) {
        (true, _) => Some("the newest message is the user's"),
        (false, Some(ToolEffect::Read)) => Some("last tool read something"),
        (false, _) => None,
    }
}

fn coding(facts: &Facts) -> Option<&'static str> {
    (facts.last_tools == Some(ToolEffect::Wrote)).then_some("last tool wrote a file")
}

fn search(facts: &Facts) -> Option<&'static str> {
    (facts.last_tools == Some(ToolEffect::Searched)).then_some("last tool searched")
}

fn tools(facts: &Facts) -> Option<&'static str> {
    match (facts.last_tools, facts.offers_tools) {
        (Some(_), _) => Some("a tool has answered"),
        (None, true) => Some("tools are offered"),
        (None, false) => None,
    }
}

fn background(facts: &Facts) -> Option<&'static str> {
    facts.is_background.then_some("the asked name is one for background work")
}
