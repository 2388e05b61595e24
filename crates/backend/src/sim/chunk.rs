//! Cutting: a text into the deltas of a stream, bytes into the pieces that a network delivers.

use bytes::Bytes;

/// The deltas of a text: a word with the space behind it each, long words in several.
pub(super) fn deltas(text: &str) -> Vec<&str> {
    const LETTERS_MAX: usize = 24;
    let mut out = Vec::new();
    for word in text.split_inclusive(' ') {
        let mut rest = word;
        while let Some((end, _)) = rest.char_indices().nth(LETTERS_MAX) {
            let (piece, behind) = rest.split_at(end);
            out.push(piece);
            rest = behind;
        }
        if !rest.is_empty() {
            out.push(rest);
        }
    }
    out
}

/// Pieces of changing sizes, so that borders fall inside characters, lines and frames alike.
pub(super) fn ragged(bytes: &Bytes) -> Vec<Bytes> {
    const SIZES: [usize; 6] = [1, 5, 2, 11, 3, 23];
    let mut out = Vec::new();
    let mut start = 0;
    for size in SIZES.iter().cycle() {
        if start >= bytes.len() {
            break;
        }
        let end = (start + size).min(bytes.len());
        out.push(bytes.slice(start..end));
        start = end;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_join_to_the_text() {
        let long = "ä".repeat(60);
        for text in ["", "one", "one two  three\nfour ", " lead", &long] {
            assert_eq!(deltas(text).concat(), text);
            assert!(deltas(text).iter().all(|piece| !piece.is_empty()));
        }
        assert_eq!(deltas("one two"), ["one ", "two"]);
    }

    #[test]
    fn ragged_pieces_join_to_the_bytes() {
        let bytes = Bytes::from("äöü".repeat(40));
        let pieces = ragged(&bytes);
        assert_eq!(pieces.concat(), bytes);
        assert!(pieces.iter().any(|piece| std::str::from_utf8(piece).is_err()));
    }
}
