//! Getting an answer: one target after the other, until the first event of one of them is there.

mod alone;
mod answer;
mod ask;
mod count;
mod embed;
mod feed;
mod headers;
mod health;
mod late_system;
mod notes;
mod open;
mod payload;
mod prepare;
mod queue;
mod refusal;
mod repair;
mod same_protocol;
mod targets;
mod token_estimate;
mod unreached;
mod upstream;
mod verdict;
mod whole;

pub(crate) use alone::begin_alone;
pub(crate) use answer::AnswerBody;
pub(crate) use count::count;
pub(crate) use embed::Embedded;
pub(crate) use embed::embed;
pub(crate) use feed::Feed;
pub(crate) use headers::base as base_headers;
pub(crate) use headers::gateways;
pub(crate) use open::Opened;
pub(crate) use open::RawRequest;
pub(crate) use open::Whole;
pub(crate) use open::answer;
pub(crate) use open::collect;
pub(crate) use open::is_packed;
pub(crate) use open::whole_body;
pub(crate) use payload::Payload;
pub(crate) use prepare::Prepared;
pub(crate) use upstream::Upstream;

use std::sync::Arc;
use std::time::Duration;

use sabir_backend::http::Client;

use crate::Gateway;

/// What a try needs beside the call.
#[derive(Clone, Copy)]
pub(crate) struct Means<'a> {
    pub(crate) gateway: &'a Arc<Gateway>,
    pub(crate) client: &'a Client,
}

/// How long to wait before another try where the provider does not say.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);
