//! Text in which a percent sign and two digits stand for a byte.

/// The text that is meant; none if the bytes are no text.
pub(crate) fn decoded(text: &str) -> Option<String> {
    String::from_utf8(bytes(text)).ok()
}

/// The bytes that are meant. A percent sign without two digits behind it stands for itself, as it does in browsers.
pub(crate) fn bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let escape = behind.split_first_chunk().filter(|_| *first == b'%');
        let escape = escape.and_then(|(digits, behind)| Some((byte(digits)?, behind)));
        let (byte, behind) = escape.unwrap_or((*first, behind));
        bytes.push(byte);
        rest = behind;
    }
    bytes
}

fn byte([high, low]: &[u8; 2]) -> Option<u8> {
    let digit = |letter: &u8| char::from(*letter).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percent_sign_without_two_digits_stands_for_itself() {
        assert_eq!(decoded("caf%C3%A9 at 100%").as_deref(), Some("café at 100%"));
        assert_eq!(decoded("%2x%+1%%41%4").as_deref(), Some("%2x%+1%A%4"));
        assert_eq!(decoded("%FF"), None);
    }
}
