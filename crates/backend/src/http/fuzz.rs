//! What must hold for any bytes that a server sends: shared by the fuzz targets and the property tests.
//!
//! Each function panics if its promise is broken and says nothing otherwise.

mod scripted;
mod strict;

use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use http::{HeaderMap, Method};

use crate::http::chunked::Chunked;
use crate::http::client::pieces_of;
use crate::http::connect::Connection;
use crate::http::head::{Head, Receiver};
use crate::http::{Address, Afterwards, Client, HttpResponse, Outgoing};

pub(super) use scripted::Scripted;

/// Reads a head: what is accepted is one by the grammar, and any split of the bytes gives the same.
pub fn head(bytes: &[u8]) {
    let whole = received([bytes]);
    let singles = received(bytes.chunks(1));
    let halves = received([&bytes[..bytes.len() / 2], &bytes[bytes.len() / 2..]]);
    assert_eq!(whole, singles, "a split changed the head");
    assert_eq!(whole, halves, "a split changed the head");
    if let Ok(Some((head, length))) = Head::parse(bytes) {
        let strict = strict::head(&bytes[..length]).expect("what is accepted is by the grammar");
        assert_eq!(strict.headers.len(), head.headers.len(), "a header was lost");
        assert_eq!(strict.status, head.status.as_u16());
    }
}

/// The status of an answer and how many headers it has, if its head is read.
fn received<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Option<(u16, usize)> {
    let mut receiver = Receiver::default();
    for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
        if let Some((head, _)) = receiver.push(piece).ok()? {
            let _ = (head.framing(), head.keep_alive());
            return Some((head.status.as_u16(), head.headers.len()));
        }
    }
    None
}

/// Takes chunks off a body: exactly what is by the grammar is read, and any split of the bytes gives the same.
pub fn chunked(bytes: &[u8]) {
    let whole = unchunked([bytes]);
    let at = usize::from(bytes.first().copied().unwrap_or_default()).min(bytes.len());
    assert_eq!(whole, unchunked(bytes.chunks(1)), "a split changed the body");
    assert_eq!(whole, unchunked([&bytes[..at], &bytes[at..]]), "a split changed the body");
    assert_eq!(whole, strict::chunked(bytes), "another reader finds another body");
}

/// The data of a body, and where it ends.
fn unchunked<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Option<(Vec<u8>, usize)> {
    let (mut chunked, mut data, mut end) = (Chunked::default(), Vec::new(), 0);
    for piece in pieces {
        let behind = chunked.push(piece, &mut |bytes| data.extend_from_slice(bytes)).ok()?;
        end += piece.len() - behind;
    }
    chunked.is_over().then_some((data, end))
}

/// Sends requests one after the other over connections that are used again: a connection is used again only if exactly one
/// answer, and nothing else, had come over it, so that nobody gets what was behind another's.
///
/// The bytes say what the server sends. [`RECORD`] begins the next answer, whose first byte says what is asked for;
/// [`PIECE`] ends a read, twice in a row a pause; what stands behind [`LATE`] comes when the answer has been read.
pub fn reuse(bytes: &[u8]) {
    thread_local! {
        static RUNTIME: tokio::runtime::Runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime without I/O can always be made");
    }
    RUNTIME.with(|runtime| {
        let _entered = runtime.enter();
        let client = Client::default();
        let address = "http://a".parse().ok().as_ref().and_then(Address::of);
        let address = address.expect("the address is one");
        for record in bytes.split(|byte| *byte == RECORD).take(RECORDS_MAX) {
            exchange(&client, &address, record);
        }
    });
}

/// What divides the bytes that the server sends, see [`reuse`].
pub const RECORD: u8 = 0x1e;
pub const PIECE: u8 = 0x1f;
pub const LATE: u8 = 0x1d;

const RECORDS_MAX: usize = 16;

fn exchange(client: &Client, address: &Address, record: &[u8]) {
    let (kind, record) = record.split_first().unwrap_or((&b'g', &[]));
    let (method, body): (Method, &[u8]) = match kind.to_ascii_lowercase() {
        b'p' => (Method::POST, b"{}"),
        b'b' => (Method::GET, b"GET / HTTP/1.1\r\n\r\n"),
        b'h' => (Method::HEAD, b""),
        b'd' => (Method::DELETE, b""),
        _ => (Method::GET, b""),
    };
    let mut record = record.splitn(2, |byte| *byte == LATE);
    let (answer, late) = (record.next().unwrap_or_default(), record.next().unwrap_or_default());
    let mut cx = Context::from_waker(Waker::noop());
    let kept = client.pool.take(address, &mut cx);
    if let Some(Connection::Scripted(wire)) = &kept {
        let (method, sent) = wire.last();
        let strict = strict::answer(&sent).expect("it is used again behind a plain answer alone");
        assert_eq!(strict.end, sent.len(), "something stood behind the answer");
        assert!(method != Method::HEAD, "who knows what follows a HEAD");
    }
    let connection = kept.unwrap_or_else(|| Connection::Scripted(Scripted::default()));
    let Connection::Scripted(wire) = &connection else { return };
    let wire = wire.clone();
    wire.begin(&method, kind.is_ascii_uppercase(), answer);
    let outgoing = Outgoing {
        method: &method,
        address,
        path: "/",
        headers: &HeaderMap::new(),
        body: &[body],
        afterwards: Afterwards::Keep,
    };
    let head = client.head_of(&outgoing);
    let mut pieces = pieces_of(&head, &outgoing);
    let begun = (connection, &mut pieces[..]);
    let exchange = client.exchange(begun, &outgoing, Duration::from_secs(1));
    let answered = poll(&wire, pin!(exchange)).and_then(|it| it.ok());
    if let Some(answer) = answered {
        read(&wire, answer);
    }
    wire.send_late(late);
}

/// Reads a body and compares it with what another reader finds.
fn read(wire: &Scripted, answer: HttpResponse) {
    let (mut body, mut data) = (answer.body, Vec::new());
    loop {
        let next = std::future::poll_fn(|cx| {
            body.poll_data(cx, &mut |bytes| data.extend_from_slice(bytes))
        });
        match poll(wire, pin!(next)) {
            Some(Some(Ok(()))) => {}
            Some(None) => break,
            Some(Some(Err(_))) | None => return,
        }
    }
    let (method, sent) = wire.last();
    if let Some(strict) = strict::answer(&sent).filter(|_| method != Method::HEAD) {
        assert_eq!(strict.body, data, "another reader finds another body");
    }
}

/// Polls until there is a result, or the server has nothing more to send.
fn poll<T>(wire: &Scripted, mut future: Pin<&mut impl Future<Output = T>>) -> Option<T> {
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        let is_over = wire.is_over();
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(result) => return Some(result),
            Poll::Pending if is_over => return None,
            Poll::Pending => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Pieces of answers, right ones and wrong ones.
    const WORDS: &[&str] = &[
        "\u{1e}P",
        "\u{1e}g",
        "\u{1e}G",
        "\u{1e}h",
        "\u{1e}b",
        "\u{1f}",
        "\u{1f}\u{1f}",
        "\u{1d}",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nconnection: x\r\nconnection: close\r\ncontent-length: 2\r\n\r\nhi",
        "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nhi",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.0 200 OK\r\n",
        "content-length: 2\r\n",
        "transfer-encoding: chunked\r\n",
        "connection: close\r\n",
        "connection: x\n",
        "x : y\r\n",
        "\r\n",
        "\n",
        "2\r\nhi\r\n",
        "1;a=\"b\"\r\nx\r\n",
        "0\r\n",
        "0\r\n\r\n",
        "a: b\r\n",
        "hi",
    ];

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let word = prop_oneof![
            9 => proptest::sample::select(WORDS).prop_map(|word| word.as_bytes().to_vec()),
            1 => proptest::collection::vec(any::<u8>(), 0..4),
        ];
        proptest::collection::vec(word, 0..24).prop_map(|words| words.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 2_000,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn heads_are_read_by_the_grammar(bytes in bytes()) {
            head(&bytes);
        }

        #[test]
        fn chunks_are_read_by_the_grammar(bytes in bytes()) {
            chunked(&bytes);
        }

        #[test]
        fn connections_are_used_again_behind_plain_answers_alone(bytes in bytes()) {
            reuse(&bytes);
        }
    }
}
