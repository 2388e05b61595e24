//! Reading whole answers.

use crate::conversation::Response;
use crate::error::Result;

pub(in crate::protocol) fn decode_response(_body: &str) -> Result<Response<'_>> {
    unimplemented!()
}
