//! The crate `switchyard-translation`, which works on trees of `serde_json`.

use std::error::Error;
use std::hint::black_box;
use std::sync::LazyLock;

use sabir_benches_wire::case::{Case, Input};
use sabir_benches_wire::streams::Stream;
use sabir_wire::Protocol;
use serde_json::Value;
use switchyard_translation::{
    StreamTranslationState, TranslationEngine, TranslationPolicy, WireFormat,
};

static ENGINE: LazyLock<TranslationEngine> = LazyLock::new(TranslationEngine::default);
static POLICY: LazyLock<TranslationPolicy> = LazyLock::new(TranslationPolicy::default);

pub(crate) fn translate(case: Case, input: &Input) -> Option<Result<usize, Box<dyn Error>>> {
    match (case, input) {
        (Case::Request { from, to, .. }, Input::Request(body, _)) => {
            Some(request(format(from)?, format(to)?, body))
        }
        (Case::Stream { from, to }, Input::Stream(frames)) => {
            Some(stream(format(from)?, format(to)?, frames))
        }
        _ => None,
    }
}

fn format(protocol: Protocol) -> Option<WireFormat> {
    match protocol {
        Protocol::OpenaiChat => Some(WireFormat::OpenAiChat),
        Protocol::OpenaiResponses => Some(WireFormat::OpenAiResponses),
        Protocol::AnthropicMessages => Some(WireFormat::AnthropicMessages),
        Protocol::Gemini => None,
    }
}

fn request(from: WireFormat, to: WireFormat, body: &str) -> Result<usize, Box<dyn Error>> {
    let body: Value = serde_json::from_slice(body.as_bytes())?;
    let output = ENGINE.translate_request(from, to, &body, &POLICY)?;
    Ok(black_box(serde_json::to_vec(&output.body)?).len())
}

fn stream(from: WireFormat, to: WireFormat, stream: &Stream) -> Result<usize, Box<dyn Error>> {
    let mut state = StreamTranslationState::new(from, to);
    let mut bytes = 0;
    for payload in &stream.payloads {
        let event: Value = serde_json::from_slice(payload.as_bytes())?;
        for event in ENGINE.translate_event(&mut state, from, to, &event)? {
            bytes += black_box(serde_json::to_vec(&event)?).len();
        }
    }
    for event in ENGINE.finish_stream(&mut state, to)? {
        bytes += black_box(serde_json::to_vec(&event)?).len();
    }
    Ok(bytes)
}
