//! A backend that gives events, as agents will, is answered in every client's protocol, whole and streamed.

use std::sync::Arc;

use sabir_wire::conversation::Count;
use sabir_wire::protocol::Event;
use sabir_wire::{FaultKind, Protocol};

use crate::answer::decode_all;
use crate::state::Snapshot;
use crate::tap::Taps;
use crate::tests::{Asking, ask, fold, gateway, rest, text_of, understood};
use crate::upstream::AnyBackend;
use crate::upstream::scripted::Scripted;

/// A stream that is given as its events.
const STREAM: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":7,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello "}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"there"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}

event: message_stop
data: {"type":"message_stop"}

"#;

fn events(stream: &str) -> Vec<Event<'static>> {
    let mut events = Vec::new();
    decode_all(
        Protocol::AnthropicMessages,
        stream.as_bytes(),
        (&mut None, &mut Taps::default()),
        &mut |event: Event<'_>| events.push(event.into_owned()),
    );
    events
}

/// A gateway whose simulator of Messages gives these events instead.
fn scripted(events: Vec<Event<'static>>) -> Arc<Snapshot> {
    let mut gateway = gateway("");
    let mut providers = gateway.directory.providers.iter_mut();
    let provider = providers.find(|it| &*it.name == "sim-anthropic");
    let endpoint = &mut Arc::get_mut(provider.unwrap()).unwrap().endpoints[0];
    endpoint.backend = AnyBackend::Scripted(Scripted(events.into()));
    Arc::new(gateway)
}

#[tokio::test]
async fn events_are_answered_in_every_protocol() {
    let gateway = scripted(events(STREAM));
    for client in Protocol::ALL {
        for asking in [Asking::Whole, Asking::Stream] {
            let mut reply = ask(&gateway, client, "sim-anthropic/m", asking).await;
            let response = understood(&mut reply, client, asking).await;
            assert_eq!(text_of(&response), "Hello there", "{client:?} {asking:?}");
            assert!(response.fault.is_none(), "{client:?} {asking:?}");
            drop(reply);
            let seen = &gateway.shared.exchanges.all()[0];
            assert_eq!(seen.outcome.as_str(), "answered", "{client:?} {asking:?}");
            let counts = [Count::Input, Count::Output].map(|count| seen.counts[count]);
            assert_eq!(counts, [Some(7), Some(5)], "{client:?} {asking:?}");
        }
    }
}

#[tokio::test]
async fn events_that_break_off_are_no_answer() {
    let mut cut = events(STREAM);
    cut.truncate(3);
    let mut failed = cut.clone();
    failed.push(Event::Fault(sabir_wire::Fault::new(FaultKind::Truncated, "the agent is gone")));
    for (gateway, client) in Protocol::ALL
        .into_iter()
        .flat_map(|client| [cut.clone(), failed.clone()].map(|events| (scripted(events), client)))
    {
        let whole = ask(&gateway, client, "sim-anthropic/m", Asking::Whole).await;
        assert_eq!(whole.status(), 502, "{client:?}");
        let mut reply = ask(&gateway, client, "sim-anthropic/m", Asking::Stream).await;
        let (body, _) = rest(&mut reply).await;
        assert!(fold(client, &body).fault.is_some(), "{client:?}: {body}");
    }
}

#[tokio::test]
async fn a_fault_in_the_place_of_the_first_event_is_a_refusal() {
    let fault = sabir_wire::Fault::new(FaultKind::Overloaded, "no agent is free");
    let gateway = scripted(vec![Event::Fault(fault)]);
    for asking in [Asking::Whole, Asking::Stream] {
        let reply = ask(&gateway, Protocol::OpenaiChat, "sim-anthropic/m", asking).await;
        assert_eq!(reply.status(), 503, "{asking:?}");
    }
}
