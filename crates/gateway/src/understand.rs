//! What a client asks of which model, and who serves it. Where the beginning of a body says that it will be translated, the
//! reading that the translation needs is the only one.

use std::borrow::Cow;
use std::sync::Arc;

use http::HeaderMap;
use http::Uri;
use sabir_wire::FaultKind;
use sabir_wire::Protocol;
use sabir_wire::json::Survey;
use sabir_wire::protocol::Exchange;

use crate::Gateway;
use crate::call::Action;
use crate::call::Call;
use crate::call::Delivery;
use crate::call::LargeCall;
use crate::failure::Failure;
use crate::failure::Result;
use crate::ingress;
use crate::ingress::Skimmed;
use crate::observe::Trace;
use crate::route;
use crate::route::Resolved;
use crate::surface;
use crate::surface::FromPath;

/// A call before its body is read.
pub(crate) struct Asked<'h> {
    pub(crate) protocol: Protocol,
    pub(crate) action: Action,
    pub(crate) from_path: Option<FromPath>,
    pub(crate) headers: &'h HeaderMap,
    pub(crate) uri: &'h Uri,
    /// The gateway key that it came with.
    pub(crate) key: Option<usize>,
}

/// A call, and who may answer it.
pub(crate) struct Understood<'b> {
    pub(crate) call: Call<'b>,
    pub(crate) resolved: Resolved,
    /// The body as a translation needs it, if it was read that way.
    pub(crate) decoded: Option<Box<Exchange<'b>>>,
}

pub(crate) fn understand<'b>(
    gateway: &Gateway,
    asked: &'b Asked<'_>,
    body: &'b [u8],
    trace: &mut Trace,
) -> Result<Understood<'b>> {
    let body = ingress::text(body)?;
    if let Some(understood) = by_decoding(gateway, asked, body) {
        trace.asks(&understood.call.model, understood.call.delivery.is_stream());
        return Ok(understood);
    }
    let call = by_skimming(asked, body)?;
    trace.asks(&call.model, call.delivery.is_stream());
    let resolved = resolve(gateway, &call.model, call.client)?;
    Ok(Understood { call, resolved, decoded: None })
}

/// A body that will be translated, whoever serves it, and is as most are. What is wrong or strange with any other is found
/// by [`by_skimming`].
fn by_decoding<'b>(
    gateway: &Gateway,
    asked: &'b Asked<'_>,
    body: &'b str,
) -> Option<Understood<'b>> {
    let client = asked.protocol;
    // The settings of a request for a response are repeated in the answer, which takes another reading.
    if asked.action != Action::Generate || surface::of(client).repeats_request {
        return None;
    }
    let model = match &asked.from_path {
        Some(FromPath { model, .. }) => Cow::Borrowed(model.as_str()),
        None => ingress::early_model(body)?,
    };
    check_model(&model).ok()?;
    let resolved = route::resolve(&gateway.config, &model, client).ok()?;
    if resolved.targets.iter().any(|target| gateway.upstreams[target.provider].speaks(client)) {
        return None;
    }
    let exchange = client.decode_request_text(body).ok()?;
    let delivery = match &asked.from_path {
        Some(FromPath { delivery, .. }) => *delivery,
        None => Delivery::of_stream(exchange.request.stream == Some(true)),
    };
    if refers_elsewhere(&exchange) || asked.from_path.is_none() && !names(&exchange, &model) {
        return None;
    }
    let call = Call {
        client,
        model: model.into_owned(),
        delivery,
        query: asked.uri.query(),
        headers: asked.headers,
        body,
        survey: Survey::new(ingress::unmarked(body)),
        model_at: None,
        session: None,
        large: None,
    };
    Some(Understood { call, resolved, decoded: Some(Box::new(exchange)) })
}

/// Whether it asks for something which only a provider of the client's protocol keeps.
fn refers_elsewhere(exchange: &Exchange<'_>) -> bool {
    exchange.semantics().anthropic().is_some_and(|it| it.thread().is_some())
}

/// Whether this is the model that the whole body names: of several names the last one counts.
fn names(exchange: &Exchange<'_>, model: &str) -> bool {
    exchange.request.model.as_ref().is_some_and(|name| *name == *model)
}

/// Any body that is JSON.
fn by_skimming<'b>(asked: &'b Asked<'_>, body: &'b str) -> Result<Call<'b>> {
    let mut skimmed = ingress::skim(asked.protocol, body)?;
    let (model, delivery) = wanted(asked.from_path.as_ref(), &mut skimmed)?;
    Ok(Call {
        client: asked.protocol,
        model,
        delivery,
        query: asked.uri.query(),
        headers: asked.headers,
        body,
        survey: skimmed.survey,
        model_at: skimmed.model_at,
        session: skimmed.session,
        large: None,
    })
}

/// The model, and how the answer is to come: the path says so, or else the body.
fn wanted(from_path: Option<&FromPath>, skimmed: &mut Skimmed<'_>) -> Result<(String, Delivery)> {
    let (model, delivery) = match from_path {
        Some(FromPath { model, delivery }) => (model.clone(), *delivery),
        None => {
            let model = skimmed.model.take().unwrap_or_default();
            (model, Delivery::of_stream(skimmed.is_stream))
        }
    };
    check_model(&model)?;
    Ok((model, delivery))
}

/// The same for a body that takes long to read, which is done on another thread.
pub(crate) async fn understand_large(
    gateway: &Gateway,
    asked: &Asked<'_>,
    body: Vec<u8>,
    trace: &mut Trace,
) -> Result<(Arc<LargeCall>, Resolved)> {
    let (client, from_path) = (asked.protocol, asked.from_path.clone());
    let (headers, query) = (asked.headers.clone(), asked.uri.query().map(str::to_owned));
    let call = gateway.pool.run(move |_| {
        let body = ingress::into_text(body)?;
        let mut skimmed = ingress::skim(client, &body)?;
        let (model, delivery) = wanted(from_path.as_ref(), &mut skimmed)?;
        let Skimmed { model_at, session, .. } = skimmed;
        Ok(LargeCall { client, model, delivery, headers, query, body, model_at, session })
    });
    let call = Arc::new(call.await?);
    trace.asks(&call.model, call.delivery.is_stream());
    let resolved = resolve(gateway, &call.model, client)?;
    Ok((call, resolved))
}

fn resolve(gateway: &Gateway, model: &str, client: Protocol) -> Result<Resolved> {
    route::resolve(&gateway.config, model, client).map_err(|not_found| {
        let failure = Failure::client(FaultKind::NotFound, not_found.to_string());
        failure.with_param("model").with_code("model_not_found")
    })
}

/// The longest name of a model: it is logged, remembered and sent back in a header.
const MODEL_BYTES_MAX: usize = 512;

/// Refuses names that no model has: none at all, endless ones, and those that would lead elsewhere in a provider's path.
fn check_model(model: &str) -> Result<()> {
    if model.is_empty() {
        let failure = Failure::client(FaultKind::BadRequest, "expected a model, found none");
        return Err(failure.with_param("model"));
    }
    let leads_elsewhere = model.split('/').any(|step| matches!(step, "." | ".."));
    if model.len() <= MODEL_BYTES_MAX && !leads_elsewhere {
        return Ok(());
    }
    let message = "expected the name of a model, found something that cannot be one";
    Err(Failure::client(FaultKind::BadRequest, message).with_param("model"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// A gateway with one provider, which speaks Chat.
    fn gateway() -> Arc<Gateway> {
        const CONFIG: &str = r#"
            env_providers = false
            [[provider]]
            name = "p"
            protocol = ["openai-chat"]
            base_url = "http://127.0.0.1:9/v1"
        "#;
        let config = crate::config::parse(CONFIG, Path::new("sabir.toml"), &|_| None);
        Gateway::new(config.unwrap_or_else(|problems| panic!("{problems}")))
    }

    fn asked<'h>(protocol: Protocol, headers: &'h HeaderMap, uri: &'h Uri) -> Asked<'h> {
        let from_path = (protocol == Protocol::Gemini)
            .then(|| FromPath { model: "p/m".to_owned(), delivery: Delivery::Array });
        Asked { protocol, action: Action::Generate, from_path, headers, uri, key: None }
    }

    fn with_asked<T>(protocol: Protocol, then: impl FnOnce(&Asked<'_>) -> T) -> T {
        then(&asked(protocol, &HeaderMap::new(), &Uri::from_static("/")))
    }

    #[test]
    fn both_ways_of_reading_come_to_the_same() {
        let gateway = gateway();
        for (client, body) in [
            (Protocol::AnthropicMessages, r#"{"model":"p/m","max_tokens":9,"messages":[]}"#),
            (Protocol::AnthropicMessages, r#"{"model":"p/m","stream":true,"messages":[]}"#),
            (Protocol::AnthropicMessages, r#"{"stream":false,"model":"p\/m","messages":[]}"#),
            (Protocol::AnthropicMessages, "\u{feff}{\"model\":\"p/m\",\"messages\":[]}"),
            (Protocol::Gemini, r#"{"contents":[]}"#),
        ] {
            with_asked(client, |asked| {
                let skimmed = by_skimming(asked, body).unwrap();
                let decoded = by_decoding(&gateway, asked, body).unwrap();
                assert!(decoded.decoded.is_some(), "{body}");
                assert_eq!(decoded.call.model, skimmed.model, "{body}");
                assert_eq!(decoded.call.delivery, skimmed.delivery, "{body}");
                assert_eq!(decoded.call.session, skimmed.session, "{body}");
                assert_eq!(decoded.call.survey.source(), skimmed.survey.source(), "{body}");
            });
        }
    }

    #[test]
    fn whatever_is_strange_is_skimmed() {
        let gateway = gateway();
        let anthropic = Protocol::AnthropicMessages;
        for (client, body) in [
            // The provider speaks the client's protocol, or nobody serves the model.
            (Protocol::OpenaiChat, r#"{"model":"p/m","messages":[]}"#),
            (anthropic, r#"{"model":"nobody","messages":[]}"#),
            // The answer repeats what was asked.
            (Protocol::OpenaiResponses, r#"{"model":"p/m","input":"a"}"#),
            // Another name counts, or a name that no model has.
            (anthropic, r#"{"model":"p/m","messages":[],"model":"p/other"}"#),
            (anthropic, r#"{"model":"p/../m","messages":[]}"#),
            (anthropic, r#"{"model":"","messages":[]}"#),
            // A conversation that only one vendor holds.
            (
                anthropic,
                r#"{"model":"p/m","messages":[],"thread":{"type":"continue","previous_message_id":"m"}}"#,
            ),
            // Not what the protocol asks for, or not JSON.
            (anthropic, r#"{"model":"p/m","messages":7}"#),
            (anthropic, r#"{"model":"p/m","messages":[],"stream":"yes"}"#),
            (anthropic, r#"{"model":"p/m","messages":[]} {}"#),
            (anthropic, r#"{"model":"p/m","messages":["#),
            (Protocol::Gemini, "[]"),
        ] {
            let is_decoded =
                with_asked(client, |asked| by_decoding(&gateway, asked, body).is_some());
            assert!(!is_decoded, "{body}");
        }
    }
}
