//! Who is let in, what is refused, and in which shape.

use std::io::{BufRead, Write};

use crate::harness::*;

fn gateway() -> (Provider, Running) {
    let provider = Provider::whole(&chat_answer("hi"));
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    (provider, gateway)
}

#[test]
fn strange_hosts_and_pages_are_turned_away() {
    let (provider, gateway) = gateway();
    for headers in [
        "host: evil.example\r\n",
        "host: localhost.evil.example:4747\r\n",
        "host: localhost\r\norigin: https://evil.example\r\n",
        "host: localhost\r\nsec-fetch-site: cross-site\r\n",
    ] {
        let reply =
            gateway.request(&format!("POST /v1/messages\r\n{headers}"), &messages("p/m", false));
        assert_eq!(reply.status, 403, "{headers}");
        assert_eq!(reply.json()["error"]["type"], "permission_error", "{headers}");
    }
    assert!(provider.received().is_empty());
    for host in ["127.0.0.1:1", "[::1]:1", "localhost"] {
        let reply = gateway.request(&format!("GET /healthz\r\nhost: {host}\r\n"), "");
        assert_eq!(reply.status, 200, "{host}");
    }
}

#[test]
fn a_host_that_could_be_read_in_two_ways_is_turned_away() {
    let toml = "allowed_hosts = [\"sabir.example\", \"box:4747\"]\n";
    let provider = Provider::whole(&chat_answer("hi"));
    let gateway = Running::start(&format!("{toml}{}", provider.toml("p", "openai-chat")));
    for (host, status) in [
        ("[::1]evil.com", 400),
        ("127.0.0.1:80@evil.com", 400),
        ("evil.com/.localhost", 400),
        ("evil.com\t.localhost", 400),
        ("evil.com%2e.localhost", 400),
        ("user@localhost", 400),
        ("localhost:", 400),
        ("localhost:65536", 400),
        ("localhost.", 400),
        ("[::1%25lo]", 400),
        ("0x7f.1", 400),
        ("sabir.example.evil.com", 403),
        ("sabir.example@evil.com", 400),
        ("127.0.0.1.nip.io", 403),
        ("[::ffff:127.0.0.1]", 403),
        ("box", 403),
        ("evil.localhost.com", 403),
        ("SABIR.example:1", 200),
        ("box:4747", 200),
        ("a.LOCALHOST", 200),
        ("[::1]", 200),
    ] {
        let reply = gateway.request(&format!("GET /healthz\r\nhost: {host}\r\n"), "");
        assert_eq!(reply.status, status, "{host}");
    }
    for (target, host, status) in [
        ("http://localhost/healthz", "localhost:80", 200),
        ("http://LOCALHOST:4747/healthz", "localhost:4747", 200),
        ("http://evil.com/healthz", "localhost", 400),
        ("http://evil.com@localhost/healthz", "localhost", 400),
        ("http://localhost@evil.com/healthz", "localhost", 400),
        ("http://localhost:80@evil.com/healthz", "localhost:80", 400),
        ("http://evil.com/healthz", "evil.com", 403),
    ] {
        let reply = gateway.request(&format!("GET {target}\r\nhost: {host}\r\n"), "");
        assert_eq!(reply.status, status, "{target} {host}");
    }
}

#[test]
fn an_origin_is_compared_as_a_whole_and_each_of_several() {
    let provider = Provider::whole(&chat_answer("hi"));
    let toml =
        format!("cors_origins = [\"https://app.example\"]\n{}", provider.toml("p", "openai-chat"));
    let gateway = Running::start(&toml);
    for (origins, status) in [
        ("origin: https://app.example\r\n", 200),
        ("origin: HTTPS://App.Example:443\r\n", 200),
        ("origin: http://app.example\r\n", 403),
        ("origin: https://app.example.evil.com\r\n", 403),
        ("origin: https://app.example@evil.com\r\n", 403),
        ("origin: https://app.example/\r\n", 403),
        ("origin: https://app.example:444\r\n", 403),
        ("origin: null\r\n", 403),
        ("origin: \r\n", 403),
        ("origin: https://app.example\r\norigin: https://evil.com\r\n", 403),
    ] {
        let reply = gateway.request(&format!("GET /healthz\r\n{origins}"), "");
        assert_eq!(reply.status, status, "{origins}");
    }
}

#[test]
fn a_page_of_an_allowed_origin_may_ask() {
    let provider = Provider::whole(&chat_answer("hi"));
    let toml =
        format!("cors_origins = [\"https://app.example\"]\n{}", provider.toml("p", "openai-chat"));
    let gateway = Running::start(&toml);
    let head = "OPTIONS /v1/messages\r\norigin: https://app.example\r\naccess-control-request-method: POST\r\n";
    let reply = gateway.request(head, "");
    assert_eq!(reply.status, 204);
    assert_eq!(reply.header("access-control-allow-origin"), Some("https://app.example"));
    let head = "POST /v1/messages\r\norigin: https://app.example\r\n";
    let reply = gateway.request(head, &messages("p/m", false));
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("access-control-allow-origin"), Some("https://app.example"));
}

#[test]
fn a_gateway_that_asks_for_keys_takes_them_in_every_clients_way() {
    let provider = Provider::whole(&chat_answer("hi"));
    let toml = provider.toml("p", "openai-chat")
        + "[auth]\nrequired = true\n[[auth.key]]\nname = \"a\"\nvalue = { value = \"k1\" }\n[[auth.key]]\nname = \"b\"\nvalue = { value = \"k2\" }\n";
    let gateway = Running::start(&toml);
    let ask = |headers: &str| {
        gateway.request(&format!("POST /v1/messages\r\n{headers}"), &messages("p/m", false)).status
    };
    assert_eq!(ask(""), 401);
    assert_eq!(ask("x-api-key: k3\r\n"), 401);
    assert_eq!(ask("x-api-key: k1\r\n"), 200);
    assert_eq!(ask("authorization: Bearer k2\r\n"), 200);
    assert_eq!(ask("x-goog-api-key: k2\r\n"), 200);
    let gemini = r#"{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}"#;
    assert_eq!(gateway.post("/v1beta/models/p%2Fm:generateContent?key=k1", gemini).status, 200);
    assert_eq!(gateway.post("/v1beta/models/p%2Fm:generateContent?key=no", gemini).status, 401);
    assert_eq!(gateway.get("/metrics").status, 401);
    assert_eq!(gateway.get("/healthz").status, 200);
    for seen in provider.received() {
        assert_eq!(seen.header("authorization"), Some("Bearer sk-upstream"));
        assert!(!format!("{seen:?}").contains("k1") && !format!("{seen:?}").contains("k2"));
    }
}

#[test]
fn bodies_that_cannot_be_read_are_refused_in_the_clients_shape() {
    let (provider, gateway) = gateway();
    for (path, body) in [
        ("/v1/chat/completions", "{"),
        ("/v1/chat/completions", ""),
        ("/v1/chat/completions", r#"{"messages":[]}"#),
        ("/v1/responses", "[]"),
        ("/v1/messages", r#"{"model":"p/m","messages":"no"}"#),
        ("/v1beta/models/p%2Fm:generateContent", r#"{"contents":7}"#),
    ] {
        let reply = gateway.post(path, body);
        assert_eq!(reply.status, 400, "{path} {body}: {}", reply.body);
        assert!(reply.json()["error"]["message"].is_string(), "{}", reply.body);
    }
    assert!(provider.received().is_empty());
}

/// Servers read such a body in two ways: what was looked at here might not be what is done there.
#[test]
fn a_model_and_how_the_answer_comes_are_stated_once() {
    let (provider, gateway) = gateway();
    let again = |member: &str, rest: &str| {
        [
            format!(r#"{{"model":"p/m",{member},{rest}}}"#),
            format!(r#"{{{member},{rest},"model":"p/m"}}"#),
        ]
    };
    for (path, rest) in [
        ("/v1/chat/completions", r#""messages":[{"role":"user","content":"hi"}]"#),
        ("/v1/messages", r#""max_tokens":9,"messages":[{"role":"user","content":"hi"}]"#),
        ("/v1/responses", r#""input":"hi""#),
        ("/v1/responses/input_tokens", r#""input":"hi""#),
        ("/v1/embeddings", r#""input":"hi""#),
        ("/v1beta/models/p%2Fm:generateContent", r#""contents":[{"parts":[{"text":"hi"}]}]"#),
    ] {
        for member in
            [r#""model":"p/other""#, r#""mod\u0065l":null"#, r#""stream":false,"stream":true"#]
        {
            for body in again(member, rest) {
                let reply = gateway.post(path, &body);
                assert_eq!(reply.status, 400, "{path} {body}: {}", reply.body);
                let message = reply.json()["error"]["message"].to_string();
                assert!(message.contains("once, found it twice"), "{path}: {message}");
            }
        }
    }
    assert!(provider.received().is_empty());
}

#[test]
fn a_model_that_nobody_serves_is_not_found_in_the_clients_shape() {
    let (_provider, gateway) = gateway();
    let reply = gateway.post("/v1/chat/completions", &chat("nothing", false));
    assert_eq!(reply.status, 404);
    assert_eq!(reply.json()["error"]["code"], "model_not_found");
    let reply = gateway.post("/v1/messages", &messages("nothing", false));
    assert_eq!(reply.status, 404);
    assert_eq!(reply.json()["error"]["type"], "not_found_error");
    let gemini = r#"{"contents":[]}"#;
    let reply = gateway.post("/v1beta/models/nothing:generateContent", gemini);
    assert_eq!(reply.status, 404);
    assert_eq!(reply.json()["error"]["status"], "NOT_FOUND");
}

#[test]
fn a_body_over_the_limit_is_refused_before_it_is_read() {
    let provider = Provider::whole(&chat_answer("hi"));
    let toml = provider.toml("p", "openai-chat") + "[limits]\nmax_body_size = \"10KB\"\n";
    let gateway = Running::start(&toml);
    let body = messages("p/m", false).replace("hello", &"x".repeat(20_000));
    let reply = gateway.post("/v1/messages", &body);
    assert_eq!(reply.status, 413, "{}", reply.body);
    assert_eq!(reply.json()["error"]["type"], "request_too_large");
}

#[test]
fn headers_over_their_limit_are_refused_and_longer_bodies_are_not() {
    let provider = Provider::whole(&chat_answer("hi"));
    let toml = provider.toml("p", "openai-chat") + "[limits]\nmax_header_size = \"16KiB\"\n";
    let gateway = Running::start(&toml);
    let mut stream = std::net::TcpStream::connect(gateway.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // No end to the headers, so that only their length can be what is answered.
    let head = format!("GET / HTTP/1.1\r\nhost: localhost\r\nx-long: {}", "x".repeat(40_000));
    stream.write_all(head.as_bytes()).unwrap();
    assert_eq!(Reply::read(&mut std::io::BufReader::new(stream)).status, 431);
    let body = messages("p/m", false).replace("hello", &"x".repeat(400_000));
    assert_eq!(gateway.post("/v1/messages", &body).status, 200);
}

#[test]
fn headers_over_their_limit_are_refused_in_the_clients_shape() {
    let provider = Provider::whole(&chat_answer("hi"));
    let toml = provider.toml("p", "openai-chat") + "[limits]\nmax_header_size = \"16KiB\"\n";
    let gateway = Running::start(&toml);
    let gemini = "/v1beta/models/p%2Fm:generateContent";
    for (path, place, kind) in [
        ("/v1/messages", "/error/type", "invalid_request_error"),
        ("/v1/chat/completions", "/error/type", "invalid_request_error"),
        (gemini, "/error/status", "INVALID_ARGUMENT"),
    ] {
        for head in [
            format!("POST {path}\r\nx-long: {}\r\n", "x".repeat(17_000)),
            format!("POST {path}\r\n{}", "x-many: many\r\n".repeat(90) + &long_line(15_500)),
            format!("POST {path}?{}\r\n", "x".repeat(17_000)),
        ] {
            let reply = gateway.request(&head, &messages("p/m", false));
            assert_eq!(reply.status, 431, "{head:.40}");
            let error = reply.json();
            assert_eq!(error.pointer(place).unwrap(), kind, "{error}");
            assert!(reply.body.contains("max_header_size"), "{error}");
        }
        for number in [101, 200] {
            let head = format!("POST {path}\r\n{}", "x-many: many\r\n".repeat(number));
            let reply = gateway.request(&head, &messages("p/m", false));
            assert_eq!(reply.status, 431, "{number}");
            let error = reply.json();
            assert_eq!(error.pointer(place).unwrap(), kind, "{error}");
            assert!(reply.body.contains("more than 100 headers"), "{error}");
        }
        let head = format!("POST {path}\r\n{}", long_line(16_000));
        assert_ne!(gateway.request(&head, &messages("p/m", false)).status, 431, "{path}");
    }
    assert!(provider.received().len() <= 3, "nothing that was refused was sent");
}

fn long_line(length: usize) -> String {
    format!("x-long: {}\r\n", "x".repeat(length))
}

#[test]
fn a_small_body_that_inflates_beyond_the_limit_is_refused() {
    let provider = Provider::whole(&chat_answer("hi"));
    let toml = provider.toml("p", "openai-chat") + "[limits]\nmax_body_size = \"100KB\"\n";
    let gateway = Running::start(&toml);
    let send = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(text.as_bytes()).unwrap();
        let body = encoder.finish().unwrap();
        let mut stream = std::net::TcpStream::connect(gateway.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let head = format!(
            "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&body).unwrap();
        Reply::read(&mut std::io::BufReader::new(stream))
    };
    assert_eq!(send(&messages("p/m", false)).status, 200);
    let bomb = messages("p/m", false).replace("hello", &"x".repeat(2_000_000));
    assert_eq!(send(&bomb).status, 413);
}

#[test]
fn a_gateway_that_is_its_own_upstream_notices() {
    let probe = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = probe.local_addr().unwrap();
    drop(probe);
    let toml = format!(
        "listen = \"{address}\"\nenv_providers = false\n[[provider]]\nname = \"p\"\nprotocol = \"openai-chat\"\nbase_url = \"http://{address}/v1\"\napi_key = {{ value = \"k\" }}\nmodels = [\"*\"]\n"
    );
    let config = sabir_gateway::config::parse(&toml, std::path::Path::new("s"), &|_| None).unwrap();
    let gateway = sabir_gateway::Gateway::new(config);
    let server = sabir_gateway::server::Server::bind(gateway, Default::default()).unwrap();
    let stop = server.stop_handle();
    let thread = std::thread::spawn(move || server.run());
    let body = chat("m", false);
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
    let reply = Reply::read(&mut std::io::BufReader::new(stream));
    stop.stop();
    assert_eq!(reply.status, 508, "{}", reply.body);
    thread.join().unwrap().unwrap();
}

#[test]
fn the_gateways_before_this_one_are_named_on_every_way_to_a_provider() {
    let embedding = r#"{"model":"p/e","input":"x"}"#;
    for (request, body) in [
        ("POST /v1/chat/completions", &*chat("p/m", false)),
        ("POST /passthrough/p/v1/chat/completions", &chat("m", false)),
        ("POST /v1/embeddings", embedding),
        ("GET /v1/models", ""),
    ] {
        let (provider, gateway) = gateway();
        let head = format!("{request}\r\nvia: 1.1 sabir-first\r\nvia: 1.1 sabir-second\r\n");
        assert_eq!(gateway.request(&head, body).status, 200, "{request}");
        let received = provider.received().remove(0);
        let hops: Vec<_> = received.headers.iter().filter(|(name, _)| name == "via").collect();
        let hops: Vec<_> = hops.into_iter().map(|(_, hop)| hop.as_str()).collect();
        assert_eq!(hops.len(), 3, "{request}: {hops:?}");
        assert_eq!(hops[1..], ["1.1 sabir-first", "1.1 sabir-second"], "{request}");
        let own = format!("{request}\r\nvia: {}\r\nvia: {}\r\n", hops[0], hops[1]);
        assert_eq!(gateway.request(&own, body).status, 508, "{request}");
    }
}

#[test]
fn paths_that_are_not_served_are_not_found_in_their_protocols_shape() {
    let (_provider, gateway) = gateway();
    for (request, member) in [
        ("GET /v1/messages", "type"),
        ("DELETE /v1/responses/r1", "error"),
        ("POST /v1beta/files", "error"),
        ("GET /nowhere", "error"),
    ] {
        let reply = gateway.request(request, "");
        assert_eq!(reply.status, 404, "{request}");
        assert!(reply.json().get(member).is_some(), "{request}: {}", reply.body);
    }
}

#[test]
fn names_that_no_model_has_are_refused() {
    let (provider, gateway) = gateway();
    for model in
        ["x".repeat(600), "p/../../admin".to_owned(), "p/./m".to_owned(), "p/m\u{0}".to_owned()]
    {
        let reply = gateway.post("/v1/chat/completions", &chat(&model, false));
        assert_eq!(reply.status, 400, "{}", reply.body);
        assert_eq!(reply.json()["error"]["param"], "model");
    }
    assert!(provider.received().is_empty());
}

#[test]
fn a_key_in_the_query_stays_here_however_it_is_written() {
    let provider = Provider::whole("{}");
    let toml = provider.toml("p", "openai-chat")
        + "[auth]\nrequired = true\n[[auth.key]]\nname = \"a\"\nvalue = { value = \"a+b/c=\" }\n";
    let gateway = Running::start(&toml);
    assert_eq!(gateway.get("/passthrough/p/v1/files?key=a%2Bb%2Fc%3D&limit=2").status, 200);
    assert_eq!(provider.received()[0].line, "GET /v1/files?limit=2 HTTP/1.1");
    assert_eq!(gateway.get("/passthrough/p/v1/files?key=nope").status, 401);
}

#[test]
fn an_unknown_path_is_not_an_unknown_model() {
    let (_provider, gateway) = gateway();
    assert_eq!(gateway.get("/v1/files").json()["error"]["code"], "unknown_url");
}

#[test]
fn an_unknown_path_comes_with_advice() {
    let (_provider, gateway) = gateway();
    for (path, advice) in [
        ("/v1/v1/messages", "ends before /v1"),
        ("/v1/v1beta/models/m:generateContent", "ends before /v1"),
        ("/chat/completions", "ends in /v1"),
        ("/v1/files", "/passthrough/PROVIDER/"),
    ] {
        let reply = gateway.post(path, "{}");
        assert_eq!(reply.status, 404, "{path}");
        assert!(reply.body.contains(advice), "{path}: {}", reply.body);
    }
}

#[test]
fn a_refusal_does_not_repeat_all_of_a_long_path() {
    let (_provider, gateway) = gateway();
    let long = "a".repeat(30_000);
    for path in [format!("/{long}"), format!("/passthrough/{long}/x")] {
        let reply = gateway.get(&path);
        assert_eq!(reply.status, 404);
        assert!(reply.body.len() < 1_000, "{} bytes", reply.body.len());
    }
}

#[test]
fn whoever_sends_all_before_listening_learns_why_it_was_refused() {
    let (_provider, open) = gateway();
    let locked = Running::start(
        "[auth]\nrequired = true\n[[auth.key]]\nname = \"k\"\nvalue = { value = \"sk-1\" }\n",
    );
    let small = Running::start("[limits]\nmax_body_size = \"1MB\"\n");
    let long = messages(&"x".repeat(20_000_000), false);
    for (gateway, head, status) in [
        (&locked, "POST /v1/messages", 401),
        (&small, "POST /v1/messages", 413),
        (&small, "POST /passthrough/sim-chat/v1/files", 413),
        (&open, "POST /v1/messages\r\nhost: evil.example\r\n", 403),
        (&open, "POST /v1/nothing", 404),
        (&open, "POST /passthrough/nobody/v1/files", 404),
    ] {
        assert_eq!(gateway.request(head, &long).status, status, "{head}");
    }
}

#[test]
fn every_status_has_a_reason_that_a_person_can_read() {
    for (status, expected) in [
        (529, "HTTP/1.1 529 Overloaded\r\n"),
        (499, "HTTP/1.1 499 Client Error\r\n"),
        (521, "HTTP/1.1 521 Server Error\r\n"),
        (429, "HTTP/1.1 429 Too Many Requests\r\n"),
    ] {
        let refusal = json(status, "", r#"{"type":"error","error":{"type":"x","message":"no"}}"#);
        let provider = Provider::start(vec![Script::Reply(refusal)]);
        let gateway = Running::start(&provider.toml("p", "anthropic-messages"));
        for path in ["/v1/messages", "/passthrough/p/v1/messages"] {
            let mut line = String::new();
            let mut reader = gateway.send(&format!("POST {path}"), &messages("p/m", false));
            reader.read_line(&mut line).unwrap();
            assert_eq!(line, expected, "{path}");
        }
    }
}
