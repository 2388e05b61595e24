//! Writing whole answers.

use crate::conversation::Response;
use crate::loss::Report;
use crate::protocol::Asked;
use crate::protocol::Protocol;

pub(in crate::protocol) fn encode_response(
    _response: &Response<'_>,
    _source: Protocol,
    _asked: &Asked<'_>,
    _report: &mut Report,
) -> String {
    unimplemented!()
}
