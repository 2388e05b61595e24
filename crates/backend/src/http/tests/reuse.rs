//! Which connections serve another request, and which requests are sent again.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::mpsc;

use super::*;

/// A request in a test.
struct Ask {
    method: Method,
    body: &'static [u8],
    afterwards: Afterwards,
}

const POST: Ask = Ask { method: Method::POST, body: b"{}", afterwards: Afterwards::Keep };
const GET: Ask = Ask { method: Method::GET, body: b"", afterwards: Afterwards::Keep };

impl Ask {
    async fn send(&self, client: &Client, address: &Address) -> crate::Result<HttpResponse> {
        let outgoing = Outgoing {
            method: &self.method,
            address,
            path: "/v1/x",
            headers: &HeaderMap::new(),
            body: &[self.body],
            afterwards: self.afterwards,
        };
        client.send(&outgoing, TIMEOUTS).await
    }
}

/// Reads a request with its body.
async fn read_whole(stream: &mut TcpStream) -> String {
    let mut request = read_request(stream).await;
    let length = request.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    if stream.read_exact(&mut body).await.is_err() {
        return String::new();
    }
    request.push_str(&String::from_utf8(body).unwrap());
    request
}

/// Answers the first request on a connection with these bytes, and others with the connection's number.
async fn answer_first(answer: String, count: usize, mut stream: TcpStream) {
    read_whole(&mut stream).await;
    stream.write_all(answer.as_bytes()).await.unwrap();
    while !read_whole(&mut stream).await.is_empty() {
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n{count}");
        stream.write_all(answer.as_bytes()).await.unwrap();
    }
}

/// Whether the connection over which this answer came serves the next request.
fn is_reused(ask: Ask, answer: &str) -> bool {
    let reused = Rc::new(Cell::new(false));
    let seen = Rc::clone(&reused);
    let answer = answer.to_owned();
    run(async move {
        let plain = "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n-".to_owned();
        let address = serve(move |count, stream| {
            answer_first(if count == 0 { answer.clone() } else { plain.clone() }, count, stream)
        })
        .await;
        let client = Client::default();
        let first = ask.send(&client, &address).await.unwrap();
        let _ = whole(first.body).await;
        let second = POST.send(&client, &address).await.unwrap();
        seen.set(whole(second.body).await.unwrap() == "0");
    });
    reused.get()
}

#[test]
fn a_plain_exchange_leaves_its_connection_for_the_next() {
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nconnection: keep-alive\r\nconnection: x-y\r\ncontent-length: 2\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\nkeep-alive: timeout=60, max=100\r\ncontent-length: 2\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nx: y\r\n\r\n",
        "HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\nhi",
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\n\r\n",
    ] {
        assert!(is_reused(POST, answer), "{answer}");
        assert!(is_reused(GET, answer), "{answer}");
    }
}

#[test]
fn an_odd_answer_ends_its_connection() {
    for answer in [
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\nconnection: x\r\nconnection: y , Close\r\ncontent-length: 2\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\nconnection: \u{fc}, close\r\ncontent-length: 2\r\n\r\nhi",
        "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nhi",
        "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nkeep-alive: timeout=1\r\ncontent-length: 2\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\ncontent-length: 2, 2\r\n\r\nhi",
        "HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\ncontent-length: 2\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\ntransfer-encoding: chunked\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi!",
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\nhi\n0\n\n",
    ] {
        assert!(!is_reused(POST, answer), "{answer}");
        assert!(!is_reused(GET, answer), "{answer}");
    }
}

#[test]
fn an_odd_request_ends_its_connection() {
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi";
    for method in [Method::GET, Method::DELETE, Method::OPTIONS, Method::TRACE, Method::HEAD] {
        assert!(!is_reused(Ask { method: method.clone(), ..POST }, answer), "{method}");
    }
    for method in [Method::TRACE, Method::CONNECT, Method::HEAD] {
        assert!(!is_reused(Ask { method: method.clone(), ..GET }, answer), "{method}");
    }
    for method in [Method::DELETE, Method::OPTIONS, Method::PUT, Method::PATCH] {
        assert!(is_reused(Ask { method: method.clone(), ..GET }, answer), "{method}");
    }
    assert!(!is_reused(Ask { afterwards: Afterwards::Close, ..POST }, answer));
}

#[test]
fn an_answer_that_began_before_its_request_had_ended_ends_its_connection() {
    run(async {
        // It answers, in two pieces, while the request is still coming.
        let address = serve(|count, mut stream| async move {
            read_request(&mut stream).await;
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-le").await.unwrap();
            let mut body = vec![0; 16 << 20];
            stream.read_exact(&mut body).await.unwrap();
            let rest = format!("ngth: 1\r\n\r\n{count}");
            stream.write_all(rest.as_bytes()).await.unwrap();
            let _ = stream.read(&mut body).await;
        })
        .await;
        let (client, body) = (Client::default(), vec![b'x'; 16 << 20]);
        for expected in ["0", "1"] {
            let answer = send_body(&client, &address, &body).await.unwrap();
            assert_eq!(whole(answer.body).await.unwrap(), expected);
        }
    });
}

/// A server that leaves the bodies of all requests but POST unread, and answers each request with its path.
async fn leave_unread(mut stream: TcpStream) {
    loop {
        let request = read_request(&mut stream).await;
        let mut words = request.split([' ', '\r']);
        let (Some(method), Some(path)) = (words.next(), words.next()) else { return };
        if method == "POST" {
            let length = request.lines().find_map(|line| line.strip_prefix("content-length: "));
            let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
            stream.read_exact(&mut body).await.unwrap();
        }
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", path.len());
        if stream.write_all((head + path).as_bytes()).await.is_err() {
            return;
        }
    }
}

#[test]
fn nobody_gets_the_answer_to_what_another_hid_in_a_body() {
    run(async {
        let address = serve(|_, stream| leave_unread(stream)).await;
        let client = Client::default();
        for method in [Method::GET, Method::DELETE, Method::HEAD, Method::OPTIONS] {
            let body = b"GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n";
            let attack = Ask { method, body, afterwards: Afterwards::Keep };
            let answer = attack.send(&client, &address).await.unwrap();
            let _ = whole(answer.body).await;
            for _ in 0..3 {
                let answer = POST.send(&client, &address).await.unwrap();
                assert_eq!(whole(answer.body).await.unwrap(), "/v1/x");
            }
        }
    });
}

#[test]
fn a_request_that_was_written_is_not_sent_again_however_many_connections_wait() {
    run(async {
        let sent = Rc::new(Cell::new(0));
        let seen = Rc::clone(&sent);
        // Every connection serves one request, and closes at the second.
        let address = serve(move |count, mut stream| {
            let seen = Rc::clone(&seen);
            async move {
                read_whole(&mut stream).await;
                let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{count:02}");
                stream.write_all(answer.as_bytes()).await.unwrap();
                if !read_whole(&mut stream).await.is_empty() {
                    seen.set(seen.get() + 1);
                }
            }
        })
        .await;
        let client = Client::default();
        let mut answers = Vec::new();
        for _ in 0..16 {
            answers.push(POST.send(&client, &address).await.unwrap());
        }
        for answer in answers {
            whole(answer.body).await.unwrap();
        }
        for expected in 1..=16 {
            let error = POST.send(&client, &address).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Disconnected);
            assert_eq!(sent.get(), expected);
        }
    });
}

#[test]
fn a_request_of_which_only_a_part_was_written_can_be_sent_again() {
    run(async {
        let address = serve(|_, mut stream| async move {
            read_request(&mut stream).await;
        })
        .await;
        let body = vec![b'x'; 64 << 20];
        let error = send_body(&Client::default(), &address, &body).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsent);
    });
}

/// Serves every connection on threads of its own. On the first one each request gets an answer, and a second one when the test
/// says so; the test learns when that has been sent.
fn answer_twice(listener: std::net::TcpListener, send: mpsc::Receiver<()>, sent: mpsc::Sender<()>) {
    let mut stray = Some((send, sent));
    for (number, stream) in listener.incoming().enumerate() {
        let (mut stream, stray) = (stream.unwrap(), stray.take());
        std::thread::spawn(move || {
            let mut request = [0; 1024];
            while stream.read(&mut request).is_ok_and(|length| length > 0) {
                let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n{number}");
                stream.write_all(answer.as_bytes()).unwrap();
                if let Some((send, sent)) = &stray
                    && send.recv().is_ok()
                {
                    let stray = b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nanother";
                    stream.write_all(stray).unwrap();
                    sent.send(()).unwrap();
                }
            }
        });
    }
}

#[test]
fn an_answer_that_came_before_its_request_is_nobodys_answer() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let address = Address::of(&address.parse().unwrap()).unwrap();
    let (send, may_send) = mpsc::channel();
    let (sent, is_sent) = mpsc::channel();
    std::thread::spawn(move || answer_twice(listener, may_send, sent));
    run(async move {
        let client = Client::default();
        let first = POST.send(&client, &address).await.unwrap();
        assert_eq!(whole(first.body).await.unwrap(), "0");
        // The event loop does not look for input in between.
        send.send(()).unwrap();
        is_sent.recv().unwrap();
        let second = POST.send(&client, &address).await.unwrap();
        assert_eq!(whole(second.body).await.unwrap(), "1");
    });
}
