//! Getting an answer: one target after the other, until the first event of one of them is there.

mod agent;
mod ahead;
mod alone;
mod artefacts;
mod cache_key;
mod count;
mod edits;
mod embed;
mod fallback;
mod gateway_facts;
mod generate;
mod late_system;
mod notes;
mod order;
mod prepare;
mod refusal;
mod repair;
mod same_protocol;
mod send;
mod simplify;
mod switch;
mod token_estimate;
mod translated;
mod verbatim;
mod verdict;
mod window;
mod work;

pub(crate) use ahead::{ReadAhead, WritingAhead, WrittenAhead};
pub(crate) use alone::send_alone;
pub(crate) use count::count;
pub(crate) use embed::embed;
pub(crate) use generate::{answer, answer_read};
pub(crate) use refusal::is_missing;
pub(crate) use token_estimate::of_request as estimated_tokens;

use std::sync::Arc;
use std::time::Duration;

use sabir_backend::http::Client;

use crate::state::Snapshot;

/// What an attempt needs beside the call.
#[derive(Clone, Copy)]
pub(crate) struct Handles<'a> {
    pub(crate) snapshot: &'a Arc<Snapshot>,
    pub(crate) client: &'a Client,
}

/// How long to wait before another attempt where the provider does not state it.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);
