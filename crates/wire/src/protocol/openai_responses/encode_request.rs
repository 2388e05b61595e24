//! Writing requests.

use crate::error::Result;
use crate::loss::Report;
use crate::protocol::Exchange;
use crate::target::Target;

pub(in crate::protocol) fn encode_request(
    _exchange: &Exchange<'_>,
    _target: &Target,
    _report: &mut Report,
) -> Result<String> {
    unimplemented!()
}
