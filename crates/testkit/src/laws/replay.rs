//! Law 10: an answer of a provider, shown to a client of any protocol and sent back as history, reaches that provider as it
//! was, signatures and ids of calls included, or one of the two reports says why not.
//!
//! What it is compared with is the follow-up of the provider's own client. So what no request has a place for, such as
//! usage, finish reasons and ids of answers, is not part of the comparison.

use sabir_wire::{Error, Loss, LossKind, Protocol, Report};
use serde_json::Value;

use crate::canonical::{Difference, Statement};
use crate::laws::{Law, Violation, streams, violation};
use crate::sample::Sample;
use crate::translate;

mod exempt;
mod history;
mod seals;
mod stripped;

use history::Sdk;
use seals::Seal;
use stripped::Remembered;

/// The law for a whole answer.
pub(super) fn whole(sample: &Sample) -> Vec<Violation> {
    let Sample { protocol, body, .. } = sample;
    let Ok(answer) = serde_json::from_slice::<Value>(body) else { return Vec::new() };
    let Some(given) = Given::new(*protocol, answer) else { return Vec::new() };
    let shown = |client: Protocol| {
        let (shown, report) = match client == *protocol {
            true => (given.answer.clone(), Report::default()),
            false => {
                let (shown, report) = translate::response(*protocol, client, body)?;
                (serde_json::from_str(&shown).unwrap_or_default(), report)
            }
        };
        Ok((Sdk::of(client).turn(&shown), report))
    };
    given.check(&shown)
}

/// The law for a stream.
pub(super) fn stream(sample: &Sample) -> Vec<Violation> {
    let Sample { protocol, body, .. } = sample;
    let fold = translate::fold(*protocol, body);
    let answer = Sdk::of(*protocol).whole(body);
    let Some(given) = Given::new(*protocol, answer).filter(|_| fold.fault.is_none()) else {
        return Vec::new();
    };
    let streamed =
        Remembered::of_events(|emit| translate::decode_stream(*protocol, [&**body], emit));
    if !streamed.is_same(&Remembered::of_response(&fold)) {
        let detail = "another thing is remembered of the stream than of its fold".to_owned();
        return vec![violation(Law::Replay, *protocol, detail)];
    }
    let shown = |client: Protocol| match client == *protocol {
        true => Ok((Sdk::of(client).turn(&given.answer), Report::default())),
        false => {
            let (shown, report) = translate::stream(*protocol, client, body);
            let turn = Sdk::of(client).streamed_turn(shown.as_bytes());
            Ok((turn, streams::in_answer(*protocol, body, &report)))
        }
    };
    given.check(&shown)
}

/// The turn of a client's history that an answer becomes, and the report of how it was shown.
type Shown<'s> = &'s dyn Fn(Protocol) -> Result<(Vec<Value>, Report), Error>;

/// What a provider answered.
struct Given {
    protocol: Protocol,
    answer: Value,
    model: Option<String>,
    /// The turn as the provider's own client sends it back, by its places in the answer.
    turn: Statement,
    seals: Vec<Seal>,
    /// What was sealed with its calls.
    remembered: Remembered,
}

impl Given {
    /// None for an answer that failed or cannot be read, and for one that leaves nothing for a history.
    fn new(protocol: Protocol, answer: Value) -> Option<Self> {
        let text = answer.to_string();
        let response = protocol.decode_response(text.as_bytes()).ok()?;
        if response.fault.is_some() {
            return None;
        }
        let model = response.model.as_ref().map(|model| model.to_str().into_owned());
        let remembered = Remembered::of_response(&response);
        let sdk = Sdk::of(protocol);
        let turn = Some(sdk.turn(&answer)).filter(|turn| !turn.is_empty())?;
        let request = sdk.follow_up(turn);
        let in_answer = |pointer: &str| sdk.in_answer(pointer);
        let turn = stated(protocol, &request.to_string()).ok()?.placed(in_answer);
        let mut seals = seals_of(&sdk, &request);
        for seal in &mut seals {
            seal.pointer = sdk.in_answer(&seal.pointer).unwrap_or_default();
        }
        Some(Self { protocol, answer, model, turn, seals, remembered })
    }

    fn check(&self, shown: Shown<'_>) -> Vec<Violation> {
        let broken = |client: Protocol| {
            let differences = shown(client)
                .and_then(|(turn, there)| self.replay(client, turn, there))
                .unwrap_or_else(|error| vec![error.to_string()]);
            let detail = format!("not reported: {}", differences.join("\n        "));
            (!differences.is_empty()).then(|| violation(Law::Replay, client, detail))
        };
        Protocol::ALL.into_iter().filter_map(broken).collect()
    }

    /// What reaches the provider otherwise than it came from there.
    fn replay(
        &self,
        client: Protocol,
        turn: Vec<Value>,
        there: Report,
    ) -> Result<Vec<String>, Error> {
        let request = Sdk::of(client).follow_up(turn);
        let sent = request.to_string();
        let (back, report) = match client == self.protocol {
            // What a client of the same protocol sends passes as it is.
            true => (sent.clone(), Report::default()),
            false => {
                translate::request(client, self.protocol, sent.as_bytes(), self.model.as_deref())?
            }
        };
        let reports = Reports { there, back: report };
        let (sent, arrived) = (stated(client, &sent)?, stated(self.protocol, &back)?);
        let back: Value = serde_json::from_str(&back).unwrap_or_default();
        let returned = seals_of(&Sdk::of(self.protocol), &back);
        let is_shared = |it: &Difference| {
            let is_moved =
                self.turn.is_seal_of_thought(it) || self.turn.is_mere_seal_behind_thought(it);
            is_moved && arrived.has_words_of(it)
                || self.turn.is_seal_behind_thought(it)
                || self.turn.is_seal_of_wordless_thought(it)
        };
        // A client that keeps a stream piece by piece sends blank texts, which some providers refuse.
        let has_blanks = reports.repairs_blanks(&request);
        let is_cut = |it: &Difference| has_blanks && it.is_recut(&self.turn, &arrived);
        let is_known = |it: &Difference| exempt::is_exempt(it) || is_shared(it) || is_cut(it);
        let silent = reports.silent(&self.turn, &sent, &arrived, &is_known);
        let silent = silent.iter().map(ToString::to_string);
        let lost =
            self.missing(&returned).filter(|seal| !self.is_explained(seal, &reports, &request));
        let lost = lost.map(|Seal { pointer, key, text }| {
            format!("{pointer} ({key}): {text:?} did not come back")
        });
        let mut differences: Vec<String> = silent.chain(lost).collect();
        if client != self.protocol {
            let sent = (client, &*request.to_string());
            differences.extend(self.remembered.lost(sent, (self.protocol, self.model.as_deref()))?);
        }
        Ok(differences)
    }

    /// Whether an entry says why a seal is missing: where it stood in the answer, or where the client held it. A result has
    /// the id of its call.
    fn is_explained(&self, seal: &Seal, reports: &Reports, request: &Value) -> bool {
        let mut given = self.seals.iter().filter(|it| it.text == seal.text);
        let held = seals::places_of(seal.data(), request, "");
        given.any(|it| covers(&reports.there, &it.pointer))
            || held.iter().any(|place| covers(&reports.back, place))
    }

    /// The seals that are not among those that came back.
    fn missing(&self, back: &[Seal]) -> impl Iterator<Item = &Seal> {
        let mut left: Vec<&Seal> = back.iter().collect();
        self.seals.iter().filter(move |seal| {
            let found = left.iter().position(|it| it.key == seal.key && it.text == seal.text);
            found.map(|index| left.swap_remove(index)).is_none()
        })
    }
}

/// The reports of both ways: of the answer on its way to the client, and of the request on its way back.
struct Reports {
    there: Report,
    back: Report,
}

impl Reports {
    /// What arrived otherwise than it was given, and no entry of either report says why; without what `is_known` for another
    /// reason, which must not make a reading look worse than it is.
    fn silent(
        &self,
        given: &Statement,
        sent: &Statement,
        arrived: &Statement,
        is_known: &dyn Fn(&Difference) -> bool,
    ) -> Vec<Difference> {
        let unreported_ones = sent.unreported(arrived, &self.back);
        let mut reported = sent.unreported(arrived, &Report::default());
        reported.retain(|it| !unreported_ones.iter().any(|other| it.is_same_as(other)));
        let compare = |given: Statement, arrived: Statement| {
            let mut silent = self.silent_there(&given, &arrived);
            silent.retain(|it| !reported.iter().any(|other| it.is_same_as(other)) && !is_known(it));
            silent
        };
        let joined = (given.clone().joined(), arrived.clone().joined());
        let mut readings = vec![(given.clone(), arrived.clone()), joined.clone()];
        // Where a protocol has one place for all texts, its entries say so of the texts, and not of the calls around them.
        if has_names(&self.there) {
            readings.push((joined.0.texts_first(), joined.1.texts_first()));
        }
        let silent = readings.into_iter().map(|(given, arrived)| compare(given, arrived));
        silent.min_by_key(Vec::len).unwrap_or_default()
    }

    /// Whether blank texts of the request were left out on its way.
    fn repairs_blanks(&self, request: &Value) -> bool {
        let is_blank = |entry: &&Loss| {
            let node = request.pointer(&entry.pointer);
            let text = node.and_then(|node| node.as_str().or_else(|| node["text"].as_str()));
            text.is_some_and(|text| text.trim().is_empty())
        };
        self.back
            .entries()
            .iter()
            .filter(|it| it.kind == LossKind::Repaired)
            .any(|it| is_blank(&it))
    }

    /// What the report of the answer does not cover.
    fn silent_there(&self, given: &Statement, arrived: &Statement) -> Vec<Difference> {
        let unreported_ones = given.unreported(arrived, &self.there);
        let is_unreported =
            |it: &Difference| unreported_ones.iter().any(|other| it.is_same_as(other));
        // What is written under another name or at another place has to arrive there.
        let mut silent = given.unreported(arrived, &without_names(&self.there));
        silent.retain(|it| is_unreported(it) || it.is_sealed() || !arrived.has_words_of(it));
        silent
    }
}

fn has_names(report: &Report) -> bool {
    report.entries().iter().any(|entry| entry.kind == LossKind::Renamed)
}

/// The entries that are about more than another name or place.
fn without_names(report: &Report) -> Report {
    let mut reasons = Report::default();
    for entry in report.entries().iter().filter(|entry| entry.kind != LossKind::Renamed) {
        reasons.lose(entry.pointer.clone(), entry.kind, entry.reason.clone());
    }
    reasons
}

/// Whether an entry says of this place that what stood there did not get through as it was.
fn covers(report: &Report, pointer: &str) -> bool {
    let is_reason = |kind| !matches!(kind, LossKind::Renamed | LossKind::Implied);
    report.entries().iter().filter(|entry| is_reason(entry.kind)).any(|entry| {
        let rest = pointer.strip_prefix(&entry.pointer).filter(|_| !entry.pointer.is_empty());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// What the assistant says in a request.
fn stated(protocol: Protocol, body: &str) -> Result<Statement, Error> {
    let decoded = protocol.decode_request(body.as_bytes())?;
    Ok(Statement::of_assistant(&decoded))
}

fn seals_of(sdk: &Sdk, request: &Value) -> Vec<Seal> {
    seals::of(sdk.conversation(request), &format!("/{}", sdk.list()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A call of Gemini, signed and with an id of its own.
    fn given() -> Given {
        let call = json!({"functionCall": {"id": "c1", "name": "tide", "args": {"port": "Porto"}},
            "thoughtSignature": "c2VhbA=="});
        let content = json!({"role": "model", "parts": [{"text": "I look."}, call]});
        let answer = json!({"candidates": [{"content": content, "finishReason": "STOP"}],
            "modelVersion": "gemini-3.1-pro"});
        Given::new(Protocol::Gemini, answer).expect("it can be read")
    }

    /// What the law finds when a client changes the turn before it sends it back.
    fn found(client: Protocol, change: impl Fn(&mut [Value]), there: Report) -> Vec<String> {
        let given = given();
        let body = given.answer.to_string();
        let (shown, _) = translate::response(given.protocol, client, body.as_bytes()).unwrap();
        let mut turn = Sdk::of(client).turn(&serde_json::from_str(&shown).unwrap());
        change(&mut turn);
        given.replay(client, turn, there).unwrap()
    }

    #[test]
    fn a_turn_that_is_sent_back_as_it_was_shown_keeps_the_law() {
        for client in Protocol::ALL.into_iter().filter(|it| *it != Protocol::Gemini) {
            let found = found(client, |_| {}, Report::default());
            assert!(found.is_empty(), "{client:?}: {found:?}");
        }
    }

    fn lose_signature(turn: &mut [Value]) {
        let call = turn[0].pointer_mut("/tool_calls/0").and_then(Value::as_object_mut);
        call.expect("Chat shows the call").remove("extra_content");
    }

    #[test]
    fn a_lost_signature_is_found() {
        let found = found(Protocol::OpenaiChat, lose_signature, Report::default());
        assert!(found.iter().any(|it| it.contains("c2VhbA==")), "{found:?}");
    }

    #[test]
    fn a_lost_signature_needs_an_entry_that_speaks_of_it() {
        let place = "/candidates/0/content/parts/1/thoughtSignature";
        let found_with = |pointer: &str, kind: LossKind| {
            let mut there = Report::default();
            there.lose(pointer.to_owned(), kind, "a reason");
            found(Protocol::OpenaiChat, lose_signature, there)
        };
        assert!(found_with(place, LossKind::Withheld).is_empty());
        assert!(!found_with(place, LossKind::Renamed).is_empty());
        assert!(!found_with("/candidates/0/content/parts/0", LossKind::Withheld).is_empty());
    }

    #[test]
    fn another_id_or_text_is_found() {
        let rename = |turn: &mut [Value]| turn[0]["tool_calls"][0]["id"] = json!("c2");
        let renamed = found(Protocol::OpenaiChat, rename, Report::default());
        assert!(renamed.iter().any(|it| it.contains("\"c1\" did not come back")), "{renamed:?}");
        let edit = |turn: &mut [Value]| turn[0]["content"] = json!("I look away.");
        assert!(!found(Protocol::OpenaiChat, edit, Report::default()).is_empty());
    }

    /// What the law finds when Gemini's own client sends other parts back than it was given.
    fn found_in(given: Value, back: Value) -> Vec<String> {
        let content = json!({"role": "model", "parts": given});
        let answer = json!({"candidates": [{"content": content, "finishReason": "STOP"}]});
        let given = Given::new(Protocol::Gemini, answer).expect("it can be read");
        let turn = vec![json!({"role": "model", "parts": back})];
        given.replay(Protocol::Gemini, turn, Report::default()).unwrap()
    }

    fn thought(text: &str, seal: &str) -> Value {
        json!({"text": text, "thought": true, "thoughtSignature": seal})
    }

    #[test]
    fn seals_do_not_change_places_between_thoughts() {
        let text = json!({"text": "At six."});
        let given = json!([thought("Low.", "bG93"), text, thought("High.", "aGlnaA=="), text]);
        assert!(found_in(given.clone(), given.clone()).is_empty());
        let swapped = json!([thought("Low.", "aGlnaA=="), text, thought("High.", "bG93"), text]);
        assert!(!found_in(given.clone(), swapped).is_empty());
        let moved =
            json!([{"text": "Low.", "thought": true}, text, thought("High.", "bG93"), text]);
        assert!(!found_in(given, moved).is_empty());
    }

    #[test]
    fn the_seal_of_a_blank_stays_behind_its_thought() {
        let (low, high) = ("Low.", "High.");
        let plain = |text: &str| json!({"text": text, "thought": true});
        let blank = json!({"text": " ", "thoughtSignature": "bG93"});
        let text = json!({"text": "At six."});
        let given = json!([plain(low), blank, text, plain(high), text]);
        assert!(found_in(given.clone(), given.clone()).is_empty());
        let blank = json!({"text": " "});
        let on_thought = json!([thought(low, "bG93"), blank, text, plain(high), text]);
        assert!(found_in(given.clone(), on_thought).is_empty());
        let on_other = json!([plain(low), blank, text, thought(high, "bG93"), text]);
        assert!(!found_in(given.clone(), on_other).is_empty());
        let call = json!({"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "bG93"});
        let on_call = json!([plain(low), blank, text, plain(high), call]);
        assert!(!found_in(given.clone(), on_call).is_empty());
        let gone = json!([plain(low), blank, text, plain(high), text]);
        assert!(!found_in(given, gone).is_empty());
    }
}
