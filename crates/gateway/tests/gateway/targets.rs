//! Counts of tokens and embeddings ask the targets of a model as answers do.

use crate::harness::*;

const EMBEDDING: &str = r#"{"model":"m","input":"x"}"#;
const EMBEDDED: &str =
    r#"{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1]}],"model":"up"}"#;

/// A gateway whose model `m` has these providers as targets, each with its protocol, in order.
fn with_targets(strategy: &str, providers: &[(&Provider, &str)]) -> Running {
    let mut toml = String::new();
    let mut targets = Vec::new();
    for (number, (provider, protocol)) in providers.iter().enumerate() {
        toml += &provider.toml(&format!("p{number}"), protocol);
        targets.push(format!("{{ provider = \"p{number}\", model = \"up\" }}"));
    }
    let targets = targets.join(", ");
    toml +=
        &format!("\n[[model]]\nname = \"m\"\nstrategy = \"{strategy}\"\ntargets = [{targets}]\n");
    Running::start(&toml)
}

fn failing(status: u16, headers: &str) -> Script {
    Script::Reply(json(status, headers, r#"{"error":{"message":"not now","type":"server_error"}}"#))
}

fn replying(body: &str) -> Script {
    Script::Reply(json(200, "", body))
}

#[test]
fn a_count_goes_to_the_next_target_when_one_cannot() {
    for status in [429, 500, 529] {
        let first = Provider::start(vec![failing(status, "retry-after: 30\r\n")]);
        let second = Provider::whole(r#"{"totalTokens":42}"#);
        let gateway =
            with_targets("fallback", &[(&first, "anthropic-messages"), (&second, "gemini")]);
        let reply = gateway.post("/v1/messages/count_tokens", &messages("m", false));
        assert_eq!(reply.body, r#"{"input_tokens":42}"#, "{status}");
        assert_eq!(reply.header("sabir-route"), Some("fallback:2"));
        assert_eq!(first.received().len(), 1);
    }
}

#[test]
fn a_count_is_estimated_for_the_next_target_if_that_one_has_no_counter() {
    let first = Provider::start(vec![failing(500, "")]);
    let second = Provider::whole("{}");
    let targets = [(&first, "anthropic-messages"), (&second, "openai-chat")];
    let gateway = with_targets("fallback", &targets);
    let reply = gateway.post("/v1/messages/count_tokens", &messages("m", false));
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert_eq!(reply.header("sabir-estimate"), Some("true"));
    assert_eq!(reply.header("sabir-provider"), Some("p1"));
    assert!(second.received().is_empty());
    let labels = r#"provider="p0",client="anthropic-messages",upstream="anthropic-messages""#;
    gateway.wait_for_metric(&format!("sabir_failed_tries_total{{{labels}}} 1"));
}

#[test]
fn a_failure_of_a_counter_that_may_pass_is_tried_once_more() {
    let provider = Provider::start(vec![failing(503, ""), replying(r#"{"input_tokens":7}"#)]);
    let gateway = with_targets("fallback", &[(&provider, "anthropic-messages")]);
    let reply = gateway.post("/v1/messages/count_tokens", &messages("m", false));
    assert_eq!(reply.body, r#"{"input_tokens":7}"#);
    assert_eq!(provider.received().len(), 2);
}

#[test]
fn what_a_counter_refuses_is_not_asked_again_elsewhere() {
    let first = Provider::start(vec![failing(400, "")]);
    let second = Provider::whole(r#"{"input_tokens":7}"#);
    let targets = [(&first, "anthropic-messages"), (&second, "anthropic-messages")];
    let gateway = with_targets("fallback", &targets);
    let reply = gateway.post("/v1/messages/count_tokens", &messages("m", false));
    assert_eq!(reply.status, 400, "{}", reply.body);
    assert!(second.received().is_empty());
}

#[test]
fn a_count_asks_whom_the_next_answer_asks_and_takes_no_turn_of_its_own() {
    let count = |tokens: u32| {
        format!(
            r#"{{"input_tokens":{tokens},"id":"m","type":"message","role":"assistant","model":"m","content":[{{"type":"text","text":"{tokens}"}}],"stop_reason":"end_turn","stop_sequence":null,"usage":{{"input_tokens":1,"output_tokens":1}}}}"#
        )
    };
    let (first, second) = (Provider::whole(&count(1)), Provider::whole(&count(2)));
    let targets = [(&first, "anthropic-messages"), (&second, "anthropic-messages")];
    let gateway = with_targets("weighted", &targets);
    for round in 0..4 {
        let counted = gateway.post("/v1/messages/count_tokens", &messages("m", false)).json();
        let answered = gateway.post("/v1/messages", &messages("m", false)).json();
        assert_eq!(counted["input_tokens"], answered["input_tokens"], "round {round}");
    }
    assert_eq!((first.received().len(), second.received().len()), (4, 4));
}

#[test]
fn a_counter_out_of_order_does_not_keep_answers_from_its_provider() {
    let first = Provider::start(vec![failing(429, "")]);
    let second = Provider::whole(r#"{"input_tokens":7}"#);
    let targets = [(&first, "openai-responses"), (&second, "openai-responses")];
    let gateway = with_targets("fallback", &targets);
    for _ in 0..4 {
        gateway.post("/v1/responses/input_tokens", r#"{"model":"m","input":"hello"}"#);
    }
    assert_eq!(first.received().len(), 4, "counters have limits of their own");
}

#[test]
fn embeddings_go_to_the_next_target_when_one_cannot() {
    for status in [429, 500, 503] {
        let first = Provider::start(vec![failing(status, "retry-after: 30\r\n")]);
        let second = Provider::whole(EMBEDDED);
        let gateway =
            with_targets("fallback", &[(&first, "openai-chat"), (&second, "openai-chat")]);
        let reply = gateway.post("/v1/embeddings", EMBEDDING);
        assert_eq!((reply.status, &*reply.body), (200, EMBEDDED), "{status}");
        assert_eq!(reply.header("sabir-route"), Some("fallback:2"));
        assert_eq!(second.received()[0].body, r#"{"model":"up","input":"x"}"#);
    }
}

#[test]
fn a_failure_of_embeddings_that_may_pass_is_tried_once_more() {
    let provider = Provider::start(vec![failing(502, ""), replying(EMBEDDED)]);
    let gateway = with_targets("fallback", &[(&provider, "openai-responses")]);
    assert_eq!(gateway.post("/v1/embeddings", EMBEDDING).body, EMBEDDED);
    assert_eq!(provider.received().len(), 2);
}

#[test]
fn embeddings_skip_targets_that_have_none() {
    let (first, second) = (Provider::whole("{}"), Provider::whole(EMBEDDED));
    let gateway = with_targets("fallback", &[(&first, "gemini"), (&second, "openai-chat")]);
    let reply = gateway.post("/v1/embeddings", EMBEDDING);
    assert_eq!(reply.body, EMBEDDED);
    assert_eq!(reply.header("sabir-provider"), Some("p1"));
    assert!(first.received().is_empty());
}

#[test]
fn embeddings_follow_the_weights() {
    let (first, second) = (Provider::whole(EMBEDDED), Provider::whole(EMBEDDED));
    let gateway = with_targets("weighted", &[(&first, "openai-chat"), (&second, "openai-chat")]);
    for _ in 0..4 {
        assert_eq!(gateway.post("/v1/embeddings", EMBEDDING).status, 200);
    }
    assert_eq!((first.received().len(), second.received().len()), (2, 2));
}

#[test]
fn the_last_failure_of_embeddings_reaches_the_client_word_for_word() {
    let (first, second) = (
        Provider::start(vec![failing(500, "")]),
        Provider::start(vec![Script::Reply(json(
            429,
            "retry-after: 9\r\nx-request-id: r1\r\n",
            r#"{"error": {"message":"sk-upstream has no quota","type":"insufficient_quota","param":null,"code":null}}"#,
        ))]),
    );
    let gateway =
        with_targets("fallback", &[(&first, "openai-chat"), (&second, "openai-responses")]);
    let reply = gateway.post("/v1/embeddings", EMBEDDING);
    assert_eq!(reply.status, 429);
    assert_eq!(
        reply.body,
        r#"{"error": {"message":"[redacted] has no quota","type":"insufficient_quota","param":null,"code":null}}"#
    );
    assert_eq!(
        (reply.header("retry-after"), reply.header("x-request-id")),
        (Some("9"), Some("r1"))
    );
}
