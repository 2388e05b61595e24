//! Hashes, ids, and the seals that stand for a provider's opaque artefacts: thinking signatures, encrypted reasoning,
//! thought signatures. A seal can be checked without remembering it, so a foreign or edited one is found out.

/// A deterministic 64-bit hash. It guards against mistakes, not against an attacker.
pub(super) fn hash(pieces: &[&[u8]]) -> u64 {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    for piece in pieces {
        for byte in *piece {
            state = (state ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        // A border, so that ("ab", "c") and ("a", "bc") differ.
        state = (state ^ 0xff).wrapping_mul(0x0000_0100_0000_01b3);
    }
    state ^= state >> 30;
    state = state.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state ^= state >> 27;
    state = state.wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

const KEY: &[u8] = b"sabir simulator seal";
const MARK: &[u8] = b"sabir-sim";

/// A seal of one kind over `bound`, which must come back with it unchanged. Seeds make seals of equal texts differ.
pub(super) fn issue(kind: &str, seed: u64, bound: &str) -> String {
    let mut bytes = MARK.to_vec();
    bytes.extend(seed.to_be_bytes());
    bytes.extend(mac(kind, seed, bound).to_be_bytes());
    encode_base64(&bytes)
}

/// Whether a seal of this kind was issued over `bound`.
pub(super) fn holds(kind: &str, seal: &str, bound: &str) -> bool {
    let Some(bytes) = decode_base64(seal) else { return false };
    let Some(rest) = bytes.strip_prefix(MARK) else { return false };
    let Ok(numbers) = <[u8; 16]>::try_from(rest) else { return false };
    let number = u128::from_be_bytes(numbers);
    mac(kind, (number >> 64) as u64, bound) == number as u64
}

fn mac(kind: &str, seed: u64, bound: &str) -> u64 {
    hash(&[KEY, kind.as_bytes(), &seed.to_be_bytes(), bound.as_bytes()])
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(super) fn encode_base64(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let mut group = [0_u8; 3];
        group[..chunk.len()].copy_from_slice(chunk);
        let number = u32::from_be_bytes([0, group[0], group[1], group[2]]);
        for place in 0..4 {
            let index = (number >> (18 - 6 * place)) & 63;
            let is_filled = place <= chunk.len();
            out.push(if is_filled { ALPHABET[index as usize] as char } else { '=' });
        }
    }
    out
}

/// Reads base64 of either alphabet, with or without its padding.
pub(super) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    if digits.len() % 4 == 1 || text.len() - digits.len() > 2 {
        return None;
    }
    let mut out = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    let (mut bits, mut held) = (0_u32, 0_u32);
    for digit in digits.bytes() {
        bits = bits << 6 | u32::from(value_of(digit)?);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    Some(out)
}

fn value_of(digit: u8) -> Option<u8> {
    match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

/// Whether a text is base64 as OpenAI and Anthropic take it: the standard alphabet, padded, not empty.
pub(super) fn is_standard_base64(text: &str) -> bool {
    let has_alphabet = !text.contains(['-', '_']);
    !text.is_empty()
        && text.len().is_multiple_of(4)
        && has_alphabet
        && decode_base64(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_holds_for_its_kind_and_content_alone() {
        let seal = issue("thinking", 7, "text");
        assert!(holds("thinking", &seal, "text"));
        assert!(holds("thinking", &seal.replace('+', "-").replace('/', "_"), "text"));
        assert!(!holds("thinking", &seal, "texts"));
        assert!(!holds("redacted", &seal, "text"));
        assert!(!holds("thinking", &format!("A{}", &seal[1..]), "text"));
        assert!(!holds("thinking", "", "text") && !holds("thinking", "%", "text"));
        assert_ne!(seal, issue("thinking", 8, "text"));
    }

    #[test]
    fn base64_comes_back() {
        for bytes in [&b""[..], b"f", b"fo", b"foo", b"foob", b"\xff\xfe\xfd\xfc"] {
            let text = encode_base64(bytes);
            assert_eq!(decode_base64(&text).as_deref(), Some(bytes));
            assert_eq!(decode_base64(text.trim_end_matches('=')).as_deref(), Some(bytes));
        }
        assert_eq!(encode_base64(b"foob"), "Zm9vYg==");
        for wrong in ["A", "AAAAA", "A===", "AA A", "Zm9v\n"] {
            assert_eq!(decode_base64(wrong), None, "{wrong:?}");
        }
        assert!(is_standard_base64("Zm9vYg==") && !is_standard_base64("Zm9vYg"));
        assert!(!is_standard_base64("__8=") && !is_standard_base64(""));
    }
}
