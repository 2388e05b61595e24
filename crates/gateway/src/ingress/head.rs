//! How long the head of a request may be. The server beneath cuts off only what is much longer, and without a word.

use http::HeaderMap;
use http::Uri;
use sabir_wire::FaultKind;

use crate::Gateway;
use crate::failure::Failure;
use crate::failure::Result;

/// What stands on a header's line besides its name and its value.
const LINE_BYTES: usize = ": \r\n".len();

/// Refuses heads that are too long.
pub(crate) fn check_head(gateway: &Gateway, uri: &Uri, headers: &HeaderMap) -> Result<()> {
    let bytes_max = gateway.config.limits.header_bytes_max;
    let lines = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + LINE_BYTES);
    let target = uri.path_and_query().map_or(0, |target| target.as_str().len());
    if target + lines.sum::<usize>() <= bytes_max {
        return Ok(());
    }
    let message = format!(
        "the headers are larger than {bytes_max} bytes; raise `max_header_size` in [limits]"
    );
    Err(Failure::client(FaultKind::BadRequest, message).with_status(431))
}
