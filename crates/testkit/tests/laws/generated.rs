//! Generated bodies and streams keep the laws.

use proptest::prelude::Strategy;
use proptest::test_runner::{TestCaseError, TestError, TestRunner};
use sabir_testkit::generate::History;
use sabir_testkit::sample::{Kind, Sample};
use sabir_testkit::{generate, laws, meaning, translate};
use sabir_wire::Protocol;

use crate::config;
use crate::fixtures::{described, encoded};

/// Checks every law over what a strategy generates.
fn keep(samples: impl Strategy<Value = Sample>) {
    let outcome = TestRunner::new(config()).run(&samples, |sample| {
        let broken = laws::check(&sample);
        if broken.is_empty() {
            return Ok(());
        }
        let described: Vec<String> = broken.iter().map(|it| described(&sample.name, it)).collect();
        let body = String::from_utf8_lossy(&sample.body);
        Err(TestCaseError::fail(format!("{}\n{body}", described.join("\n"))))
    });
    // The reason shows the body as text; the sample would show it as numbers.
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, _)) => panic!("{reason}"),
        Err(failure @ TestError::Abort(_)) => panic!("{failure}"),
    }
}

fn sample(protocol: Protocol, kind: Kind, body: Vec<u8>) -> Sample {
    let name = format!("a generated {} of {}", kind.name(), protocol.as_str());
    Sample { name, protocol, kind, body, model: None, is_cut: false, was_refused: false }
}

fn requests(protocol: Protocol, history: History) {
    let bodies = generate::spelled(generate::request_with(protocol, history));
    keep(bodies.prop_map(move |body| sample(protocol, Kind::Request, body)));
}

fn responses(protocol: Protocol) {
    let bodies = generate::spelled(generate::response(protocol));
    keep(bodies.prop_map(move |body| sample(protocol, Kind::Response, body)));
}

fn streams(protocol: Protocol) {
    let streams = generate::stream(protocol);
    keep(streams.prop_map(move |body| sample(protocol, Kind::Stream, body)));
}

fn errors(protocol: Protocol) {
    let errors = generate::error(protocol);
    let samples = errors.prop_map(move |(status, body)| {
        sample(protocol, Kind::Error { status: Some(status) }, body.to_string().into_bytes())
    });
    keep(samples);
}

/// A stream folds to what its whole answer means. Unknown fields are left out: a stream repeats or leaves out what it
/// likes of them.
fn pairs(protocol: Protocol) {
    let answers = (generate::response(protocol), proptest::prelude::any::<generate::Cuts>());
    let outcome = TestRunner::new(config()).run(&answers, |(mut whole, cuts)| {
        generate::without_extras(&mut whole);
        generate::join_as_streams_do(protocol, &mut whole);
        let stream = generate::stream_of(protocol, &whole, cuts);
        let folded = encoded(protocol, &translate::fold(protocol, &stream));
        if meaning::same(protocol, &whole, &folded) {
            return Ok(());
        }
        Err(TestCaseError::fail(format!("\nwhole  {whole}\nfolded {folded}")))
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

/// One module for each protocol, so that one property failing hides no other.
macro_rules! properties {
    ($($name:ident: $protocol:ident;)*) => {$(
        mod $name {
            use super::{History, Protocol};

            #[test]
            fn requests_keep_the_laws() {
                super::requests(Protocol::$protocol, History::Paired);
            }

            #[test]
            fn requests_with_broken_histories_keep_the_laws() {
                super::requests(Protocol::$protocol, History::Broken);
            }

            #[test]
            fn responses_keep_the_laws() {
                super::responses(Protocol::$protocol);
            }

            #[test]
            fn streams_keep_the_laws() {
                super::streams(Protocol::$protocol);
            }

            #[test]
            fn streams_fold_to_their_whole_answer() {
                super::pairs(Protocol::$protocol);
            }

            #[test]
            fn errors_keep_the_laws() {
                super::errors(Protocol::$protocol);
            }
        }
    )*};
}

properties! {
    openai_chat: OpenaiChat;
    openai_responses: OpenaiResponses;
    anthropic_messages: AnthropicMessages;
    gemini: Gemini;
}
