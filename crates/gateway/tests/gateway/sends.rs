//! How often a request is sent, and over which connections: nobody pays twice for one, or gets what was meant for another.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::time::Duration;

use crate::harness::*;
use crate::waiting::let_pass;

/// A provider that hands each connection to a function, with everything that it has been sent.
struct Raw {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Raw {
    fn start(serve: impl Fn(&mut Peer) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (serve, requests) = (Arc::new(serve), Arc::clone(&seen));
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let (serve, seen) = (Arc::clone(&serve), Arc::clone(&requests));
                let reader = BufReader::new(stream.unwrap());
                std::thread::spawn(move || serve(&mut Peer { reader, seen, number }));
            }
        });
        Self { address, seen }
    }

    fn toml(&self, more: &str) -> String {
        format!(
            "\n[[provider]]\nname = \"p\"\nprotocol = \"openai-chat\"\nbase_url = \"http://{}/v1\"\n\
             api_key = {{ value = \"sk-upstream\" }}\n{more}\n",
            self.address
        )
    }

    /// The first lines of all requests.
    fn lines(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

/// One connection of the gateway's.
struct Peer {
    reader: BufReader<TcpStream>,
    seen: Arc<Mutex<Vec<String>>>,
    number: usize,
}

impl Peer {
    /// Reads the head of a request: its first line, and the length of its body. None at the end.
    fn head(&mut self) -> Option<(String, usize)> {
        let (mut line, mut length) = (String::new(), 0);
        self.reader.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
        loop {
            let mut header = String::new();
            self.reader.read_line(&mut header).ok()?;
            if let Some(bytes) = header.to_lowercase().strip_prefix("content-length:") {
                length = bytes.trim().parse().unwrap();
            }
            if header.trim_end().is_empty() {
                break;
            }
        }
        self.seen.lock().unwrap().push(line.trim_end().to_owned());
        Some((line, length))
    }

    /// Reads a whole request.
    fn request(&mut self) -> Option<String> {
        let (line, length) = self.head()?;
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).ok()?;
        Some(line)
    }

    fn reply(&mut self, body: &str) {
        self.send(&whole(body));
    }

    fn send(&mut self, bytes: &str) {
        let _ = self.reader.get_mut().write_all(bytes.as_bytes());
    }
}

/// A whole answer on a connection that stays open.
fn whole(body: &str) -> String {
    let length = body.len();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json";
    format!("{head}\r\ncontent-length: {length}\r\n\r\n{body}")
}

/// The `attempts` of the last exchange.
fn attempts(gateway: &Running) -> u64 {
    let exchanges = gateway.get("/sabir/v1/exchanges").json();
    exchanges["exchanges"][0]["attempts"].as_u64().unwrap_or_else(|| panic!("{exchanges}"))
}

/// How many connections a gateway is made to keep.
const KEPT: usize = 16;

/// Serves the first request on a connection when all have come, so that each needs a connection of its own, and closes at
/// the next without a word.
fn serve_once(peer: &mut Peer, all: &Barrier) {
    if peer.request().is_some() {
        if peer.number < KEPT {
            all.wait();
        }
        peer.reply(&chat_answer("first"));
    }
    peer.request();
}

/// Makes the gateway keep so many connections.
fn keep(gateway: &Running, connections: usize) {
    let asked: Vec<_> = (0..connections)
        .map(|_| gateway.send("POST /v1/chat/completions", &chat("p/m", false)))
        .collect();
    for mut asked in asked {
        assert_eq!(Reply::read(&mut asked).status, 200);
    }
}

#[test]
fn a_request_that_was_written_is_sent_once_whatever_becomes_of_its_connection() {
    for retries in ["retries = 0", "", "retries = 3"] {
        let all = Barrier::new(KEPT);
        let provider = Raw::start(move |peer| serve_once(peer, &all));
        let gateway = Running::start(&provider.toml(retries));
        keep(&gateway, KEPT);
        let before = provider.lines().len();
        let reply = gateway.post("/v1/chat/completions", &chat("p/m", false));
        // The thread that serves it may have kept no connection, and then gets an answer on a new one.
        let sent = provider.lines().len() - before;
        assert_eq!(sent, 1, "{retries}: {}", reply.body);
        assert_eq!(attempts(&gateway), 1, "{retries}");
    }
}

#[test]
fn a_provider_that_breaks_off_is_asked_once_and_the_next_target_instead() {
    for retries in ["retries = 0", "", "retries = 3"] {
        let first = Raw::start(|peer| {
            peer.request();
        });
        let second = Provider::whole(&chat_answer("second"));
        let model = "\n[[model]]\nname = \"m\"\ntargets = [\
                     { provider = \"p\", model = \"a\" }, { provider = \"q\", model = \"b\" }]\n";
        let toml = first.toml(retries) + &second.toml("q", "openai-chat") + model;
        let gateway = Running::start(&toml);
        let reply = gateway.post("/v1/chat/completions", &chat("m", false));
        assert!(reply.body.contains("second"), "{}", reply.body);
        assert_eq!((first.lines().len(), attempts(&gateway)), (1, 2), "{retries}");
        let reply = gateway.post("/v1/chat/completions", &chat("p/a", false));
        assert_eq!((reply.status, first.lines().len()), (502, 2), "{retries}");
        assert_eq!(attempts(&gateway), 1, "{retries}");
    }
}

#[test]
fn a_request_of_which_only_a_part_was_written_is_sent_again_within_its_retries() {
    let long = chat("p/m", false).replace("hello", &"x".repeat(16 << 20));
    for (retries, sends, status) in [("retries = 0", 1, 502), ("", 2, 200), ("retries = 3", 2, 200)]
    {
        let provider = Raw::start(|peer| {
            if peer.number == 0 {
                peer.head();
            } else if peer.request().is_some() {
                peer.reply(&chat_answer("second"));
            }
        });
        let gateway = Running::start(&provider.toml(retries));
        let reply = gateway.post("/v1/chat/completions", &long);
        assert_eq!((reply.status, provider.lines().len()), (status, sends), "{retries}");
        assert_eq!(attempts(&gateway), sends as u64, "{retries}");
    }
}

#[test]
fn a_providers_other_paths_are_asked_again_only_by_methods_that_change_nothing() {
    for (method, sends) in [("GET", 2), ("OPTIONS", 2), ("POST", 1), ("PUT", 1), ("DELETE", 1)] {
        let provider = Raw::start(|peer| {
            peer.request();
        });
        let gateway = Running::start(&provider.toml(""));
        let reply = gateway.request(&format!("{method} /passthrough/p/v1/x"), "");
        assert_eq!((reply.status, provider.lines().len()), (502, sends), "{method}");
        assert_eq!(attempts(&gateway), sends as u64, "{method}");
    }
}

/// Serves requests and leaves the bodies of all but POST to the chat path unread, as some plain servers do.
fn leave_unread(peer: &mut Peer) {
    while let Some((line, length)) = peer.head() {
        let is_chat = line.starts_with("POST /v1/chat/completions ");
        if is_chat {
            let mut body = vec![0; length];
            peer.reader.read_exact(&mut body).unwrap();
        }
        peer.reply(&chat_answer(if is_chat { "own" } else { "another's" }));
    }
}

const SMUGGLED: &str = "POST /v1/smuggled HTTP/1.1\r\nhost: a\r\ncontent-length: 400\r\n\r\n";

#[test]
fn nobody_gets_the_answer_to_what_another_client_hid_in_a_body() {
    let provider = Raw::start(leave_unread);
    let gateway = Running::start(&provider.toml(""));
    std::thread::scope(|scope| {
        for method in ["GET", "HEAD", "DELETE", "OPTIONS", "PUT", "POST"] {
            let gateway = &gateway;
            scope.spawn(move || {
                for _ in 0..20 {
                    let head = format!("{method} /passthrough/p/v1/x\r\nconnection: close\r\n");
                    let mut answer = Vec::new();
                    let _ = gateway.send(&head, SMUGGLED).read_to_end(&mut answer);
                }
            });
        }
        for _ in 0..4 {
            let gateway = &gateway;
            scope.spawn(move || {
                for _ in 0..40 {
                    let reply = gateway.post("/v1/chat/completions", &chat("p/m", false));
                    assert!(reply.body.contains("\"own\""), "{} {}", reply.status, reply.body);
                }
            });
        }
    });
    let served = provider.lines().iter().filter(|it| it.contains("/chat/")).count();
    assert_eq!(served, 160, "each was sent once, and none vanished in another's body");
}

/// Answers every request, and once more after so many milliseconds, in one piece with the answer where there is no pause.
fn answer_twice(peer: &mut Peer, pause_ms: Option<u64>, sent: &mpsc::Sender<()>) {
    while peer.request().is_some() {
        let [own, stray] = ["own", "another's"].map(|text| whole(&chat_answer(text)));
        match pause_ms {
            None => peer.send(&(own + &stray)),
            Some(pause_ms) => {
                peer.send(&own);
                let_pass(Duration::from_millis(pause_ms));
                peer.send(&stray);
            }
        }
        sent.send(()).unwrap();
    }
}

#[test]
fn nobody_gets_a_second_answer_that_was_sent_before_the_request() {
    for pause_ms in [None, Some(0), Some(1), Some(3), Some(20)] {
        let (sent, is_sent) = mpsc::channel();
        let provider = Raw::start(move |peer| answer_twice(peer, pause_ms, &sent));
        let gateway = Running::start(&provider.toml(""));
        for client in (0..20).map(|turn| ["one", "other"][turn % 2]) {
            let reply = gateway.post("/v1/chat/completions", &chat("p/m", false));
            assert!(reply.body.contains("\"own\""), "{pause_ms:?} {client}: {}", reply.body);
            is_sent.recv_timeout(PATIENCE).unwrap();
        }
        assert_eq!(provider.lines().len(), 20, "each was sent once");
    }
}

#[test]
fn bodies_where_none_belongs_and_methods_that_few_know_are_refused() {
    let provider = Raw::start(leave_unread);
    let gateway = Running::start(&provider.toml(""));
    for (head, body, status) in [
        ("GET /passthrough/p/v1/x", "{}", 400),
        ("GET /passthrough/p/v1/x\r\ntransfer-encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n", 400),
        ("TRACE /passthrough/p/v1/x", "", 405),
        ("TRACE /passthrough/p/v1/x", "{}", 400),
        ("CONNECT /passthrough/p/v1/x", "", 405),
        ("trace /passthrough/p/v1/x", "", 405),
        ("Connect /passthrough/p/v1/x", "", 405),
        ("get /passthrough/p/v1/x", "", 405),
        ("get /passthrough/p/v1/x", "{}", 400),
        ("TRACK /passthrough/p/v1/x", "", 405),
        ("DEBUG /passthrough/p/v1/x", "", 405),
        ("PROPFIND /passthrough/p/v1/x", "", 405),
    ] {
        if head.contains("chunked") {
            let request =
                format!("{head}\r\n{body}").replacen("\r\n", " HTTP/1.1\r\nhost: localhost\r\n", 1);
            let mut stream = TcpStream::connect(gateway.address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            let reply = Reply::read(&mut BufReader::new(stream));
            assert_eq!(reply.status, status, "{}", reply.body);
            continue;
        }
        let reply = gateway.request(head, body);
        assert_eq!(reply.status, status, "{head}: {}", reply.body);
        assert!(status != 405 || reply.header("allow").is_some(), "{head}");
        assert!(reply.json()["error"]["message"].is_string(), "{}", reply.body);
    }
    let (status, _) = read_head(&mut gateway.send("HEAD /passthrough/p/v1/x", "{}"));
    assert_eq!(status, 400);
    assert!(provider.lines().is_empty(), "{:?}", provider.lines());
}

#[test]
fn every_connection_header_names_what_stays_on_its_hop() {
    let answer = "HTTP/1.1 200 OK\r\nconnection: x-one\r\nconnection: \u{fc}, X-Two\r\nx-one: 1\r\nx-two: 2\r\n\
                  x-three: 3\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
    let provider = Provider::start(vec![Script::Reply(answer.to_owned())]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let head = "POST /passthrough/p/v1/x\r\nconnection: x-a\r\nconnection: \u{fc} , x-b\r\nx-a: 1\r\nx-b: 2\r\nx-c: 3\r\n";
    let reply = gateway.request(head, "{}");
    let received = &provider.received()[0];
    assert_eq!(["x-a", "x-b", "x-c"].map(|it| received.header(it)), [None, None, Some("3")]);
    assert_eq!(["x-one", "x-two", "x-three"].map(|it| reply.header(it)), [None, None, Some("3")]);
}

#[test]
fn a_header_for_one_connection_stays_on_it_however_it_is_spelled() {
    let answer = "HTTP/1.1 200 OK\r\ntransfer_encoding: chunked\r\nx_one: 1\r\ncontent-length: 2\r\n\
                  connection: close\r\n\r\n{}";
    let provider = Provider::start(vec![Script::Reply(answer.to_owned())]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let head = "POST /passthrough/p/v1/x\r\ncontent_length: 9\r\nTransfer_Encoding: chunked\r\n\
                content_Length: 9\r\nproxy_authorization: a\r\nx_a: 1\r\n";
    let reply = gateway.request(head, "{}");
    let received = &provider.received()[0];
    for name in ["content_length", "transfer_encoding", "proxy_authorization"] {
        assert_eq!((received.header(name), reply.header(name)), (None, None), "{name}");
    }
    assert_eq!((received.header("x_a"), reply.header("x_one")), (None, Some("1")));
}

#[test]
fn no_relative_of_a_header_that_stays_here_reaches_a_provider() {
    let provider = Provider::whole("{}");
    let toml = provider.toml("p", "openai-chat") + "headers = { \"x-team\" = \"a\" }\n";
    let gateway = Running::start(&toml);
    for name in [
        "Request-Range",
        "x-ms-range",
        "x-range",
        "accept_encoding",
        "x_api_key",
        "x_goog_api_key",
        "api-key",
        "authorization_",
        "X_Team",
        "x-team",
        "X-HTTP-Method-Override",
        "X-Method-Override",
        "X-HTTP-Method",
        "Accept-Charset",
        "Accept",
    ] {
        let value = "text/plain;charset=utf-16";
        let head = format!("POST /passthrough/p/v1/x\r\n{name}: {value}\r\nx-other: 1\r\n");
        assert_eq!(gateway.request(&head, "{}").status, 200, "{name}");
        let received = provider.received().pop().unwrap();
        assert!(!format!("{received:?}").contains(value), "{name}: {received:?}");
        assert_eq!(received.header("x-other"), Some("1"), "{name}");
        assert_eq!(received.header("x-team"), Some("a"), "{name}");
    }
}

#[test]
fn no_twin_of_a_vendors_header_reaches_it() {
    let provider = Provider::whole(GEMINI);
    let gateway = Running::start(&provider.toml("p", "gemini"));
    let head = "POST /v1beta/models/p%2Fm:generateContent\r\nx-goog-api_key: twin\r\n\
                x-goog-iam-authorization-token: twin\r\nx-goog-user-project: mine\r\n";
    let reply = gateway.request(head, r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#);
    assert_eq!(reply.status, 200, "{}", reply.body);
    let received = provider.received().pop().unwrap();
    assert!(!format!("{received:?}").contains("twin"), "{received:?}");
    assert_eq!(received.header("x-goog-user-project"), Some("mine"));
}

const GEMINI: &str = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"hi"}]},"finishReason":"STOP"}],"modelVersion":"m"}"#;
