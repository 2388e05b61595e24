//! How long the head of a request may be. The server beneath cuts off only what is much longer, and without a message.

use http::{HeaderMap, Uri};
use sabir_wire::FaultKind;

use crate::failure::{Failure, Result};
use crate::state::Snapshot;

/// What stands on a header's line besides its name and its value.
const LINE_BYTES: usize = ": \r\n".len();

/// How many headers a request may have.
const HEADERS_MAX: usize = 100;

/// Refuses heads that are too long, or have too many lines.
pub(crate) fn check_head(snapshot: &Snapshot, uri: &Uri, headers: &HeaderMap) -> Result<()> {
    if headers.len() > HEADERS_MAX {
        return Err(too_long(format!("the request has more than {HEADERS_MAX} headers")));
    }
    let bytes_max = snapshot.config().limits.header_bytes_max;
    let lines = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + LINE_BYTES);
    let target = uri.path_and_query().map_or(0, |target| target.as_str().len());
    if target + lines.sum::<usize>() <= bytes_max {
        return Ok(());
    }
    Err(too_long(format!(
        "the headers are larger than {bytes_max} bytes; raise `max_header_size` in [limits]"
    )))
}

fn too_long(message: String) -> Box<Failure> {
    Failure::client(FaultKind::BadRequest, message).with_status(431)
}
