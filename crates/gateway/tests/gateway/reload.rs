//! A configuration that changes while the gateway runs: by request, by a changed file, by a signal.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, mpsc};

use crate::harness::*;
use crate::waiting::wait_for;

const CHAT: &str = "/v1/chat/completions";

/// A provider in a configuration, with this key.
fn with_key(provider: &Provider, key: &str) -> String {
    provider.toml("p", "openai-chat").replace("sk-upstream", key)
}

/// The key that the last request brought.
fn last_key(provider: &Provider) -> String {
    let received = provider.received();
    received.last().unwrap().header("authorization").unwrap().to_owned()
}

fn reload(gateway: &Running) -> Reply {
    gateway.post("/sabir/v1/reload", "")
}

fn client_key(name: &str, value: &str, rest: &str) -> String {
    format!("[[auth.key]]\nname = \"{name}\"\nvalue = {{ value = \"{value}\" }}\n{rest}\n")
}

/// Asks until the provider gets the key.
fn wait_for_key(gateway: &Running, provider: &Provider, key: &str) {
    wait_for(|| {
        assert_eq!(gateway.post(CHAT, &chat("p/m", false)).status, 200);
        let is_sent = last_key(provider) == format!("Bearer {key}");
        is_sent.then_some(()).ok_or_else(|| "the new key is never sent".to_owned())
    });
}

#[test]
fn a_request_puts_a_changed_file_in_force_and_is_told_what_changed() {
    let provider = Provider::whole(&chat_answer("hi"));
    let file = ConfigFile::new(&with_key(&provider, "sk-before"));
    let gateway = Running::start_from(&file);
    assert_eq!(gateway.post(CHAT, &chat("p/m", false)).status, 200);
    assert_eq!(last_key(&provider), "Bearer sk-before");
    let model = "\n[[model]]\nname = \"new\"\ntargets = [{ provider = \"p\", model = \"m\" }]\n";
    file.write(&(with_key(&provider, "sk-after") + model));
    let reply = reload(&gateway);
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert_eq!(reply.body, r#"{"changed":["provider p","model new"],"needs_restart":[]}"#);
    assert_eq!(gateway.post(CHAT, &chat("new", false)).status, 200);
    assert_eq!(last_key(&provider), "Bearer sk-after");
    assert_eq!(reload(&gateway).body, r#"{"changed":[],"needs_restart":[]}"#);
}

#[test]
fn a_changed_file_is_noticed() {
    let provider = Provider::whole(&chat_answer("hi"));
    let file = ConfigFile::new(&with_key(&provider, "sk-before"));
    let gateway = Running::start_watching(&file);
    wait_for_key(&gateway, &provider, "sk-before");
    file.write(&with_key(&provider, "sk-after1"));
    wait_for_key(&gateway, &provider, "sk-after1");
    file.write(&with_key(&provider, "sk-after2"));
    wait_for_key(&gateway, &provider, "sk-after2");
}

#[cfg(unix)]
#[test]
fn a_signal_has_key_files_read_again() {
    let provider = Provider::whole(&chat_answer("hi"));
    let in_file =
        provider.toml("p", "openai-chat").replace("value = \"sk-upstream", "file = \"key");
    let file = ConfigFile::new("");
    file.write_beside("key", "sk-before\n");
    file.write(&in_file);
    let gateway = Running::start_watching(&file);
    wait_for_key(&gateway, &provider, "sk-before");
    file.write_beside("key", "sk-after\n");
    let hangup = format!("kill -HUP {}", std::process::id());
    assert!(std::process::Command::new("sh").args(["-c", &hangup]).status().unwrap().success());
    wait_for_key(&gateway, &provider, "sk-after");
}

#[test]
fn what_is_in_flight_ends_under_the_old_configuration() {
    let (pieces, script) = mpsc::channel();
    let script = Script::Pieces(Arc::new(Mutex::new(script)));
    let provider = Provider::start(vec![script]);
    let file = ConfigFile::new(&provider.toml("p", "openai-chat"));
    let gateway = Running::start_from(&file);
    let mut stream = gateway.send(&format!("POST {CHAT}"), &chat("p/m", true));
    pieces.send(sse(&chat_chunk("one "))).unwrap();
    let (status, _) = read_head(&mut stream);
    assert_eq!(status, 200);
    let mut body = read_chunk(&mut stream).unwrap();
    file.write("[limits]\nmax_body_size = \"1KB\"\n");
    assert_eq!(
        reload(&gateway).body,
        r#"{"changed":["provider p","[limits]"],"needs_restart":[]}"#
    );
    assert_eq!(gateway.post(CHAT, &chat("p/m", false)).status, 404);
    pieces.send(chat_chunk("two") + CHAT_END).unwrap();
    drop(pieces);
    while let Some(chunk) = read_chunk(&mut stream) {
        body.extend(chunk);
    }
    let body = String::from_utf8(body).unwrap();
    assert!(body.contains("one ") && body.contains("two") && body.contains("[DONE]"), "{body}");
    gateway.wait_for_metric("sabir_requests_in_flight 0");
    let exchanges = gateway.get("/sabir/v1/exchanges").json();
    let outcomes: Vec<_> = exchanges["exchanges"].as_array().unwrap().iter().collect();
    let streamed = outcomes.iter().find(|it| it["stream"] == true).unwrap();
    assert_eq!(streamed["outcome"], "answered", "{streamed}");
}

#[test]
fn a_bad_file_changes_nothing_and_the_answer_says_where_it_is_bad() {
    let provider = Provider::whole(&chat_answer("hi"));
    let file = ConfigFile::new(&with_key(&provider, "sk-before"));
    let gateway = Running::start_from(&file);
    file.write(&("repiar = \"off\"\n".to_owned() + &with_key(&provider, "sk-after")));
    let reply = reload(&gateway);
    assert_eq!(reply.status, 400, "{}", reply.body);
    let message = reply.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("sabir.toml:3:1: ") && message.contains("`repiar`"), "{message}");
    assert_eq!(reply.json()["error"]["code"], "invalid_config");
    assert_eq!(gateway.post(CHAT, &chat("p/m", false)).status, 200);
    assert_eq!(last_key(&provider), "Bearer sk-before");
}

#[test]
fn a_changed_key_of_a_client_locks_the_old_one_out() {
    let required = "[auth]\nrequired = true\n";
    let admin = client_key("admin", "key-admin", "admin = true");
    let file = ConfigFile::new(&(required.to_owned() + &admin + &client_key("ci", "key-one", "")));
    let gateway = Running::start_from(&file);
    let ask = |path: &str, key: &str| {
        gateway.request(&format!("POST {path}\r\nx-api-key: {key}\r\n"), &chat("sim", false)).status
    };
    assert_eq!([ask(CHAT, "key-one"), ask(CHAT, "key-two")], [200, 401]);
    file.write(&(required.to_owned() + &admin + &client_key("ci", "key-two", "")));
    let path = "/sabir/v1/reload";
    assert_eq!([ask(path, "none"), ask(path, "key-one"), ask(path, "key-admin")], [401, 403, 200]);
    assert_eq!([ask(CHAT, "key-one"), ask(CHAT, "key-two")], [401, 200]);
}

#[test]
fn changed_limits_hold_for_the_next_request() {
    let file = ConfigFile::new("");
    let gateway = Running::start_from(&file);
    let long = chat("sim", false).replace("hello", &"x".repeat(2_000));
    assert_eq!(gateway.post(CHAT, &long).status, 200);
    file.write("[limits]\nmax_body_size = \"1KB\"\n");
    assert_eq!(reload(&gateway).status, 200);
    assert_eq!(gateway.post(CHAT, &long).status, 413);
    assert_eq!(gateway.post(CHAT, &chat("sim", false)).status, 200);
}

#[test]
fn counters_and_exchanges_go_on() {
    let provider = Provider::whole(&chat_answer("hi"));
    let file = ConfigFile::new(&with_key(&provider, "sk-before"));
    let gateway = Running::start_from(&file);
    assert_eq!(gateway.post(CHAT, &chat("p/m", false)).status, 200);
    let line = "sabir_requests_total{provider=\"p\",client=\"openai-chat\",upstream=\"openai-chat\",outcome=\"answered\"}";
    gateway.wait_for_metric(&format!("{line} 1"));
    file.write(&with_key(&provider, "sk-after"));
    assert_eq!(reload(&gateway).status, 200);
    gateway.wait_for_metric(&format!("{line} 1"));
    assert_eq!(gateway.post(CHAT, &chat("p/m", false)).status, 200);
    gateway.wait_for_metric(&format!("{line} 2"));
    let exchanges = gateway.get("/sabir/v1/exchanges").json();
    let of_provider = exchanges["exchanges"].as_array().unwrap().iter();
    assert_eq!(of_provider.filter(|it| it["provider"] == "p").count(), 2, "{exchanges}");
}

#[test]
fn what_needs_a_restart_is_said_and_the_rest_holds() {
    let file = ConfigFile::new("");
    let gateway = Running::start_from(&file);
    file.write("repair = \"off\"\n[log]\nlevel = \"debug\"\n");
    let reply = reload(&gateway);
    assert_eq!(reply.body, r#"{"changed":["repair"],"needs_restart":["[log]"]}"#);
}

#[test]
fn strangers_do_not_reload() {
    let file = ConfigFile::new("allowed_hosts = [\"sabir.example\"]\ncors_origins = []\n");
    let gateway = Running::start_from(&file);
    for header in ["host: evil.example", "host: sabir.example", "origin: https://evil.example"] {
        let reply = gateway.request(&format!("POST /sabir/v1/reload\r\n{header}\r\n"), "");
        assert_eq!(reply.status, 403, "{header}: {}", reply.body);
    }
    assert_eq!(reload(&gateway).status, 200);
    assert_eq!(gateway.get("/sabir/v1/reload").status, 404);
}

#[test]
fn without_a_config_file_there_is_none_to_read_again() {
    let gateway = Running::start("");
    let reply = reload(&gateway);
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &"no_config_file".into()));
    assert!(reply.body.contains("there is no config file"), "{}", reply.body);
}

#[test]
fn a_hundred_reloads_under_load_lose_no_request() {
    let provider = Provider::whole(&chat_answer("hi"));
    let (one, two) = (with_key(&provider, "sk-one-key"), with_key(&provider, "sk-two-key"));
    let file = ConfigFile::new(&one);
    let gateway = Running::start_from(&file);
    let is_over = AtomicBool::new(false);
    let asked = std::thread::scope(|scope| {
        let ask = || {
            let mut asked = 0;
            while !is_over.load(Relaxed) {
                let reply = gateway.post(CHAT, &chat("p/m", false));
                assert_eq!(reply.status, 200, "{}", reply.body);
                asked += 1;
            }
            asked
        };
        let asking: Vec<_> = (0..3).map(|_| scope.spawn(ask)).collect();
        let reloaded = (0..100).map(|number| {
            file.write(if number % 2 == 0 { &two } else { &one });
            reload(&gateway).body
        });
        let reloaded: Vec<String> = reloaded.collect();
        is_over.store(true, Relaxed);
        for body in reloaded {
            assert_eq!(body, r#"{"changed":["provider p"],"needs_restart":[]}"#);
        }
        asking.into_iter().map(|it| it.join().unwrap()).sum::<usize>()
    });
    let line = "sabir_requests_total{provider=\"p\",client=\"openai-chat\",upstream=\"openai-chat\",outcome=\"answered\"}";
    gateway.wait_for_metric(&format!("{line} {asked}"));
    gateway.wait_for_metric("sabir_requests_in_flight 0");
    gateway.wait_for_metric("sabir_bodies_bytes 0");
}

/// A provider that keeps its connections, and how many were made to it.
fn keeping() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, made) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&made);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            count.fetch_add(1, Relaxed);
            std::thread::spawn(move || answer_all(stream.unwrap()));
        }
    });
    (address, made)
}

/// Answers one request after the other.
fn answer_all(stream: TcpStream) {
    let mut reader = BufReader::new(stream);
    let answer = json(200, "", &chat_answer("hi")).replace("connection: close\r\n", "");
    let mut length = 0;
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
        if let Some(value) = line.to_lowercase().strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            reader.read_exact(&mut vec![0; length]).unwrap();
            reader.get_mut().write_all(answer.as_bytes()).unwrap();
        }
        line.clear();
    }
}

#[test]
fn a_connection_that_was_made_with_one_key_is_not_used_with_another() {
    let (address, made) = keeping();
    let toml = |key: &str, retries: u32| {
        format!(
            "[[provider]]\nname = \"p\"\nprotocol = \"openai-chat\"\nbase_url = \"http://{address}/v1\"\n\
             api_key = {{ value = \"{key}\" }}\nretries = {retries}\n"
        )
    };
    let file = ConfigFile::new(&toml("sk-one", 1));
    let gateway = Running::start_from(&file);
    // One connection is served by one thread, which keeps its own connections to providers.
    let mut client = gateway.send(&format!("POST {CHAT}"), &chat("p/m", false));
    assert_eq!(Reply::read(&mut client).status, 200);
    let body = chat("p/m", false);
    let head = format!("POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}", body.len());
    for (key, retries, connections) in [("sk-one", 1, 1), ("sk-one", 2, 1), ("sk-two", 2, 2)] {
        file.write(&toml(key, retries));
        assert_eq!(reload(&gateway).status, 200);
        client.get_mut().write_all(format!("{head}\r\n\r\n{body}").as_bytes()).unwrap();
        assert_eq!(Reply::read(&mut client).status, 200);
        assert_eq!(made.load(Relaxed), connections, "{key} {retries}");
    }
}
