//! What an answer of Responses repeats of its request: the settings that it was made with.

use std::sync::Arc;

use crate::error::Result;
use crate::json::{Json, Kind, Reader};
use crate::owned::Own;
use crate::protocol::object::Object;

/// The settings of a request of Responses, as the client wrote them. They may be as long as the request, and all who know of one
/// answer share them.
#[derive(Clone, Debug, Default)]
pub struct Echo<'a>(Arc<Settings<'a>>);

type Settings<'a> = Vec<(&'static str, Json<'a>)>;

/// What is repeated, and what a request means that leaves it out.
const REPEATED: [(&str, &str); 20] = [
    ("background", "false"),
    ("frequency_penalty", "0"),
    ("instructions", "null"),
    ("max_output_tokens", "null"),
    ("max_tool_calls", "null"),
    ("metadata", "{}"),
    ("parallel_tool_calls", "true"),
    ("presence_penalty", "0"),
    ("previous_response_id", "null"),
    ("prompt_cache_key", "null"),
    ("reasoning", r#"{"effort":null,"summary":null}"#),
    ("safety_identifier", "null"),
    // Whatever the request states of it: a translated answer is kept nowhere but where it is translated.
    ("store", "false"),
    ("temperature", "1"),
    ("text", r#"{"format":{"type":"text"}}"#),
    ("tool_choice", r#""auto""#),
    ("tools", "[]"),
    ("top_logprobs", "0"),
    ("top_p", "1"),
    ("truncation", r#""disabled""#),
];

impl<'a> Echo<'a> {
    /// Reads the settings in a request's body; the conversation itself is passed over.
    pub fn of(mut body: Reader<'a>) -> Result<Self> {
        let mut settings = Vec::new();
        body.object(|key, reader| {
            let repeated = REPEATED.iter().find(|(name, _)| *name == key);
            match (repeated, reader.kind()?) {
                (None, _) | (_, Kind::Null) | (Some(("store", _)), _) => reader.skip()?,
                (Some((name, _)), _) => settings.push((*name, reader.raw()?)),
            }
            Ok(())
        })?;
        Ok(Self(settings.into()))
    }

    /// States that the answer is kept, and can be asked for by its id.
    pub fn stored(self) -> Self {
        self.with("store")
    }

    /// States that the client need not wait for the answer.
    pub fn in_background(self) -> Self {
        self.with("background")
    }

    fn with(self, name: &'static str) -> Self {
        let mut settings = self.into_settings();
        settings.push((name, Json::literal("true")));
        Self(settings.into())
    }

    fn into_settings(self) -> Settings<'a> {
        Arc::try_unwrap(self.0).unwrap_or_else(|shared| (*shared).clone())
    }

    pub(super) fn write(&self, object: &mut Object<'_, '_>) {
        for (name, default) in REPEATED {
            match self.stated(name) {
                Some(value) if name == "reasoning" => write_reasoning(object, value),
                Some(value) => object.field(name, value),
                None => object.field(name, &Json::literal(default)),
            }
        }
    }

    /// Writes what the client stated of its tools, in an answer whose provider was sent something else.
    pub(super) fn write_tools(&self, object: &mut Object<'_, '_>) {
        for name in ["tool_choice", "tools"] {
            object.optional(name, self.stated(name));
        }
    }

    fn stated(&self, name: &str) -> Option<&Json<'a>> {
        self.0.iter().rfind(|(stated, _)| *stated == name).map(|(_, value)| value)
    }

    pub fn into_owned(self) -> Echo<'static> {
        Echo(self.into_settings().own().into())
    }

    /// The same in memory that nobody else has a part of.
    pub fn apart(&self) -> Self {
        Self(Arc::new((*self.0).clone()))
    }
}

/// Both settings of reasoning are written, whatever the request states.
fn write_reasoning(object: &mut Object<'_, '_>, stated: &Json<'_>) {
    let word = |name| stated.reader().peek_tag(name).ok().flatten();
    let (effort, summary) = (word("effort"), word("summary"));
    object.key("reasoning").object(|it| {
        it.field("effort", &effort);
        it.field("summary", &summary);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Protocol;
    use crate::protocol::AnswerContext;

    #[test]
    fn an_answer_repeats_the_settings_of_its_request() {
        let request = r#"{"model":"m","input":"hi","temperature":0.50,"store":true,"reasoning":{"effort":"low"},"metadata":null,
            "tools":[{"type":"function","name":"f","parameters":{}}]}"#;
        let context = AnswerContext {
            echo: Some(Echo::of(Reader::new(request)).unwrap()),
            ..AnswerContext::default()
        };
        let answer = br#"{"id":"m","type":"message","role":"assistant","model":"m","content":[],
            "stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}"#;
        let answer = Protocol::AnthropicMessages.decode_response(answer).unwrap();
        let source = Protocol::AnthropicMessages;
        let encoded = Protocol::OpenaiResponses.encode_response(&answer, source, &context);
        let body: serde_json::Value = serde_json::from_str(&encoded.body).unwrap();
        assert_eq!(body["temperature"].to_string(), "0.50");
        assert_eq!(body["store"], false);
        assert_eq!(body["reasoning"], serde_json::json!({"effort": "low", "summary": null}));
        assert_eq!(body["metadata"], serde_json::json!({}));
        assert_eq!(body["tools"][0]["name"], "f");
        assert_eq!(body["truncation"], "disabled");
        assert!(body.get("input").is_none());
    }
}
