//! The unified forms: one plain message and one plain reply, whatever protocol they came in.
//!
//! A thin view for callers that want strings rather than parts, and the form in which transcripts are kept. What it has
//! no room for (media, reasoning, semantics) stays in the canonical types it is a view of.

mod tool;
mod transcript;

use std::fmt;

pub use tool::UnifiedTool;
pub use transcript::{Transcript, TranscriptMessage, read_timestamp};

use crate::conversation::{
    Arguments, CallForm, Content, FinishKind, Message, Part, Response, ResultOutput, Role,
    ToolCall, ToolResult,
};
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Encode, Json, Kind, Reader, Text, Writer};
use crate::protocol::arguments;
use crate::protocol::object::{put, set};

pub use crate::roles::PromptRole as UnifiedRole;

/// What a model answered, in the plainest form.
///
/// ```
/// use sabir_wire::Protocol;
/// use sabir_wire::unified::UnifiedReply;
///
/// let body = br#"{"content": [{"type": "text", "text": "Hello!"}], "stop_reason": "end_turn"}"#;
/// let reply = UnifiedReply::of(&Protocol::AnthropicMessages.decode_response(body)?);
/// assert_eq!(reply.content, "Hello!");
/// assert_eq!(reply.finish_reason, "stop");
/// # Ok::<(), sabir_wire::Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct UnifiedReply {
    pub content: String,
    pub tool_calls: Vec<UnifiedCall>,
    /// A reply that calls tools ends in `tool_calls` unless it was cut off or filtered.
    /// `stop`, `tool_calls`, `length`, `content_filter`, or empty where the reply does not say.
    pub finish_reason: &'static str,
}

/// A tool call whose input is a JSON object, whatever the model wrote.
#[derive(Clone, PartialEq)]
pub struct UnifiedCall {
    pub id: String,
    pub name: String,
    pub input: Json<'static>,
}

/// A message with a string for its content.
#[derive(Clone, PartialEq, Eq)]
pub struct UnifiedMessage {
    pub role: UnifiedRole,
    pub content: String,
    /// The call that a message of role `tool` answers.
    pub tool_call_id: Option<String>,
    pub tool_calls: Vec<UnifiedToolCall>,
}

/// A tool call in a message: its arguments are JSON text.
#[derive(Clone, PartialEq, Eq)]
pub struct UnifiedToolCall {
    pub id: String,
    pub name: String,
    pub arguments: String,
}

impl UnifiedReply {
    /// The first candidate of a response.
    pub fn of(response: &Response<'_>) -> Self {
        let candidate = response.candidates.first();
        let parts = candidate.map_or(&[][..], |candidate| &candidate.message.parts);
        let finish = candidate.and_then(|candidate| candidate.finish.as_ref());
        Self {
            content: text_of(parts),
            tool_calls: calls(parts).map(UnifiedCall::of).collect(),
            finish_reason: match finish.map(|finish| finish_word(finish.kind)) {
                Some("stop") | None if calls(parts).next().is_some() => "tool_calls",
                Some(word) => word,
                None => "",
            },
        }
    }

    /// The message that a transcript keeps of this reply.
    pub fn into_message(self) -> UnifiedMessage {
        let kept = |call: UnifiedCall| UnifiedToolCall {
            id: call.id,
            name: call.name,
            arguments: call.input.compact().into_owned(),
        };
        UnifiedMessage {
            role: UnifiedRole::Assistant,
            content: self.content,
            tool_call_id: None,
            tool_calls: self.tool_calls.into_iter().map(kept).collect(),
        }
    }

    pub fn to_json(&self) -> String {
        Json::of_object(|object| {
            object.field("content", &self.content);
            object.field("toolCalls", &self.tool_calls);
            object.field("finishReason", self.finish_reason);
        })
        .into_string()
    }
}

impl UnifiedCall {
    pub fn of(call: &ToolCall<'_>) -> Self {
        Self {
            id: call.id.as_ref().map(|id| id.to_str().into_owned()).unwrap_or_default(),
            name: call.name.to_str().into_owned(),
            input: arguments::object_of(call),
        }
    }
}

impl UnifiedMessage {
    pub fn system(content: impl Into<String>) -> Self {
        Self::new(UnifiedRole::System, content)
    }

    pub fn user(content: impl Into<String>) -> Self {
        Self::new(UnifiedRole::User, content)
    }

    pub fn assistant(content: impl Into<String>) -> Self {
        Self::new(UnifiedRole::Assistant, content)
    }

    /// What a tool answered to the call of that id.
    pub fn tool(call_id: impl Into<String>, content: impl Into<String>) -> Self {
        Self { tool_call_id: Some(call_id.into()), ..Self::new(UnifiedRole::Tool, content) }
    }

    fn new(role: UnifiedRole, content: impl Into<String>) -> Self {
        Self { role, content: content.into(), tool_call_id: None, tool_calls: Vec::new() }
    }

    /// A message in unified form: one, or several where it holds results of several tools.
    /// Its texts stand one behind the other, as meanings compare them.
    pub fn of(message: &Message<'_>) -> Vec<Self> {
        Self::with_texts(message, text_of)
    }

    /// The same for whoever reads it: a line break stands between texts that stood apart, unless white space does or a vendor cut
    /// one text for its citations.
    pub fn lined(message: &Message<'_>) -> Vec<Self> {
        Self::with_texts(message, lined_text_of)
    }

    fn with_texts(message: &Message<'_>, join: fn(&[Part<'_>]) -> String) -> Vec<Self> {
        let results = message.parts.iter().filter_map(|part| match part.content() {
            Content::ToolResult(result) => Some(Self::of_result(result, join)),
            _ => None,
        });
        let mut unified: Vec<Self> = results.collect();
        let content = join(&message.parts);
        let tool_calls: Vec<_> = calls(&message.parts).map(UnifiedToolCall::of).collect();
        if unified.is_empty() || !content.is_empty() || !tool_calls.is_empty() {
            let role = UnifiedRole::of(message.role);
            unified.push(Self { role, content, tool_call_id: None, tool_calls });
        }
        unified
    }

    fn of_result(result: &ToolResult<'_>, join: fn(&[Part<'_>]) -> String) -> Self {
        Self {
            role: UnifiedRole::Tool,
            content: match &result.output {
                ResultOutput::Parts(parts) => join(parts),
                ResultOutput::Object { response, .. } => result_text(response),
            },
            tool_call_id: result.call_id.as_ref().map(|id| id.to_str().into_owned()),
            tool_calls: Vec::new(),
        }
    }

    /// The canonical message that this one stands for.
    pub fn into_message(self) -> Message<'static> {
        if self.role == UnifiedRole::Tool {
            let result = ToolResult {
                call_id: self.tool_call_id.map(Text::from),
                name: None,
                output: ResultOutput::Parts(Part::text(self.content).into()),
                is_error: None,
                form: CallForm::Function,
            };
            let part = Part::new(Content::ToolResult(Box::new(result)));
            return Message::new(Role::Tool, vec![part]);
        }
        let mut parts = Vec::new();
        if !self.content.is_empty() || self.tool_calls.is_empty() {
            parts.push(Part::text(self.content));
        }
        parts.extend(self.tool_calls.into_iter().map(UnifiedToolCall::into_part));
        Message::new(self.role.into(), parts)
    }

    /// Reads a message; fields that belong to a transcript rather than to the conversation are passed over.
    pub fn from_json(json: &str) -> Result<Self> {
        Reader::whole(json, Self::read)
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let (mut message, mut role) = (Self::user(""), None);
        reader.object(|key, reader| {
            if reader.kind()? == Kind::Null {
                return reader.null();
            }
            match &*key {
                "role" => set(&mut role, UnifiedRole::read(reader)),
                "content" => put(&mut message.content, text(reader)),
                "tool_call_id" => set(&mut message.tool_call_id, text(reader)),
                "tool_calls" => reader.array(|_, reader| {
                    message.tool_calls.push(UnifiedToolCall::read(reader)?);
                    Ok(())
                }),
                _ => reader.skip(),
            }
        })?;
        let nobody = || Error::new(ErrorKind::Missing, "expected a message with a `role`");
        message.role = role.ok_or_else(nobody)?;
        Ok(message)
    }

    pub fn to_json(&self) -> String {
        Writer::written(|writer| self.encode(writer))
    }

    fn write_members(&self, object: &mut Writer) {
        object.field("role", self.role.as_str());
        object.field("content", &self.content);
        object.optional("tool_call_id", self.tool_call_id.as_ref());
        // Providers refuse an empty list, so a reply without calls has none.
        if !self.tool_calls.is_empty() {
            object.field("tool_calls", &self.tool_calls);
        }
    }
}

impl Encode for UnifiedMessage {
    fn encode(&self, writer: &mut Writer) {
        writer.object(|object| self.write_members(object));
    }
}

impl UnifiedToolCall {
    fn of(call: &ToolCall<'_>) -> Self {
        Self {
            id: call.id.as_ref().map(|id| id.to_str().into_owned()).unwrap_or_default(),
            name: call.name.to_str().into_owned(),
            arguments: match &call.arguments {
                Arguments::Text(text) => text.to_str().into_owned(),
                Arguments::Json(json) => json.compact().into_owned(),
            },
        }
    }

    fn into_part(self) -> Part<'static> {
        Part::new(Content::ToolCall(Box::new(ToolCall {
            id: Some(self.id.into()),
            name: self.name.into(),
            arguments: Arguments::Text(self.arguments.into()),
            form: CallForm::Function,
        })))
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let mut call = Self { id: String::new(), name: String::new(), arguments: String::new() };
        reader.object(|key, reader| match &*key {
            "id" => put(&mut call.id, text(reader)),
            "function" => reader.object(|key, reader| match &*key {
                "name" => put(&mut call.name, text(reader)),
                "arguments" => put(&mut call.arguments, text(reader)),
                _ => reader.skip(),
            }),
            _ => reader.skip(),
        })?;
        Ok(call)
    }
}

impl Encode for UnifiedToolCall {
    fn encode(&self, writer: &mut Writer) {
        writer.object(|object| {
            object.field("id", &self.id);
            object.field("type", "function");
            object.object_field("function", |function| {
                function.field("name", &self.name);
                function.field("arguments", &self.arguments);
            });
        });
    }
}

impl Encode for UnifiedCall {
    fn encode(&self, writer: &mut Writer) {
        writer.object(|object| {
            object.field("id", &self.id);
            object.field("name", &self.name);
            object.field("input", &self.input);
        });
    }
}

impl UnifiedRole {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let word = reader.string()?;
        let roles = [Self::System, Self::User, Self::Assistant, Self::Tool];
        let expected = "expected one of system, user, assistant and tool";
        let known = roles.into_iter().find(|role| word == role.as_str());
        known.ok_or_else(|| Error::new(ErrorKind::Value, expected))
    }
}

impl From<UnifiedRole> for Role {
    fn from(role: UnifiedRole) -> Self {
        match role {
            UnifiedRole::System => Self::System,
            UnifiedRole::User => Self::User,
            UnifiedRole::Assistant => Self::Assistant,
            UnifiedRole::Tool => Self::Tool,
        }
    }
}

/// Reads a text that can be kept as it is: half of a surrogate pair would become another character.
fn text(reader: &mut Reader<'_>) -> Result<String> {
    let text = reader.string()?;
    match text.has_lone_surrogate() {
        true => Err(Error::new(ErrorKind::Value, LONE_SURROGATE)),
        false => Ok(text.into_str().into_owned()),
    }
}

const LONE_SURROGATE: &str =
    "expected whole characters, found half of a surrogate pair (`\\ud800` to `\\udfff` alone)";

fn text_of(parts: &[Part<'_>]) -> String {
    let texts = parts.iter().filter_map(|part| match part.content() {
        Content::Text(text) | Content::Refusal(text) => Some(text.to_str()),
        _ => None,
    });
    texts.collect()
}

fn lined_text_of(parts: &[Part<'_>]) -> String {
    let (mut lined, mut is_cited) = (String::new(), false);
    for part in parts {
        let (Content::Text(text) | Content::Refusal(text)) = part.content() else { continue };
        let (text, was_cited) = (text.to_str(), is_cited);
        is_cited = !part.semantics().citations().is_empty();
        let is_apart = !lined.is_empty() && !lined.ends_with(char::is_whitespace);
        let is_next = !text.is_empty() && !text.starts_with(char::is_whitespace);
        if is_apart && is_next && !was_cited && !is_cited {
            lined.push('\n');
        }
        lined.push_str(&text);
    }
    lined
}

fn calls<'p>(parts: &'p [Part<'_>]) -> impl Iterator<Item = &'p ToolCall<'p>> {
    parts.iter().filter_map(Part::tool_call)
}

/// What a result that is an object says: its one text if that is all, else the object as JSON.
fn result_text(response: &Json<'_>) -> String {
    match arguments::sole_text(response) {
        Some((_, text)) => text.to_str().into_owned(),
        None => response.compact().into_owned(),
    }
}

fn finish_word(kind: FinishKind) -> &'static str {
    match kind {
        FinishKind::ToolCalls => "tool_calls",
        FinishKind::Length | FinishKind::ContextFull => "length",
        FinishKind::ContentFilter | FinishKind::PromptFilter => "content_filter",
        FinishKind::Stop
        | FinishKind::StopSequence
        | FinishKind::Refusal
        | FinishKind::Pause
        | FinishKind::MalformedCall
        | FinishKind::Failed
        | FinishKind::Other => "stop",
    }
}

// Conversations do not belong in logs: these show sizes only.

impl fmt::Debug for UnifiedReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnifiedReply")
            .field("content_bytes", &self.content.len())
            .field("tool_calls", &self.tool_calls.len())
            .field("finish_reason", &self.finish_reason)
            .finish()
    }
}

impl fmt::Debug for UnifiedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnifiedCall").field("id", &self.id).field("name", &self.name).finish()
    }
}

impl fmt::Debug for UnifiedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnifiedMessage")
            .field("role", &self.role)
            .field("content_bytes", &self.content.len())
            .field("tool_calls", &self.tool_calls)
            .finish()
    }
}

impl fmt::Debug for UnifiedToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnifiedToolCall").field("id", &self.id).field("name", &self.name).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Protocol;

    const CHAT: &str = r#"{"choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant",
        "content":"Hello!","tool_calls":[{"id":"call_123","type":"function",
        "function":{"name":"bash","arguments":"{\"cmd\":\"ls\"}"}}]}}]}"#;
    const ANTHROPIC: &str = r#"{"content":[{"type":"text","text":"Hello!"},
        {"type":"tool_use","id":"tu_123","name":"bash","input":{"cmd":"ls"}}],"stop_reason":"tool_use"}"#;

    fn reply(protocol: Protocol, body: &str) -> UnifiedReply {
        UnifiedReply::of(&protocol.decode_response(body.as_bytes()).unwrap())
    }

    #[test]
    fn replies_of_two_vendors_differ_only_in_the_id() {
        let mut chat = reply(Protocol::OpenaiChat, CHAT);
        let anthropic = reply(Protocol::AnthropicMessages, ANTHROPIC);
        assert_eq!(
            anthropic.to_json(),
            r#"{"content":"Hello!","toolCalls":[{"id":"tu_123","name":"bash","input":{"cmd":"ls"}}],"finishReason":"tool_calls"}"#
        );
        chat.tool_calls[0].id = "tu_123".to_owned();
        assert!(chat == anthropic);
    }

    #[test]
    fn a_kept_reply_spells_its_input_as_text_and_no_empty_list_of_calls() {
        let kept = reply(Protocol::OpenaiChat, CHAT).into_message();
        assert_eq!(
            kept.to_json(),
            r#"{"role":"assistant","content":"Hello!","tool_calls":[{"id":"call_123","type":"function","function":{"name":"bash","arguments":"{\"cmd\":\"ls\"}"}}]}"#
        );
        let plain =
            reply(Protocol::AnthropicMessages, r#"{"content":[{"type":"text","text":"Hi"}]}"#);
        assert_eq!(plain.into_message().to_json(), r#"{"role":"assistant","content":"Hi"}"#);
    }

    #[test]
    fn a_reply_that_was_cut_off_says_so_even_if_it_calls_tools() {
        for (word, expected) in
            [("length", "length"), ("content_filter", "content_filter"), ("stop", "tool_calls")]
        {
            let reply = reply(
                Protocol::OpenaiChat,
                &CHAT.replace("\"tool_calls\",\"mess", &format!("\"{word}\",\"mess")),
            );
            assert_eq!(reply.finish_reason, expected);
        }
    }

    #[test]
    fn the_input_of_a_call_is_an_object_whatever_the_model_wrote() {
        let cases = [
            ("", "{}"),
            ("not json", r#"{"__raw_arguments":"not json"}"#),
            ("[1]", r#"{"value":[1]}"#),
            ("null", "{}"),
        ];
        for (written, expected) in cases {
            let reply = reply(Protocol::OpenaiChat, &CHAT.replace(r#"{\"cmd\":\"ls\"}"#, written));
            assert_eq!(reply.tool_calls[0].input.as_str(), expected, "{written}");
        }
    }

    #[test]
    fn a_result_of_gemini_is_its_text() {
        let body = r#"{"contents":[{"role":"user","parts":[
            {"functionResponse":{"name":"f","response":{"output":"a.txt"}}},
            {"functionResponse":{"name":"f","response":{"files":2}}}]}]}"#;
        let decoded = Protocol::Gemini.decode_request(body.as_bytes()).unwrap();
        let unified = UnifiedMessage::of(&decoded.request().messages[0]);
        let texts: Vec<_> = unified.iter().map(|message| message.content.as_str()).collect();
        assert_eq!(texts, ["a.txt", r#"{"files":2}"#]);
    }

    #[test]
    fn a_transcript_message_reads_back_without_its_timestamp() {
        let kept = r#"{"role":"tool","content":"a.txt","timestamp":1,"tool_call_id":"call_1"}"#;
        let message = UnifiedMessage::from_json(kept).unwrap();
        assert_eq!(
            message.to_json(),
            r#"{"role":"tool","content":"a.txt","tool_call_id":"call_1"}"#
        );
        assert!(UnifiedMessage::of(&message.clone().into_message()) == [message]);
    }

    #[test]
    fn a_role_that_does_not_exist_is_refused_with_its_place() {
        let error = UnifiedMessage::from_json(r#"{"role":"robot","content":""}"#).unwrap_err();
        assert_eq!(error.pointer(), "/role");
    }

    #[test]
    fn half_a_character_is_refused_with_its_place() {
        let call = |text: &str| {
            format!(
                r#"{{"role":"assistant","tool_calls":[{{"id":"c","function":{{"name":"f","arguments":"{text}"}}}}]}}"#
            )
        };
        for (json, pointer) in [
            (r#"{"role":"user","content":"a\ud800b"}"#.to_owned(), "/content"),
            (r#"{"role":"tool","tool_call_id":"\udc00"}"#.to_owned(), "/tool_call_id"),
            (call(r"\ude00\ud83d"), "/tool_calls/0/function/arguments"),
        ] {
            let error = UnifiedMessage::from_json(&json).unwrap_err();
            assert_eq!(error.pointer(), pointer, "{json}");
        }
        let whole = UnifiedMessage::from_json(r#"{"role":"user","content":"\ud83d\ude00"}"#);
        assert_eq!(whole.unwrap().content, "😀");
    }

    #[test]
    fn a_message_that_nobody_said_is_refused() {
        for json in ["{}", r#"{"content":"a"}"#, r#"{"role":null,"content":"a"}"#] {
            let error = UnifiedMessage::from_json(json).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Missing, "{json}");
        }
    }
}
