//! What a file holds of a conversation, found out from the file itself: the session of an agent, a transcript, or the messages of
//! a request.

use anyhow::{Context, Result, anyhow, bail};
use sabir_compose::history;
use sabir_compose::session::{self, Session};
use sabir_wire::Protocol;
use sabir_wire::conversation::Content as Part;
use sabir_wire::json::{Json, Kind, Reader, Writer};
use sabir_wire::unified::{Transcript, read_timestamp};
use serde::de::IgnoredAny;

use crate::output::printable;

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

/// What a message of a transcript may have. A message with more is one of a protocol, or somebody has added to it.
const MEMBERS: [&str; 5] = ["role", "content", "tool_calls", "tool_call_id", TIMESTAMP];
const TIMESTAMP: &str = "timestamp";

/// Reads a file; `from` is what the user says that it holds.
pub(super) fn read(text: &str, from: Option<Protocol>) -> Result<History> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if from.is_none() && session::recognise(text).is_some() {
        let session = Session::parse(text)?;
        return Ok(History { note: note_on(&session), content: Content::Session(session) });
    }
    match Json::parse(text) {
        Ok(json) => match json.kind() {
            Kind::Array => list(&json.reader().list(|_, reader| reader.raw())?, from),
            Kind::Object if from.is_none() && has(&json, "role") => list(&[json], from),
            Kind::Object => messages(text.to_owned(), Vec::new(), from),
            _ => bail!("no messages were found in it: {EXPECTED}"),
        },
        Err(_) => list(&lines(text)?, from),
    }
}

const EXPECTED: &str = "expected a transcript (an array of messages, or one a line), or the messages of a request; name their \
                        protocol with --from";

/// What the file of a session holds beside its history, and what it does not hold of it.
fn note_on(session: &Session) -> Option<String> {
    let kinds: Vec<String> = session.left_out().iter().map(ToString::to_string).collect();
    let left_out =
        (!kinds.is_empty()).then(|| format!("not part of the conversation: {}", kinds.join(", ")));
    let timeless = session.times().iter().filter(|time| time.is_none()).count();
    let timeless = (timeless > 0).then(|| {
        let what = if timeless == 1 { "message" } else { "messages" };
        format!("the file has no time for {timeless} {what}, which got that of the import")
    });
    let notes: Vec<String> = left_out.into_iter().chain(timeless).collect();
    (!notes.is_empty()).then(|| notes.join("\n"))
}

/// A JSON value in each line. One that is cut off is an error: whoever imports a file wants all of it.
fn lines(text: &str) -> Result<Vec<Json<'_>>> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let mut elements = Vec::new();
    for (number, line) in lines {
        match Json::parse(line) {
            Ok(element) => elements.push(element),
            Err(_) if elements.is_empty() => bail!("{}", unreadable(text)),
            Err(error) => bail!("line {number}: {}", error.message()),
        }
    }
    match elements.is_empty() {
        true => bail!("{}", unreadable(text)),
        false => Ok(elements),
    }
}

/// Why a text is no JSON.
fn unreadable(text: &str) -> String {
    let is_begun = text.trim_start().starts_with(['{', '[']);
    match (serde_json::from_str::<IgnoredAny>(text), Json::parse(text)) {
        (Err(error), _) if is_begun => error.to_string(),
        // What is JSON may be more than is read.
        (Ok(_), Err(error)) => error.message().to_owned(),
        _ => format!("no JSON was found in it: {EXPECTED}"),
    }
}

/// A list of messages: a transcript, unless they say more than one holds.
fn list(elements: &[Json<'_>], from: Option<Protocol>) -> Result<History> {
    let whole = format!("[{}]", joined(elements));
    let others = others(elements);
    let is_timed = elements.iter().any(|element| has(element, TIMESTAMP));
    let plain = Transcript::parse(&whole).map(|_| Content::Transcript(whole));
    let error = match plain {
        Ok(content) if from.is_none() && others.is_empty() => {
            return Ok(History { content, note: None });
        }
        Ok(content) if from.is_none() && is_timed => {
            let note = format!("left out, since no transcript has it: {}", others.join(", "));
            return Ok(History { content, note: Some(note) });
        }
        Ok(_) => None,
        Err(error) => Some(error),
    };
    let request = match from.is_some() || elements.iter().all(is_of_protocol) {
        true => as_request(elements, from),
        false => Ok(None),
    };
    match (request, error) {
        (Ok(Some(history)), _) => Ok(history),
        (_, Some(error)) if from.is_none() => Err(misread(&error)),
        (Err(error), _) => Err(error),
        (Ok(None), _) => bail!("no messages were found in it: {EXPECTED}"),
    }
}

/// Whether an element says whose it is, or what.
fn is_of_protocol(element: &Json<'_>) -> bool {
    ["role", "type", "parts"].iter().any(|member| has(element, member))
}

fn joined(elements: &[Json<'_>]) -> String {
    elements.iter().map(Json::as_str).collect::<Vec<_>>().join(",")
}

/// Which message is wrong, counted from 1, and how.
fn misread(error: &sabir_wire::Error) -> anyhow::Error {
    let pointer = error.pointer().trim_start_matches('/');
    let (index, rest) = pointer.split_once('/').unwrap_or((pointer, ""));
    let number = index.parse::<usize>().map_or(0, |index| index + 1);
    let place =
        if rest.is_empty() { String::new() } else { format!(", {}", rest.replace('/', ".")) };
    anyhow!("message {number}{place}: {}", error.message())
}

/// Names of members that no transcript has, each once.
fn others(elements: &[Json<'_>]) -> Vec<String> {
    let mut others = Vec::new();
    for element in elements {
        add_others(element, "", &mut others);
    }
    others
}

/// Adds the names of members that no transcript has at a path, below it as well.
fn add_others(object: &Json<'_>, path: &str, others: &mut Vec<String>) {
    let known = match path {
        "" => &MEMBERS[..],
        "tool_calls." => &CALL_MEMBERS,
        _ => &FUNCTION_MEMBERS,
    };
    let _ = object.reader().object(|key, reader| {
        let (name, value) = (format!("{path}{key}"), reader.raw()?);
        match (&*name, value.kind()) {
            ("tool_calls", Kind::Array) => value.reader().array(|_, call| {
                add_others(&call.raw()?, "tool_calls.", others);
                Ok(())
            })?,
            ("tool_calls.function", _) => add_others(&value, "tool_calls.function.", others),
            _ if !known.contains(&&*key) && !others.contains(&name) => others.push(name),
            _ => {}
        }
        Ok(())
    });
}

/// What a call of a transcript may have.
const CALL_MEMBERS: [&str; 3] = ["id", "type", "function"];
const FUNCTION_MEMBERS: [&str; 2] = ["name", "arguments"];

fn has(object: &Json<'_>, member: &str) -> bool {
    let mut has = false;
    let read = object.reader().object(|key, reader| {
        has |= key == member;
        reader.skip()
    });
    read.is_ok() && has
}

/// The elements as the list of a request, apart from their times; none if no protocol has such.
fn as_request(elements: &[Json<'_>], from: Option<Protocol>) -> Result<Option<History>> {
    let timed = (1..).zip(elements).map(|(number, element)| {
        timed(element).map_err(|error| anyhow!("message {number}: {error}"))
    });
    let timed: Vec<(Json<'_>, Option<i64>)> = timed.collect::<Result<_>>()?;
    let (elements, times): (Vec<Json<'_>>, Vec<Option<i64>>) = timed.into_iter().unzip();
    let joined = joined(&elements);
    let body = |protocol: Protocol| format!("{{\"{}\":[{joined}]}}", protocol.facts().messages());
    let candidates = Protocol::ALL.into_iter().filter(|it| from.is_none_or(|from| from == *it));
    let read = candidates.filter_map(|protocol| {
        let body = body(protocol);
        Some((left_over(&body, protocol)?, protocol, body))
    });
    let Some((_, protocol, body)) = read.min_by_key(|(rest, ..)| *rest) else {
        return match from {
            Some(protocol) => messages(body(protocol), times, from).map(Some),
            None => Ok(None),
        };
    };
    messages(body, times, Some(protocol)).map(Some)
}

/// An element apart from its time.
fn timed<'e>(element: &'e Json<'_>) -> sabir_wire::Result<(Json<'e>, Option<i64>)> {
    let (mut writer, mut time, mut read) = (Writer::default(), None, Ok(()));
    if !has(element, TIMESTAMP) {
        return Ok((element.reborrow(), None));
    }
    writer.object(|it| {
        read = element.reader().object(|key, reader| {
            match &*key {
                TIMESTAMP => time = read_timestamp(reader)?,
                _ => it.field(&key, &reader.raw()?),
            }
            Ok(())
        });
    });
    read.and_then(|()| Ok((Json::parse(writer.into_string())?, time)))
}

/// A request, or the messages of one.
fn messages(body: String, times: Vec<Option<i64>>, from: Option<Protocol>) -> Result<History> {
    let protocol = match from.or_else(|| looks_like(&body)) {
        Some(protocol) => protocol,
        None => bail!("no messages were found in it: {EXPECTED}"),
    };
    check_roles(&body, protocol)?;
    protocol.decode_request_text(&body).context("the messages cannot be read")?;
    if left_over(&body, protocol).is_none() {
        bail!("nothing is said in it as {}: {EXPECTED}", protocol.as_str());
    }
    Ok(History { content: Content::Messages { protocol, body, times }, note: None })
}

/// Refuses messages of somebody whom nobody knows.
fn check_roles(body: &str, protocol: Protocol) -> Result<()> {
    match history::stranger(body, protocol) {
        None => Ok(()),
        Some(stranger) => {
            bail!("message {}, role: {}", stranger.index + 1, printable(&stranger.to_string()))
        }
    }
}

/// The protocol of which most is understood; the first of those that are equally good.
fn looks_like(body: &str) -> Option<Protocol> {
    let read = Protocol::ALL.into_iter().filter_map(|it| Some((left_over(body, it)?, it)));
    read.min_by_key(|(rest, _)| *rest).map(|(_, protocol)| protocol)
}

/// How many members and how many parts are left over where a body is read as a protocol's; none if nothing is said in it.
fn left_over(body: &str, protocol: Protocol) -> Option<(usize, usize)> {
    let decoded = protocol.decode_request_text(body).ok()?;
    let messages = &decoded.request().messages;
    if messages.iter().all(|message| message.parts.is_empty()) {
        return None;
    }
    let parts = messages.iter().flat_map(|message| message.parts.iter());
    let opaque = parts.filter(|part| matches!(part.content(), Part::Opaque(_))).count();
    let kept = history::messages_of(body, protocol).ok()?;
    Some((members(body).saturating_sub(members(&kept)), opaque))
}

fn members(object: &str) -> usize {
    let mut members = 0;
    let counted = Reader::new(object).object(|_, reader| {
        members += 1;
        reader.skip()
    });
    counted.map_or(0, |()| members)
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
        let array = format!("[{user},{assistant}]");
        let plain = |text: &str| Content::Transcript(text.to_owned());
        assert_eq!(read(&array, None).unwrap(), History { content: plain(&array), note: None });
        let lines = format!("{user}\n\n{assistant}\n");
        let content = plain(&format!("[{user},{assistant}]"));
        assert_eq!(read(&lines, None).unwrap(), History { content, note: None });
        let one = read(&user, None).unwrap();
        assert_eq!(one.content, plain(&format!("[{user}]")));
    }

    #[track_caller]
    fn check_refused(text: &str, expected: &str) {
        let error = read(text, None).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{text}: {error}");
    }

    #[test]
    fn what_is_wrong_is_named_by_its_line_or_its_message() {
        let user = r#"{"role":"user","content":"hello"}"#;
        check_refused(&format!("{user}\n\n{{\"role\":\"us"), "line 3: ");
        check_refused(&format!("{user}\nhello\n{user}"), "line 2: ");
        check_refused(
            &format!("{user}\n{{\"content\":\"a\"}}"),
            "message 2: expected a message with",
        );
        check_refused(
            r#"[{"role":"user","content":"a","timestamp":"noon"}]"#,
            "message 1, timestamp: expected a time in milliseconds",
        );
        for body in [
            format!(r#"[{user},{{"role":"robot","content":"a"}}]"#),
            format!(r#"{{"messages":[{user},{{"role":"robot","content":"a"}}]}}"#),
            format!(r#"{{"input":[{user},{{"role":"robot","content":[]}}]}}"#),
            r#"{"contents":[{"parts":[{"text":"a"}]},{"role":"robot","parts":[{"text":"a"}]}]}"#
                .to_owned(),
        ] {
            check_refused(&body, "message 2, role: expected one of system, ");
        }
        check_refused(&format!("[{user},"), "EOF while parsing a value at line 1");
    }

    #[test]
    fn members_of_calls_that_no_transcript_has_are_kept_or_named() {
        let call = r#"{"id":"c","type":"function","index":0,"function":{"name":"f","arguments":"{}","strict":true}}"#;
        let message = |more: &str| {
            format!(r#"[{{"role":"assistant","content":"","tool_calls":[{call}]{more}}}]"#)
        };
        check_protocol(&message(""), Protocol::OpenaiChat);
        let note = read(&message(r#","timestamp":7"#), None).unwrap().note.unwrap();
        assert!(note.ends_with(": tool_calls.index, tool_calls.function.strict"), "{note}");
    }

    #[test]
    fn a_list_of_messages_may_be_any_protocols() {
        let texts = r#"[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]}]"#;
        check_protocol(texts, Protocol::AnthropicMessages);
        check_protocol(r#"[{"role":"user","parts":[{"text":"a"}]}]"#, Protocol::Gemini);
        // What a transcript would leave out.
        check_protocol(r#"[{"role":"user","content":"a","name":"ada"}]"#, Protocol::OpenaiChat);
        let user = r#"[{"role":"user","content":"a","timestamp":7}]"#;
        for protocol in
            [Protocol::OpenaiChat, Protocol::AnthropicMessages, Protocol::OpenaiResponses]
        {
            let history = read(user, Some(protocol)).unwrap();
            let body = format!(
                r#"{{"{}":[{{"role":"user","content":"a"}}]}}"#,
                protocol.facts().messages()
            );
            let content = Content::Messages { protocol, body, times: vec![Some(7)] };
            assert_eq!(history, History { content, note: None });
        }
        assert!(read(r#"[{"role":"user","content":"a"}]"#, Some(Protocol::Gemini)).is_err());
    }

    #[test]
    fn what_people_added_to_a_transcript_is_left_out_and_said() {
        let text = r#"[{"role":"user","content":"a","mood":"calm","timestamp":7}]"#;
        let note = read(text, None).unwrap().note;
        assert_eq!(note.as_deref(), Some("left out, since no transcript has it: mood"));
    }

    #[test]
    fn what_is_no_conversation_is_refused_with_what_was_expected() {
        for (text, seen) in [
            ("hello", "no JSON was found in it"),
            ("", "no JSON was found in it"),
            ("7", "no messages were found in it"),
            ("{\"a\":1}", "no messages were found in it"),
        ] {
            let error = read(text, None).unwrap_err().to_string();
            assert!(error.starts_with(seen) && error.contains("--from"), "{text}: {error}");
        }
        let deep = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
        check_refused(&deep, "expected at most ");
        check_refused("[1]", "message 1: expected a message, found a number");
    }
}
