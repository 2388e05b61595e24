//! The crate `linguafranca`, which reads into structs and goes by way of its Responses form.

use std::error::Error;
use std::hint::black_box;

use linguafranca::anthropic::convert::stream::{
    AnthropicMessagesToOpenResponsesStream, OpenResponsesToAnthropicMessagesStream,
};
use linguafranca::anthropic::request::AnthropicRequest;
use linguafranca::chat_completions_openai::convert::stream::{
    ChatCompletionsToOpenResponsesStream, OpenResponsesToChatCompletionsStream,
};
use linguafranca::chat_completions_openai::request::ChatCompletionsOpenAiRequest;
use linguafranca::open_responses::request::OpenResponsesRequest;
use linguafranca::stream::StreamTransform;
use linguafranca::stream::composed::ComposedStream;
use linguafranca::traits::{FromOpenResponses, IntoOpenResponses};
use sabir_benches_wire::case::{Case, Input};
use sabir_benches_wire::streams::Stream;
use sabir_wire::Protocol;
use sabir_wire::Protocol::{AnthropicMessages, OpenaiChat, OpenaiResponses};
use serde::Serialize;
use serde::de::DeserializeOwned;

type Outcome = Result<usize, Box<dyn Error>>;

pub(crate) fn translate(case: Case, input: &Input) -> Option<Outcome> {
    match (case, input) {
        (Case::Request { from, to, .. }, Input::Request(body, _)) => request((from, to), body),
        (Case::Stream { from, to }, Input::Stream(frames)) => stream((from, to), frames),
        _ => None,
    }
}

fn request(pair: (Protocol, Protocol), body: &str) -> Option<Outcome> {
    Some(match pair {
        (OpenaiChat, OpenaiResponses) => {
            read_into::<ChatCompletionsOpenAiRequest>(body).and_then(|request| write(&request))
        }
        (AnthropicMessages, OpenaiResponses) => {
            read_into::<AnthropicRequest>(body).and_then(|request| write(&request))
        }
        (OpenaiResponses, OpenaiChat) => {
            read(body).and_then(write_from::<ChatCompletionsOpenAiRequest>)
        }
        (OpenaiResponses, AnthropicMessages) => read(body).and_then(write_from::<AnthropicRequest>),
        (OpenaiChat, AnthropicMessages) => {
            read_into::<ChatCompletionsOpenAiRequest>(body).and_then(write_from::<AnthropicRequest>)
        }
        (AnthropicMessages, OpenaiChat) => {
            read_into::<AnthropicRequest>(body).and_then(write_from::<ChatCompletionsOpenAiRequest>)
        }
        _ => return None,
    })
}

fn read<T: DeserializeOwned>(body: &str) -> Result<T, Box<dyn Error>> {
    Ok(serde_json::from_slice(body.as_bytes())?)
}

fn read_into<T>(body: &str) -> Result<OpenResponsesRequest, Box<dyn Error>>
where
    T: DeserializeOwned + IntoOpenResponses<Target = OpenResponsesRequest>,
{
    Ok(read::<T>(body)?.into_open_responses(None)?.value)
}

fn write(value: &impl Serialize) -> Outcome {
    Ok(black_box(serde_json::to_vec(value)?).len())
}

fn write_from<T>(request: OpenResponsesRequest) -> Outcome
where
    T: Serialize + FromOpenResponses<Source = OpenResponsesRequest>,
{
    write(&T::from_open_responses(request, None)?.value)
}

fn stream(pair: (Protocol, Protocol), stream: &Stream) -> Option<Outcome> {
    let from_chat = ChatCompletionsToOpenResponsesStream::new;
    let from_anthropic = AnthropicMessagesToOpenResponsesStream::new;
    let to_chat = OpenResponsesToChatCompletionsStream::new;
    let to_anthropic = OpenResponsesToAnthropicMessagesStream::new;
    Some(match pair {
        (OpenaiChat, OpenaiResponses) => transform(from_chat(), stream),
        (AnthropicMessages, OpenaiResponses) => transform(from_anthropic(), stream),
        (OpenaiResponses, OpenaiChat) => transform(to_chat(), stream),
        (OpenaiResponses, AnthropicMessages) => transform(to_anthropic(), stream),
        (OpenaiChat, AnthropicMessages) => {
            transform(ComposedStream::new(from_chat(), to_anthropic()), stream)
        }
        (AnthropicMessages, OpenaiChat) => {
            transform(ComposedStream::new(from_anthropic(), to_chat()), stream)
        }
        _ => return None,
    })
}

fn transform<T>(mut transform: T, stream: &Stream) -> Outcome
where
    T: StreamTransform<Input: DeserializeOwned, Output: Serialize>,
{
    let mut bytes = 0;
    for payload in &stream.payloads {
        for event in transform.transform(read(payload)?)? {
            bytes += write(&event)?;
        }
    }
    for event in transform.flush()? {
        bytes += write(&event)?;
    }
    Ok(bytes)
}
