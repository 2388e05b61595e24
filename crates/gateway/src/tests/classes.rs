//! What choosing a target by the class of a request costs: nothing is decoded that would not be decoded anyway.

use super::large::counter;
use super::*;
use crate::call::DECODINGS;

/// How often a call of a model is decoded.
async fn decodings(gateway: &Arc<Snapshot>, client: Protocol, model: &str) -> usize {
    let before = DECODINGS.get();
    let mut reply = ask(gateway, client, model, Asking::Whole).await;
    understood(&mut reply, client, Asking::Whole).await;
    DECODINGS.get() - before
}

#[tokio::test]
async fn a_call_is_decoded_once_whatever_is_decided_by_it() {
    let target = |protocol| format!(r#"[{{ provider = "{}", model = "m" }}]"#, simulator(protocol));
    for rules in ["", "[tools]\ndeny = [\"rm_*\"]\nundeclared = \"text\"\n"] {
        for upstream in Protocol::ALL {
            let gateway = Arc::new(gateway(&format!(
                "{rules}[[model]]\nname = \"plain\"\ntargets = {0}\n\
                 [[model]]\nname = \"auto\"\nstrategy = \"class\"\n[model.classes]\ndefault = {0}\n",
                target(upstream)
            )));
            for client in Protocol::ALL {
                let pair = format!("{} to {}, {rules:?}", client.as_str(), upstream.as_str());
                let passes = client == upstream && rules.is_empty();
                let plain = usize::from(!passes);
                assert_eq!(decodings(&gateway, client, "plain").await, plain, "{pair}");
                assert_eq!(decodings(&gateway, client, "auto").await, 1, "{pair}, by class");
            }
        }
    }
}

/// How often other threads read something for a call whose body is large.
async fn large_jobs(gateway: &Arc<Snapshot>, client: Protocol, model: &str) -> u64 {
    let words = "word ".repeat(80_000);
    let messages = format!(r#"[{{"role":"user","content":"{words}"}}]"#);
    let chat = format!(r#"{{"model":"{model}","messages":{messages}}}"#);
    let decoded = Protocol::OpenaiChat.decode_request(chat.as_bytes()).unwrap();
    let body = decoded.encode(client, &Target::default()).unwrap().body;
    let before = counter(gateway, "sabir_large_jobs_total");
    let path = path(client, model, Asking::Whole);
    let mut reply = send(gateway, Request::post(path), body).await;
    understood(&mut reply, client, Asking::Whole).await;
    counter(gateway, "sabir_large_jobs_total") - before
}

#[tokio::test]
async fn a_large_call_is_read_once_whatever_is_decided_by_it() {
    for rules in ["", "[tools]\ndeny = [\"rm_*\"]\nundeclared = \"text\"\n"] {
        for (client, upstream) in [
            (Protocol::OpenaiChat, Protocol::AnthropicMessages),
            (Protocol::AnthropicMessages, Protocol::Gemini),
            (Protocol::Gemini, Protocol::Gemini),
        ] {
            let target = format!(r#"[{{ provider = "{}", model = "m" }}]"#, simulator(upstream));
            let gateway = Arc::new(gateway(&format!(
                "{rules}[[model]]\nname = \"plain\"\ntargets = {target}\n\
                 [[model]]\nname = \"auto\"\nstrategy = \"class\"\n[model.classes]\ndefault = {target}\n",
            )));
            let plain = large_jobs(&gateway, client, "plain").await;
            assert_eq!(large_jobs(&gateway, client, "auto").await, plain, "{client:?}, {rules:?}");
        }
    }
}
