//! How a program addresses the API of each protocol: paths, versions, the place of the key.

use http::{HeaderName, HeaderValue};
use sabir_backend::percent;
use sabir_wire::Protocol;

/// One protocol as its clients see it.
pub(crate) struct Surface {
    /// The names that older programs have for the protocol's API.
    pub(crate) formats: &'static [&'static str],
    /// The segment that a gateway serves the protocol under.
    pub(crate) version: &'static str,
    /// Whether a provider's base URL without a version gets it. OpenAI's clients leave the version to the user.
    pub(crate) adds_version: bool,
    pub(crate) path: fn(&PathParameters<'_>) -> String,
    pub(crate) key_header: HeaderName,
    /// The scheme before the key in its header.
    pub(crate) key_scheme: Option<&'static str>,
    /// The edition of the API that is asked for.
    pub(crate) edition: Option<(HeaderName, HeaderValue)>,
    /// Whether a request with tools states that the model may choose.
    pub(crate) states_tool_choice: bool,
}

/// What a path may depend on.
pub(crate) struct PathParameters<'a> {
    pub(crate) model: &'a str,
    pub(crate) delivery: Delivery,
}

/// How an answer comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    Whole,
    Streamed,
}

const OPENAI: Surface = Surface {
    formats: &[],
    version: "/v1",
    adds_version: false,
    path: |_| String::new(),
    key_header: http::header::AUTHORIZATION,
    key_scheme: Some("Bearer"),
    edition: None,
    states_tool_choice: false,
};

static OPENAI_CHAT: Surface = Surface {
    formats: &["openai"],
    path: |_| "/chat/completions".to_owned(),
    states_tool_choice: true,
    ..OPENAI
};

static OPENAI_RESPONSES: Surface = Surface { path: |_| "/responses".to_owned(), ..OPENAI };

static ANTHROPIC_MESSAGES: Surface = Surface {
    formats: &["claude", "anthropic"],
    version: "/v1",
    adds_version: true,
    path: |_| "/messages".to_owned(),
    key_header: HeaderName::from_static("x-api-key"),
    key_scheme: None,
    edition: Some((
        HeaderName::from_static("anthropic-version"),
        HeaderValue::from_static("2023-06-01"),
    )),
    states_tool_choice: false,
};

static GEMINI: Surface = Surface {
    formats: &["google"],
    version: "/v1beta",
    adds_version: true,
    path: |asked| {
        let model = asked.model.strip_prefix("models/").unwrap_or(asked.model);
        let verb = match asked.delivery {
            Delivery::Whole => "generateContent",
            Delivery::Streamed => "streamGenerateContent?alt=sse",
        };
        format!("/models/{}:{verb}", percent::encode_path(model))
    },
    key_header: HeaderName::from_static("x-goog-api-key"),
    key_scheme: None,
    edition: None,
    states_tool_choice: false,
};

pub(crate) fn of(protocol: Protocol) -> &'static Surface {
    match protocol {
        Protocol::OpenaiChat => &OPENAI_CHAT,
        Protocol::OpenaiResponses => &OPENAI_RESPONSES,
        Protocol::AnthropicMessages => &ANTHROPIC_MESSAGES,
        Protocol::Gemini => &GEMINI,
    }
}

/// The form of messages, tools and transcripts in this library, which requests are translated from.
pub(crate) const UNIFIED: Protocol = Protocol::OpenaiChat;

/// The protocol that a word such as `openai`, `claude`, `gemini` or a protocol's own name stands for.
///
/// ```
/// assert_eq!(sabir_client::format("claude"), Some(sabir_client::Protocol::AnthropicMessages));
/// ```
pub fn format(name: &str) -> Option<Protocol> {
    let is_named = |protocol: &Protocol| of(*protocol).formats.contains(&name);
    Protocol::parse(name).or_else(|| Protocol::ALL.into_iter().find(is_named))
}

impl Surface {
    /// The path that a provider's API begins with: people write it with a version or without.
    pub(crate) fn base_path(&self, path: &str) -> String {
        let path = path.trim_end_matches('/');
        let last = path.rsplit('/').next().unwrap_or_default();
        match self.adds_version && !is_version(last) {
            true => format!("{path}{}", self.version),
            false => path.to_owned(),
        }
    }
}

/// `v1`, `v1beta`, `v1alpha2`: a `v`, a number, and perhaps a stage.
fn is_version(segment: &str) -> bool {
    let Some(rest) = segment.strip_prefix('v') else { return false };
    let stage = rest.trim_start_matches(|it: char| it.is_ascii_digit());
    let stage_name = stage.trim_end_matches(|it: char| it.is_ascii_digit());
    stage.len() < rest.len() && ["", "beta", "alpha", "p", "preview"].contains(&stage_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_has_its_version_once_whichever_way_it_is_written() {
        for (protocol, path, expected) in [
            (Protocol::AnthropicMessages, "/", "/v1"),
            (Protocol::AnthropicMessages, "/v1/", "/v1"),
            (Protocol::AnthropicMessages, "/anthropic", "/anthropic/v1"),
            (Protocol::Gemini, "/v1beta", "/v1beta"),
            (Protocol::Gemini, "", "/v1beta"),
            (Protocol::OpenaiChat, "/v1", "/v1"),
            (Protocol::OpenaiChat, "/api/", "/api"),
        ] {
            assert_eq!(of(protocol).base_path(path), expected, "{path}");
        }
    }

    #[test]
    fn the_words_of_older_programs_name_protocols() {
        assert_eq!(format("openai"), Some(Protocol::OpenaiChat));
        assert_eq!(format("messages"), Some(Protocol::AnthropicMessages));
        assert_eq!(format("nobody"), None);
    }

    #[test]
    fn a_model_s_name_cannot_change_its_path() {
        let asked = PathParameters { model: "models/a?b#c d", delivery: Delivery::Streamed };
        let path = (of(Protocol::Gemini).path)(&asked);
        assert_eq!(path, "/models/a%3Fb%23c%20d:streamGenerateContent?alt=sse");
    }
}
