//! Records as their columns hold them: packed where that saves room.
//!
//! The first byte tells. One that is neither of the marks is the record's own: what was kept before anything was packed, and
//! what does not pack.

mod block;

use std::borrow::Cow;

use lz4_flex::block::{
    compress_into_with_dict, decompress_into_with_dict, get_maximum_output_size,
};

use crate::error::{Error, Result};

/// The record stands behind it, as it is.
const PLAIN: u8 = 0;
/// Its length stands behind it, then an LZ4 block over the first words.
const PACKED: u8 = 1;
const HEAD_BYTES: usize = 1 + size_of::<u32>();

/// What is shorter has nothing that repeats.
const BYTES_MIN: usize = 64;
/// What is longer is hardly ever text: images do not pack, and nobody is to wait for them.
const BYTES_MAX: usize = 1 << 20;

/// What records are likely to hold. This is part of the form: other words need another mark.
const WORDS: &[u8] = include_bytes!("pack/words.txt");

/// A record as its column holds it.
pub(crate) fn packed(record: &[u8]) -> Cow<'_, [u8]> {
    match pack(record) {
        Some(packed) => packed.into(),
        None if matches!(record.first(), Some(&(PLAIN | PACKED))) => {
            [&[PLAIN], record].concat().into()
        }
        None => record.into(),
    }
}

/// None where it saves nothing.
fn pack(record: &[u8]) -> Option<Vec<u8>> {
    if !(BYTES_MIN..=BYTES_MAX).contains(&record.len()) {
        return None;
    }
    let length = u32::try_from(record.len()).ok()?;
    let mut packed = Vec::with_capacity(HEAD_BYTES + get_maximum_output_size(record.len()));
    packed.push(PACKED);
    packed.extend_from_slice(&length.to_le_bytes());
    if !block::append(record, &mut packed) {
        packed.resize(packed.capacity(), 0);
        let block = compress_into_with_dict(record, &mut packed[HEAD_BYTES..], WORDS).ok()?;
        packed.truncate(HEAD_BYTES + block);
    }
    (packed.len() < record.len()).then_some(packed)
}

/// The record that a column holds.
pub(crate) fn unpacked(mut column: Vec<u8>) -> Result<Vec<u8>> {
    match column.first() {
        Some(&PACKED) => unpack(&column[1..]).ok_or_else(damaged),
        Some(&PLAIN) => {
            column.remove(0);
            Ok(column)
        }
        _ => Ok(column),
    }
}

fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let (length, block) = packed.split_first_chunk()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    if length > BYTES_MAX {
        return None;
    }
    let mut record = vec![0; length];
    let written = decompress_into_with_dict(block, &mut record, WORDS).ok()?;
    (written == length).then_some(record)
}

fn damaged() -> Error {
    Error::corrupt("a record of the store is damaged")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Kind;

    #[test]
    fn text_takes_less_room() {
        let text = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1"}]}"#;
        assert!(packed(text.as_bytes()).len() < text.len() / 2);
        assert_eq!(unpacked(packed(text.as_bytes()).into_owned()).unwrap(), text.as_bytes());
    }

    #[test]
    fn what_was_kept_before_reads_as_it_is() {
        for text in ["", "x", "openai-chat\n{}", &"openai-chat\n{\"a\":1}".repeat(100)] {
            assert_eq!(unpacked(text.as_bytes().to_vec()).unwrap(), text.as_bytes());
        }
    }

    #[test]
    fn what_is_too_long_to_pack_is_kept_as_it_is() {
        let long = vec![b'a'; BYTES_MAX + 1];
        assert!(matches!(packed(&long), Cow::Borrowed(_)));
        assert!(packed(&long[1..]).len() < BYTES_MAX / 100);
    }

    #[test]
    fn damage_is_an_error() {
        let whole = packed(&[b'a'; 1000]).into_owned();
        let huge = [&[PACKED], &u32::MAX.to_le_bytes()[..], &whole[HEAD_BYTES..]].concat();
        for damaged in [whole[..3].to_vec(), whole[..HEAD_BYTES].to_vec(), huge] {
            assert_eq!(unpacked(damaged).unwrap_err().kind(), Kind::Corrupt);
        }
    }

    proptest! {
        #[test]
        fn every_record_comes_back(head in 0_u8..3, piece in prop::collection::vec(any::<u8>(), 0..80), times in 1_usize..50) {
            let record = [vec![head], piece.repeat(times)].concat();
            for record in [&record[..], &record[1..]] {
                let column = packed(record);
                prop_assert!(column.len() <= record.len() + 1);
                prop_assert_eq!(unpacked(column.into_owned()).unwrap(), record);
            }
        }

        #[test]
        fn whatever_a_column_holds_is_read_or_refused(column in prop::collection::vec(any::<u8>(), 0..200), mark in 0_u8..2) {
            let _ = unpacked([vec![mark], column].concat());
        }
    }
}
