//! Several keys of one provider: they take turns, and one that is turned away rests.

use crate::harness::*;

const CHAT: &str = "/v1/chat/completions";

/// A provider that answers by the key, which it knows by its last letters.
fn provider_by_key(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Provider {
    let script = move |received: &Received| {
        answer(received.header("authorization").unwrap_or_default().trim_start_matches("Bearer "))
    };
    Provider::start(vec![Script::Answer(std::sync::Arc::new(script))])
}

fn limited(header: &str) -> String {
    json(
        429,
        header,
        r#"{"error":{"message":"slow down, sk-two","type":"requests","code":"rate_limit_exceeded"}}"#,
    )
}

fn wrong() -> String {
    json(
        401,
        "",
        r#"{"error":{"message":"no such key","type":"invalid_request_error","code":"invalid_api_key"}}"#,
    )
}

fn good() -> String {
    json(200, "", &chat_answer("hi"))
}

/// The provider under the name `p`, with these keys.
fn with_keys(provider: &Provider, keys: &[&str]) -> String {
    let keys: Vec<String> = keys.iter().map(|key| format!("{{ value = \"{key}\" }}")).collect();
    let one = "api_key = { value = \"sk-upstream\" }";
    let toml = provider.toml("p", "openai-chat");
    assert!(toml.contains(one), "{toml}");
    toml.replace(one, &format!("api_key = [{}]", keys.join(", ")))
}

/// The keys that the provider has seen, in order.
fn seen(provider: &Provider) -> Vec<String> {
    let key = |it: &Received| it.header("authorization").unwrap().replace("Bearer ", "");
    provider.received().iter().map(key).collect()
}

#[test]
fn keys_take_turns_and_one_that_is_limited_rests() {
    let provider = provider_by_key(|key| match key {
        "sk-two-key" => limited("retry-after: 60\r\n"),
        _ => good(),
    });
    let keys = ["sk-one-key", "sk-two-key", "sk-three-key"];
    let gateway = Running::start(&with_keys(&provider, &keys));
    for _ in 0..6 {
        let reply = gateway.post(CHAT, &chat("p/m", false));
        assert_eq!(reply.status, 200, "{}", reply.body);
    }
    let seen = seen(&provider);
    let count = |key: &str| seen.iter().filter(|it| *it == key).count();
    assert_eq!(seen[..3], keys, "in turns");
    assert_eq!(count("sk-two-key"), 1, "it rests: {seen:?}");
    assert_eq!(count("sk-one-key") + count("sk-three-key"), 6);
    assert!(count("sk-one-key") >= 2 && count("sk-three-key") >= 2, "{seen:?}");
    let metrics = gateway.get("/metrics").body;
    for line in [
        "sabir_key_requests_total{provider=\"p\",key=\"2\"} 1",
        "sabir_key_rests_total{provider=\"p\",key=\"2\"} 1",
        "sabir_key_resting{provider=\"p\",key=\"1\"} 0",
        "sabir_key_resting{provider=\"p\",key=\"2\"} 1",
    ] {
        assert!(metrics.contains(line), "{line} is not in {metrics}");
    }
    assert!(!metrics.contains("sk-"));
    let exchanges = gateway.get("/sabir/v1/exchanges").body;
    assert!(!exchanges.contains("sk-two-key"), "{exchanges}");
}

#[test]
fn a_key_that_is_not_valid_rests_and_the_client_never_knows() {
    let provider = provider_by_key(|key| if key == "sk-one-key" { wrong() } else { good() });
    let gateway = Running::start(&with_keys(&provider, &["sk-one-key", "sk-two-key"]));
    for _ in 0..4 {
        assert_eq!(gateway.post(CHAT, &chat("p/m", true)).status, 200);
    }
    let one = "sk-one-key";
    assert_eq!(seen(&provider).iter().filter(|it| *it == one).count(), 1, "{:?}", seen(&provider));
}

#[test]
fn while_all_rest_the_soonest_is_asked_and_the_client_learns_when_to_come_back() {
    let provider = provider_by_key(|key| match key {
        "sk-one-key" => limited("retry-after: 900\r\n"),
        _ => limited("retry-after: 30\r\n"),
    });
    let gateway = Running::start(&with_keys(&provider, &["sk-one-key", "sk-two-key"]));
    let first = gateway.post(CHAT, &chat("p/m", false));
    assert_eq!(first.status, 429, "{}", first.body);
    assert_eq!(seen(&provider), ["sk-one-key", "sk-two-key"], "both, within the budget");
    let wait: u64 = first.header("retry-after").unwrap().parse().unwrap();
    assert!(wait <= 30, "{wait}");
    assert_eq!(gateway.post(CHAT, &chat("p/m", false)).status, 429);
    assert_eq!(seen(&provider)[2..], ["sk-two-key"], "the soonest, once");
}

#[test]
fn where_nothing_is_sent_twice_the_next_request_has_the_next_key() {
    let provider = provider_by_key(|key| if key == "sk-one-key" { wrong() } else { good() });
    let toml = with_keys(&provider, &["sk-one-key", "sk-two-key"]) + "retries = 0\n";
    let gateway = Running::start(&toml);
    let statuses = [(); 3].map(|()| gateway.post(CHAT, &chat("p/m", false)).status);
    assert_eq!(statuses, [401, 200, 200]);
}

#[test]
fn a_provider_whose_keys_all_rest_stands_behind_the_others() {
    let limited = provider_by_key(|_| limited("retry-after: 60\r\n"));
    let other = Provider::whole(&chat_answer("other"));
    let toml = [
        with_keys(&limited, &["sk-one-key", "sk-two-key"]),
        other.toml("other", "openai-chat"),
        "\n[[model]]\nname = \"m\"\ntargets = [{ provider = \"p\", model = \"m\" }, \
         { provider = \"other\", model = \"m\" }]\n"
            .to_owned(),
    ];
    let gateway = Running::start(&toml.concat());
    for _ in 0..3 {
        let reply = gateway.post(CHAT, &chat("m", false));
        assert_eq!((reply.status, reply.header("sabir-route")), (200, Some("fallback:2")));
    }
    assert_eq!(limited.received().len(), 2);
}

#[test]
fn answers_repeat_none_of_the_keys() {
    let provider = provider_by_key(|_| {
        json(200, "x-key: sk-two-key\r\n", &chat_answer("sk-one-key sk-two-key"))
    });
    let gateway = Running::start(&with_keys(&provider, &["sk-one-key", "sk-two-key"]));
    for _ in 0..2 {
        let reply = gateway.post(CHAT, &chat("p/m", false));
        assert_eq!(reply.status, 200);
        assert!(!reply.body.contains("sk-") && reply.header("x-key") != Some("sk-two-key"));
    }
}

#[test]
fn keys_that_stay_rest_on_when_the_configuration_is_read_again() {
    let provider = provider_by_key(|key| if key == "sk-one-key" { wrong() } else { good() });
    let file = ConfigFile::new(&with_keys(&provider, &["sk-one-key", "sk-two-key"]));
    let gateway = Running::start_from(&file);
    assert_eq!(gateway.post(CHAT, &chat("p/m", false)).status, 200);
    file.write(&with_keys(&provider, &["sk-three-key", "sk-one-key", "sk-two-key"]));
    assert_eq!(gateway.post("/sabir/v1/reload", "").status, 200);
    for _ in 0..4 {
        assert_eq!(gateway.post(CHAT, &chat("p/m", false)).status, 200);
    }
    let seen = seen(&provider);
    assert_eq!(seen.iter().filter(|key| *key == "sk-one-key").count(), 1, "{seen:?}");
    assert!(seen.contains(&"sk-three-key".to_owned()), "{seen:?}");
}

#[test]
fn other_paths_are_asked_with_the_keys_in_turns() {
    let provider =
        provider_by_key(|key| if key == "sk-one-key" { wrong() } else { json(200, "", "{}") });
    let gateway = Running::start(&with_keys(&provider, &["sk-one-key", "sk-two-key"]));
    assert_eq!(gateway.get("/passthrough/p/v1/files").status, 200);
    assert_eq!(gateway.post("/passthrough/p/v1/files", "{}").status, 200);
    assert_eq!(seen(&provider), ["sk-one-key", "sk-two-key", "sk-two-key"]);
}
