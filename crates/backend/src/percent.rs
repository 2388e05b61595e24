//! Percent-encoding of parts of URLs.

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

/// A text as one segment of a path, or as a name or a value of a query.
pub fn encode(text: &str) -> String {
    encoded(text, b"-._~")
}

/// A text as part of a path in which slashes divide it: the name of a model.
pub fn encode_path(text: &str) -> String {
    encoded(text, b"-._~/@")
}

fn encoded(text: &str, kept: &[u8]) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            true => encoded.push(char::from(byte)),
            false => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
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

    #[test]
    fn what_is_encoded_cannot_end_its_part_and_is_decoded_as_it_was() {
        let text = "models/a@b?c#d e&f=ü%2F+~";
        assert_eq!(encode(text), "models%2Fa%40b%3Fc%23d%20e%26f%3D%C3%BC%252F%2B~");
        assert_eq!(encode_path(text), "models/a@b%3Fc%23d%20e%26f%3D%C3%BC%252F%2B~");
        assert_eq!(decode(&encode(text)), text);
        assert_eq!(decode(&encode_path(text)), text);
    }
}
