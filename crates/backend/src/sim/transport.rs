//! Sending an answer: headers, pieces, and the faults that happen on the way.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::Value;

use super::answer::simulated;
use super::api::{Api, Frames};
use super::question::Delivery;
use super::trigger::Trigger;
use super::{Reply, Step, chunk, trigger};

/// A JSON body sent at once.
pub(super) fn json(status: StatusCode, mut headers: HeaderMap, value: &Value) -> Reply {
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Reply { status, headers, steps: vec![Step::Send(Bytes::from(value.to_string()))] }
}

/// How one answer is to be sent.
pub(super) struct Shipment<'a> {
    pub(super) api: &'static dyn Api,
    pub(super) headers: HeaderMap,
    pub(super) request_id: &'a str,
    pub(super) fault: Option<Trigger>,
    /// Whether the network's pieces end anywhere, inside characters too.
    pub(super) is_ragged: bool,
}

const GARBAGE: &[u8] = b"\x00\xff<<< this is neither JSON nor an event >>>\n\n";
const HTML: &str = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n";

impl Shipment<'_> {
    pub(super) fn whole(self, value: &Value) -> Reply {
        let body = Bytes::from(value.to_string());
        let half = body.slice(..body.len() / 2);
        let rest = body.slice(half.len()..);
        match self.fault {
            Some(Trigger::HtmlPage) => self.html(),
            Some(Trigger::Garbage | Trigger::GarbageStream) => {
                self.reply("application/json", vec![Step::Send(Bytes::from_static(GARBAGE))])
            }
            Some(Trigger::StreamError | Trigger::StreamErrorFirst) => {
                let error = self.api.refusal(&simulated(500, ""), self.request_id);
                json(StatusCode::INTERNAL_SERVER_ERROR, self.headers, &error)
            }
            Some(Trigger::Disconnect) => self.json_steps(vec![Step::Send(half), Step::Disconnect]),
            Some(Trigger::DisconnectFirst) => self.json_steps(vec![Step::Disconnect]),
            Some(Trigger::Truncated) => self.json_steps(vec![Step::Send(half)]),
            Some(Trigger::SlowFirstByte(wait)) => {
                self.json_steps(vec![Step::Wait(wait), Step::Send(body)])
            }
            Some(Trigger::SlowStream(wait)) => {
                self.json_steps(vec![Step::Send(half), Step::Wait(wait), Step::Send(rest)])
            }
            Some(Trigger::Silent) => self.json_steps(vec![
                Step::Send(half),
                Step::Wait(trigger::SILENCE),
                Step::Send(rest),
            ]),
            Some(Trigger::NeverEnding) => self.json_steps(vec![Step::Forever {
                bytes: Bytes::from_static(b" "),
                pause: trigger::NEVER_ENDING_PAUSE,
            }]),
            Some(Trigger::Status { .. } | Trigger::Flaky) | None if self.is_ragged => {
                let pieces = chunk::ragged(&body).into_iter().map(Step::Send);
                self.json_steps(pieces.collect())
            }
            Some(Trigger::Status { .. } | Trigger::Flaky) | None => {
                self.json_steps(vec![Step::Send(body)])
            }
        }
    }

    pub(super) fn stream(self, frames: Frames, delivery: Delivery) -> Reply {
        let media_type = match delivery {
            Delivery::Array | Delivery::Whole => "application/json; charset=UTF-8",
            Delivery::Events => "text/event-stream; charset=utf-8",
        };
        if self.fault == Some(Trigger::HtmlPage) {
            return self.html();
        }
        let steps = self.steps(frames, delivery);
        self.reply(media_type, steps)
    }

    fn steps(&self, frames: Frames, delivery: Delivery) -> Vec<Step> {
        let Some(fault) = self.fault else { return self.untouched(frames) };
        let middle =
            frames.first_delta + frames.ending.saturating_sub(frames.first_delta).div_ceil(2);
        let until = |end: usize| sends(&frames.all[..end.min(frames.all.len())]);
        let error = |before: usize| {
            let frame = self.api.error_frame(&simulated(529, ""), delivery, before);
            Step::Send(Bytes::from(frame))
        };
        match fault {
            Trigger::Status { .. } | Trigger::Flaky | Trigger::HtmlPage => sends(&frames.all),
            Trigger::SlowFirstByte(wait) => with(vec![Step::Wait(wait)], sends(&frames.all)),
            Trigger::SlowStream(wait) => slowly(&frames, wait),
            Trigger::StreamError => with(until(middle), vec![error(middle)]),
            Trigger::StreamErrorFirst => vec![error(0)],
            Trigger::Disconnect => with(until(middle), vec![Step::Disconnect]),
            Trigger::DisconnectFirst => vec![Step::Disconnect],
            Trigger::Garbage => vec![Step::Send(Bytes::from_static(GARBAGE))],
            Trigger::GarbageStream => with(
                until(middle),
                vec![Step::Send(Bytes::from_static(b"data: {\"garbage\": <<<\n\n"))],
            ),
            Trigger::Truncated => until(middle),
            Trigger::NeverEnding => {
                let bytes = frames.all.get(frames.first_delta).cloned().unwrap_or_default();
                let again =
                    Step::Forever { bytes: Bytes::from(bytes), pause: trigger::NEVER_ENDING_PAUSE };
                with(until(frames.first_delta), vec![again])
            }
            Trigger::Silent => {
                let silence =
                    with(until(frames.first_delta + 1), vec![Step::Wait(trigger::SILENCE)]);
                with(silence, vec![Step::Disconnect])
            }
        }
    }

    fn untouched(&self, frames: Frames) -> Vec<Step> {
        if !self.is_ragged {
            return frames.all.into_iter().map(|frame| Step::Send(Bytes::from(frame))).collect();
        }
        let all = Bytes::from(frames.all.concat());
        chunk::ragged(&all).into_iter().map(Step::Send).collect()
    }

    fn json_steps(self, steps: Vec<Step>) -> Reply {
        self.reply("application/json", steps)
    }

    fn reply(self, media_type: &'static str, steps: Vec<Step>) -> Reply {
        let mut headers = self.headers;
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        Reply { status: StatusCode::OK, headers, steps }
    }

    fn html(self) -> Reply {
        let steps = vec![Step::Send(Bytes::from_static(HTML.as_bytes()))];
        Reply { status: StatusCode::BAD_GATEWAY, ..self.reply("text/html", steps) }
    }
}

fn sends(frames: &[String]) -> Vec<Step> {
    frames.iter().map(|frame| Step::Send(Bytes::from(frame.clone()))).collect()
}

fn with(mut steps: Vec<Step>, more: Vec<Step>) -> Vec<Step> {
    steps.extend(more);
    steps
}

fn slowly(frames: &Frames, wait: Duration) -> Vec<Step> {
    let mut steps = Vec::new();
    for (index, frame) in frames.all.iter().enumerate() {
        if (frames.first_delta..frames.ending).contains(&index) {
            steps.push(Step::Wait(wait));
        }
        steps.push(Step::Send(Bytes::from(frame.clone())));
    }
    steps
}
