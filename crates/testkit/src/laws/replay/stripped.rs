//! The law for clients that keep nothing of an answer but text and calls: what the provider sealed with a call comes back with
//! it, if somebody remembers that by the call.

use std::collections::HashMap;
use std::sync::Arc;

use sabir_wire::conversation::{Content, Response};
use sabir_wire::protocol::{
    AnswerContext, ArtefactCollector, BareCall, CallArtefacts, DecodedRequest, Encoded, Event,
};
use sabir_wire::target::{ModelPlace, Target};
use sabir_wire::{Error, LossKind, Protocol};
use serde_json::Value;

/// What a provider sealed with the calls of an answer, by the ids that these are known by.
pub(super) struct Remembered(HashMap<String, (CallArtefacts, Arc<str>)>);

impl Remembered {
    pub(super) fn of_response(response: &Response<'_>) -> Self {
        let mut collector = collector();
        collector.response(response);
        Self::new(collector.take())
    }

    pub(super) fn of_events(decode: impl FnOnce(&mut dyn FnMut(Event<'_>))) -> Self {
        let mut collector = collector();
        decode(&mut |event| collector.event(&event));
        Self::new(collector.take())
    }

    /// Calls that share an id cannot be told apart by it, and no vendor makes them.
    fn new(calls: Vec<CallArtefacts>) -> Self {
        let count = |id: &str| calls.iter().filter(|call| call.id == id).count();
        let own = calls.iter().filter(|call| count(&call.id) == 1);
        let entry = |call: &CallArtefacts| {
            let record = Arc::from(&*call.sealed.as_ref()?.record);
            Some((call.id.clone(), (call.clone(), record)))
        };
        Self(own.filter_map(entry).collect())
    }

    /// What was remembered and did not come back, after a client has stripped everything that it may.
    pub(super) fn lost(
        &self,
        (client, request): (Protocol, &str),
        (provider, model): (Protocol, Option<&str>),
    ) -> Result<Vec<String>, Error> {
        let mut request = client.decode_request(request.as_bytes())?.into_request();
        for message in &mut request.messages {
            message.parts.retain(|part| !matches!(part.content(), Content::Reasoning(_)));
        }
        request.messages.retain(|message| !message.parts.is_empty());
        request.model = model.map(|model| model.to_owned().into());
        let mut stripped = DecodedRequest::new(client, request);
        let mut put_back = Vec::new();
        let _ = stripped.put_back(provider, &mut |call: BareCall<'_>| {
            let (kept, record) = call.ids().find_map(|id| self.0.get(&*id))?;
            let is_same = kept.sealed.as_ref()?.meaning == call.meaning();
            put_back.push((kept.id.clone(), is_same));
            is_same.then(|| Arc::clone(record))
        });
        let target = model.map_or_else(Target::default, Target::for_model);
        let target = target.with_gemini_model(ModelPlace::Body);
        let Encoded { body, report } = stripped.encode(provider, &target)?;
        // Some models are known to refuse what other servers of their protocol want back.
        if report.entries().iter().any(|entry| entry.kind == LossKind::Withheld) {
            return Ok(Vec::new());
        }
        let sent: Value = serde_json::from_str(&body).unwrap_or_default();
        let lost = put_back.iter().flat_map(|(id, is_same)| {
            let (_, record) = &self.0[id];
            let missing = sealed(record).into_iter();
            let missing = missing.filter(|seal| !holds(&sent, seal));
            missing.map(move |seal| format!("{seal:?} of {id} was not put back ({is_same})"))
        });
        Ok(lost.collect())
    }

    /// Whether the same was remembered.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let records = |it: &Self| {
            let mut records: Vec<_> =
                it.0.iter().map(|(id, (_, record))| (id.clone(), record.to_string())).collect();
            records.sort();
            records
        };
        records(self) == records(other)
    }
}

fn collector() -> Box<ArtefactCollector> {
    ArtefactCollector::of(&AnswerContext::default()).expect("tools may be offered")
}

/// Whether a seal stands in a body: as a text, or as the JSON that it is where a server takes that.
fn holds(body: &Value, seal: &str) -> bool {
    let is_json = |value: &Value| serde_json::from_str::<Value>(seal).is_ok_and(|it| it == *value);
    match body {
        Value::String(text) => text == seal,
        Value::Array(list) => is_json(body) || list.iter().any(|it| holds(it, seal)),
        Value::Object(object) => is_json(body) || object.values().any(|it| holds(it, seal)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The seals of a record.
fn sealed(record: &str) -> Vec<String> {
    let record: Value = serde_json::from_str(record).unwrap_or_default();
    let thoughts = ["first", "last"].into_iter().flat_map(|it| record[it].as_array().cloned());
    let all = thoughts.flatten().chain([record["seal"].clone()]);
    all.filter_map(|it| it["data"].as_str().map(str::to_owned)).collect()
}
