//! Answers of Responses that are worked on while nobody waits: how they look before they are there, and their events.

use std::fmt::Write as _;

use sabir_wire::Protocol;
use sabir_wire::conversation::Response;
use sabir_wire::json::{Json, Reader, Writer};
use sabir_wire::protocol::AnswerContext;

use crate::surface::{Background, Standing};

pub(super) const BACKGROUND: Background = Background {
    member: "background",
    id: |seed| format!("resp_{seed}"),
    error,
    announce,
    restate,
    announcement,
    ending,
    number,
    stated_end,
};

/// The error of an answer says less than that of a request.
fn error(refusal: &str) -> Json<'static> {
    let fault = Protocol::OpenaiResponses.decode_fault(None, refusal.as_bytes());
    let code = fault.code.as_ref().map_or("server_error".into(), |code| code.to_str());
    let mut writer = Writer::default();
    writer.object(|it| {
        it.field("code", &*code);
        it.field("message", &fault.message);
    });
    Json::parse(writer.into_string()).unwrap_or(Json::literal("null"))
}

/// The answer before anybody works on it.
fn announce(context: &AnswerContext<'_>) -> String {
    // Whoever answers, it is not a server of this protocol yet: all that one states has to be written.
    let other = Protocol::AnthropicMessages;
    let blank =
        Protocol::OpenaiResponses.encode_response(&Response::default(), other, context).body;
    restate(&blank, &Standing::Queued)
}

fn restate(body: &str, standing: &Standing<'_>) -> String {
    let (status, error) = match standing {
        Standing::Queued => ("queued", None),
        Standing::Running => ("in_progress", None),
        Standing::Cancelled => ("cancelled", None),
        Standing::Failed(error) => ("failed", Some(error)),
    };
    let mut writer = Writer::with_capacity(body.len());
    writer.begin_object();
    // It was written here, so it can be read.
    let _ = Reader::new(body).object(|name, reader| {
        let value = reader.raw()?;
        match (&*name, error) {
            ("status", _) => writer.field("status", status),
            ("completed_at", _) => writer.field("completed_at", &Json::literal("null")),
            ("error", Some(error)) => writer.field("error", *error),
            _ => writer.field(&name, &value),
        }
        Ok(())
    });
    writer.end_object();
    writer.into_string()
}

/// The two events that every stream of an answer in the background begins with.
fn announcement(body: &str) -> String {
    frame("response.created", 0, body) + &frame("response.queued", 1, body)
}

/// The event that an answer ends a stream with. Streams have no event of their own for one that was cancelled: of the three
/// that end them it is the one that says that no answer comes, and the answer in it says why.
fn ending(body: &str, number: u64) -> Option<String> {
    let status = Reader::new(body).peek_tag("status").ok()??;
    let kind = match &*status.to_str() {
        "completed" => "response.completed",
        "incomplete" => "response.incomplete",
        "failed" | "cancelled" => "response.failed",
        _ => return None,
    };
    Some(frame(kind, number, body))
}

fn frame(kind: &'static str, number: u64, response: &str) -> String {
    let mut frame = String::with_capacity(response.len() + 128);
    let _ = write!(
        frame,
        "event: {kind}\ndata: {{\"type\":\"{kind}\",\"sequence_number\":{number},\"response\":{response}}}\n\n"
    );
    frame
}

fn number(data: &str) -> Option<u64> {
    let mut number = None;
    let read = Reader::new(data).object(|name, reader| match &*name {
        "sequence_number" => {
            number = reader.number()?.as_str().parse().ok();
            Ok(())
        }
        _ => reader.skip(),
    });
    read.ok().and(number)
}

/// The answer that the last event of a stream repeats, however it ended.
fn stated_end(data: &str) -> Option<String> {
    let reader = Reader::new(data);
    let kind = reader.peek_tag("type").ok()??;
    let ends = ["response.completed", "response.incomplete", "response.failed"];
    if !ends.contains(&&*kind.to_str()) {
        return None;
    }
    super::response_in(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announced() -> String {
        announce(&AnswerContext {
            seed: sabir_wire::json::Text::literal("x"),
            ..AnswerContext::default()
        })
    }

    fn value(json: &str) -> serde_json::Value {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn an_answer_that_is_waited_for_says_so_and_nothing_else() {
        let queued = value(&announced());
        assert_eq!(queued["id"], "resp_x");
        assert_eq!(queued["status"], "queued");
        assert_eq!(queued["output"], serde_json::json!([]));
        assert!(queued["completed_at"].is_null() && queued["usage"].is_null());
        let error = Json::literal(r#"{"code":"server_error","message":"no"}"#);
        let failed = value(&restate(&announced(), &Standing::Failed(&error)));
        assert_eq!(
            (&failed["status"], &failed["error"]["message"]),
            (&"failed".into(), &"no".into())
        );
    }

    #[test]
    fn events_are_numbered_and_the_last_repeats_the_answer() {
        let frames = announcement(&announced());
        let data: Vec<&str> = frames.lines().filter_map(|it| it.strip_prefix("data: ")).collect();
        assert_eq!(data.iter().map(|it| number(it)).collect::<Vec<_>>(), [Some(0), Some(1)]);
        assert_eq!(ending(&announced(), 2), None);
        let error = Json::literal("null");
        let failed = restate(&announced(), &Standing::Failed(&error));
        let frame = ending(&failed, 7).unwrap();
        let data = frame.lines().find_map(|it| it.strip_prefix("data: ")).unwrap();
        assert_eq!((number(data), stated_end(data)), (Some(7), Some(failed)));
        let cancelled = restate(&announced(), &Standing::Cancelled);
        let frame = ending(&cancelled, 8).unwrap();
        assert!(frame.starts_with("event: response.failed\n"), "{frame}");
        let data = frame.lines().find_map(|it| it.strip_prefix("data: ")).unwrap();
        assert_eq!(stated_end(data), Some(cancelled));
    }
}
