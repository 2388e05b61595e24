//! What rules on tools and the choice of a class add to a translation, as cases for a tool that counts instructions: each is the
//! translation of one request or stream, with more or less of the chat process in it.

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;

use sabir_benches_wire::bodies;
use sabir_benches_wire::bodies::size_name;
use sabir_benches_wire::case::{pairs, short};
use sabir_benches_wire::streams;
use sabir_benches_wire::streams::Stream;
use sabir_compose::Glob;
use sabir_compose::class::{Facts, Intent, Measured, classify};
use sabir_compose::govern::{
    ArgumentRule, Governor, Offer, Renamed, RuleTable, Rules, UndeclaredRule, plan,
};
use sabir_wire::protocol::{AnswerContext, DecodedRequest, StreamDecoder, StreamEncoder};
use sabir_wire::target::{ModelPlace, Target};
use sabir_wire::{Protocol, sse};

const SIZES: [usize; 2] = [1_000, 200_000];

/// How much of the chat process is in a translation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Plain,
    /// Rules that speak of tools and leave this request's alone.
    Ruled,
    /// Rules that give every tool of the request another name.
    Renamed,
    /// The class is chosen by what is translated.
    Classed,
    /// The same by a reading of its own, as large bodies are.
    ClassedApart,
    /// The class is chosen, and rules leave the tools alone.
    Governed,
    /// The class is chosen, and rules rename the tools.
    GovernedRenamed,
}

impl Way {
    pub(crate) const ALL: [Self; 7] = [
        Self::Plain,
        Self::Ruled,
        Self::Renamed,
        Self::Classed,
        Self::ClassedApart,
        Self::Governed,
        Self::GovernedRenamed,
    ];

    fn has_rules(self) -> bool {
        matches!(self, Self::Ruled | Self::Governed) || self.renames()
    }

    fn renames(self) -> bool {
        matches!(self, Self::Renamed | Self::GovernedRenamed)
    }

    fn has_class(self) -> bool {
        matches!(self, Self::Classed | Self::Governed | Self::GovernedRenamed)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Ruled => "ruled",
            Self::Renamed => "renamed",
            Self::Classed => "classed",
            Self::ClassedApart => "classed-apart",
            Self::Governed => "governed",
            Self::GovernedRenamed => "governed-renamed",
        }
    }
}

/// Something to count.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    way: Way,
    from: Protocol,
    to: Protocol,
    /// None for a stream.
    bytes: Option<usize>,
}

impl Case {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let of = |(from, to)| {
            let request =
                move |bytes| Way::ALL.map(|way| Self { way, from, to, bytes: Some(bytes) });
            let stream = [Way::Plain, Way::Ruled].map(|way| Self { way, from, to, bytes: None });
            SIZES.into_iter().flat_map(request).chain(stream)
        };
        pairs().flat_map(of)
    }

    pub(crate) fn name(self) -> String {
        let size = self.bytes.map_or_else(|| "stream".to_owned(), size_name).replace(' ', "");
        format!("{}/{}→{}/{size}", self.way.name(), short(self.from), short(self.to))
    }

    /// Prepares the case, runs it once, and has it run so often inside of `counted`.
    pub(crate) fn run(self, counted: Counted<'_>) -> Result<(), Box<dyn Error>> {
        let Self { way, from, to, bytes } = self;
        let rules = rules(way);
        match bytes {
            Some(bytes) => {
                let body = bodies::request(from, bytes);
                let target =
                    Target::for_model(bodies::model(to)).with_gemini_model(ModelPlace::Body);
                let intent = Intent::default();
                let translation = Translation { from, to, target: &target, way };
                counted(&|| translation.run(&body, &rules, &intent))
            }
            None => {
                let stream = streams::stream(from);
                let body = bodies::request(from, SIZES[0]);
                let decoded = from.decode_request(body.as_bytes())?;
                let mut context = AnswerContext::by(&decoded, to, &Target::default());
                let offer = Arc::new(Offer::new(
                    decoded.request(),
                    from,
                    (&mut context, Renamed::default()),
                    &rules,
                ));
                let offer = (way != Way::Plain).then_some(offer);
                counted(&|| translated_stream((from, to), &stream, offer.clone()))
            }
        }
    }
}

/// Runs something as often as it is to be counted.
pub(crate) type Counted<'a> =
    &'a dyn Fn(&dyn Fn() -> Result<usize, Box<dyn Error>>) -> Result<(), Box<dyn Error>>;

fn rules(way: Way) -> Arc<Rules> {
    // Of the same length: what a longer name takes is the translation's.
    let names = [
        ("read_file", "open_file"),
        ("write_file", "store_file"),
        ("search", "lookup"),
        ("run", "try"),
    ];
    let rename = || names.map(|(own, seen)| (own.to_owned(), seen.to_owned())).to_vec();
    let table = RuleTable {
        deny: Glob::new("rm_*").ok().map(|glob| vec![glob]),
        count_max: Some(1_000),
        rename: way.renames().then(rename),
        arguments: Some(ArgumentRule::Repair),
        undeclared: Some(UndeclaredRule::Text),
        ..RuleTable::default()
    };
    Arc::new(table.rules().unwrap_or_default())
}

struct Translation<'t> {
    from: Protocol,
    to: Protocol,
    target: &'t Target,
    way: Way,
}

impl Translation<'_> {
    fn run(
        &self,
        body: &str,
        rules: &Arc<Rules>,
        intent: &Intent,
    ) -> Result<usize, Box<dyn Error>> {
        let Self { from, to, target, way } = *self;
        if way == Way::ClassedApart {
            chosen(&from.decode_request(body.as_bytes())?, intent);
        }
        let mut decoded = from.decode_request(body.as_bytes())?;
        if way.has_class() {
            chosen(&decoded, intent);
        }
        let mut renamed = Renamed::default();
        if way.has_rules() {
            let plan = plan(decoded.request(), rules).map_err(|it| it.to_string())?;
            if plan.changes() {
                renamed = plan.apply(decoded.edit(), rules, "/tool_choice").renamed;
            }
        }
        decoded.edit().model = Some(bodies::model(to).into());
        let mut encoded = decoded.encode(to, target)?;
        renamed.report_on(decoded.request(), &mut encoded.report);
        let mut context = AnswerContext::by(&decoded, to, target);
        if way.has_rules() {
            black_box(Offer::new(decoded.request(), from, (&mut context, renamed), rules));
        }
        black_box(context);
        Ok(black_box(encoded).body.len())
    }
}

fn chosen(decoded: &DecodedRequest<'_>, intent: &Intent) {
    let request = decoded.request();
    let measured = Measured::of(&request.messages);
    let facts = Facts::read(request, (&measured, measured.weight / 4), intent);
    black_box(classify(&facts, |_| true));
}

fn translated_stream(
    (from, to): (Protocol, Protocol),
    stream: &Stream,
    offer: Option<Arc<Offer>>,
) -> Result<usize, Box<dyn Error>> {
    let mut governor = offer.map(Governor::new);
    let mut parser = sse::Parser::default();
    let mut decoder = Some(StreamDecoder::new(from));
    let mut encoder = Some(StreamEncoder::new(to, from, AnswerContext::default()));
    let mut out = String::new();
    let mut bytes = 0;
    let mut step = |frame: sse::Frame<'_>| {
        if let Some(current) = decoder.take() {
            let mut emit = |event: sabir_wire::protocol::Event<'_>| {
                encoder = encoder.take().map(|encoder| encoder.step(event, &mut out));
            };
            decoder = Some(current.step(&frame, &mut |event| match &mut governor {
                Some(governor) => governor.event(event, &mut emit),
                None => emit(event),
            })?);
            bytes += black_box(&out).len();
            out.clear();
        }
        Ok(())
    };
    // Without the frames of calls: what is compared is an answer in words.
    let is_text = |frame: &&String| !CALLS.iter().any(|call| frame.contains(call));
    for frame in stream.frames.iter().filter(is_text) {
        parser.push(frame.as_bytes(), &mut step)?;
    }
    parser.end(&mut step)?;
    Ok(bytes)
}

/// What the frames of calls hold, by protocol.
const CALLS: [&str; 5] =
    ["\"tool_calls\":[", "tool_use\"", "input_json_delta", "function_call", "functionCall"];
