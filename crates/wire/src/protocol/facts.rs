//! What holds for a protocol as a whole, as data: for code that treats all protocols alike and must know how they differ.

/// The facts of one protocol. Each protocol's folder states its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The protocol's full name.
    pub name: &'static str,
    /// Its short name, and names that older documents use.
    pub aliases: &'static [&'static str],
    /// Where the messages of a request stand, as a JSON pointer.
    pub messages_pointer: &'static str,
    /// The field of a request that holds system text apart from the messages.
    pub system: Option<&'static str>,
    /// Whether a system message may follow other messages.
    pub takes_late_system: bool,
    /// Whether providers refuse a conversation that the user does not open, or in which the user's turn is blank.
    pub needs_user_turn: bool,
    /// Whether a tool result has a flag for a call that failed.
    pub flags_failed_results: bool,
    /// Whether a tool result names its tool.
    pub names_results: bool,
    /// Whether a stream may come as one JSON list instead of server-sent events.
    pub streams_lists: bool,
    /// Whether the path names the model, and a body need not.
    pub names_model_in_path: bool,
    /// Whether a request can name what shares its prompt cache.
    pub takes_cache_key: bool,
    /// Whether a request must limit the tokens of its answer.
    pub demands_output_limit: bool,
}

impl Facts {
    /// The field of a request that holds the messages.
    pub const fn messages(&self) -> &'static str {
        self.messages_pointer.split_at(1).1
    }
}
