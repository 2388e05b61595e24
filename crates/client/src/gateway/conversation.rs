//! Conversations that a gateway keeps, as it shows them.

use std::fmt;

use sabir_backend::percent;
use sabir_wire::json::{Json, Writer};
use sabir_wire::unified::Transcript;

/// A conversation in a list.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Conversation {
    pub id: String,
    pub title: String,
    /// Seconds since 1970.
    pub created_at: i64,
    pub updated_at: i64,
    pub turns: u64,
    pub protocols: Vec<String>,
    pub models: Vec<String>,
    /// Why it cannot be read, if it cannot: its file is no transcript.
    pub unreadable: Option<String>,
}

/// A page of a list, and whether there is more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversations {
    pub data: Vec<Conversation>,
    pub has_more: bool,
    /// What [`Page::after`] asks for the next page with: it holds, whatever is used or deleted meanwhile.
    pub next: Option<String>,
}

/// Which part of a list is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    pub limit: Option<u32>,
    /// What the page before said is next, or the id of a conversation.
    pub after: Option<String>,
    /// Text that titles and ids are searched for.
    pub query: Option<String>,
}

/// What a conversation begins with. Without an id the gateway makes one.
#[derive(Clone, Debug, Default)]
pub struct NewConversation {
    pub id: Option<String>,
    pub transcript: Option<Transcript>,
}

/// A turn: who answered, and how it ended. No content.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turn {
    pub id: String,
    /// Seconds since 1970.
    pub created_at: i64,
    pub client_protocol: String,
    pub provider: Option<String>,
    pub model: Option<String>,
    /// `opened`, `streaming`, `finished`, `interrupted` or `failed`.
    pub status: String,
    /// The token counts, as the gateway has them.
    pub usage: Option<Json<'static>>,
    /// A list of what was lost on the way, with places and reasons.
    pub losses: Option<Json<'static>>,
    pub exchange: Option<String>,
    pub parent: Option<String>,
}

impl Page {
    /// The query that asks for this page.
    pub(super) fn query(&self) -> String {
        let limit = self.limit.map(|limit| format!("limit={limit}"));
        let after = self.after.as_deref().map(|after| format!("after={}", percent::encode(after)));
        let query = self.query.as_deref().map(|query| format!("query={}", percent::encode(query)));
        let pairs: Vec<String> = [limit, after, query].into_iter().flatten().collect();
        match pairs.is_empty() {
            true => String::new(),
            false => format!("?{}", pairs.join("&")),
        }
    }
}

impl NewConversation {
    pub(super) fn to_json(&self) -> String {
        self.written(|_| {})
    }

    /// The same for a conversation that may be kept already.
    pub(super) fn to_joined_json(&self) -> String {
        self.written(|body| body.field("join", &true))
    }

    /// The same for what goes behind a conversation that is kept.
    pub(super) fn to_appended_json(&self) -> String {
        self.written(|body| body.field("append", &true))
    }

    fn written(&self, more: impl FnOnce(&mut Writer)) -> String {
        let mut writer = Writer::default();
        let transcript = self.transcript.as_ref().map(Transcript::to_compact_json);
        let transcript = transcript.and_then(|json| Json::parse(json).ok());
        writer.object(|body| {
            body.optional("id", self.id.as_ref());
            body.optional("transcript", transcript.as_ref());
            more(body);
        });
        writer.into_string()
    }
}

// Titles are made of content.
impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation")
            .field("id", &self.id)
            .field("title_bytes", &self.title.len())
            .field("turns", &self.turns)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_searched_for_cannot_change_the_request() {
        let page = Page { limit: Some(5), after: None, query: Some("a&limit=9#/ ".to_owned()) };
        assert_eq!(page.query(), "?limit=5&query=a%26limit%3D9%23%2F%20");
        assert_eq!(Page::default().query(), "");
    }
}
