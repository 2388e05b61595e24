//! Reading requests.

use crate::error::Result;
use crate::protocol::Exchange;

pub(in crate::protocol) fn decode_request(_body: &str) -> Result<Exchange<'_>> {
    unimplemented!()
}
