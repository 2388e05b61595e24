//! What is measured: translations by pair and size, each beside its reference, with the bar that it has to stay under.

use std::error::Error;
use std::hint::black_box;

use sabir_wire::protocol::{AnswerContext, StreamDecoder, StreamEncoder, splice_model};
use sabir_wire::target::{ModelPlace, Target};
use sabir_wire::{Protocol, sse};

use crate::bodies::{SIZES, size_name};
use crate::streams::Stream;
use crate::{bodies, streams};

/// Something to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// A request decoded from one protocol and encoded to another.
    Request { from: Protocol, to: Protocol, bytes: usize },
    /// A request decoded from one protocol and encoded to Gemini, with tools whose schemas have to change for it.
    Schemas { from: Protocol },
    /// What a model takes and needs, found by its name: an input of every translation.
    Family { protocol: Protocol },
    /// A request that only gets another model.
    Splice { protocol: Protocol, bytes: usize },
    /// A stream read from one protocol and written in another.
    Stream { from: Protocol, to: Protocol },
}

/// The name of a protocol in the names of cases.
pub fn short(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::OpenaiChat => "chat",
        Protocol::OpenaiResponses => "responses",
        Protocol::AnthropicMessages => "anthropic",
        Protocol::Gemini => "gemini",
    }
}

/// Every pair of different protocols.
pub fn pairs() -> impl Iterator<Item = (Protocol, Protocol)> {
    let to = |from| Protocol::ALL.into_iter().map(move |to| (from, to));
    Protocol::ALL.into_iter().flat_map(to).filter(|(from, to)| from != to)
}

impl Case {
    /// All cases, in the order of the tables.
    pub fn all() -> Vec<Self> {
        let requests = pairs().flat_map(|(from, to)| {
            SIZES.into_iter().map(move |bytes| Self::Request { from, to, bytes })
        });
        let schemas = Protocol::ALL
            .into_iter()
            .filter(|from| *from != Protocol::Gemini)
            .map(|from| Self::Schemas { from });
        // Chat and Responses share their model.
        let vendors = [Protocol::OpenaiChat, Protocol::AnthropicMessages, Protocol::Gemini];
        let families = vendors.into_iter().map(|protocol| Self::Family { protocol });
        let splices = Protocol::ALL.into_iter().flat_map(|protocol| {
            SIZES.into_iter().map(move |bytes| Self::Splice { protocol, bytes })
        });
        let streams = pairs().map(|(from, to)| Self::Stream { from, to });
        requests.chain(schemas).chain(families).chain(splices).chain(streams).collect()
    }

    /// The row of the table that the case stands in.
    pub fn row(self) -> String {
        match self {
            Self::Request { from, to, .. } => format!("request/{}→{}", short(from), short(to)),
            Self::Schemas { from } => format!("schemas/{}→gemini", short(from)),
            Self::Family { protocol } => format!("family/{}", bodies::model(protocol)),
            Self::Splice { protocol, .. } => format!("model/{}", short(protocol)),
            Self::Stream { from, to } => format!("stream/{}→{}", short(from), short(to)),
        }
    }

    /// The column of the table that the case stands in.
    pub fn column(self) -> String {
        match self {
            Self::Request { bytes, .. } | Self::Splice { bytes, .. } => size_name(bytes),
            Self::Schemas { .. } => size_name(SCHEMAS_BYTES),
            Self::Family { .. } => size_name(SIZES[0]),
            Self::Stream { .. } => "100 deltas".to_owned(),
        }
    }

    /// The name that the counts are kept under.
    pub fn name(self) -> String {
        format!("{}/{}", self.row(), self.column().replace(' ', ""))
    }

    /// How many times the reference's time the case may take.
    pub fn bar(self) -> f64 {
        match self {
            Self::Request { bytes: 0..20_000, .. } => 1.0,
            Self::Request { .. } => 0.6,
            Self::Schemas { .. } => 2.0,
            Self::Family { .. } => 0.5,
            Self::Splice { .. } => 0.2,
            Self::Stream { to: Protocol::OpenaiResponses, .. } => 1.6,
            Self::Stream { .. } => 1.2,
        }
    }

    /// Makes the input, so that running costs only what is measured.
    pub fn prepare(self) -> Input {
        match self {
            Self::Request { from, to, bytes } => {
                Input::Request(bodies::request(from, bytes), Box::new(target(to)))
            }
            Self::Schemas { from } => {
                let body = bodies::request_with_rich_schemas(from, SCHEMAS_BYTES);
                Input::Request(body, Box::new(target(Protocol::Gemini)))
            }
            Self::Family { protocol } => Input::Body(bodies::request(protocol, SIZES[0])),
            Self::Splice { protocol, bytes } => Input::Body(bodies::request(protocol, bytes)),
            Self::Stream { from, .. } => Input::Stream(streams::stream(from)),
        }
    }

    /// Runs the case once; the result is the number of bytes that came out.
    #[inline(never)]
    pub fn run(self, input: &Input) -> Result<usize, Box<dyn Error>> {
        match (self, input) {
            (Self::Request { from, to, .. }, Input::Request(body, target)) => {
                translate(from, to, body, target)
            }
            (Self::Schemas { from }, Input::Request(body, target)) => {
                translate(from, Protocol::Gemini, body, target)
            }
            (Self::Family { protocol }, Input::Body(_)) => {
                Ok(black_box(target(black_box(protocol))).family.tool_name_len_max)
            }
            (Self::Splice { .. }, Input::Body(body)) => splice(body.as_bytes()),
            (Self::Stream { from, to }, Input::Stream(stream)) => {
                translate_stream(from, to, stream)
            }
            _ => Err("the input belongs to another case".into()),
        }
    }
}

/// The input of a case.
#[derive(Debug)]
pub enum Input {
    Body(String),
    /// A body and the model that it is written for, which callers keep from request to request.
    Request(String, Box<Target>),
    Stream(Stream),
}

impl Input {
    /// The bytes of JSON that go in.
    pub fn bytes(&self) -> usize {
        self.documents().map(str::len).sum()
    }

    /// What every case is compared with: each JSON document is parsed into a tree and written again.
    #[inline(never)]
    pub fn reference(&self) -> Result<usize, Box<dyn Error>> {
        let mut bytes = 0;
        for document in self.documents() {
            let value: serde_json::Value = serde_json::from_slice(document.as_bytes())?;
            bytes += black_box(serde_json::to_vec(&value)?).len();
        }
        Ok(bytes)
    }

    fn documents(&self) -> impl Iterator<Item = &str> {
        let documents = match self {
            Self::Body(body) | Self::Request(body, _) => std::slice::from_ref(body),
            Self::Stream(stream) => &stream.payloads,
        };
        documents.iter().map(String::as_str)
    }
}

/// The size of the bodies whose schemas have to change.
const SCHEMAS_BYTES: usize = SIZES[1];

fn target(protocol: Protocol) -> Target {
    Target::for_model(bodies::model(protocol)).with_gemini_model(ModelPlace::Body)
}

fn translate(
    from: Protocol,
    to: Protocol,
    body: &str,
    target: &Target,
) -> Result<usize, Box<dyn Error>> {
    let mut decoded = from.decode_request(body.as_bytes())?;
    decoded.edit().model = Some(bodies::model(to).into());
    Ok(black_box(decoded.encode(to, target)?).body.len())
}

fn splice(body: &[u8]) -> Result<usize, Box<dyn Error>> {
    let spliced = splice_model(std::str::from_utf8(body)?, "another-model")?;
    Ok(black_box(spliced).ok_or("the body names no model")?.len())
}

fn translate_stream(
    from: Protocol,
    to: Protocol,
    stream: &Stream,
) -> Result<usize, Box<dyn Error>> {
    let mut parser = sse::Parser::default();
    let mut decoder = Some(StreamDecoder::new(from));
    let mut encoder = Some(StreamEncoder::new(to, from, AnswerContext::default()));
    // Each frame is handed on as soon as it is there, so the output starts anew with every chunk.
    let mut out = String::new();
    let mut bytes = 0;
    let mut step = |frame: sse::Frame<'_>| {
        if let Some(current) = decoder.take() {
            decoder = Some(current.step(&frame, &mut |event| {
                encoder = encoder.take().map(|encoder| encoder.step(event, &mut out));
            })?);
            bytes += black_box(&out).len();
            out.clear();
        }
        Ok(())
    };
    for frame in &stream.frames {
        parser.push(frame.as_bytes(), &mut step)?;
    }
    parser.end(&mut step)?;
    if let Some(decoder) = decoder {
        decoder.end(&mut |event| {
            encoder = encoder.take().map(|encoder| encoder.step(event, &mut out));
        });
    }
    let report = encoder.map(|encoder| encoder.end(&mut out));
    black_box(report);
    Ok(bytes + out.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_a_name_of_its_own() {
        let mut names: Vec<String> = Case::all().into_iter().map(Case::name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), Case::all().len());
    }

    #[test]
    fn a_spliced_body_differs_by_the_models_name() {
        let case = Case::Splice { protocol: Protocol::OpenaiChat, bytes: 1_000 };
        let input = case.prepare();
        let grown = "another-model".len() - bodies::model(Protocol::OpenaiChat).len();
        assert_eq!(case.run(&input).unwrap(), input.bytes() + grown);
    }
}
