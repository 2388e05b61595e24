//! Generated bodies and streams keep the laws.

use proptest::prelude::Strategy;
use proptest::test_runner::TestCaseError;
use proptest::test_runner::TestRunner;
use sabir_testkit::generate;
use sabir_testkit::generate::History;
use sabir_testkit::laws;
use sabir_testkit::laws::Law;
use sabir_testkit::meaning;
use sabir_testkit::sample::Kind;
use sabir_testkit::sample::Sample;
use sabir_testkit::translate;
use sabir_wire::Protocol;

use crate::config;
use crate::fixtures::encoded;
use crate::fixtures::told;

/// The laws come in two sorts, so that one sort failing does not hide the other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// What can be told exactly: equality, order, ends.
    Exact,
    /// What speaks of meaning across two protocols.
    Honest,
}

impl Sort {
    fn of(law: Law) -> Self {
        match law {
            Law::Honest | Law::PrefixStable => Self::Honest,
            Law::Decodes
            | Law::SameProtocol
            | Law::EncodeIsStable
            | Law::FoldsAndUnfolds
            | Law::AnySplit
            | Law::LegalOrder
            | Law::TruncationShows
            | Law::NoPanic => Self::Exact,
        }
    }
}

/// Checks the laws of one sort over what a strategy generates.
fn keep(sort: Sort, samples: impl Strategy<Value = Sample>) {
    let outcome = TestRunner::new(config()).run(&samples, |sample| {
        let mut broken = laws::check(&sample);
        broken.retain(|violation| Sort::of(violation.law) == sort);
        if broken.is_empty() {
            return Ok(());
        }
        let told: Vec<String> = broken.iter().map(|it| told(&sample.name, it)).collect();
        let body = String::from_utf8_lossy(&sample.body);
        Err(TestCaseError::fail(format!("{}\n{body}", told.join("\n"))))
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

fn sample(protocol: Protocol, kind: Kind, body: Vec<u8>) -> Sample {
    let name = format!("a generated {} of {}", kind.name(), protocol.as_str());
    Sample { name, protocol, kind, body, model: None, is_cut: false, was_refused: false }
}

fn requests(sort: Sort, protocol: Protocol, history: History) {
    let bodies = generate::spelled(generate::request_with(protocol, history));
    keep(sort, bodies.prop_map(move |body| sample(protocol, Kind::Request, body)));
}

fn responses(sort: Sort, protocol: Protocol) {
    let bodies = generate::spelled(generate::response(protocol));
    keep(sort, bodies.prop_map(move |body| sample(protocol, Kind::Response, body)));
}

fn streams(sort: Sort, protocol: Protocol) {
    let streams = generate::stream(protocol);
    keep(sort, streams.prop_map(move |body| sample(protocol, Kind::Stream, body)));
}

fn errors(sort: Sort, protocol: Protocol) {
    let errors = generate::error(protocol);
    keep(
        sort,
        errors.prop_map(move |(status, body)| {
            sample(protocol, Kind::Error { status }, body.to_string().into_bytes())
        }),
    );
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
            use super::History;
            use super::Protocol;
            use super::Sort;

            #[test]
            fn requests_keep_the_exact_laws() {
                super::requests(Sort::Exact, Protocol::$protocol, History::Paired);
            }

            #[test]
            fn requests_are_translated_honestly() {
                super::requests(Sort::Honest, Protocol::$protocol, History::Paired);
            }

            #[test]
            fn requests_with_broken_histories_keep_the_exact_laws() {
                super::requests(Sort::Exact, Protocol::$protocol, History::Broken);
            }

            #[test]
            fn responses_keep_the_exact_laws() {
                super::responses(Sort::Exact, Protocol::$protocol);
            }

            #[test]
            fn responses_are_translated_honestly() {
                super::responses(Sort::Honest, Protocol::$protocol);
            }

            #[test]
            fn streams_keep_the_exact_laws() {
                super::streams(Sort::Exact, Protocol::$protocol);
            }

            #[test]
            fn streams_are_translated_honestly() {
                super::streams(Sort::Honest, Protocol::$protocol);
            }

            #[test]
            fn streams_fold_to_their_whole_answer() {
                super::pairs(Protocol::$protocol);
            }

            #[test]
            fn errors_keep_the_exact_laws() {
                super::errors(Sort::Exact, Protocol::$protocol);
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
