//! Where the fields that a stream's frames name stand in the whole answer.

use sabir_wire::Protocol;
use sabir_wire::Report;
use serde_json::Value;

use crate::translate;

/// The report of a stream with its pointers turned to the whole answer, as far as frames say where they belong.
pub(super) fn report_on_whole(protocol: Protocol, bytes: &[u8], report: &Report) -> Report {
    let frames = translate::frames(bytes);
    let mut whole = Report::default();
    for loss in report.entries() {
        if let Some(pointer) = pointer_in_whole(protocol, &frames, &loss.pointer) {
            whole.lose(pointer, loss.kind, loss.reason.clone());
        }
    }
    whole
}

fn pointer_in_whole(protocol: Protocol, frames: &[Value], pointer: &str) -> Option<String> {
    let (number, rest) = pointer.strip_prefix('/')?.split_once('/')?;
    let frame = frames.get(number.parse::<usize>().ok()?)?;
    let (name, below) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let index = |key: &str| frame[key].as_u64();
    match (protocol, name) {
        (Protocol::AnthropicMessages, "content_block") => {
            Some(format!("/content/{}{below}", index("index")?))
        }
        (Protocol::AnthropicMessages, "message") => Some(below.to_owned()),
        (Protocol::OpenaiResponses, "item") => {
            Some(format!("/output/{}{below}", index("output_index")?))
        }
        (Protocol::OpenaiResponses, "part") => {
            let (list, place) = match index("summary_index") {
                Some(place) => ("summary", place),
                None => ("content", index("content_index")?),
            };
            Some(format!("/output/{}/{list}/{place}{below}", index("output_index")?))
        }
        (Protocol::OpenaiResponses, "response") => Some(below.to_owned()),
        (Protocol::OpenaiChat, "choices") => {
            Some(format!("/{}", rest.replacen("/delta", "/message", 1)))
        }
        _ => None,
    }
}
