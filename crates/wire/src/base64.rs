//! Base64 in the standard alphabet, for bytes that a protocol wants as text.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The bytes as padded base64.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or_default());
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let value = (group >> (18 - 6 * digit) & 63) as usize;
            text.push(if digit <= chunk.len() { char::from(ALPHABET[value]) } else { '=' });
        }
    }
    text
}

/// The bytes that base64 stands for; both alphabets count, padding may be missing. None if it is no base64.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    if digits.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for chunk in digits.as_bytes().chunks(4) {
        let mut group = 0;
        for (index, digit) in chunk.iter().enumerate() {
            group |= value(*digit)? << (18 - 6 * index);
        }
        let [_, high, middle, low] = group.to_be_bytes();
        bytes.extend(&[high, middle, low][..chunk.len() - 1]);
    }
    Some(bytes)
}

/// Whether a text may be base64: white space, by which many break its lines, counts for nothing.
pub(crate) fn is_likely(text: &str) -> bool {
    let digits = text.trim_end_matches(|it: char| it == '=' || it.is_ascii_whitespace());
    let is_digit = |it: u8| it.is_ascii_alphanumeric() | matches!(it, b'+' | b'-' | b'/' | b'_');
    // Both walks go to the end, so that many bytes are looked at in one step.
    let blanks = digits.bytes().filter(u8::is_ascii_whitespace).count();
    let is_known = |it: u8| is_digit(it) | it.is_ascii_whitespace();
    digits.bytes().fold(true, |all, it| all & is_known(it)) && (digits.len() - blanks) % 4 != 1
}

fn value(digit: u8) -> Option<u32> {
    let value = match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_words_are_spelled_as_everyone_spells_them() {
        for (plain, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(encode(plain.as_bytes()), coded);
            assert_eq!(decode(coded).as_deref(), Some(plain.as_bytes()));
        }
    }

    #[test]
    fn what_is_no_base64_is_none() {
        for text in ["a", "ab:c", "äöü"] {
            assert_eq!(decode(text), None);
            assert!(!is_likely(text));
        }
    }

    #[test]
    fn base64_in_lines_and_without_padding_is_likely() {
        for text in ["", "Zg", "Zm9v\r\nYg==\n", "Zg=\n=", "-_+/"] {
            assert!(is_likely(text), "{text}");
        }
        for text in ["Zm9vY\n", "Zg==Zg==", "Zm9v%3D", "https://example.com/a.png"] {
            assert!(!is_likely(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let text = encode(&bytes);
            prop_assert!(is_likely(&text));
            prop_assert_eq!(decode(&text), Some(bytes));
        }
    }
}
