//! Whether a request fits the window of its target. Where even the fewest tokens that it can have are too many, the client learns
//! so before anything is sent, in the words that its protocol has for it.

use sabir_wire::{Fault, Overflow};

use crate::attempt::token_estimate;
use crate::call::Call;
use crate::failure::{Failure, Result, Whose};
use crate::route::Candidate;
use crate::{ingress, surface};

/// Refuses a request that cannot fit. Most are short enough not to be looked at.
pub(super) fn check(call: &Call<'_>, candidate: &Candidate) -> Result<()> {
    let Some(window) = candidate.window() else { return Ok(()) };
    if may_fit(call, window) || may_be_shortened(call) {
        return Ok(());
    }
    // What cannot be read is refused by whoever has to read it.
    let is_readable = ingress::check_density(&call.survey).is_ok();
    let Some(Ok(decoded)) = is_readable.then(|| call.decoded()) else { return Ok(()) };
    match token_estimate::beyond(window, decoded.request()) {
        Some(tokens) => {
            Err(refused(candidate, Overflow { tokens: Some(tokens), window: Some(window) }))
        }
        None => Ok(()),
    }
}

/// Whether a first look leaves it open that the request fits. What was recalled for it is looked at with the rest.
fn may_fit(call: &Call<'_>, window: u64) -> bool {
    match &call.recalled {
        Some(recalled) => {
            token_estimate::is_hardly_beyond_bytes(window, call.body.len() + recalled.bytes())
        }
        None => token_estimate::is_hardly_beyond(window, call.body),
    }
}

/// Whether the request lets its provider leave something out. To be found it must not stand in a text, where its quotes are
/// escaped.
fn may_be_shortened(call: &Call<'_>) -> bool {
    let shorteners = surface::of(call.client).shorteners;
    shorteners.iter().any(|name| call.body.contains(&format!("\"{name}\"")))
}

fn refused(candidate: &Candidate, overflow: Overflow) -> Box<Failure> {
    let message = format!(
        "estimated before anything was sent to {}: shorten the conversation, ask for a model with a wider window, or correct \
         `context_window` in the configuration",
        candidate.provider.name
    );
    Failure::stating(Whose::Client, Fault::overflowing(overflow, message))
}
