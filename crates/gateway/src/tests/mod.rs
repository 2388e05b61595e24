//! Tests of the whole way of an answer, in one process: a request goes through the stack to a simulator or a scripted backend,
//! and its reply is read frame by frame.

mod artefacts;
mod classes;
mod events;
mod large;
mod reload;
mod taps;

use std::future::poll_fn;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use http_body::Body as _;
use http_body_util::Full;
use sabir_backend::http::{Client, Proxies};
use sabir_wire::Protocol;
use sabir_wire::conversation::{Content, Response};
use sabir_wire::json::Text;
use sabir_wire::protocol::{Event, Fold};
use sabir_wire::target::Target;

use crate::answer::{Cut, decode_all};
use crate::background::Supervisor;
use crate::call::{Action, Delivery};
use crate::egress::Reply;
use crate::stack::Entry;
use crate::state::Snapshot;
use crate::tap::Taps;
use crate::{Gateway, stack, surface};

/// How a client asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asking {
    Whole,
    Stream,
}

/// A gateway with the simulators behind it, not shared yet.
fn gateway(toml: &str) -> Snapshot {
    let config = crate::config::parse(toml, Path::new("sabir.toml"), &|_| None);
    Snapshot::new(config.unwrap_or_else(|problems| panic!("{problems}")))
}

/// The built-in simulator of a protocol.
fn simulator(protocol: Protocol) -> &'static str {
    surface::of(protocol).simulator.name
}

async fn ask(gateway: &Arc<Snapshot>, client: Protocol, model: &str, asking: Asking) -> Reply {
    let stream = asking == Asking::Stream;
    let messages = r#"[{"role":"user","content":"Say something."}]"#;
    let chat = format!(r#"{{"model":"{model}","stream":{stream},"messages":{messages}}}"#);
    let decoded = Protocol::OpenaiChat.decode_request(chat.as_bytes()).unwrap();
    let body = decoded.encode(client, &Target::default()).unwrap().body;
    let path = path(client, model, asking);
    send(gateway, Request::post(path), body).await
}

/// Where a client asks for an answer.
fn path(client: Protocol, model: &str, asking: Asking) -> String {
    let surface = surface::of(client);
    let delivery = if asking == Asking::Stream { Delivery::Stream } else { Delivery::Whole };
    let asked = surface::Path { action: Action::Generate, model, delivery };
    let path = surface.path(surface.version(), &asked).unwrap();
    match surface.stream_query.filter(|_| delivery.is_stream()) {
        Some(query) => format!("{path}?{query}"),
        None => path,
    }
}

async fn send(gateway: &Arc<Snapshot>, request: http::request::Builder, body: String) -> Reply {
    send_from(true, gateway, request, body).await
}

/// Sends a request from this machine or from another one.
async fn send_from(
    is_local: bool,
    gateway: &Arc<Snapshot>,
    request: http::request::Builder,
    body: String,
) -> Reply {
    let request = request.header("host", "localhost").body(Full::new(Bytes::from(body)));
    let (head, mut body) = request.unwrap().into_parts();
    let (snapshot, client) = (gateway, &Client::new(Proxies::default()));
    let gateway = &Gateway::of(Arc::clone(snapshot), None);
    let (supervisor, _tasks) = Supervisor::new();
    let supervisor = &supervisor;
    let entry = Entry { gateway, snapshot, client, supervisor, is_local };
    stack::handle(entry, &head, &mut body).await
}

/// The next bytes of a reply.
async fn next(reply: &mut Reply) -> Option<Result<Bytes, Cut>> {
    let frame = poll_fn(|cx| Pin::new(reply.body_mut()).poll_frame(cx)).await;
    frame.map(|frame| frame.map(|frame| frame.into_data().unwrap()))
}

/// All that is left of a reply, and whether it was cut off.
async fn rest(reply: &mut Reply) -> (String, bool) {
    let mut text = Vec::new();
    let mut is_cut = false;
    while let Some(bytes) = next(reply).await {
        match bytes {
            Ok(bytes) => text.extend_from_slice(&bytes),
            Err(Cut) => {
                is_cut = true;
                break;
            }
        }
    }
    (String::from_utf8(text).unwrap(), is_cut)
}

/// A reply as its client understands it.
async fn understood(reply: &mut Reply, client: Protocol, asking: Asking) -> Response<'static> {
    let (body, is_cut) = rest(reply).await;
    assert!(!is_cut && reply.status() == 200, "{body}");
    match asking {
        Asking::Whole => client.decode_response(body.as_bytes()).unwrap().into_owned(),
        Asking::Stream => fold(client, &body),
    }
}

fn fold(protocol: Protocol, stream: &str) -> Response<'static> {
    let mut fold = Fold::default();
    decode_all(
        protocol,
        stream.as_bytes(),
        (&mut None, &mut Taps::default()),
        &mut |event: Event<'_>| {
            fold.step(event);
        },
    );
    fold.finish()
}

/// All text of an answer.
fn text_of(response: &Response<'_>) -> String {
    let parts = response.candidates.iter().flat_map(|it| it.message.parts.iter());
    let text = |content: &Content<'_>| match content {
        Content::Text(text) => Some(text.to_str().into_owned()),
        _ => None,
    };
    parts.filter_map(|part| text(part.content())).collect()
}

fn plain(text: &str) -> Text<'static> {
    Text::plain(text.to_owned())
}
