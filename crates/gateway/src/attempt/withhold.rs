//! A request that stays in its protocol may hold what this gateway put into an earlier answer on another vendor's behalf:
//! artefacts that are theirs alone. They go home when their issuer serves again, and nowhere else.

use memchr::memmem;
use sabir_wire::LossKind;
use sabir_wire::Protocol;
use sabir_wire::Report;
use sabir_wire::conversation::Content;
use sabir_wire::conversation::Message;
use sabir_wire::conversation::Part;
use sabir_wire::json::Text;

use crate::attempt::payload::Payload;
use crate::attempt::prepare::target;
use crate::call::Call;
use crate::config::types::Provider;
use crate::failure::Result;
use crate::observe::Trace;

/// How a carried artefact begins, plain and in base64; and how thinking looks that nobody sealed.
const MARKS: [&[u8]; 4] = [b"sabir1:", b"c2FiaXIx", br#""signature":"""#, br#""signature": """#];

/// The body without foreign artefacts, if it holds any; else the client's own bytes will do.
pub(super) fn foreign(
    call: &Call,
    model: &str,
    provider: &Provider,
    trace: &mut Trace,
) -> Result<Option<Payload<'static>>> {
    let body = call.body.as_bytes();
    if !MARKS.iter().any(|mark| memmem::find(body, mark).is_some()) {
        return Ok(None);
    }
    // What cannot be read is for the provider to refuse.
    let Ok(mut exchange) = call.client.decode_request_text(&call.body) else { return Ok(None) };
    let mut report = Report::default();
    for message in &mut exchange.request.messages {
        withhold(message, call.client, &mut report);
    }
    if report.is_empty() {
        return Ok(None);
    }
    exchange.request.messages.retain(|message| !message.parts.is_empty());
    if call.client != Protocol::Gemini {
        exchange.request.model = Some(Text::plain(model));
    }
    let encoded = exchange.encode(call.client, &target(provider, model))?;
    trace.loses(report);
    trace.loses(encoded.report);
    Ok(Some(encoded.body.into_bytes().into()))
}

/// Takes thinking of another vendor out of a message, and its seals off other parts.
fn withhold(message: &mut Message<'_>, own: Protocol, report: &mut Report) {
    let parts = std::mem::take(&mut message.parts);
    message.parts = parts.into_iter().filter_map(|part| without(part, own, report)).collect();
}

fn without<'p>(part: Part<'p>, own: Protocol, report: &mut Report) -> Option<Part<'p>> {
    let is_foreign = match part.semantics().artefact() {
        Some(artefact) => artefact.issuer() != own,
        // Anthropic seals all thinking of its own.
        None => {
            own == Protocol::AnthropicMessages && matches!(part.content(), Content::Reasoning(_))
        }
    };
    if !is_foreign {
        return Some(part);
    }
    let pointer = part.semantics().place().to_string();
    report.lose(pointer, LossKind::Withheld, "only its issuer can read it");
    match part.content() {
        Content::Reasoning(_) | Content::Opaque(_) => None,
        _ => Some(Part::new(part.into_content())),
    }
}
