//! A request that leaves its protocol: decoded, made ready for its target, and written in the target's protocol.

use std::sync::Arc;

use sabir_compose::govern::Governed;
use sabir_wire::json::{Reader, Text};
use sabir_wire::protocol::{AnswerContext, DecodedRequest, Echo, Encoded};
use sabir_wire::target::Target;
use sabir_wire::{FaultKind, Protocol, Report};

use crate::answer::AnswerMode;
use crate::attempt::agent::Adapted;
use crate::attempt::edits::Edited;
use crate::attempt::gateway_facts::GatewayFacts;
use crate::attempt::notes::Notes;
use crate::attempt::prepare::{Read, Rewritten};
use crate::attempt::{agent, artefacts, cache_key, edits, late_system, repair, token_estimate};
use crate::call::Call;
use crate::config::types::Repair;
use crate::failure::{Failure, Result, Whose};
use crate::recall::absent;
use crate::route::Candidate;
use crate::state::Snapshot;
use crate::upstream::Endpoint;
use crate::{govern, ingress, surface};

/// A call and where it goes.
struct Translation<'a> {
    snapshot: &'a Snapshot,
    call: &'a Call<'a>,
    candidate: &'a Candidate,
    endpoint: &'a Endpoint,
    target: Arc<Target>,
}

/// What was done to a request before it is written.
struct Readied {
    edited: Option<Edited>,
    governed: Governed,
    report: Report,
}

/// The body for the target, and what its answer has to be translated by and held against.
pub(super) fn translated(
    snapshot: &Snapshot,
    (call, decoded): Read<'_, '_>,
    (candidate, endpoint): (&Candidate, &Endpoint),
    notes: &mut Notes<'_>,
) -> Result<Rewritten> {
    let target = candidate.provider.targets.of(&candidate.model);
    let translation = Translation { snapshot, call, candidate, endpoint, target };
    translation.check_state()?;
    ingress::check_density(&call.survey)?;
    let mut decoded = match decoded {
        Some(decoded) => decoded,
        None => Box::new(call.decoded()?),
    };
    notes.check()?;
    let mut readied = translation.ready(&mut decoded, notes)?;
    let encoded = translation.encode(&mut decoded, &mut readied, notes)?;
    let Readied { edited, governed, report } = readied;
    let mut context = translation.context(&decoded);
    let offer = govern::offer(call, &decoded, (&mut context, governed.renamed));
    // It takes several times as much memory as the body, and what follows takes some of its own.
    drop(decoded);
    notes.add_losses(report);
    notes.add_losses(encoded.report);
    let applied_edits = edited.map(|edited| edited.applied);
    let context = AnswerContext { echo: echo(call, notes)?, applied_edits, ..context };
    let context = AnswerContext { created_s: notes.began_s(), ..context };
    let context = Box::new(GatewayFacts::of(call, notes).added_to(context));
    let body = Some(encoded.body.into_bytes().into());
    Ok(Rewritten { body, mode: AnswerMode::Translate { context, offer } })
}

impl<'a> Translation<'a> {
    /// Refuses what goes on from something that nobody can supply.
    fn check_state(&self) -> Result<()> {
        let call = self.call;
        if let Some(missing) = call.recalled.as_ref().and_then(|recalled| recalled.missing()) {
            return Err(absent(call.client, missing));
        }
        let own_members = surface::of(call.client).state.own_members;
        let is_supplied = |param: &&str| call.recalled.is_some() && own_members.contains(param);
        match call.session.filter(|param| !is_supplied(param)) {
            Some(param) => Err(self.kept_elsewhere(param)),
            None => Ok(()),
        }
    }

    /// What the client refers to is with another provider, or nowhere.
    fn kept_elsewhere(&self, param: &'static str) -> Box<Failure> {
        let message = format!(
            "`{param}` needs a provider that keeps responses; the model you asked for is served by \
             {} over {}, which does not",
            self.candidate.provider.name,
            self.upstream().as_str()
        );
        let refuse = surface::of(self.call.client).session.refuse;
        Failure::stating(Whose::Client, refuse(message, param))
    }

    fn upstream(&self) -> Protocol {
        self.endpoint.protocol
    }

    /// Edits a request until it is one that the target takes.
    fn ready(&self, decoded: &mut DecodedRequest<'a>, notes: &mut Notes<'_>) -> Result<Readied> {
        let (call, candidate, upstream) = (self.call, self.candidate, self.upstream());
        let edited = edits::apply(decoded)?;
        let mut report = artefacts::put_back(self.snapshot, decoded, (candidate, upstream), notes);
        // What was sealed with a call is found by the client's name for its tool.
        let governed = govern::request(call, decoded, (upstream, &self.target))?;
        if self.snapshot.config().repair != Repair::Off {
            report.extend(repair::mend(decoded.edit(), call.client, upstream)?);
        }
        let late_system = candidate.provider.config.late_system;
        report.extend(late_system::place(decoded.edit(), upstream, late_system));
        decoded.edit().model = Some(Text::plain(candidate.model.as_str()));
        if call.delivery.is_stream() {
            decoded.edit().stream = Some(true);
        }
        let mut report = call.name_turns(report);
        report.extend(cache_key::name(decoded.edit(), call, (upstream, &self.target)));
        Ok(Readied { edited, governed, report })
    }

    /// Writes a request as the target takes it.
    fn encode(
        &self,
        decoded: &mut DecodedRequest<'_>,
        readied: &mut Readied,
        notes: &mut Notes<'_>,
    ) -> Result<Encoded> {
        let adapted = match self.endpoint.agent() {
            Some(cli) => {
                let conversation = notes.conversation().map(|conversation| {
                    let owner = notes.key().map_or("", |key| &key.name);
                    format!("{owner}\n{conversation}")
                });
                agent::adapt(decoded, (cli, self.upstream()), conversation)?
            }
            None => Adapted::default(),
        };
        notes.check()?;
        let mut encoded = match adapted.prompt {
            Some(body) => Encoded { body, report: Report::default() },
            None => decoded.encode(self.upstream(), &self.target)?,
        };
        encoded.report.extend(adapted.report);
        govern::check_hosted(self.call, decoded.request(), &encoded.report)?;
        encoded.report.extend(std::mem::take(&mut readied.governed.report));
        readied.governed.renamed.report_on(decoded.request(), &mut encoded.report);
        encoded.report = self.call.name_turns(encoded.report);
        if let Some(edited) = &readied.edited {
            encoded.report = edited.granted(encoded.report);
        }
        match self.call.is_strict() {
            true => strict(encoded, notes),
            false => Ok(encoded),
        }
    }

    /// What of a request its answer depends on.
    fn context(&self, decoded: &DecodedRequest<'_>) -> AnswerContext<'static> {
        AnswerContext {
            show_reasoning: self.call.shows_reasoning(),
            estimated_input: Some(token_estimate::about(decoded.request())),
            ..AnswerContext::by(decoded, self.upstream(), &self.target)
        }
    }
}

/// Refuses a translation that drops anything; the exchange keeps the report all the same.
fn strict(encoded: Encoded, notes: &mut Notes<'_>) -> Result<Encoded> {
    if encoded.report.drops().next().is_some() {
        notes.add_losses(encoded.report.clone());
    }
    encoded.strict().map_err(refused)
}

pub(super) fn refused(error: sabir_wire::Error) -> Box<Failure> {
    let message = format!("sabir-strict: {error}");
    Failure::new(Whose::Policy, FaultKind::BadRequest, message)
}

/// What an answer repeats of its request, in a protocol whose answers do.
pub(super) fn echo(call: &Call<'_>, notes: &Notes<'_>) -> Result<Option<Echo<'static>>> {
    if !surface::of(call.client).repeats_request {
        return Ok(None);
    }
    let echo = Echo::of(Reader::surveyed(&call.survey))?.into_owned();
    let echo = if notes.is_kept() { echo.stored() } else { echo };
    Ok(Some(if call.asked.in_background { echo.in_background() } else { echo }))
}
