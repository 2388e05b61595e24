//! The role adapter: labels plain prompt messages with the role each provider calls them by.
//! The protocol encoders take their words for roles from here; where a system text stands is theirs to decide.

use std::fmt;

use crate::conversation::Role;

/// What stands between separate system texts when they are merged into one.
pub const SYSTEM_JOIN: &str = "\n\n";

const SYSTEM_INSTRUCTION: &str = "system_instruction";

/// The providers whose role names differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProviderType {
    Openai,
    Gemini,
    Anthropic,
}

/// The roles that prompt code uses, whatever the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PromptRole {
    System,
    User,
    Assistant,
    Tool,
}

impl PromptRole {
    /// The role that a role in a conversation comes down to: developers speak as the system where no word is their own.
    pub const fn of(role: Role) -> Self {
        match role {
            Role::System | Role::Developer => Self::System,
            Role::User => Self::User,
            Role::Assistant => Self::Assistant,
            Role::Tool => Self::Tool,
        }
    }
}

/// One message of a prompt before it becomes part of a conversation.
#[derive(Clone, PartialEq, Eq)]
pub struct PromptMessage {
    pub role: PromptRole,
    pub content: String,
    /// The provider's name for the role; absent until the message is adapted.
    pub adapted_role: Option<&'static str>,
    /// The position in the history that the message was made from.
    pub layer: Option<i64>,
}

impl PromptMessage {
    pub fn new(role: PromptRole, content: impl Into<String>) -> Self {
        Self { role, content: content.into(), adapted_role: None, layer: None }
    }

    fn adapted(&self, provider: ProviderType) -> Self {
        Self { adapted_role: Some(wire_role(self.role, provider)), ..self.clone() }
    }
}

impl fmt::Debug for PromptMessage {
    /// Prompts stay out of logs, so only the length of the content is shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptMessage")
            .field("role", &self.role)
            .field("content_bytes", &self.content.len())
            .field("adapted_role", &self.adapted_role)
            .field("layer", &self.layer)
            .finish()
    }
}

/// What `provider` calls `role`.
pub const fn wire_role(role: PromptRole, provider: ProviderType) -> &'static str {
    match (role, provider) {
        (PromptRole::System, ProviderType::Gemini) => SYSTEM_INSTRUCTION,
        (PromptRole::System, ProviderType::Openai | ProviderType::Anthropic) => "system",
        (PromptRole::User, _) => "user",
        (PromptRole::Assistant, ProviderType::Gemini) => "model",
        (PromptRole::Assistant, ProviderType::Openai | ProviderType::Anthropic) => "assistant",
        (PromptRole::Tool, ProviderType::Openai) => "tool",
        (PromptRole::Tool, ProviderType::Gemini | ProviderType::Anthropic) => "user",
    }
}

/// Labels every message for `provider`; for Gemini all system texts become one leading message.
///
/// ```
/// use sabir_wire::roles::{PromptMessage, PromptRole, ProviderType, adapt_role_for_provider};
///
/// let messages = [
///     PromptMessage::new(PromptRole::User, "Hello!"),
///     PromptMessage::new(PromptRole::System, "Be brief."),
/// ];
/// let adapted = adapt_role_for_provider(&messages, ProviderType::Gemini);
/// assert_eq!(adapted[0].adapted_role, Some("system_instruction"));
/// assert_eq!(adapted[1].adapted_role, Some("user"));
/// ```
pub fn adapt_role_for_provider(
    messages: &[PromptMessage],
    provider: ProviderType,
) -> Vec<PromptMessage> {
    match provider {
        ProviderType::Openai | ProviderType::Anthropic => {
            messages.iter().map(|message| message.adapted(provider)).collect()
        }
        ProviderType::Gemini => adapt_for_gemini(messages),
    }
}

fn adapt_for_gemini(messages: &[PromptMessage]) -> Vec<PromptMessage> {
    let (system, turns): (Vec<_>, Vec<_>) =
        messages.iter().partition(|message| message.role == PromptRole::System);
    let turns = turns.into_iter().map(|message| message.adapted(ProviderType::Gemini));
    merge_system(&system).into_iter().chain(turns).collect()
}

fn merge_system(messages: &[&PromptMessage]) -> Option<PromptMessage> {
    let contents: Vec<&str> = messages.iter().map(|message| message.content.as_str()).collect();
    let merged = PromptMessage::new(PromptRole::System, contents.join(SYSTEM_JOIN));
    (!messages.is_empty()).then(|| merged.adapted(ProviderType::Gemini))
}

/// The merged system text of messages adapted for Gemini, for the request's own field.
pub fn extract_gemini_system_instructions(adapted: &[PromptMessage]) -> Option<&str> {
    let instruction = adapted.iter().find(|message| is_system_instruction(message));
    instruction.map(|message| message.content.as_str())
}

/// The turns of messages adapted for Gemini, without the system text.
pub fn filter_out_system_instructions(adapted: &[PromptMessage]) -> Vec<PromptMessage> {
    adapted.iter().filter(|message| !is_system_instruction(message)).cloned().collect()
}

fn is_system_instruction(message: &PromptMessage) -> bool {
    message.adapted_role == Some(SYSTEM_INSTRUCTION)
}

/// Which provider a provider or model name belongs to; a name that says nothing means OpenAI,
/// whose form the other servers imitate.
pub fn normalize_provider(name: &str) -> ProviderType {
    const WORDS: [(&str, ProviderType); 4] = [
        ("gemini", ProviderType::Gemini),
        ("google", ProviderType::Gemini),
        ("claude", ProviderType::Anthropic),
        ("anthropic", ProviderType::Anthropic),
    ];
    let name = name.to_lowercase();
    let known = WORDS.iter().find(|(word, _)| name.contains(word));
    known.map_or(ProviderType::Openai, |(_, provider)| *provider)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::protocol::Protocol;
    use crate::target::Target;

    use PromptRole::{Assistant, System, Tool, User};
    use ProviderType::{Anthropic, Gemini, Openai};

    fn messages(texts: &[(PromptRole, &str)]) -> Vec<PromptMessage> {
        texts.iter().map(|(role, content)| PromptMessage::new(*role, *content)).collect()
    }

    fn check(input: &[(PromptRole, &str)], provider: ProviderType, expected: &[(&str, &str)]) {
        let input = messages(input);
        let before = input.clone();
        let adapted = adapt_role_for_provider(&input, provider);
        let found: Vec<(&str, &str)> = adapted
            .iter()
            .map(|message| (message.adapted_role.unwrap(), message.content.as_str()))
            .collect();
        assert_eq!(found, expected, "{provider:?}");
        assert!(input == before, "the input must stay as it was");
        assert!(adapt_role_for_provider(&adapted, provider) == adapted, "twice must equal once");
    }

    const WORKED: [(PromptRole, &str); 4] = [
        (System, "You are a helpful assistant."),
        (System, "Respond in Chinese."),
        (User, "Hello!"),
        (Assistant, "Hi there!"),
    ];

    #[test]
    fn gemini_merges_all_system_messages_into_one_leading_entry() {
        let merged = "You are a helpful assistant.\n\nRespond in Chinese.";
        let expected = [("system_instruction", merged), ("user", "Hello!"), ("model", "Hi there!")];
        check(&WORKED, Gemini, &expected);

        let adapted = adapt_role_for_provider(&messages(&WORKED), Gemini);
        assert_eq!(extract_gemini_system_instructions(&adapted), Some(merged));
        let turns = filter_out_system_instructions(&adapted);
        let roles: Vec<_> = turns.iter().map(|turn| turn.role).collect();
        assert_eq!(roles, [User, Assistant]);
    }

    #[test]
    fn openai_and_anthropic_keep_every_message_in_place() {
        for provider in [Openai, Anthropic] {
            let expected = [
                ("system", "You are a helpful assistant."),
                ("system", "Respond in Chinese."),
                ("user", "Hello!"),
                ("assistant", "Hi there!"),
            ];
            check(&WORKED, provider, &expected);
        }
    }

    #[test]
    fn system_in_the_middle_is_lifted_for_gemini_only() {
        let input = [(System, "Prompt 1"), (User, "Q1"), (System, "Prompt 2"), (Assistant, "A1")];
        let lifted =
            [("system_instruction", "Prompt 1\n\nPrompt 2"), ("user", "Q1"), ("model", "A1")];
        let kept =
            [("system", "Prompt 1"), ("user", "Q1"), ("system", "Prompt 2"), ("assistant", "A1")];
        check(&input, Gemini, &lifted);
        check(&input, Openai, &kept);
        check(&input, Anthropic, &kept);
    }

    #[test]
    fn without_system_messages_there_is_no_system_entry() {
        let input = [(User, "Hello"), (Assistant, "Hi!")];
        check(&input, Gemini, &[("user", "Hello"), ("model", "Hi!")]);
        let adapted = adapt_role_for_provider(&messages(&input), Gemini);
        assert_eq!(extract_gemini_system_instructions(&adapted), None);
        for provider in [Openai, Anthropic, Gemini] {
            check(&[], provider, &[]);
        }
    }

    #[test]
    fn tool_messages_get_the_role_that_carries_results() {
        let input = [(Tool, "42")];
        check(&input, Openai, &[("tool", "42")]);
        check(&input, Anthropic, &[("user", "42")]);
        check(&input, Gemini, &[("user", "42")]);
    }

    /// The words that stand for roles in a body.
    fn written_roles(body: &str) -> Vec<&str> {
        let after = body.split(r#""role":""#).skip(1);
        after.filter_map(|rest| rest.split('"').next()).collect()
    }

    #[test]
    fn encoders_write_the_roles_that_the_adapter_names() {
        let body = r#"{"model":"m","messages":[
            {"role":"system","content":"You are a helpful assistant."},
            {"role":"system","content":"Respond in Chinese."},
            {"role":"user","content":"Hello!"},
            {"role":"assistant","content":"Hi there!"}]}"#;
        let cases = [
            (Protocol::OpenaiResponses, Openai, 0),
            (Protocol::AnthropicMessages, Anthropic, 2),
            (Protocol::Gemini, Gemini, 1),
        ];
        for (protocol, provider, in_slot) in cases {
            let decoded = Protocol::OpenaiChat.decode_request(body.as_bytes()).unwrap();
            let encoded = decoded.encode(protocol, &Target::default()).unwrap();
            let adapted = adapt_role_for_provider(&messages(&WORKED), provider);
            let named: Vec<_> = adapted.iter().filter_map(|it| it.adapted_role).collect();
            assert_eq!(written_roles(&encoded.body), named[in_slot..], "{}", encoded.body);
        }
    }

    #[test]
    fn layer_survives_on_turns() {
        let mut input = messages(&WORKED);
        input[2].layer = Some(7);
        let adapted = adapt_role_for_provider(&input, Gemini);
        let layers: Vec<_> = adapted.iter().map(|message| message.layer).collect();
        assert_eq!(layers, [None, Some(7), None]);
    }

    #[test]
    fn provider_names_are_recognised() {
        let cases = [
            ("gemini-1.5-flash", Gemini),
            ("gpt-4o-mini", Openai),
            ("claude-3-haiku", Anthropic),
            ("google/x", Gemini),
            ("ANTHROPIC", Anthropic),
            ("mistral", Openai),
            ("", Openai),
        ];
        for (name, expected) in cases {
            assert_eq!(normalize_provider(name), expected, "{name}");
        }
    }

    #[test]
    fn debug_does_not_show_the_prompt() {
        let shown = format!("{:?}", PromptMessage::new(User, "my secret"));
        assert!(!shown.contains("secret"), "{shown}");
    }

    fn any_role() -> impl Strategy<Value = PromptRole> {
        prop::sample::select(vec![System, User, Assistant, Tool])
    }

    proptest! {
        #[test]
        fn adapting_twice_equals_once_and_loses_no_text(
            texts in prop::collection::vec((any_role(), "[a-z]{0,6}"), 0..8),
            provider in prop::sample::select(vec![Openai, Gemini, Anthropic]),
        ) {
            let input: Vec<_> =
                texts.iter().map(|(role, text)| PromptMessage::new(*role, text)).collect();
            let once = adapt_role_for_provider(&input, provider);
            prop_assert!(adapt_role_for_provider(&once, provider) == once);
            for message in &input {
                prop_assert!(once.iter().any(|found| found.content.contains(&message.content)));
            }
        }
    }
}
