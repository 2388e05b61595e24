//! What a client may rely on once it has received an answer, or as much of one as arrived.

use serde_json::Value;

use super::http::Reply;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Client {
    Chat,
    Responses,
    Messages,
    Gemini,
}

/// How a call ended for its client.
#[derive(Debug)]
pub(super) enum Outcome {
    /// All of it arrived, or its terminal event: it must never be lost.
    Acknowledged { id: String, body: Value },
    /// The connection broke before that: it may be there or not.
    Unknown,
    /// The gateway answered otherwise.
    Refused(String),
}

pub(super) fn outcome(client: Client, reply: &Reply) -> Outcome {
    if reply.status == 0 || reply.status == 200 && !reply.is_whole && !has_end(client, reply) {
        return Outcome::Unknown;
    }
    let acknowledged = match reply.status {
        200 if reply.body.starts_with('{') => reply.json().ok(),
        200 => streamed(client, &reply.body),
        _ => None,
    };
    match acknowledged {
        Some(body) => {
            let id = body["id"].as_str().unwrap_or_default().to_owned();
            Outcome::Acknowledged { id, body }
        }
        None if !reply.is_whole => Outcome::Unknown,
        None => Outcome::Refused(format!("{} {}", reply.status, reply.body)),
    }
}

fn has_end(client: Client, reply: &Reply) -> bool {
    streamed(client, &reply.body).is_some()
}

/// The answer of a stream with its terminal event: the body where the protocol repeats it, else what has its id.
fn streamed(client: Client, text: &str) -> Option<Value> {
    match client {
        Client::Chat => events(text).any(|data| data == "[DONE]").then_some(Value::Null),
        Client::Gemini => parsed(text)
            .any(|it| it["candidates"][0]["finishReason"].is_string())
            .then_some(Value::Null),
        Client::Responses => {
            let mut last = parsed(text).find(|it| it["type"] == "response.completed")?;
            Some(last["response"].take())
        }
        Client::Messages => {
            parsed(text).find(|it| it["type"] == "message_stop")?;
            let mut first = parsed(text).find(|it| it["type"] == "message_start")?;
            Some(first["message"].take())
        }
    }
}

fn parsed(text: &str) -> impl Iterator<Item = Value> {
    events(text).filter_map(|data| serde_json::from_str(data).ok())
}

/// The data of all events that arrived with the blank line behind them.
fn events(text: &str) -> impl Iterator<Item = &str> {
    let end = text.rfind("\n\n").map_or(0, |at| at + 1);
    text[..end].lines().filter_map(|line| line.strip_prefix("data: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(body: &str) -> Reply {
        Reply { status: 200, body: body.to_owned(), is_whole: false }
    }

    #[test]
    fn a_terminal_event_counts_with_its_blank_line_only() {
        let cut = "data: {}\n\ndata: [DONE]";
        assert!(matches!(outcome(Client::Chat, &reply(cut)), Outcome::Unknown));
        let ended = reply(&format!("{cut}\n\n"));
        assert!(matches!(outcome(Client::Chat, &ended), Outcome::Acknowledged { .. }));
        let error = "event: error\ndata: {\"type\":\"error\"}\n\n";
        let error = Reply { is_whole: true, ..reply(error) };
        assert!(matches!(outcome(Client::Messages, &error), Outcome::Refused(_)));
    }
}
