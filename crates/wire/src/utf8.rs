//! Bytes as text. Bodies are checked in vector instructions where the processor has them.

use crate::error::{Error, ErrorKind, Result};

/// The bytes as text, if they are UTF-8.
pub fn text(bytes: &[u8]) -> Result<&str> {
    simdutf8::basic::from_utf8(bytes).map_err(|_| invalid(bytes))
}

/// The fast check does not say where.
#[cold]
fn invalid(bytes: &[u8]) -> Error {
    let place = std::str::from_utf8(bytes).err().map_or(0, |error| error.valid_up_to());
    let message = format!("expected UTF-8, found an invalid byte ({place})");
    Error::new(ErrorKind::Syntax, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_byte_is_found_wherever_it_stands() {
        for place in [0, 5, 63, 64, 300] {
            let mut bytes = "ü".repeat(place).into_bytes();
            assert_eq!(text(&bytes).unwrap().len(), bytes.len());
            bytes.extend(b"\xffabc");
            let message = format!("expected UTF-8, found an invalid byte ({})", 2 * place);
            assert_eq!(text(&bytes).unwrap_err().to_string(), message);
        }
    }
}
