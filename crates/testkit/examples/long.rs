//! Translates long inputs the way the gateway does, for whoever measures. `count SHARE OF N [PART]` translates every input
//! of a share of the cases at N and at 2N elements, in a function that a tool can tell from the rest; `planted SHARE OF N` does
//! the same with translations that have a loop of known growth behind them; `time SMALL LARGE [PART]` shows how the time grows.

use std::collections::HashSet;
use std::error::Error;
use std::hint::black_box;
use std::{env, fs};

use sabir_compose::Policy;
use sabir_compose::class::{Facts, Intent, Measured};
use sabir_testkit::long::{Kind, Long};
use sabir_testkit::translate;
use sabir_wire::Protocol;
use sabir_wire::json::Reader;
use sabir_wire::protocol::{AnswerContext, Echo};
use sabir_wire::target::{LateSystem, Target};

type Outcome = Result<usize, Box<dyn Error>>;

/// What an input is translated into.
#[derive(Clone)]
struct Case {
    input: Long,
    to: Protocol,
    variant: &'static str,
    target: Target,
    work: fn(&Self, &str) -> Outcome,
}

/// The targets that each input is translated into.
#[derive(Clone, Copy)]
enum Targets {
    All,
    /// One each, so that every input and every pair has its turn in a fourth of the time.
    ByTurns,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let part = |rest: &[&str]| rest.first().map(|part| (*part).to_owned()).unwrap_or_default();
    match arguments.as_slice() {
        ["count", share, of, n, rest @ ..] => {
            count((share.parse()?, of.parse()?), n.parse()?, &part(rest));
        }
        ["planted", share, of, n, ..] => planted((share.parse()?, of.parse()?), n.parse()?),
        ["time", small, large, rest @ ..] => {
            time((small.parse()?, large.parse()?), &part(rest));
        }
        _ => return Err("expected `count`, `planted` or `time` with their arguments".into()),
    }
    Ok(())
}

/// Translates the cases of a share, each at both lengths, and names each before it is translated.
fn count((share, of): (usize, usize), n: usize, part: &str) {
    // A share of the cases may be chosen by their names, of which there may be more than arguments hold.
    let names = env::var("SABIR_LONG_NAMES").unwrap_or_default();
    let names: HashSet<&str> = names.lines().collect();
    // Every input for one target, by turns, unless all or some names are asked for.
    let targets = match part.is_empty() && names.is_empty() {
        true => Targets::ByTurns,
        false => Targets::All,
    };
    let part = part.strip_prefix("all").unwrap_or(part);
    let is_chosen = |name: &str| name.contains(part) && (names.is_empty() || names.contains(name));
    let cases = Case::all(targets).into_iter().filter(|case| is_chosen(&case.name()));
    for case in cases.enumerate().filter(|(number, _)| number % of == share).map(|(_, case)| case) {
        count_both(&case.name(), n, &case.input, &|body| case.run(body));
    }
}

/// Runs work on an input at both lengths, and names it after each run.
fn count_both(name: &str, n: usize, input: &Long, work: &dyn Fn(&str) -> Outcome) {
    for n in [n, 2 * n] {
        let refused = counted(work, &input.of(n)).err().map(|error| error.to_string());
        println!("{name}\t{}", refused.unwrap_or_default());
    }
}

#[inline(never)]
fn counted(work: &dyn Fn(&str) -> Outcome, body: &str) -> Outcome {
    black_box(work(body))
}

/// Looks up every element of an input, and answers how many are distinct.
type Lookup = fn(&str) -> usize;

/// What is put behind a translation: the loop that quadratic translations had, and the index that mends it.
const PLANTED: [(&str, Lookup); 2] = [
    ("planted/scan", |body| {
        let mut seen = Vec::new();
        for element in body.split("},{") {
            if !seen.contains(&element) {
                seen.push(element);
            }
        }
        seen.len()
    }),
    ("planted/index", |body| body.split("},{").collect::<HashSet<_>>().len()),
];

/// Counts the planted loops as all else is counted, so that the judge of the counts can be judged.
fn planted((share, of): (usize, usize), n: usize) {
    let Some(case) = Case::all(Targets::ByTurns).into_iter().next() else { return };
    for (name, lookup) in PLANTED.iter().skip(share).step_by(of) {
        let work = |body: &str| Ok(case.run(body)? + black_box(lookup(body)));
        count_both(name, n, &case.input, &work);
    }
}

impl Case {
    fn all(targets: Targets) -> Vec<Self> {
        let inputs = Protocol::ALL.into_iter().flat_map(Long::all).enumerate();
        let cases = |(number, input): (usize, Long)| {
            let is_meant = move |(target, _): &(usize, Protocol)| match targets {
                Targets::All => true,
                Targets::ByTurns => number % Protocol::ALL.len() == *target,
            };
            let meant = Protocol::ALL.into_iter().enumerate().filter(is_meant);
            meant.flat_map(move |(_, to)| Self::of(&input, to)).collect::<Vec<_>>()
        };
        inputs.flat_map(cases).collect()
    }

    fn of(input: &Long, to: Protocol) -> Vec<Self> {
        let case = |variant, target| Self {
            input: input.clone(),
            to,
            variant,
            target,
            work: Self::translate,
        };
        let mut cases = vec![case("any", Target::default())];
        if input.kind == Kind::Request {
            cases.push(Self { work: Self::classify, ..case("class", Target::default()) });
        }
        if input.kind == Kind::Request && input.name.contains("systems") {
            cases.push(case("lift", Target::default().with_late_system(LateSystem::Lift)));
            cases.push(case("inline", Target::default().with_late_system(LateSystem::Inline)));
        }
        if input.kind == Kind::Request && input.name.contains("calls") {
            cases.push(case("known", Target::for_model(model(to))));
        }
        cases
    }

    fn name(&self) -> String {
        let Long { protocol, kind, name, .. } = &self.input;
        let (from, to, variant) = (protocol.as_str(), self.to.as_str(), self.variant);
        format!("{kind:?}/{name}/{from}→{to}/{variant}").to_lowercase()
    }

    fn run(&self, body: &str) -> Outcome {
        (self.work)(self, body)
    }

    fn translate(&self, body: &str) -> Outcome {
        let from = self.input.protocol;
        match self.input.kind {
            Kind::Request => self.request(body),
            Kind::Response => Ok(translate::response(from, self.to, body.as_bytes())?.0.len()),
            Kind::Stream => {
                let folded = translate::fold(from, body.as_bytes());
                let (out, report) = translate::stream(from, self.to, body.as_bytes());
                Ok(out.len() + report.entries().len() + folded.candidates.len())
            }
            Kind::Error => {
                let fault = from.decode_fault(400, body.as_bytes());
                Ok(self.to.translate_fault(&fault).1.body.len())
            }
        }
    }

    /// Reads what the class of a request is decided by.
    fn classify(&self, body: &str) -> Outcome {
        let decoded = self.input.protocol.decode_request(body.as_bytes())?;
        let measured = Measured::of(&decoded.request().messages);
        let facts = Facts::read(decoded.request(), (&measured, 0), &Intent::default());
        Ok(usize::from(facts.is_in_tool_loop()))
    }

    fn request(&self, body: &str) -> Outcome {
        let from = self.input.protocol;
        let mut decoded = from.decode_request(body.as_bytes())?;
        let repaired = sabir_compose::repair(decoded.edit(), &Policy::towards(self.to));
        let repaired = repaired.map_err(|refused| refused.to_string())?.into_report();
        let encoded = decoded.encode(self.to, &self.target)?;
        let context = AnswerContext::by(&decoded, self.to, &self.target);
        black_box((&context, &repaired));
        if from == Protocol::OpenaiResponses {
            black_box(Echo::of(Reader::new(body))?.into_owned());
        }
        Ok(encoded.body.len() + encoded.report.entries().len())
    }
}

/// A model whose family is known, among those that a protocol is spoken by.
fn model(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::AnthropicMessages => "claude-sonnet-4-5",
        Protocol::Gemini => "gemini-2.5-pro",
        _ => "gpt-5.1",
    }
}

/// Shows which cases take longer at the second size than the sizes explain.
fn time((small, large): (usize, usize), part: &str) {
    for case in Case::all(Targets::All).into_iter().filter(|case| case.name().contains(part)) {
        let bodies = [small, large].map(|n| case.input.of(n));
        let times = bodies.each_ref().map(|body| {
            let run = || {
                let started = processor_s();
                let outcome = case.run(body);
                (processor_s() - started, outcome.err().map(|it| it.to_string()))
            };
            let first = run();
            match first.0 < 0.05 {
                true => [run(), run(), first]
                    .into_iter()
                    .min_by(|a, b| a.0.total_cmp(&b.0))
                    .expect("some"),
                false => first,
            }
        });
        let ratio = times[1].0 / times[0].0 / (large as f64 / small as f64);
        let refused = times[1].1.as_deref().unwrap_or_default();
        let ms = times[1].0 * 1e3;
        let bytes = bodies[1].len();
        println!("{ratio:6.2} {ms:9.1} ms {bytes:9} {} {refused}", case.name());
    }
}

/// How long this thread has run so far, whatever else the machine does.
fn processor_s() -> f64 {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns = stat.split(' ').next().and_then(|ns| ns.parse::<f64>().ok());
    ns.unwrap_or_default() / 1e9
}
