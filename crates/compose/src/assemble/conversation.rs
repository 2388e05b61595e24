//! From a conversation of protocols to a dialogue of named participants: who said what to whom, in words.

use std::borrow::Cow;
use std::collections::HashMap;

use sabir_wire::conversation::{
    Arguments, Content, Media, MediaKind, Message, Part, ResultOutput, Role, ToolCall, ToolResult,
};
use sabir_wire::json::Text;

use super::marker::{clean, names};
use super::{Dialogue, Utterance};

impl<'a> Dialogue<'a> {
    /// The dialogue that a conversation was.
    ///
    /// What instructs before anybody speaks becomes the instructions. Tools take part under their names; what has no
    /// text is named in brackets, and thinking is left out. A message whose text begins with `[FROM: name]` is that
    /// participant's, and its `[NEXT: name]` says whom it is for: so is kept what a team cleaned.
    ///
    /// ```
    /// use sabir_compose::assemble::{Agent, Dialogue};
    /// use sabir_wire::Protocol;
    ///
    /// let body = br#"{"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"},
    ///     {"role": "assistant", "content": "Hi."}, {"role": "user", "content": "What now?"}]}"#;
    /// let decoded = Protocol::OpenaiChat.decode_request(body)?;
    /// let dialogue = Dialogue::of(&decoded.request().messages);
    /// let output = Agent::OpenaiCodex.assemble(&dialogue.prepare().input)?;
    /// assert_eq!(
    ///     output.prompt,
    ///     "[SYSTEM]\nBe brief.\n\n[CONTEXT]\n- user -> assistant: Hello\n- assistant -> user: Hi.\n\n[MESSAGE]\nWhat now?"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(messages: &'a [Message<'_>]) -> Self {
        let first = messages.iter().take_while(|message| message.role.instructs()).count();
        let (instructions, turns) = messages.split_at(first);
        let instructions: Vec<String> = instructions.iter().map(render_message).collect();
        let mut transcript = Transcript::default();
        turns.iter().enumerate().for_each(|(index, message)| transcript.message(index, message));
        Self {
            utterances: transcript.utterances,
            system_instruction: (first > 0).then(|| instructions.join("\n\n").into()),
            ..Self::default()
        }
    }
}

/// A conversation as far as it is written.
struct Transcript<'a> {
    utterances: Vec<Utterance<'a>>,
    user: Cow<'a, str>,
    assistant: Cow<'a, str>,
    /// The tool of each call.
    tools: HashMap<&'a Text<'a>, &'a Text<'a>>,
}

impl Default for Transcript<'_> {
    fn default() -> Self {
        Self {
            utterances: Vec::new(),
            user: "user".into(),
            assistant: "assistant".into(),
            tools: HashMap::new(),
        }
    }
}

impl<'a> Transcript<'a> {
    fn message(&mut self, index: usize, message: &'a Message<'_>) {
        self.calls(message);
        self.results(index, message);
        let name = message.name.as_ref().map(Text::to_str);
        let (from, to) = match message.role {
            Role::System | Role::Developer => ("system".into(), None),
            Role::User | Role::Tool => {
                self.user = name.unwrap_or_else(|| self.user.clone());
                (self.user.clone(), Some(self.assistant.clone()))
            }
            Role::Assistant => {
                self.assistant = name.unwrap_or_else(|| self.assistant.clone());
                (self.assistant.clone(), Some(self.user.clone()))
            }
        };
        // Some protocols make one message of what several participants said after one another.
        for (number, parts) in message.parts.chunk_by(|_, next| !names_speaker(next)).enumerate() {
            let text = lines(parts.iter().filter_map(render));
            let unmarked = || (from.clone(), to.iter().cloned().collect());
            let speaking = marked(&text).unwrap_or_else(unmarked);
            self.utter(format!("{index}/{number}"), speaking, text);
        }
    }

    fn calls(&mut self, message: &'a Message<'_>) {
        for part in &message.parts {
            if let Content::ToolCall(call) = part.content()
                && let Some(id) = &call.id
            {
                self.tools.insert(id, &call.name);
            }
        }
    }

    /// Each result is what a tool says to the assistant.
    fn results(&mut self, index: usize, message: &'a Message<'_>) {
        for (number, part) in message.parts.iter().enumerate() {
            if let Content::ToolResult(result) = part.content() {
                let called = result.call_id.as_ref().and_then(|id| self.tools.get(id).copied());
                let tool = called.or(result.name.as_ref()).map_or("tool".into(), Text::to_str);
                let content = render_result(result);
                let to = vec![self.assistant.clone()];
                self.utter(format!("{index}.{number}"), (tool, to), content);
            }
        }
    }

    /// Nobody says nothing. The id keeps what is said twice from being taken for one message.
    fn utter(
        &mut self,
        id: String,
        (from, to): (Cow<'a, str>, Vec<Cow<'a, str>>),
        content: String,
    ) {
        if !content.trim().is_empty() {
            self.utterances.push(Utterance {
                id: Some(id.into()),
                from,
                to,
                content: content.into(),
            });
        }
    }
}

/// Who speaks to whom, where the text itself begins by saying who speaks.
fn marked<'a>(text: &str) -> Option<(Cow<'a, str>, Vec<Cow<'a, str>>)> {
    if !text.get(..FROM.len())?.eq_ignore_ascii_case(FROM) {
        return None;
    }
    let cleaned = clean(text);
    let to = cleaned.next.into_iter().flat_map(names).map(|name| name.to_owned().into());
    Some((cleaned.from?.to_owned().into(), to.collect()))
}

const FROM: &str = "[FROM:";

fn names_speaker(part: &Part<'_>) -> bool {
    let text = match part.content() {
        Content::Text(text) => text.to_str(),
        _ => return false,
    };
    text.get(..FROM.len()).is_some_and(|start| start.eq_ignore_ascii_case(FROM))
}

/// What a message says by itself, a line for each of its parts.
fn render_message(message: &Message<'_>) -> String {
    lines(message.parts.iter().filter_map(render))
}

fn lines<'p>(texts: impl Iterator<Item = Cow<'p, str>>) -> String {
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

fn render<'p>(part: &'p Part<'_>) -> Option<Cow<'p, str>> {
    match part.content() {
        Content::Text(text) | Content::Refusal(text) => Some(text.to_str()),
        Content::Media(media) => Some(render_media(media).into()),
        Content::ToolCall(call) => Some(render_call(call).into()),
        Content::Opaque(opaque) => Some(format!("({})", opaque.kind.to_str()).into()),
        // Results are separate, and thinking is for who thought it.
        Content::ToolResult(_) | Content::Reasoning(_) => None,
    }
}

fn render_call(call: &ToolCall<'_>) -> String {
    let arguments = match &call.arguments {
        Arguments::Json(json) => json.compact(),
        Arguments::Text(text) => text.to_str(),
    };
    format!("(calls {} with {arguments})", call.name.to_str())
}

fn render_result(result: &ToolResult<'_>) -> String {
    let object = match &result.output {
        ResultOutput::Object { response, .. } => Some(response.compact()),
        ResultOutput::Parts(_) => None,
    };
    let parts = result.output.parts().iter().filter_map(render);
    let text = lines(object.into_iter().chain(parts));
    match (result.is_error, text.is_empty()) {
        (Some(true), _) => format!("(failed) {text}"),
        (_, true) => "(nothing)".to_owned(),
        (_, false) => text,
    }
}

fn render_media(media: &Media<'_>) -> String {
    let kind = match media.kind {
        MediaKind::Image => "an image",
        MediaKind::Audio => "a sound",
        MediaKind::Video => "a film",
        MediaKind::Document => "a document",
    };
    match &media.name {
        Some(name) => format!("({kind}: {})", name.to_str()),
        None => format!("({kind})"),
    }
}
