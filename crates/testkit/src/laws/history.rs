//! What a memory keeps of requests and answers: elements come back as they were, mean the same however a client spells them,
//! and reach every target from a request of another protocol as they do from their own.

use sabir_wire::conversation::Message;
use sabir_wire::json::Survey;
use sabir_wire::protocol::{DecodedRequest, Outline};
use sabir_wire::target::{ModelPlace, Target};
use sabir_wire::{Error, Protocol, Report};
use serde_json::Value;

use crate::canonical::{Difference, Statement};
use crate::laws::{Law, Violation, violation};
use crate::sample::Sample;
use crate::translate;

mod plain;
mod respell;

/// The laws for a request.
pub(super) fn request(sample: &Sample) -> Vec<Violation> {
    let Sample { protocol, body, model, .. } = sample;
    let found = || -> Result<Vec<Violation>, Error> {
        let decoded = protocol.decode_request(body)?;
        let mut violations = restored(*protocol, &decoded)?;
        violations.extend(meanings(sample, &decoded)?);
        violations.extend(apart(sample)?);
        let elements = elements_of(&decoded)?;
        let named = decoded.request().model.as_ref().map(|it| it.to_str().into_owned());
        violations.extend(adopted(*protocol, &elements, model.as_ref().or(named.as_ref()))?);
        Ok(violations)
    };
    found().unwrap_or_else(|error| vec![violation(Law::Kept, None, error.to_string())])
}

/// The laws for a whole answer: as the history of a request of any protocol it goes back to its provider as it was.
pub(super) fn answer(sample: &Sample) -> Vec<Violation> {
    let Sample { protocol, body, .. } = sample;
    let found = || -> Result<Vec<Violation>, Error> {
        let response = protocol.decode_response(body)?;
        let text = String::from_utf8_lossy(body);
        let entries = protocol.answer_entries(text.trim_start_matches('\u{feff}'))?;
        if response.fault.is_some() || entries.is_empty() {
            return Ok(Vec::new());
        }
        let elements: Vec<&str> = entries.iter().map(|entry| &*entry.json).collect();
        let model = response.model.as_ref().map(|it| it.to_str().into_owned());
        let mut violations = adopted(*protocol, &elements.join(","), model.as_ref())?;
        violations.extend(seals_return(*protocol, &elements.join(","), model.as_ref())?);
        Ok(violations)
    };
    found().unwrap_or_else(|error| vec![violation(Law::Kept, None, error.to_string())])
}

fn elements_of(decoded: &DecodedRequest<'_>) -> Result<String, Error> {
    let entries = decoded.entries()?.entries;
    let elements: Vec<&str> = entries.iter().map(|entry| &*entry.json).collect();
    Ok(elements.join(","))
}

/// What was kept of a request, restored for one of its own protocol, states what the request does.
fn restored(protocol: Protocol, decoded: &DecodedRequest<'_>) -> Result<Vec<Violation>, Error> {
    let kept = decoded.entries()?;
    let (system, tools) =
        protocol.restore_settings(kept.system.as_deref(), kept.tools.as_deref(), protocol)?;
    let mut restored = decoded.clone();
    restored.edit().messages = system;
    restored.edit().tools = tools;
    restored.recall(protocol.restore_messages(&elements_of(decoded)?, 0, protocol)?);
    let before = Statement::of_conversation(decoded);
    let after = Statement::of_conversation(&restored);
    Ok(emitted(protocol, before.unreported(&after, &Report::default())).into_iter().collect())
}

fn emitted(target: Protocol, differences: Vec<Difference>) -> Option<Violation> {
    let list: Vec<String> = differences.iter().map(ToString::to_string).collect();
    (!list.is_empty()).then(|| violation(Law::Kept, target, list.join("\n        ")))
}

/// The meanings of a request are those of the same request in other spellings.
fn meanings(sample: &Sample, decoded: &DecodedRequest<'_>) -> Result<Vec<Violation>, Error> {
    let Sample { protocol, body, model, .. } = sample;
    let home = *protocol;
    let mut violations = Vec::new();
    let mut compare = |what: &str, protocol: Protocol, other: &str| -> Result<(), Error> {
        let (mut before, mut after) =
            (flat(decoded)?, flat(&protocol.decode_request(other.as_bytes())?)?);
        if protocol != home {
            // Leading instructions are settings in one protocol, and elements in another.
            without_instructions(&mut before);
            without_instructions(&mut after);
        }
        if before != after {
            let at = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
            let detail = format!("{what}: part {at} of {} and {}", before.len(), after.len());
            violations.push(violation(Law::MeansTheSame, protocol, detail));
        }
        Ok(())
    };
    let (anew, _) = translate::request_anew(*protocol, body)?;
    compare("encoded anew", *protocol, &anew)?;
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    for (what, respelled) in respell::all(*protocol, &value) {
        compare(what, *protocol, &respelled.to_string())?;
    }
    if plain::is_plain(decoded.request()) {
        for target in Protocol::ALL.into_iter().filter(|target| target != protocol) {
            let (other, _) = translate::request(*protocol, target, body, model.as_deref())?;
            compare("translated", target, &other)?;
        }
    }
    Ok(violations)
}

/// Elements say what they say whatever stands before them, so that a history need not be read again where it grows.
fn apart(sample: &Sample) -> Result<Vec<Violation>, Error> {
    let text = String::from_utf8_lossy(&sample.body);
    let body = Survey::new(text.trim_start_matches('\u{feff}'));
    let outline = Outline::of(sample.protocol, &body)?;
    let decoded = sample.protocol.decode_request_surveyed(&body)?;
    let whole = decoded.entries()?;
    let count = outline.elements().len();
    let entries = whole.entries.iter().map(|entry| &entry.content);
    let leading = count - entries.len();
    let mut violations = Vec::new();
    // Near the beginning, near the end, and some places between.
    let places = (leading..count).filter(|at| at % 16 == 0 || *at < 8 || at + 8 > count);
    for first in places {
        let contents = outline.contents_from(first)?;
        if !contents.elements.iter().eq(entries.clone().skip(first - leading)) {
            let detail = format!("element {first} of {count} and those behind it");
            violations.push(violation(Law::MeansTheSame, None, detail));
        }
    }
    if outline.contents_from(0)?.leading != leading || outline.system(leading) != whole.system {
        let detail = format!("{leading} leading instructions");
        violations.push(violation(Law::MeansTheSame, None, detail));
    }
    Ok(violations)
}

/// The meanings of all elements in a row.
fn flat(decoded: &DecodedRequest<'_>) -> Result<Vec<Vec<u8>>, Error> {
    Ok(decoded.entries()?.entries.into_iter().flat_map(|entry| entry.content.meanings).collect())
}

/// Leaves the instructions that a conversation begins with out.
fn without_instructions(meanings: &mut Vec<Vec<u8>>) {
    let leading = meanings.iter().take_while(|meaning| meaning.first() == Some(&b'i')).count();
    meanings.drain(..leading);
}

/// A history that a request of any other protocol goes on with reaches every target as from a request of its own. Its own
/// protocol mends more of what comes from elsewhere, and says so.
fn adopted(
    protocol: Protocol,
    elements: &str,
    model: Option<&String>,
) -> Result<Vec<Violation>, Error> {
    let mut violations = Vec::new();
    for target in Protocol::ALL {
        let (own, _) = recalled((protocol, protocol, target), elements, model)?;
        for reader in Protocol::ALL.into_iter().filter(|reader| *reader != protocol) {
            let (other, report) = recalled((protocol, reader, target), elements, model)?;
            let after = Statement::of_conversation(&target.decode_request(other.as_bytes())?);
            let own = Statement::of_conversation(&target.decode_request(own.as_bytes())?);
            let mut readings = vec![own.unreported(&after, &Report::default())];
            if target == protocol {
                let kept = kept(protocol, elements)?;
                readings.push(kept.unreported(&after, &report));
                // The members of a message may have another order there than in what was kept.
                let own = own.placed(|pointer| Some(format!("/turns/0{pointer}")));
                readings.push(own.placed_where_in(&kept).unreported(&after, &report));
            }
            readings.iter_mut().for_each(|it| it.retain(|it| !is_left_behind(it)));
            let differences = readings.into_iter().min_by_key(Vec::len).unwrap_or_default();
            violations.extend(emitted(target, differences).map(|it| Violation {
                detail: format!("through {}: {}", reader.as_str(), it.detail),
                ..it
            }));
        }
    }
    Ok(violations)
}

/// What a history states in a request of its own protocol, by its places in the turn that it was.
fn kept(protocol: Protocol, elements: &str) -> Result<Statement, Error> {
    let next = next(protocol);
    let mut decoded = protocol.decode_request(next.as_bytes())?;
    decoded.recall(protocol.restore_messages(elements, 0, protocol)?);
    Ok(Statement::of_conversation(&decoded))
}

/// What a vendor sealed in an answer comes back to it through a request of any protocol.
fn seals_return(
    protocol: Protocol,
    elements: &str,
    model: Option<&String>,
) -> Result<Vec<Violation>, Error> {
    let mut violations = Vec::new();
    let given = protocol.restore_messages(elements, 0, protocol)?;
    for reader in Protocol::ALL {
        let (body, _) = recalled((protocol, reader, protocol), elements, model)?;
        let back = protocol.decode_request(body.as_bytes())?;
        let mut back = seals(protocol, &back.request().messages);
        let mut lost = seals(protocol, &given);
        lost.retain(|seal| match back.iter().position(|it| it == seal) {
            Some(at) => {
                back.swap_remove(at);
                false
            }
            None => true,
        });
        let detail = format!("through {}: {lost:?} did not come back", reader.as_str());
        violations.extend((!lost.is_empty()).then(|| violation(Law::Kept, protocol, detail)));
    }
    Ok(violations)
}

/// The body that a target gets of a history of one protocol in a request of another.
fn recalled(
    (protocol, reader, target): (Protocol, Protocol, Protocol),
    elements: &str,
    model: Option<&String>,
) -> Result<(String, Report), Error> {
    let next = next(reader);
    let mut decoded = reader.decode_request(next.as_bytes())?;
    decoded.recall(protocol.restore_messages(elements, 0, reader)?);
    decoded.edit().model = model.cloned().map(Into::into);
    let at = model.map_or_else(Target::default, |model| Target::for_model(model));
    let encoded = decoded.encode(target, &at.with_gemini_model(ModelPlace::Body))?;
    Ok((encoded.body, encoded.report))
}

/// A request in which the user goes on.
fn next(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::OpenaiChat | Protocol::AnthropicMessages => {
            r#"{"messages":[{"role":"user","content":"Go on."}]}"#
        }
        Protocol::OpenaiResponses => r#"{"input":[{"role":"user","content":"Go on."}]}"#,
        Protocol::Gemini => r#"{"contents":[{"role":"user","parts":[{"text":"Go on."}]}]}"#,
    }
}

/// What belongs to the request that a history came in, by the beginnings of its names.
const LEFT_BEHIND: [&str; 3] = ["cache marker", "log probabilities", "unknown "];

/// Whether a statement belongs to the request that the history came in.
fn is_left_behind(difference: &Difference) -> bool {
    LEFT_BEHIND.iter().any(|name| difference.name().starts_with(name))
}

fn seals(protocol: Protocol, messages: &[Message<'_>]) -> Vec<String> {
    let parts = messages.iter().flat_map(|message| &message.parts);
    let artefacts = parts.filter_map(|part| part.semantics().artefact());
    let own = artefacts.filter(|artefact| artefact.issuer() == protocol);
    own.map(|artefact| artefact.data().to_str().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use sabir_wire::LossKind;
    use serde_json::json;

    use super::*;

    /// A turn of the assistant in Chat.
    fn stated(message: &Value) -> Statement {
        let body = json!({"messages": [message]}).to_string();
        let decoded = Protocol::OpenaiChat.decode_request(body.as_bytes()).expect("it can be read");
        Statement::of_conversation(&decoded)
    }

    #[test]
    fn an_entry_is_about_the_statement_that_was_kept_at_its_place() {
        let call =
            json!({"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}});
        let kept = json!({"role": "assistant", "tool_calls": [call], "content": "Low."});
        let none = stated(&json!({"role": "assistant", "tool_calls": [call]}));
        let mut report = Report::default();
        report.lose("/messages/0/content", LossKind::Dropped, "planted");
        let silent = |own: &Value| {
            stated(own).placed_where_in(&stated(&kept)).unreported(&none, &report).len()
        };
        assert_eq!(
            silent(&json!({"role": "assistant", "content": "Low.", "tool_calls": [call]})),
            0
        );
        assert_eq!(
            silent(&json!({"role": "assistant", "content": "High.", "tool_calls": [call]})),
            1
        );
    }
}
