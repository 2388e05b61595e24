//! What choosing a target by the class of a request costs: nothing is decoded that would not be decoded anyway.

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
