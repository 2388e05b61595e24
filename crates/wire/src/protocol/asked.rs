//! What the client asked for and an answer must honour: the pure context of every response encoder.

use crate::json::Text;

/// What an encoder of answers must know of the request it answers.
///
/// The default suits a translation without a request at hand: everything is shown, ids come from the answer itself.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// Whether a Chat stream ends with a usage chunk.
    pub include_usage: bool,
    /// Whether thinking is shown to a client whose protocol has no place of its own for it.
    pub show_reasoning: bool,
    /// The model name to answer with instead of the upstream's.
    pub model: Option<Text<'a>>,
    /// What ids are made from where the upstream gave none; must differ from answer to answer.
    pub seed: Text<'a>,
    /// Unix time in seconds for protocols that state one and upstreams that give none.
    pub created_s: u64,
    /// The upstream's tool names and the client's own for them, where they differ.
    pub names: Vec<(Text<'a>, Text<'a>)>,
    /// The client's names of its custom (free text) tools, which some upstreams were offered as functions.
    pub custom_tools: Vec<Text<'a>>,
    /// The client's tool namespaces: its name for a tool in one is `namespace__tool`, and calls come back apart.
    pub namespaces: Vec<Text<'a>>,
}

impl Default for Asked<'_> {
    fn default() -> Self {
        Self {
            include_usage: true,
            show_reasoning: true,
            model: None,
            seed: Text::literal("0"),
            created_s: 0,
            names: Vec::new(),
            custom_tools: Vec::new(),
            namespaces: Vec::new(),
        }
    }
}

impl Asked<'_> {
    /// The client's own name for a tool that the upstream called.
    pub(in crate::protocol) fn client_name<'n>(&'n self, upstream: &'n Text<'_>) -> Text<'n> {
        self.names
            .iter()
            .find(|(name, _)| name == upstream)
            .map_or_else(|| upstream.reborrow(), |(_, own)| own.reborrow())
    }

    /// Whether the client knows the tool of that (client's) name as one that takes free text.
    pub(in crate::protocol) fn is_custom(&self, name: &Text<'_>) -> bool {
        self.custom_tools.iter().any(|tool| tool == name)
    }
}
