//! The limits of this crate: nothing read here grows without one.

/// How many bytes one frame of a stream may have.
pub(crate) const FRAME_BYTES_MAX: usize = 32 * 1024 * 1024;

/// How many parts may be open or buffered at once in a stream.
pub(crate) const OPEN_PARTS_MAX: usize = 1024;

/// How many candidates one answer may have; a number beyond this is taken for the last one.
pub(crate) const CANDIDATES_MAX: usize = 1024;
