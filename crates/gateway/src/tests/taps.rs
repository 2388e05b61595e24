//! Taps see the head, the frames or the body, and the end of every answer; they may hold the end back and change events.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use sabir_wire::conversation::{Count, Counts};
use sabir_wire::protocol::{AnswerContext, Delta, Event};
use sabir_wire::sse::Frame;
use sabir_wire::{Fault, FaultKind, Protocol};

use crate::egress::Reply;
use crate::failure::Whose;
use crate::observe::{Outcome, Upstream};
use crate::state::Snapshot;
use crate::tap::{End, Head, Origin, Tap};
use crate::tests::{
    Asking, ask, fold, gateway, next, plain, rest, send, simulator, text_of, understood,
};

/// What a tap saw of one request.
#[derive(Debug, Default)]
struct Seen {
    client: Option<Protocol>,
    begins: Vec<(String, Protocol, u16)>,
    frames: String,
    body: Vec<u8>,
    ends: Vec<(Outcome, Option<FaultKind>, Counts)>,
    losses: usize,
}

type Shared = Arc<Mutex<Seen>>;

struct Recorder(Shared);

impl Tap for Recorder {
    fn begin(&mut self, head: &Head, upstream: &Upstream, _: Option<&AnswerContext<'static>>) {
        let mut seen = self.0.lock().unwrap();
        seen.begins.push((upstream.provider.to_string(), upstream.protocol, head.status));
        seen.frames.clear();
        seen.body.clear();
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        let mut seen = self.0.lock().unwrap();
        if let Some(event) = frame.event {
            seen.frames.push_str(&format!("event: {event}\n"));
        }
        seen.frames.push_str(&format!("data: {}\n\n", frame.data));
    }

    fn stand_in(&self) -> Option<Box<dyn Tap + Send>> {
        Some(Box::new(Self(Arc::clone(&self.0))))
    }

    fn body(&mut self, body: &Bytes) {
        self.piece(body);
    }

    fn piece(&mut self, bytes: &[u8]) {
        self.0.lock().unwrap().body.extend_from_slice(bytes);
    }

    fn end(&mut self, end: &End<'_>) {
        let mut seen = self.0.lock().unwrap();
        seen.ends.push((end.outcome, end.fault, end.counts));
        seen.losses = end.losses.len();
    }
}

/// A gateway with a tap on every answer.
fn tapped<T: Tap + 'static>(
    toml: &str,
    make: impl Fn(&Origin<'_>) -> T + Send + Sync + 'static,
) -> Arc<Snapshot> {
    let mut gateway = gateway(toml);
    Arc::get_mut(&mut gateway.shared)
        .unwrap()
        .taps
        .0
        .push(Box::new(move |origin| Box::new(make(origin))));
    Arc::new(gateway)
}

fn recorded(toml: &str) -> (Arc<Snapshot>, Shared) {
    let seen = Shared::default();
    let shared = Arc::clone(&seen);
    let gateway = tapped(toml, move |origin| {
        assert!(origin.id.starts_with("ex_") && origin.key.is_none());
        *shared.lock().unwrap() = Seen { client: Some(origin.client), ..Seen::default() };
        Recorder(Arc::clone(&shared))
    });
    (gateway, seen)
}

#[tokio::test]
async fn a_tap_sees_what_the_provider_sent_and_how_it_ended() {
    let (gateway, seen) = recorded("");
    for client in Protocol::ALL {
        for upstream in Protocol::ALL {
            for asking in [Asking::Whole, Asking::Stream] {
                let case = format!("{client:?} {upstream:?} {asking:?}");
                let model = format!("{}/m", simulator(upstream));
                let mut reply = ask(&gateway, client, &model, asking).await;
                let received = text_of(&understood(&mut reply, client, asking).await);
                let seen = seen.lock().unwrap();
                assert_eq!(seen.client, Some(client), "{case}");
                let head = (simulator(upstream).to_owned(), upstream, 200);
                assert_eq!(seen.begins, [head], "{case}");
                let (frames, body) = (fold(upstream, &seen.frames), &seen.body);
                let tapped = match asking {
                    Asking::Stream => text_of(&frames),
                    Asking::Whole => text_of(&upstream.decode_response(body).unwrap()),
                };
                assert_eq!(
                    (tapped.as_str(), tapped.is_empty()),
                    (received.as_str(), false),
                    "{case}"
                );
                let [(outcome, fault, counts)] = seen.ends[..] else { panic!("{case}: {seen:?}") };
                assert_eq!((outcome, fault), (Outcome::Answered, None), "{case}");
                // A Chat stream has a count only if its client asks for one.
                let has_count = upstream != Protocol::OpenaiChat || asking == Asking::Whole;
                assert!(!has_count || counts[Count::Output].is_some(), "{case}: {counts:?}");
                assert!(client != upstream || seen.losses == 0, "{case}");
            }
        }
    }
}

#[tokio::test]
async fn a_tap_sees_bytes_that_nobody_looks_into() {
    let (gateway, seen) = recorded("");
    let get = Request::get("/passthrough/sim-chat/v1/models");
    let mut reply = send(&gateway, get, String::new()).await;
    let (body, _) = rest(&mut reply).await;
    assert!(!body.is_empty());
    assert_eq!(seen.lock().unwrap().body, body.as_bytes());
    assert_eq!(seen.lock().unwrap().ends[0].0, Outcome::Answered);
    let get = Request::get("/passthrough/sim-chat/v1/nothing");
    let mut reply = send(&gateway, get, String::new()).await;
    let (body, _) = rest(&mut reply).await;
    let seen = seen.lock().unwrap();
    assert_eq!((seen.begins[0].2, seen.body.as_slice()), (404, body.as_bytes()));
    assert_eq!(
        seen.ends.iter().map(|it| it.0).collect::<Vec<_>>(),
        [Outcome::Failed(Whose::Upstream)]
    );
}

#[tokio::test]
async fn a_tap_learns_whose_fault_it_was_and_that_an_answer_was_cut_off() {
    let (gateway, seen) = recorded("");
    let upstream = Outcome::Failed(Whose::Upstream);
    for (model, expected) in [
        ("fault-truncated", (upstream, Some(FaultKind::Truncated))),
        ("fault-disconnect", (upstream, Some(FaultKind::Truncated))),
        ("fault-400", (Outcome::Failed(Whose::Client), Some(FaultKind::BadRequest))),
        ("fault-429", (upstream, Some(FaultKind::RateLimit))),
    ] {
        for client in [Protocol::OpenaiChat, Protocol::AnthropicMessages] {
            let model = format!("sim-chat/{model}");
            let mut reply = ask(&gateway, client, &model, Asking::Stream).await;
            rest(&mut reply).await;
            let ends = &seen.lock().unwrap().ends;
            assert_eq!(ends.len(), 1, "{model} {client:?}");
            assert_eq!((ends[0].0, ends[0].1), expected, "{model} {client:?}");
        }
    }
}

#[tokio::test]
async fn a_tap_learns_that_the_client_has_left() {
    let (gateway, seen) = recorded("");
    for client in [Protocol::OpenaiChat, Protocol::Gemini] {
        let mut reply = ask(&gateway, client, "sim-chat/fault-slow-stream", Asking::Stream).await;
        assert!(next(&mut reply).await.is_some());
        assert!(seen.lock().unwrap().ends.is_empty());
        drop(reply);
        assert_eq!(seen.lock().unwrap().ends[0].0, Outcome::Cancelled);
    }
}

#[tokio::test]
async fn an_answer_that_was_given_up_before_its_first_event_begins_anew() {
    let (gateway, seen) = recorded(
        r#"[[model]]
        name = "m"
        targets = [
            { provider = "sim-chat", model = "fault-stream-error-first" },
            { provider = "sim-gemini", model = "good" },
        ]"#,
    );
    let mut reply = ask(&gateway, Protocol::OpenaiChat, "m", Asking::Stream).await;
    rest(&mut reply).await;
    let seen = seen.lock().unwrap();
    let providers: Vec<_> = seen.begins.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(providers.last(), Some(&"sim-gemini"));
    assert!(providers.contains(&"sim-chat"), "{providers:?}");
    assert!(!text_of(&fold(Protocol::Gemini, &seen.frames)).is_empty());
    assert_eq!(seen.ends.len(), 1);
}

/// Something durable that takes its time.
#[derive(Clone, Debug, Default)]
struct Disk(Arc<Mutex<Writing>>);

#[derive(Debug, Default)]
struct Writing {
    outcome: Option<Result<(), FaultKind>>,
    waker: Option<Waker>,
}

impl Disk {
    fn finish(&self, outcome: Result<(), FaultKind>) {
        let mut writing = self.0.lock().unwrap();
        writing.outcome = Some(outcome);
        writing.waker.take().unwrap().wake();
    }
}

impl Tap for Disk {
    fn holds_end(&self) -> bool {
        true
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Fault<'static>>> {
        let mut writing = self.0.lock().unwrap();
        writing.waker = Some(cx.waker().clone());
        match writing.outcome {
            None => Poll::Pending,
            Some(outcome) => Poll::Ready(outcome.map_err(|it| Fault::new(it, "the disk is full"))),
        }
    }
}

/// What comes of an answer while its end is held back.
async fn until_held(reply: &mut Reply) -> String {
    let mut text = String::new();
    while let Ok(Some(bytes)) = tokio::time::timeout(Duration::from_secs(9), next(reply)).await {
        text.push_str(std::str::from_utf8(&bytes.unwrap()).unwrap());
    }
    text
}

/// The same, and what comes afterwards.
async fn held_back(
    client: Protocol,
    upstream: Protocol,
    outcome: Result<(), FaultKind>,
) -> (String, String, bool) {
    let disk = Disk::default();
    let shared = disk.clone();
    let gateway = tapped("", move |_| shared.clone());
    let mut reply =
        ask(&gateway, client, &format!("{}/m", simulator(upstream)), Asking::Stream).await;
    let before = until_held(&mut reply).await;
    disk.finish(outcome);
    let (after, is_cut) = rest(&mut reply).await;
    drop(reply);
    let recorded = gateway.shared.exchanges.all()[0].outcome;
    assert_eq!(recorded == Outcome::Answered, outcome.is_ok(), "{client:?} {upstream:?}");
    (before, after, is_cut)
}

/// A whole answer does not even begin while it is held back.
async fn held_whole(client: Protocol, upstream: Protocol, outcome: Result<(), FaultKind>) -> Reply {
    let disk = Disk::default();
    let shared = disk.clone();
    let gateway = tapped("", move |_| shared.clone());
    let model = format!("{}/m", simulator(upstream));
    let mut asking = std::pin::pin!(ask(&gateway, client, &model, Asking::Whole));
    let held = tokio::time::timeout(Duration::from_secs(9), asking.as_mut()).await;
    assert!(held.is_err(), "{client:?} {upstream:?}");
    disk.finish(outcome);
    asking.await
}

#[tokio::test(start_paused = true)]
async fn the_end_of_an_answer_leaves_when_the_taps_are_ready() {
    for client in Protocol::ALL {
        for upstream in Protocol::ALL {
            let case = format!("{client:?} {upstream:?}");
            let (before, after, is_cut) = held_back(client, upstream, Ok(())).await;
            let so_far = fold(client, &before);
            assert!(so_far.candidates.iter().all(|it| it.finish.is_none()), "{case}: {before}");
            let all = fold(client, &(before + &after));
            assert!(!is_cut && all.fault.is_none(), "{case}");
            assert!(all.candidates[0].finish.is_some(), "{case}: {after}");
            let mut reply = held_whole(client, upstream, Ok(())).await;
            let (after, is_cut) = rest(&mut reply).await;
            assert!(reply.status() == 200 && !after.is_empty() && !is_cut, "{case}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_tap_could_not_do_fails_the_answer() {
    for client in Protocol::ALL {
        for upstream in Protocol::ALL {
            let case = format!("{client:?} {upstream:?}");
            let failed = Err(FaultKind::Internal);
            let (before, after, _) = held_back(client, upstream, failed).await;
            let all = fold(client, &(before + &after));
            assert!(all.fault.is_some() && after.contains("the disk is full"), "{case}: {after}");
            assert!(all.candidates.iter().all(|it| it.finish.is_none()), "{case}: {after}");
            let mut reply = held_whole(client, upstream, failed).await;
            let (after, is_cut) = rest(&mut reply).await;
            assert_eq!(reply.status(), 503, "{case}");
            assert!(after.contains("the disk is full") && !is_cut, "{case}: {after}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_tap_is_told_when_the_gateway_ends() {
    for client in Protocol::ALL {
        let disk = Disk::default();
        let gateway = tapped("", move |_| disk.clone());
        let mut reply = ask(&gateway, client, "sim-chat/m", Asking::Stream).await;
        let before = until_held(&mut reply).await;
        gateway.shared.end();
        let (after, _) = rest(&mut reply).await;
        assert!(fold(client, &(before + &after)).fault.is_some(), "{client:?}: {after}");
        drop(reply);
        let outcome = gateway.shared.exchanges.all()[0].outcome;
        assert_eq!(outcome, Outcome::Failed(Whose::Gateway), "{client:?}");
    }
}

/// Says all that is said aloud.
struct Louder;

impl Tap for Louder {
    fn changes_events(&self) -> bool {
        true
    }

    fn event(&mut self, event: Event<'_>, emit: &mut dyn FnMut(Event<'_>)) {
        match event {
            Event::Delta(part, Delta::Text(text)) => {
                let text = plain(&text.to_str().to_uppercase());
                emit(Event::Delta(part, Delta::Text(text)));
            }
            other => emit(other),
        }
    }
}

#[tokio::test]
async fn a_tap_that_changes_events_changes_every_answer() {
    let plain = Arc::new(gateway(""));
    let louder = tapped("", |_| Louder);
    for client in Protocol::ALL {
        for upstream in Protocol::ALL {
            for asking in [Asking::Whole, Asking::Stream] {
                let model = format!("{}/m", simulator(upstream));
                let mut received = Vec::new();
                for gateway in [&plain, &louder] {
                    let mut reply = ask(gateway, client, &model, asking).await;
                    received.push(text_of(&understood(&mut reply, client, asking).await));
                }
                assert_ne!(received[0], received[1], "{client:?} {upstream:?} {asking:?}");
                assert_eq!(
                    received[0].to_uppercase(),
                    received[1],
                    "{client:?} {upstream:?} {asking:?}"
                );
            }
        }
    }
}
