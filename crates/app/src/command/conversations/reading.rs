//! What a file holds of a conversation, found out from the file itself. A new format is a function in [`FORMATS`]: it looks at the
//! file and says nothing if the file is none of its own.

use anyhow::{Context, Result, bail};
use sabir_compose::history;
use sabir_compose::session::{self, Session};
use sabir_wire::Protocol;
use sabir_wire::conversation::Content as Part;
use sabir_wire::json::Reader;
use serde_json::Value;

/// A conversation as a file holds it.
#[derive(Debug, PartialEq)]
pub(super) struct History {
    pub(super) content: Content,
    /// What the user should know of how the file was read.
    pub(super) note: Option<String>,
}

#[derive(Debug, PartialEq)]
pub(super) enum Content {
    /// Plain messages with their times, as a JSON array.
    Transcript(String),
    /// The messages of a request in a protocol's own words, in the form of `sabir build --to`, which are kept as they are.
    Messages {
        protocol: Protocol,
        body: String,
        /// When each element of the list was said, in milliseconds since 1970, from the first on; empty if nobody knows.
        times: Vec<Option<i64>>,
    },
    /// The session of an agent, which may be kept already.
    Session(Session),
}

/// A file, as far as all formats need it.
pub(super) struct File<'a> {
    /// What the user says of it.
    from: Option<Protocol>,
    /// The one JSON value that it is, if it is one.
    whole: Option<Value>,
    text: &'a str,
    /// Its lines that are JSON, and how many are not.
    lines: Vec<(&'a str, Value)>,
    broken: usize,
}

type Format = fn(&File<'_>) -> Option<Result<History>>;

/// All formats, those first that cannot be taken for another.
const FORMATS: &[Format] = &[transcript, messages, lines];

/// Reads a file as the first format that it is in.
pub(super) fn read(text: &str, from: Option<Protocol>) -> Result<History> {
    if from.is_none() && session::recognise(text).is_some() {
        let session = Session::parse(text)?;
        return Ok(History { note: left_out(&session), content: Content::Session(session) });
    }
    let file = File::of(text, from);
    let history = FORMATS.iter().find_map(|format| format(&file));
    history.unwrap_or_else(|| bail!("{}", unknown(&file)))
}

impl<'a> File<'a> {
    fn of(text: &'a str, from: Option<Protocol>) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let whole: Option<Value> = serde_json::from_str(text).ok();
        let mut file = Self { from, whole, text, lines: Vec::new(), broken: 0 };
        if file.whole.is_none() {
            for line in text.lines().filter(|line| !line.trim().is_empty()) {
                match serde_json::from_str(line) {
                    Ok(value) => file.lines.push((line, value)),
                    Err(_) => file.broken += 1,
                }
            }
        }
        file
    }
}

/// What the file of a session holds beside its history.
fn left_out(session: &Session) -> Option<String> {
    let kinds: Vec<String> = session.left_out().iter().map(ToString::to_string).collect();
    (!kinds.is_empty()).then(|| format!("not part of the conversation: {}", kinds.join(", ")))
}

/// An array of messages.
fn transcript(file: &File<'_>) -> Option<Result<History>> {
    let Some(Value::Array(messages)) = &file.whole else { return None };
    let are_messages = messages.iter().all(|message| message.get("role").is_some());
    let content = Content::Transcript(file.text.to_owned());
    (file.from.is_none() && are_messages).then_some(Ok(History { content, note: None }))
}

/// A message a line; a line that broke off is passed over, as whoever appends to such a file expects.
fn lines(file: &File<'_>) -> Option<Result<History>> {
    let is_message = |value: &Value| value.get("role").is_some();
    let single = file.whole.as_ref().filter(|value| is_message(value)).map(|_| file.text);
    let several = file.lines.iter().filter(|(_, value)| is_message(value)).map(|(line, _)| *line);
    let messages: Vec<&str> = single.into_iter().chain(several).collect();
    let others = file.broken + file.lines.len() - messages.len().min(file.lines.len());
    if messages.is_empty() || file.from.is_some() {
        return None;
    }
    let note = (others > 0).then(|| format!("{others} lines are no messages and were left out"));
    Some(Ok(History { content: Content::Transcript(format!("[{}]", messages.join(","))), note }))
}

/// A request, or the messages of one.
fn messages(file: &File<'_>) -> Option<Result<History>> {
    file.whole.as_ref().filter(|value| value.is_object())?;
    let protocol = match file.from {
        Some(protocol) => protocol,
        None => looks_like(file.text)?,
    };
    let read = protocol.decode_request_text(file.text).context("the messages cannot be read");
    Some(read.map(|_| {
        let content = Content::Messages { protocol, body: file.text.to_owned(), times: Vec::new() };
        History { content, note: None }
    }))
}

/// The protocol of which most is understood: with as few members and as few parts left over as can be.
fn looks_like(body: &str) -> Option<Protocol> {
    let candidates = Protocol::ALL.into_iter().filter_map(|protocol| {
        let decoded = protocol.decode_request_text(body).ok()?;
        let messages = &decoded.request().messages;
        if messages.iter().all(|message| message.parts.is_empty()) {
            return None;
        }
        let parts = messages.iter().flat_map(|message| message.parts.iter());
        let opaque = parts.filter(|part| matches!(part.content(), Part::Opaque(_))).count();
        let kept = history::messages_of(body, protocol).ok()?;
        Some(((members(body).saturating_sub(members(&kept)), opaque), protocol))
    });
    // The first of those that are equally good.
    candidates.min_by_key(|(rest, _)| *rest).map(|(_, protocol)| protocol)
}

fn members(object: &str) -> usize {
    let mut members = 0;
    let counted = Reader::new(object).object(|_, reader| {
        members += 1;
        reader.skip()
    });
    counted.map_or(0, |()| members)
}

fn unknown(file: &File<'_>) -> String {
    let seen = match (&file.whole, file.lines.is_empty()) {
        (None, true) => "no JSON was found in it",
        (Some(Value::Array(_)), _) => "its elements have no `role`",
        _ => "no messages were found in it",
    };
    format!(
        "{seen}: expected a transcript (an array of messages, or one a line), or the messages of a request; name their \
         protocol with --from"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_protocol(body: &str, expected: Protocol) {
        let history = read(body, None).unwrap();
        let Content::Messages { protocol, .. } = history.content else { panic!("{history:?}") };
        assert_eq!(protocol, expected, "{body}");
    }

    #[test]
    fn messages_are_known_by_what_is_understood_of_them() {
        let user = r#"{"role":"user","content":"hello"}"#;
        check_protocol(&format!(r#"{{"messages":[{user}]}}"#), Protocol::OpenaiChat);
        check_protocol(
            &format!(r#"{{"system":"Be brief.","messages":[{user}]}}"#),
            Protocol::AnthropicMessages,
        );
        check_protocol(
            r#"{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"bash","input":{}}]}]}"#,
            Protocol::AnthropicMessages,
        );
        check_protocol(&format!(r#"{{"input":[{user}]}}"#), Protocol::OpenaiResponses);
        check_protocol(r#"{"contents":[{"parts":[{"text":"hello"}]}]}"#, Protocol::Gemini);
    }

    #[test]
    fn transcripts_are_arrays_or_lines() {
        let [user, assistant] = ["user", "assistant"]
            .map(|role| format!(r#"{{"role":"{role}","content":"hello","timestamp":1}}"#));
        let array = format!("[{user},\n{assistant}]");
        let plain = |text: &str| Content::Transcript(text.to_owned());
        assert_eq!(read(&array, None).unwrap(), History { content: plain(&array), note: None });
        let lines = format!("{user}\n\n{assistant}\n");
        let content = plain(&format!("[{user},{assistant}]"));
        assert_eq!(read(&lines, None).unwrap(), History { content, note: None });
        let one = read(&user, None).unwrap();
        assert_eq!(one.content, plain(&format!("[{user}]")));
        let broken = read(&format!("{user}\n{{\"role\":\"us"), None).unwrap();
        assert_eq!(broken.note.as_deref(), Some("1 lines are no messages and were left out"));
    }

    #[test]
    fn what_is_no_conversation_is_refused_with_what_was_expected() {
        for (text, seen) in [
            ("hello", "no JSON was found in it"),
            ("[1]", "its elements have no `role`"),
            ("{\"a\":1}", "no messages were found in it"),
        ] {
            let error = read(text, None).unwrap_err().to_string();
            assert!(error.starts_with(seen) && error.contains("--from"), "{error}");
        }
    }
}
