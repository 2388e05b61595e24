//! An answer costs the same whether it passes as it is or is translated.

use crate::harness::*;

/// The line of the metrics that says how many tokens of input a provider `p` has counted.
fn input_tokens(client: &str, upstream: &str, count: u64) -> String {
    format!(
        "sabir_tokens_total{{provider=\"p\",client=\"{client}\",upstream=\"{upstream}\",direction=\"input\"}} {count}"
    )
}

#[test]
fn keys_of_another_protocol_are_not_counted() {
    let answer = chat_answer("hi").replace(
        r#""prompt_tokens":3"#,
        r#""prompt_tokens":100,"cache_read_input_tokens":80,"cache_creation_input_tokens":7"#,
    );
    let provider = Provider::whole(&answer);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    for (path, body) in
        [("/v1/chat/completions", chat("p/m", false)), ("/v1/messages", messages("p/m", false))]
    {
        let reply = gateway.post(path, &body);
        let exchange = reply.header("sabir-exchange").unwrap();
        let seen = gateway.get(&format!("/sabir/v1/exchanges/{exchange}")).json();
        assert_eq!(seen["usage"]["input_tokens"], 100, "{path}: {seen}");
    }
    for client in ["openai-chat", "anthropic-messages"] {
        gateway.wait_for_metric(&input_tokens(client, "openai-chat", 100));
    }
}

#[test]
fn a_later_report_keeps_the_cache_counts_of_an_earlier_one() {
    let frame =
        |kind: &str, rest: &str| format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{rest}}}\n\n");
    let start = r#","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":5,"cache_read_input_tokens":3,"output_tokens":1}}"#;
    let end = r#","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":5,"output_tokens":2}"#;
    let stream = [
        frame("message_start", start),
        frame("content_block_start", r#","index":0,"content_block":{"type":"text","text":""}"#),
        frame("content_block_delta", r#","index":0,"delta":{"type":"text_delta","text":"hi"}"#),
        frame("content_block_stop", r#","index":0"#),
        frame("message_delta", end),
        frame("message_stop", ""),
    ]
    .concat();
    let provider = Provider::start(vec![Script::Reply(sse(&stream))]);
    let gateway = Running::start(&provider.toml("p", "anthropic-messages"));
    gateway.post("/v1/messages", &messages("p/m", true));
    gateway.post("/v1/chat/completions", &chat("p/m", true));
    for client in ["anthropic-messages", "openai-chat"] {
        gateway.wait_for_metric(&input_tokens(client, "anthropic-messages", 8));
    }
}
