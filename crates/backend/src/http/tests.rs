//! The client against servers that behave as real ones do, and as they should not.

use std::io::{Read, Write};
use std::rc::Rc;
use std::time::Duration;

use http::{HeaderMap, Method};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use super::*;
use crate::error::ErrorKind;

mod certificates;
mod reuse;

const TIMEOUTS: Timeouts =
    Timeouts { connect: Duration::from_secs(5), first_byte: Duration::from_secs(5) };

/// A server that hands each connection, and its number, to a script.
async fn serve<F>(script: impl Fn(usize, TcpStream) -> F + 'static) -> Address
where
    F: Future<Output = ()> + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::task::spawn_local(async move {
        for number in 0.. {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::task::spawn_local(script(number, stream));
        }
    });
    Address::of(&format!("http://{address}").parse().unwrap()).unwrap()
}

/// Reads a request with an empty body.
async fn read_request(stream: &mut TcpStream) -> String {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        match stream.read(&mut byte).await {
            Ok(0) | Err(_) => return String::new(),
            Ok(_) => request.push(byte[0]),
        }
    }
    String::from_utf8(request).unwrap()
}

async fn send(client: &Client, address: &Address) -> crate::Result<HttpResponse> {
    send_body(client, address, b"").await
}

async fn send_body(client: &Client, address: &Address, body: &[u8]) -> crate::Result<HttpResponse> {
    let headers = HeaderMap::new();
    let outgoing = Outgoing {
        method: &Method::POST,
        address,
        path: "/v1/x",
        headers: &headers,
        body: &[body],
        afterwards: Afterwards::Keep,
    };
    client.send(&outgoing, TIMEOUTS).await
}

async fn whole(mut body: Body) -> crate::Result<String> {
    let mut text = Vec::new();
    while let Some(read) =
        std::future::poll_fn(|cx| body.poll_data(cx, &mut |data| text.extend_from_slice(data)))
            .await
    {
        read?;
    }
    Ok(String::from_utf8(text).unwrap())
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, test);
}

/// Every answer in `pieces`, each written on its own, must be read as `expected`.
fn check(pieces: &'static [&'static str], expected: Result<&str, ErrorKind>) {
    run(async move {
        let address = serve(move |_, mut stream| async move {
            read_request(&mut stream).await;
            for piece in pieces {
                stream.write_all(piece.as_bytes()).await.unwrap();
                tokio::task::yield_now().await;
            }
        })
        .await;
        let outcome = match send(&Client::default(), &address).await {
            Ok(answer) => whole(answer.body).await,
            Err(error) => Err(error),
        };
        let outcome = outcome.map_err(|error| error.kind());
        assert_eq!(outcome.as_deref().map_err(|kind| *kind), expected, "{pieces:?}");
    });
}

#[test]
fn bodies_end_where_their_framing_says() {
    check(&["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"], Ok("hello"));
    check(&["HTTP/1.1 200 OK\r\ncontent-le", "ngth: 5\r\n\r\n", "hel", "lo"], Ok("hello"));
    check(&["HTTP/1.1 200 OK\r\n\r\nuntil", " close"], Ok("until close"));
    check(&["HTTP/1.1 204 No Content\r\n\r\n"], Ok(""));
    check(
        &[
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;x=y\r\nhel",
            "lo\r\n1",
            "0\r\n0123456789abcdef\r\n0\r\ntrailer: z\r\n",
            "\r\n",
        ],
        Ok("hello0123456789abcdef"),
    );
    let stray = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n\r\n";
    check(vec![stray].leak(), Ok("hello"));
}

#[test]
fn an_answer_that_breaks_off_is_an_error() {
    check(&[], Err(ErrorKind::Disconnected));
    check(&["HTTP/1.1 200"], Err(ErrorKind::Truncated));
    check(&["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel"], Err(ErrorKind::Truncated));
    check(
        &["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n"],
        Err(ErrorKind::Truncated),
    );
}

#[test]
fn what_is_not_http_is_refused() {
    check(&["SSH-2.0-OpenSSH_9.2\r\n\r\n"], Err(ErrorKind::Malformed));
    check(
        &["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n"],
        Err(ErrorKind::Malformed),
    );
    check(&["HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n"], Err(ErrorKind::Malformed));
}

#[test]
fn a_head_is_read_by_its_grammar_alone() {
    for head in [
        "HTTP/1.1 200 OK\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 0\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\n",
        "HTTP/1.1 200 OK\r\nx:\ncontent-length: 0\r\n\r\n",
        "\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nx: a\rb\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nx: a\r\n b\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\n x: a\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nx : a\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length : 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nx: a\0\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1  200 OK\r\ncontent-length: 0\r\n\r\n",
        "HTTP/2 200 OK\r\ncontent-length: 0\r\n\r\n",
    ] {
        check(vec![head].leak(), Err(ErrorKind::Malformed));
        let pieces = vec![&head[..head.len() - 3], &head[head.len() - 3..]];
        check(pieces.leak(), Err(ErrorKind::Malformed));
    }
}

#[test]
fn answers_that_only_announce_another_one_come_to_an_end() {
    let few = "HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n".repeat(8);
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi";
    check(vec![&*(few + answer).leak()].leak(), Ok("hi"));
    let many = "HTTP/1.1 100 Continue\r\n\r\n".repeat(1_000);
    check(vec![&*(many + answer).leak()].leak(), Err(ErrorKind::Malformed));
    let long = format!("HTTP/1.1 103 Early Hints\r\nlink: {}\r\n\r\n", "a".repeat(10_000));
    check(vec![&*(long.repeat(10) + answer).leak()].leak(), Err(ErrorKind::Malformed));
}

#[test]
fn an_answer_of_doubtful_length_is_refused() {
    check(&["HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\nhi"], Err(ErrorKind::Malformed));
    for (headers, expected) in [
        ("content-length: 2\r\ncontent-length: 2\r\n", Ok("hi")),
        ("content-length: 2, 2\r\n", Ok("hi")),
        ("content-length: 2\r\ncontent-length: 3\r\n", Err(ErrorKind::Malformed)),
        ("content-length: 2, 3\r\n", Err(ErrorKind::Malformed)),
        ("content-length: +2\r\n", Err(ErrorKind::Malformed)),
        ("content-length: -2\r\n", Err(ErrorKind::Malformed)),
        ("content-length: 0x2\r\n", Err(ErrorKind::Malformed)),
        ("content-length:\r\n", Err(ErrorKind::Malformed)),
        ("content-length: 99999999999999999999\r\n", Err(ErrorKind::Malformed)),
        ("content-length: 2\r\ntransfer-encoding: chunked\r\n", Err(ErrorKind::Malformed)),
        ("transfer-encoding: chunked\r\ncontent-length: 2\r\n", Err(ErrorKind::Malformed)),
        ("transfer-encoding: identity, chunked\r\n", Err(ErrorKind::Malformed)),
        ("transfer-encoding: chunked, chunked\r\n", Err(ErrorKind::Malformed)),
        ("transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n", Err(ErrorKind::Malformed)),
        ("transfer-encoding: chunked, gzip\r\n", Err(ErrorKind::Malformed)),
        ("transfer-encoding: gzip\r\ntransfer-encoding: chunked\r\n", Err(ErrorKind::Malformed)),
    ] {
        let answer: &'static str = format!("HTTP/1.1 200 OK\r\n{headers}\r\nhi").leak();
        check(vec![answer].leak(), expected);
    }
}

#[test]
fn what_stands_behind_an_answer_is_not_the_next_answer() {
    for head in [
        "204 No Content\r\n\r\n",
        "200 OK\r\ncontent-length: 0\r\n\r\n",
        "200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    ] {
        let first = format!("HTTP/1.1 {head}HTTP/1.1 200 OK\r\n");
        run(async move {
            let address = serve(move |count, mut stream| {
                let first = first.clone();
                async move {
                    if count == 0 {
                        read_request(&mut stream).await;
                        stream.write_all(first.as_bytes()).await.unwrap();
                    }
                    number(count, stream).await;
                }
            })
            .await;
            let client = Client::default();
            let answer = send(&client, &address).await.unwrap();
            assert_eq!(whole(answer.body).await.unwrap(), "");
            let answer = send(&client, &address).await.unwrap();
            assert_eq!(whole(answer.body).await.unwrap(), "1", "{head}");
        });
    }
}

/// Answers every request on a connection with the connection's number.
async fn number(number: usize, mut stream: TcpStream) {
    while !read_request(&mut stream).await.is_empty() {
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n{number}");
        stream.write_all(answer.as_bytes()).await.unwrap();
    }
}

#[test]
fn a_connection_serves_the_next_request() {
    run(async {
        let address = serve(number).await;
        let client = Client::default();
        for _ in 0..3 {
            let answer = send(&client, &address).await.unwrap();
            assert_eq!(whole(answer.body).await.unwrap(), "0");
        }
    });
}

#[test]
fn an_answer_that_is_dropped_closes_its_connection() {
    run(async {
        let address = serve(number).await;
        let client = Client::default();
        let kept = send(&client, &address).await.unwrap();
        let dropped = send(&client, &address).await.unwrap();
        assert_eq!(whole(kept.body).await.unwrap(), "0");
        drop(dropped);
        let next = send(&client, &address).await.unwrap();
        assert_eq!(whole(next.body).await.unwrap(), "0");
    });
}

#[test]
fn a_connection_that_was_closed_meanwhile_is_replaced() {
    run(async {
        let closed = Rc::new(Notify::new());
        let closing = Rc::clone(&closed);
        let address = serve(move |number, mut stream| {
            let closing = Rc::clone(&closing);
            async move {
                read_request(&mut stream).await;
                let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n{number}");
                stream.write_all(answer.as_bytes()).await.unwrap();
                drop(stream);
                closing.notify_one();
            }
        })
        .await;
        let client = Client::default();
        for expected in ["0", "1", "2"] {
            let answer = send(&client, &address).await.unwrap();
            assert_eq!(whole(answer.body).await.unwrap(), expected);
            closed.notified().await;
            // Only after the next look at the sockets does the client's end know.
            tokio::task::yield_now().await;
        }
    });
}

#[test]
fn a_refusal_is_read_although_the_body_was_never_taken() {
    run(async {
        let address = serve(|_, mut stream| async move {
            let mut some = [0; 1024];
            let _ = stream.read(&mut some).await;
            let answer = "HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno";
            stream.write_all(answer.as_bytes()).await.unwrap();
            std::future::pending().await
        })
        .await;
        let body = vec![b'x'; 64 << 20];
        let answer = send_body(&Client::default(), &address, &body).await.unwrap();
        assert_eq!(answer.status, 413);
        assert_eq!(whole(answer.body).await.unwrap(), "no");
    });
}

/// A SOCKS proxy that takes anybody, tells where it was asked to connect, and answers in the provider's place.
async fn answer_as_socks(mut stream: TcpStream) {
    let mut greeting = [0; 3];
    stream.read_exact(&mut greeting).await.unwrap();
    stream.write_all(&[5, 0]).await.unwrap();
    let mut asked = [0; 5];
    stream.read_exact(&mut asked).await.unwrap();
    let mut target = vec![0; usize::from(asked[4]) + 2];
    stream.read_exact(&mut target).await.unwrap();
    let port = u16::from_be_bytes(*target.last_chunk().unwrap());
    let name = String::from_utf8_lossy(&target[..target.len() - 2]);
    stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
    let request = read_request(&mut stream).await;
    let line = request.lines().next().unwrap();
    let body = format!("{name}:{port} {line}");
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    stream.write_all(answer.as_bytes()).await.unwrap();
}

#[test]
fn a_socks_proxy_gets_no_request_but_for_a_connection() {
    run(async {
        let proxy = serve(|_, stream| answer_as_socks(stream)).await;
        let url = format!("socks5h://{proxy}");
        let proxies = Proxies::of(&|name| (name == "ALL_PROXY").then(|| url.clone()));
        let far = Address::of(&"http://api.far.test:8080".parse().unwrap()).unwrap();
        let answer = send(&Client::new(proxies), &far).await.unwrap();
        let expected = "api.far.test:8080 POST /v1/x HTTP/1.1";
        assert_eq!(whole(answer.body).await.unwrap(), expected);
    });
}

#[test]
fn a_proxy_that_is_not_there_is_named_with_whom_it_stands_before() {
    run(async {
        let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let proxies = Proxies::of(&|name| (name == "ALL_PROXY").then(|| format!("http://{gone}")));
        let far = Address::of(&"http://api.far.test".parse().unwrap()).unwrap();
        let error = send(&Client::new(proxies), &far).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Connect);
        let expected = format!("the proxy {gone} gives no connection to api.far.test: ");
        assert!(error.to_string().starts_with(&expected), "{error}");
    });
}

#[test]
fn a_refusal_is_read_although_the_connection_broke_behind_it() {
    for _ in 0..5 {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        // On a thread of its own, so that it closes while the client is still writing.
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]).unwrap();
            let answer = "HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno";
            stream.write_all(answer.as_bytes()).unwrap();
        });
        run(async {
            let address = Address::of(&address.parse().unwrap()).unwrap();
            let body = vec![b'x'; 64 << 20];
            let answer = send_body(&Client::default(), &address, &body).await.unwrap();
            assert_eq!(answer.status, 413);
            assert_eq!(whole(answer.body).await.unwrap(), "no");
        });
    }
}

#[test]
fn an_answer_that_begins_early_does_not_keep_the_request_from_its_end() {
    run(async {
        let address = serve(|_, mut stream| async move {
            read_request(&mut stream).await;
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n").await.unwrap();
            let mut body = vec![0; 64 << 20];
            stream.read_exact(&mut body).await.unwrap();
            let answer = if body.iter().all(|byte| *byte == b'x') { "yes" } else { "no!" };
            stream.write_all(answer.as_bytes()).await.unwrap();
        })
        .await;
        let body = vec![b'x'; 64 << 20];
        let answer = send_body(&Client::default(), &address, &body).await.unwrap();
        let text = tokio::time::timeout(TIMEOUTS.first_byte, whole(answer.body)).await;
        assert_eq!(text.expect("the request stopped half-way").unwrap(), "yes");
    });
}

#[test]
fn silence_ends_at_the_deadline() {
    run(async {
        let address = serve(|_, stream| async move {
            let _held = stream;
            std::future::pending().await
        })
        .await;
        let headers = HeaderMap::new();
        let outgoing = Outgoing {
            method: &Method::GET,
            address: &address,
            path: "/",
            headers: &headers,
            body: &[],
            afterwards: Afterwards::Keep,
        };
        let timeouts = Timeouts { first_byte: Duration::from_millis(20), ..TIMEOUTS };
        let error = Client::default().send(&outgoing, timeouts).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FirstByteTimeout);
    });
}
