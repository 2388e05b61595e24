//! What the client asked for and an answer must honour: the pure context of every response encoder.

use crate::alias::Aliases;
use crate::conversation::{Tool, ToolKind};
use crate::json::Text;
use crate::protocol::{DecodedRequest, Echo, Protocol, calls};
use crate::target::Target;

/// What an encoder of answers must know of the request it answers.
///
/// The default suits a translation without a request at hand: everything is shown, ids come from the answer itself.
#[derive(Clone, Debug)]
pub struct AnswerContext<'a> {
    /// Whether a Chat stream ends with a usage chunk.
    pub include_usage: bool,
    /// Whether thinking is shown to a client whose protocol has no place of its own for it.
    pub show_reasoning: bool,
    /// The model name to answer with instead of the upstream's.
    pub model: Option<Text<'a>>,
    /// What ids are made from where the upstream gave none or none of the client's form; must differ from answer to
    /// answer.
    pub seed: Text<'a>,
    /// Unix time in seconds for protocols that state one and upstreams that give none.
    pub created_s: u64,
    /// The upstream's tool names and the client's own for them, where they differ.
    pub names: Vec<(Text<'a>, Text<'a>)>,
    /// The client's names of its custom (free text) tools, which some upstreams were offered as functions.
    pub custom_tools: Vec<Text<'a>>,
    /// The client's tool namespaces: its name for a tool in one is `namespace__tool`, and calls come back apart.
    pub namespaces: Vec<Text<'a>>,
    /// Those of the namespaces that have a tool of their own name, which is then its whole name.
    pub namesakes: Vec<Text<'a>>,
    /// Whether an answer of Responses with open calls asks for their results.
    pub requires_action: bool,
    /// The id of the conversation that an answer of Responses names as its own.
    pub conversation: Option<Text<'a>>,
    /// Whether a client of Responses knows of the answer already, by the id that is made of the seed: it was told in two
    /// events that the answer is waited for, and the stream goes on behind them.
    pub in_background: bool,
    /// Whether there are tools that an answer may call.
    pub offers_tools: bool,
    /// What an answer of Responses repeats of its request, where that is known.
    pub echo: Option<Echo<'a>>,
    /// How many tokens the request has, by estimate: where clients rely on usage, and the provider states none, it is made
    /// of that. Without it nothing is estimated.
    pub estimated_input: Option<u64>,
    /// What was left out of the conversation as a client of Messages asked, where it did.
    pub applied_edits: Option<Vec<AppliedEdit>>,
}

/// Something that was left out of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppliedEdit {
    pub kind: EditKind,
    /// How many calls, or turns with thinking.
    pub cleared: u64,
    pub cleared_input_tokens: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditKind {
    ToolUses,
    Thinking,
}

impl Default for AnswerContext<'_> {
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
            namesakes: Vec::new(),
            requires_action: false,
            conversation: None,
            in_background: false,
            offers_tools: true,
            echo: None,
            estimated_input: None,
            applied_edits: None,
        }
    }
}

impl<'a> AnswerContext<'a> {
    /// What the answer to a request must honour when `upstream`'s protocol serves it for the model of `target`.
    ///
    /// The caller adds what no request states: the seed of ids and the time.
    pub fn by(
        decoded: &DecodedRequest<'_>,
        upstream: Protocol,
        target: &Target,
    ) -> AnswerContext<'static> {
        let request = &decoded.request;
        // In its own protocol a request has its own names, whatever they are.
        let is_own = decoded.protocol() == upstream;
        let names = if is_own { None } else { calls::renamed_tools(request, upstream, target) };
        let own = |text: &str| Text::plain(text.to_owned());
        let renamed = names.iter().flat_map(Aliases::renamed);
        let mut context = AnswerContext {
            include_usage: (decoded.protocol().conventions().asks_for_usage)(decoded),
            names: renamed.map(|(client, alias)| (own(alias), own(client))).collect(),
            offers_tools: !request.tools.is_empty(),
            ..AnswerContext::default()
        };
        request.tools.iter().for_each(|tool| context.know(tool));
        context
    }

    /// Gives custom tools back their client's names, where the request was written with others: `own` has those.
    pub fn restore_custom_tools<'n>(&mut self, own: &dyn Fn(&str) -> Option<&'n str>) {
        for name in &mut self.custom_tools {
            if let Some(own) = own(&name.to_str()) {
                *name = Text::plain(own.to_owned());
            }
        }
    }

    /// A seed for whoever has nothing but the input: the same input gives the same ids.
    ///
    /// It is the 64-bit FNV-1a hash in hexadecimal digits, stable everywhere and for ever, unlike the standard library's.
    pub fn seed_from(input: &[u8]) -> Text<'static> {
        let hash = input.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Text::plain(format!("{hash:016x}"))
    }

    fn know(&mut self, tool: &Tool<'_>) {
        match &tool.kind {
            ToolKind::Function(_) | ToolKind::Hosted(_) => {}
            ToolKind::Custom(custom) => self.custom_tools.push(custom.name.clone().into_owned()),
            ToolKind::Namespace(namespace) => {
                self.namespaces.push(namespace.name.clone().into_owned());
                if namespace.tools.iter().any(|tool| tool.name() == Some(&namespace.name)) {
                    self.namesakes.push(namespace.name.clone().into_owned());
                }
                namespace.tools.iter().for_each(|tool| self.know(tool));
            }
        }
    }

    /// The client's own name for a tool that the upstream called.
    pub(super) fn client_name<'n>(&'n self, upstream: &'n Text<'_>) -> Text<'n> {
        let own = self.names.iter().find(|(name, _)| name == upstream);
        own.map_or_else(|| upstream.reborrow(), |(_, own)| own.reborrow())
    }

    /// Whether the client knows the tool of that (client's) name as one that takes free text.
    pub(super) fn is_custom(&self, name: &Text<'_>) -> bool {
        self.custom_tools.iter().any(|tool| tool == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_those_of_fnv_1a() {
        assert_eq!(AnswerContext::seed_from(b""), "cbf29ce484222325");
        assert_eq!(AnswerContext::seed_from(b"a"), "af63dc4c8601ec8c");
        assert_eq!(AnswerContext::seed_from(b"foobar"), "85944171f73967e8");
    }

    #[test]
    fn an_answer_honours_what_its_request_said_of_tools_and_usage() {
        let body = r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,
            "stream_options":{"include_usage":false},
            "tools":[{"type":"function","function":{"name":"fs.read/file"}},
                     {"type":"custom","custom":{"name":"patch"}}]}"#;
        let decoded = Protocol::OpenaiChat.decode_request(body.as_bytes()).unwrap();
        let context = AnswerContext::by(&decoded, Protocol::AnthropicMessages, &Target::default());
        assert!(!context.include_usage);
        let [(alias, name)] = context.names.as_slice() else { panic!("{:?}", context.names) };
        assert_eq!(context.client_name(alias), *name);
        assert_eq!(*name, "fs.read/file");
        assert!(context.is_custom(&Text::literal("patch")));
    }
}
