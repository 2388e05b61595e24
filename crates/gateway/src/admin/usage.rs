//! `GET /sabir/v1/usage`: what calls cost, by model, provider, day or key, from what is kept of them. No content.

use std::sync::Arc;

use http::{StatusCode, Uri};
use sabir_store::{GroupUsage, Grouping, Owner, Time, Tokens};
use sabir_wire::FaultKind;
use sabir_wire::json::Writer;

use super::conversations::{Asker, check, object};
use super::kept::page::parameter;
use crate::answer::{Ended, InFlight};
use crate::config::types::GatewayKey;
use crate::egress::Reply;
use crate::failure::{Failure, Result};
use crate::memory::Memory;
use crate::observe::Outcome;
use crate::recall::out_of_order;
use crate::state::Snapshot;
use crate::{config, egress, surface};

/// What is asked for.
struct Question {
    by: By,
    /// The first moment of the first day.
    from: Time,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Model,
    Provider,
    Day,
    Key,
}

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// What is shown where nobody says since when.
const SINCE: &str = "7d";

pub(crate) async fn usage(snapshot: &Arc<Snapshot>, asker: Asker<'_>) -> Reply {
    let mut flight = InFlight::begin(snapshot, surface::DEFAULT, asker.key);
    flight.trace.set_no_call();
    match answer(snapshot, &asker).await {
        Ok(body) => {
            flight.trace.set_status(200);
            flight.end(Ended::plain(Outcome::Answered));
            egress::json(StatusCode::OK, body)
        }
        Err(failure) => egress::rescue(surface::DEFAULT, *failure, flight),
    }
}

async fn answer(snapshot: &Snapshot, asker: &Asker<'_>) -> Result<String> {
    let auth = &snapshot.config().auth;
    check(asker, auth.required)?;
    let memory = snapshot.shared.memory.as_ref().ok_or_else(unkept)?;
    if memory.store().is_of_files() {
        let error = sabir_store::Error::unsupported("there are no rows of calls beside them");
        return Err(out_of_order(&error));
    }
    let question = Question::of(asker.uri, memory.store().now())?;
    let mut groups = Vec::new();
    for owner in owners(memory, asker.key, &auth.keys) {
        let grouping = question.by.grouping();
        let sums = memory.store().usage_by(&owner.owner, grouping, question.from).await;
        let sums = sums.map_err(|error| out_of_order(&error))?;
        groups.extend(sums.into_iter().map(|sum| question.by.named(sum, owner.name)));
    }
    let mut groups = merged(groups);
    question.by.sort(&mut groups);
    Ok(written(&question, &groups))
}

/// Somebody whose calls are counted, by the name of their key.
struct Counted<'k> {
    owner: Owner,
    name: &'k str,
}

/// A key sees what it used itself. Whoever runs the gateway sees all: a key with `admin = true`, or anybody on this machine
/// where no key is needed.
fn owners<'k>(
    memory: &Memory,
    key: Option<&'k Arc<GatewayKey>>,
    keys: &'k [Arc<GatewayKey>],
) -> Vec<Counted<'k>> {
    let counted =
        |key: &'k Arc<GatewayKey>| Counted { owner: memory.owner(Some(key)), name: &key.name };
    match key.filter(|key| !key.admin) {
        Some(key) => vec![counted(key)],
        None => {
            let nobody = Counted { owner: memory.owner(None), name: "" };
            keys.iter().map(counted).chain([nobody]).collect()
        }
    }
}

impl Question {
    fn of(uri: &Uri, now: Time) -> Result<Self> {
        let by = match parameter(uri, "by").as_deref() {
            None | Some("model") => By::Model,
            Some("provider") => By::Provider,
            Some("day") => By::Day,
            Some("key") => By::Key,
            Some(_) => return Err(invalid("by", "`model`, `key`, `day` or `provider`")),
        };
        let since = parameter(uri, "since");
        let since = config::parse_duration(since.as_deref().unwrap_or(SINCE));
        let since = since.ok_or_else(|| invalid("since", "a duration such as `7d` or `12h`"))?;
        let since_ms = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
        let first_day = now.0.saturating_sub(since_ms).div_euclid(DAY_MS);
        Ok(Self { by, from: Time(first_day * DAY_MS) })
    }
}

impl By {
    fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Provider => "provider",
            Self::Day => "day",
            Self::Key => "key",
        }
    }

    fn grouping(self) -> Grouping {
        match self {
            Self::Model => Grouping::Model,
            Self::Provider => Grouping::Provider,
            Self::Day => Grouping::Day,
            Self::Key => Grouping::Owner,
        }
    }

    /// The most used first, days the newest; keys as the configuration has them.
    fn sort(self, groups: &mut [GroupUsage]) {
        match self {
            Self::Model | Self::Provider => groups.sort_by(|a, b| {
                let order = b.calls.cmp(&a.calls).then(a.name.is_empty().cmp(&b.name.is_empty()));
                order.then(a.name.cmp(&b.name))
            }),
            Self::Day => groups.sort_by(|a, b| b.name.cmp(&a.name)),
            Self::Key => {}
        }
    }

    /// A group under the name by which people know it.
    fn named(self, sum: GroupUsage, key: &str) -> GroupUsage {
        let name = match self {
            Self::Model | Self::Provider => sum.name,
            Self::Day => sum.name.parse().map(config::date).unwrap_or(sum.name),
            Self::Key => key.to_owned(),
        };
        GroupUsage { name, ..sum }
    }
}

/// Groups of several owners that have one name, as one.
fn merged(groups: Vec<GroupUsage>) -> Vec<GroupUsage> {
    let mut merged: Vec<GroupUsage> = Vec::with_capacity(groups.len());
    let mut places = std::collections::HashMap::new();
    for group in groups {
        let place = *places.entry(group.name.clone()).or_insert(merged.len());
        match merged.get_mut(place) {
            Some(sum) => add(sum, &group),
            None => merged.push(group),
        }
    }
    merged
}

fn add(sum: &mut GroupUsage, group: &GroupUsage) {
    sum.calls += group.calls;
    sum.errors += group.errors;
    sum.tokens.input += group.tokens.input;
    sum.tokens.output += group.tokens.output;
    sum.tokens.cache_read += group.tokens.cache_read;
    sum.tokens.cache_write += group.tokens.cache_write;
    sum.tokens.reasoning += group.tokens.reasoning;
}

fn written(question: &Question, groups: &[GroupUsage]) -> String {
    let mut total =
        GroupUsage { name: String::new(), calls: 0, errors: 0, tokens: Tokens::default() };
    groups.iter().for_each(|group| add(&mut total, group));
    let by = question.by.as_str();
    object(|it| {
        it.field("by", by);
        it.field("since", &question.from.0.div_euclid(1000));
        it.key("data");
        it.array(|list| {
            for group in groups {
                list.object(|it| {
                    it.field(by, &Some(&*group.name).filter(|name| !name.is_empty()));
                    write_sums(it, group);
                });
            }
        });
        it.key("total");
        it.object(|it| write_sums(it, &total));
    })
}

fn write_sums(it: &mut Writer, group: &GroupUsage) {
    let Tokens { input, output, cache_read, cache_write, reasoning } = group.tokens;
    it.field("calls", &group.calls);
    it.field("errors", &group.errors);
    it.field("input_tokens", &input);
    it.field("output_tokens", &output);
    it.field("cache_read_tokens", &cache_read);
    it.field("cache_write_tokens", &cache_write);
    it.field("reasoning_tokens", &reasoning);
}

fn invalid(name: &'static str, expected: &str) -> Box<Failure> {
    let message = format!("Invalid '{name}': expected {expected}.");
    Failure::client(FaultKind::BadRequest, message).with_param(name)
}

fn unkept() -> Box<Failure> {
    let message = "This gateway keeps nothing of its calls: set `record = \"metadata\"` or more in the section `[store]` of its \
                   configuration.";
    Failure::client(FaultKind::BadRequest, message)
}
