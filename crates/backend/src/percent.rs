//! Percent signs in URLs, taken off.

/// The text that a percent-encoded part of a URL stands for. What is no code stays as it is.
pub fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        match (byte, tail.first_chunk().and_then(code)) {
            (b'%', Some(decoded)) => {
                bytes.push(decoded);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(byte);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn code(digits: &[u8; 2]) -> Option<u8> {
    let [high, low] = digits.map(|digit| char::from(digit).to_digit(16));
    u8::try_from(high? * 16 + low?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_decoded_and_all_else_is_kept() {
        for (text, expected) in [
            ("a%2Fb%3a", "a/b:"),
            ("%C3%BC", "ü"),
            ("100%", "100%"),
            ("%4", "%4"),
            ("%+1%zz", "%+1%zz"),
            ("", ""),
        ] {
            assert_eq!(decode(text), expected);
        }
    }
}
