//! Writing requests: as they were where they came in this protocol, else in its words.

pub(super) mod blocks;
mod content;
mod foreign;
mod media;
mod order;
mod own;
mod schemas;
mod settings;
mod thinking;
mod tools;
mod turns;

use crate::error::Result;
use crate::loss::Report;
use crate::protocol::Exchange;
use crate::protocol::anthropic_messages::types::HERE;
use crate::target::Target;

pub(in crate::protocol) fn encode_request(
    exchange: &Exchange<'_>,
    target: &Target,
    report: &mut Report,
) -> Result<String> {
    Ok(if exchange.protocol() == HERE {
        own::encode(exchange, target, report)
    } else {
        foreign::encode(exchange, target, report)
    })
}
