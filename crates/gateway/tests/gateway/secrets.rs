//! Providers that repeat what they were sent: in bodies of every kind, in headers, under any status, in any pieces.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

use crate::harness::{
    CHAT_END, Provider, Reply, Running, Script, chat, chat_answer, chat_chunk, json, messages, sse,
};

const KEY: &str = "sk-upstream/key";
const TOKEN: &str = "team/secret-1";

/// Both secrets, in spellings that JSON has for them.
const ECHO: &str =
    r"got sk-upstream/key, sk-upstream\/key, \u0073k-upstream\u002Fkey, team\/secret-1.";
const REDACTED: &str = "got [redacted], [redacted], [redacted], [redacted].";

const PROTOCOLS: [&str; 4] = ["openai-chat", "openai-responses", "anthropic-messages", "gemini"];

fn gateway(address: SocketAddr, protocol: &str) -> Running {
    Running::start(&format!(
        "[[provider]]\nname = \"p\"\nprotocol = \"{protocol}\"\nbase_url = \"http://{address}/v1\"\n\
         api_key = {{ value = \"{KEY}\" }}\nretries = 0\n\
         headers = {{ \"x-team\" = \"{TOKEN}\", \"authorization-2\" = \"Bearer bearer/secret\" }}\n"
    ))
}

/// Asks in the manner of a client.
fn ask(gateway: &Running, client: &str, is_stream: bool) -> Reply {
    match client {
        "openai-chat" => gateway.post("/v1/chat/completions", &chat("p/m", is_stream)),
        "openai-responses" => {
            let body = format!(r#"{{"model":"p/m","input":"hello","stream":{is_stream}}}"#);
            gateway.post("/v1/responses", &body)
        }
        "anthropic-messages" => gateway.post("/v1/messages", &messages("p/m", is_stream)),
        _ => {
            let verb = if is_stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
            let body = r#"{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}"#;
            gateway.post(&format!("/v1beta/models/p%2Fm:{verb}"), body)
        }
    }
}

#[track_caller]
fn check(reply: &Reply, what: &str) {
    let text = format!("{:?}\n{}", reply.headers, reply.body).replace("\\/", "/");
    for secret in [KEY, TOKEN, "bearer/secret", r"\u0073k-up"] {
        assert!(!text.contains(secret), "{what}: {text}");
    }
    assert!(text.contains("[redacted]"), "{what}: {text}");
}

fn whole_answer(protocol: &str) -> String {
    match protocol {
        "openai-chat" => chat_answer(ECHO),
        "openai-responses" => format!(
            r#"{{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","output":[{{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{{"type":"output_text","text":"{ECHO}","annotations":[]}}]}}],"usage":{{"input_tokens":1,"output_tokens":1,"total_tokens":2}}}}"#
        ),
        "anthropic-messages" => format!(
            r#"{{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{{"type":"text","text":"{ECHO}"}}],"stop_reason":"end_turn","stop_sequence":null,"usage":{{"input_tokens":1,"output_tokens":1}}}}"#
        ),
        _ => format!(
            r#"{{"candidates":[{{"content":{{"role":"model","parts":[{{"text":"{ECHO}"}}]}},"finishReason":"STOP","index":0}}],"usageMetadata":{{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}},"modelVersion":"m"}}"#
        ),
    }
}

fn streamed_answer(protocol: &str) -> String {
    match protocol {
        "openai-chat" => format!("{}{CHAT_END}", chat_chunk(ECHO)),
        "openai-responses" => format!(
            "event: response.created\ndata: {{\"type\":\"response.created\",\"response\":{{\"id\":\"resp_1\",\"object\":\"response\",\"created_at\":1,\"status\":\"in_progress\",\"model\":\"m\",\"output\":[]}}}}\n\n\
             event: response.output_item.added\ndata: {{\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{{\"type\":\"message\",\"id\":\"msg_1\",\"role\":\"assistant\",\"status\":\"in_progress\",\"content\":[]}}}}\n\n\
             event: response.content_part.added\ndata: {{\"type\":\"response.content_part.added\",\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"part\":{{\"type\":\"output_text\",\"text\":\"\",\"annotations\":[]}}}}\n\n\
             event: response.output_text.delta\ndata: {{\"type\":\"response.output_text.delta\",\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"delta\":\"{ECHO}\"}}\n\n\
             event: response.completed\ndata: {{\"type\":\"response.completed\",\"response\":{}}}\n\n",
            whole_answer(protocol)
        ),
        "anthropic-messages" => format!(
            "event: message_start\ndata: {{\"type\":\"message_start\",\"message\":{{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{{\"input_tokens\":1,\"output_tokens\":1}}}}}}\n\n\
             event: content_block_start\ndata: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{{\"type\":\"text\",\"text\":\"\"}}}}\n\n\
             event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{ECHO}\"}}}}\n\n\
             event: content_block_stop\ndata: {{\"type\":\"content_block_stop\",\"index\":0}}\n\n\
             event: message_delta\ndata: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"end_turn\",\"stop_sequence\":null}},\"usage\":{{\"output_tokens\":1}}}}\n\n\
             event: message_stop\ndata: {{\"type\":\"message_stop\"}}\n\n"
        ),
        _ => format!("data: {}\n\n", whole_answer(protocol)),
    }
}

/// An answer whose body comes in pieces of so many bytes.
fn in_chunks(kind: &str, body: &str, bytes: usize) -> String {
    let mut answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nx-request-id: {KEY}\r\nx-ratelimit-echo: {TOKEN}\r\n\
         transfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    );
    for chunk in body.as_bytes().chunks(bytes) {
        let chunk = std::str::from_utf8(chunk).unwrap();
        answer += &format!("{:x}\r\n{chunk}\r\n", chunk.len());
    }
    answer + "0\r\n\r\n"
}

#[test]
fn no_answer_of_any_kind_repeats_a_secret() {
    for protocol in PROTOCOLS {
        for bytes in [1, 7, usize::MAX] {
            let whole = in_chunks("application/json", &whole_answer(protocol), bytes);
            let stream = in_chunks("text/event-stream", &streamed_answer(protocol), bytes);
            let provider = Provider::start(
                (0..4).flat_map(|_| [&whole, &stream]).cloned().map(Script::Reply).collect(),
            );
            let gateway = gateway(provider.address, protocol);
            for client in PROTOCOLS {
                for is_stream in [false, true] {
                    let reply = ask(&gateway, client, is_stream);
                    let what = format!("{client} on {protocol}, {bytes}, {is_stream}");
                    assert_eq!(reply.status, 200, "{what}: {}", reply.body);
                    check(&reply, &what);
                    assert!(reply.body.contains(REDACTED), "{what}: {}", reply.body);
                }
            }
            assert_eq!(provider.received()[0].header("x-team"), Some(TOKEN));
        }
    }
}

#[test]
fn an_answer_that_is_split_anywhere_passes_without_its_secrets() {
    let stream = format!("{}{CHAT_END}", chat_chunk(ECHO));
    let at = stream.find("got").unwrap();
    for end in at..at + ECHO.len() {
        let (first, second) = stream.split_at(end);
        let body = format!("{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n", first.len(), second.len());
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
        let answer = format!("{head}transfer-encoding: chunked\r\n\r\n{body}0\r\n\r\n");
        let provider = Provider::start(vec![Script::Reply(answer)]);
        let gateway = gateway(provider.address, "openai-chat");
        for path in ["/v1/chat/completions", "/passthrough/p/v1/chat/completions"] {
            let reply = gateway.post(path, &chat("p/m", true));
            assert_eq!(reply.body, stream.replace(ECHO, REDACTED), "{path}, {end}");
        }
    }
}

#[test]
fn an_event_without_a_secret_does_not_wait_for_the_next() {
    let (pieces, script) = std::sync::mpsc::channel();
    let script = Script::Pieces(std::sync::Arc::new(std::sync::Mutex::new(script)));
    let provider = Provider::start(vec![script]);
    let gateway = gateway(provider.address, "openai-chat");
    pieces.send(sse(&chat_chunk("the key begins with sk-upstream/ke"))).unwrap();
    let mut reader = gateway.send("POST /v1/chat/completions", &chat("p/m", true));
    let (status, _) = crate::harness::read_head(&mut reader);
    let chunk = crate::harness::read_chunk(&mut reader).unwrap();
    assert_eq!(status, 200);
    assert!(String::from_utf8(chunk).unwrap().ends_with("\n\n"));
}

#[test]
fn errors_and_redirects_repeat_no_secret() {
    let error = format!(
        r#"{{"error":{{"message":"{ECHO}","type":"invalid_request_error","code":"{KEY}","status":"x"}}}}"#
    );
    let headers = format!("location: /next?key={KEY}\r\nx-request-id: {KEY}\r\n");
    for protocol in PROTOCOLS {
        for status in [200, 302, 400, 401, 404, 429, 500] {
            let provider = Provider::start(vec![Script::Reply(json(status, &headers, &error))]);
            let gateway = gateway(provider.address, protocol);
            for client in PROTOCOLS {
                for is_stream in [false, true] {
                    let reply = ask(&gateway, client, is_stream);
                    let what = format!("{client} on {protocol}, {status}, {is_stream}");
                    assert!(reply.status >= 400, "{what}");
                    let text = format!("{:?}\n{}", reply.headers, reply.body).replace("\\/", "/");
                    assert!(!text.contains(KEY) && !text.contains(TOKEN), "{what}: {text}");
                }
            }
        }
    }
}

#[test]
fn other_paths_repeat_no_secret_under_any_status() {
    let body = format!(
        r#"{{"data":[{{"id":"{KEY}"}},{{"id":"m-{TOKEN}"}}],"echo":"{ECHO} bearer\/secret"}}"#
    );
    let headers = format!(
        "location: https://elsewhere.example/?key=sk-upstream%2Fkey&a=1\r\nx-echo: a {TOKEN} b\r\n\
         set-cookie: k={KEY}\r\n"
    );
    for status in [200, 201, 302, 400, 404, 500] {
        let provider = Provider::start(vec![Script::Reply(json(status, &headers, &body))]);
        let gateway = gateway(provider.address, "openai-chat");
        let reply = gateway.get("/passthrough/p/v1/files");
        check(&reply, &status.to_string());
        assert_eq!(reply.status, status);
        let location = "https://elsewhere.example/?key=[redacted]&a=1";
        assert_eq!(reply.header("location"), Some(location));
        assert_eq!(reply.header("x-echo"), Some("a [redacted] b"));
        assert!(reply.body.ends_with(&format!("{REDACTED} [redacted]\"}}")), "{}", reply.body);
        let mut reader = gateway.send("HEAD /passthrough/p/v1/files", "");
        let (_, head) = crate::harness::read_head(&mut reader);
        assert!(head.contains(&("set-cookie".to_owned(), "k=[redacted]".to_owned())), "{head:?}");
        let embedded = gateway.post("/v1/embeddings", r#"{"model":"p/e","input":"x"}"#);
        assert!(!format!("{embedded:?}").contains(KEY), "{embedded:?}");
        let listed = gateway.get("/v1/models");
        assert!(!listed.body.contains(KEY) && !listed.body.contains(TOKEN), "{}", listed.body);
        assert_eq!(listed.body.contains("p/m-[redacted]"), status == 200, "{}", listed.body);
    }
}

#[test]
fn a_compression_that_nobody_asked_for_hides_no_secret() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(chat_answer(ECHO).as_bytes()).unwrap();
    let body = packer.finish().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let gateway = gateway(listener.local_addr().unwrap(), "openai-chat");
    let codings = ["gzip", "identity\r\ncontent-encoding: gzip"];
    let each_thrice = codings.into_iter().flat_map(|coding| [coding; 3]);
    std::thread::spawn(move || {
        for (stream, coding) in listener.incoming().zip(each_thrice) {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 65_536]).unwrap();
            let length = body.len();
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: {coding}\r\n\
                 content-length: {length}\r\nconnection: close\r\n\r\n"
            );
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(&body).unwrap();
        }
    });
    for coding in codings {
        for path in ["/passthrough/p/v1/x", "/v1/chat/completions", "/v1/embeddings"] {
            let reply = gateway.post(path, &chat("p/m", false));
            check(&reply, path);
            assert_eq!(reply.header("content-encoding"), None, "{path}, {coding}");
            assert!(reply.body.contains(REDACTED), "{path}, {coding}: {}", reply.body);
        }
    }
}

/// Answers with the part of a body that a client asks for, as servers of files do; without a wish with all of it.
fn start_ranged() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut asked = [0; 65_536];
            let read = stream.read(&mut asked).unwrap();
            let head = String::from_utf8_lossy(&asked[..read]).to_lowercase().replace('_', "-");
            let range = head.lines().find_map(|line| line.strip_prefix("range: bytes="));
            let (status, part) = match range.and_then(|range| range.split_once('-')) {
                Some((from, to)) => ("206 Part", &KEY[from.parse().unwrap()..=to.parse().unwrap()]),
                None => ("200 OK", KEY),
            };
            let length = part.len();
            let head =
                format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close");
            stream.write_all(format!("{head}\r\n\r\n{part}").as_bytes()).unwrap();
        }
    });
    address
}

#[test]
fn a_secret_is_not_handed_out_in_parts() {
    let address = start_ranged();
    let keyed = gateway(address, "openai-chat");
    for name in ["range", "Range", "if-range: \"tag\"\r\nrange"] {
        let reply =
            keyed.request(&format!("GET /passthrough/p/v1/files/f\r\n{name}: bytes=0-7\r\n"), "");
        assert_eq!((reply.status, &*reply.body), (200, "[redacted]"), "{name}");
    }
    // Where nothing is secret, parts are what was asked for.
    let open = Running::start(&format!(
        "[[provider]]\nname = \"p\"\nprotocol = \"openai-chat\"\nbase_url = \"http://{address}/v1\"\n"
    ));
    let reply = open.request("GET /passthrough/p/v1/files/f\r\nrange: bytes=0-7\r\n", "");
    assert_eq!((reply.status, &*reply.body), (206, &KEY[..8]));
}

#[test]
fn media_types_and_names_of_programs_are_no_secrets() {
    let answer = json(200, "", r#"{"client":"my-program/1.0","beta":"tools-2026-01-01"}"#);
    let provider = Provider::start(vec![Script::Reply(answer)]);
    let gateway = Running::start(&format!(
        "[[provider]]\nname = \"p\"\nprotocol = \"anthropic-messages\"\n\
         base_url = \"http://{}/v1\"\napi_key = {{ value = \"{KEY}\" }}\n\
         headers = {{ \"accept\" = \"application/json\", \"user-agent\" = \"my-program/1.0\", \
         \"anthropic-beta\" = \"tools-2026-01-01\" }}\n",
        provider.address
    ));
    let reply = gateway.get("/passthrough/p/v1/x");
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(reply.body, r#"{"client":"my-program/1.0","beta":"tools-2026-01-01"}"#);
}

#[test]
fn no_charset_hides_a_secret() {
    let text = format!("{{\"echo\":\"{KEY} {TOKEN}\"}}");
    let wide = |to: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(to).collect::<Vec<u8>>();
    let bodies = [
        ("utf-16", 200, [&b"\xff\xfe"[..], &wide(u16::to_le_bytes)].concat()),
        ("utf-16be", 200, wide(u16::to_be_bytes)),
        ("", 200, wide(u16::to_le_bytes)),
        ("", 200, wide(u16::to_be_bytes)),
        ("iso-8859-1", 200, wide(u16::to_be_bytes)),
        ("utf-32", 200, text.chars().flat_map(|it| u32::from(it).to_le_bytes()).collect()),
        ("utf-7", 502, text.clone().into_bytes()),
        ("ibm037", 502, text.clone().into_bytes()),
        ("windows-1252", 200, text.clone().into_bytes()),
    ];
    for (charset, status, body) in bodies {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let gateway = gateway(listener.local_addr().unwrap(), "openai-chat");
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let _ = stream.read(&mut [0; 65_536]).unwrap();
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset={charset}\r\n\
                     content-length: {}\r\nconnection: close\r\n\r\n",
                    body.len()
                );
                stream.write_all(&[head.as_bytes(), &body].concat()).unwrap();
            }
        });
        for path in ["/passthrough/p/v1/x", "/v1/embeddings", "/v1/chat/completions"] {
            let head = format!("POST {path}\r\nconnection: close\r\n");
            let mut answer = Vec::new();
            gateway.send(&head, &chat("p/m", false)).read_to_end(&mut answer).unwrap();
            let answer: String = answer.into_iter().map(char::from).collect();
            let narrow = answer.replace('\0', "");
            assert!(!narrow.contains(KEY) && !narrow.contains(TOKEN), "{charset}: {narrow}");
            if path.starts_with("/pass") {
                assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{charset}: {answer}");
                assert_eq!(narrow.matches("[redacted]").count() == 2, status == 200, "{narrow}");
            }
        }
    }
}
