//! `POST /sabir/v1/translate`: a translation without a provider, for those who want to see one.

use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use http_body::Body;
use sabir_wire::json::{Json, Text, Writer};
use sabir_wire::protocol::{AnswerContext, StreamEncoder};
use sabir_wire::target::{ModelPlace, Target};
use sabir_wire::{FaultKind, Protocol, Report};

use crate::answer::{Ended, InFlight, decode_all};
use crate::egress::Reply;
use crate::failure::{Failure, Result};
use crate::observe::{Outcome, write_losses};
use crate::state::Snapshot;
use crate::tap::Taps;
use crate::{egress, ingress, surface};

/// What is to be translated.
struct Order<'a> {
    from: Protocol,
    to: Protocol,
    kind: Translated,
    model: Option<Text<'a>>,
    body: Json<'a>,
}

#[derive(Clone, Copy)]
enum Translated {
    Request,
    Response,
    Stream,
    Error,
}

/// A translation: JSON, or the text of a stream.
enum Product {
    Json(String),
    Text(String),
}

pub(super) async fn translate<B>(snapshot: &Arc<Snapshot>, headers: &HeaderMap, body: B) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut flight = InFlight::begin(snapshot, surface::DEFAULT, None);
    if let Err(failure) = flight.admission.admit() {
        return egress::rescue(surface::DEFAULT, *failure, flight);
    }
    let translated = match ingress::read_body(body, headers, &mut flight.admission).await {
        Ok(body) => {
            let work = snapshot.shared.pool.run_on(body.len(), move |_| run(&body));
            snapshot.shared.until_over(pin!(work)).await
        }
        Err(failure) => Err(failure),
    };
    match translated {
        Ok(body) => {
            flight.trace.set_status(200);
            flight.end(Ended::plain(Outcome::Answered));
            egress::json(StatusCode::OK, body)
        }
        Err(failure) => egress::rescue(surface::DEFAULT, *failure, flight),
    }
}

fn run(body: &[u8]) -> Result<String> {
    let order = read(body)?;
    let (product, report) = match order.kind {
        Translated::Request => request(&order)?,
        Translated::Response => response(&order)?,
        Translated::Stream => stream(&order)?,
        Translated::Error => error(&order),
    };
    let mut writer = Writer::with_capacity(body.len() + 1024);
    writer.object(|it| {
        match &product {
            Product::Text(text) => it.field("body", text.as_str()),
            Product::Json(json) => match Json::parse(json.as_str()) {
                Ok(json) => it.field("body", &json),
                Err(_) => it.field("body", json.as_str()),
            },
        }
        it.key("losses");
        write_losses(report.entries(), it);
    });
    Ok(writer.into_string())
}

fn read(body: &[u8]) -> Result<Order<'_>> {
    let names = ["from", "to", "kind", "model", "body"];
    let [from, to, kind, model, subject] = ingress::members(ingress::text(body)?, names)?;
    let (from, to, model) = (text(from, "from")?, text(to, "to")?, text(model, "model")?);
    let kind = match text(kind, "kind")?.as_ref().map(Text::to_str).as_deref() {
        None | Some("request") => Translated::Request,
        Some("response") => Translated::Response,
        Some("stream") => Translated::Stream,
        Some("error") => Translated::Error,
        Some(_) => return Err(bad("kind", "expected request, response, stream or error")),
    };
    let body = subject.ok_or_else(|| bad("body", "expected the body to translate, found none"))?;
    Ok(Order { from: protocol(from, "from")?, to: protocol(to, "to")?, kind, model, body })
}

/// A member that is text, if it is there.
fn text(member: Option<Json<'_>>, param: &'static str) -> Result<Option<Text<'static>>> {
    let text = member.map(|it| it.reader().string().map(Text::into_owned));
    text.transpose().map_err(|_| bad(param, "expected a string"))
}

fn protocol(name: Option<Text<'_>>, param: &'static str) -> Result<Protocol> {
    let name = name.ok_or_else(|| bad(param, "expected the name of a protocol, found none"))?;
    Protocol::parse(&name.to_str()).ok_or_else(|| {
        let names = Protocol::ALL.map(Protocol::as_str).join(", ");
        bad(param, format!("expected one of {names}"))
    })
}

fn bad(param: &'static str, message: impl Into<Cow<'static, str>>) -> Box<Failure> {
    Failure::client(FaultKind::BadRequest, message).with_param(param)
}

fn request(order: &Order<'_>) -> Result<(Product, Report)> {
    let survey = ingress::survey(order.body.as_str())?;
    let mut decoded = order.from.decode_request_surveyed(&survey)?;
    if let Some(model) = &order.model {
        decoded.edit().model = Some(model.reborrow());
    }
    let target = match &decoded.request().model {
        Some(model) => Target::for_model(&model.to_str()),
        None => Target::default(),
    };
    let encoded = decoded.encode(order.to, &target.with_gemini_model(ModelPlace::Body))?;
    Ok((Product::Json(encoded.body), encoded.report))
}

fn response(order: &Order<'_>) -> Result<(Product, Report)> {
    let body = order.body.as_str();
    ingress::check_answer_density(body)?;
    let encoded = order.to.translate_response(body.as_bytes(), order.from, &context(order))?;
    Ok((Product::Json(encoded.body), encoded.report))
}

fn stream(order: &Order<'_>) -> Result<(Product, Report)> {
    let text = order
        .body
        .reader()
        .string()
        .map_err(|_| bad("body", "expected the stream as one string of server-sent events"))?;
    let mut out = String::new();
    let mut encoder = Some(StreamEncoder::new(order.to, order.from, context(order)));
    let text = text.to_str();
    decode_all(order.from, text.as_bytes(), (&mut None, &mut Taps::default()), &mut |event| {
        encoder = encoder.take().map(|encoder| encoder.step(event, &mut out));
    });
    let report = encoder.map(|encoder| encoder.end(&mut out)).unwrap_or_default();
    Ok((Product::Text(out), report))
}

fn error(order: &Order<'_>) -> (Product, Report) {
    let fault = order.from.decode_fault(None, order.body.as_str().as_bytes());
    let (_, encoded) = order.to.translate_fault(&fault);
    (Product::Json(encoded.body), encoded.report)
}

fn context<'o>(order: &'o Order<'_>) -> AnswerContext<'o> {
    AnswerContext {
        model: order.model.as_ref().map(Text::reborrow),
        seed: AnswerContext::seed_from(order.body.as_str().as_bytes()),
        ..AnswerContext::default()
    }
}
