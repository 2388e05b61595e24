//! Finds the bytes that mean something inside JSON strings: quotes, backslashes and control characters.

use std::array;

use wide::u8x16;

/// How many bytes are looked at in one instruction.
const LANE: usize = 16;
/// How many lanes are tried before a run counts as long.
const NEARBY_LANES: usize = 2;
/// How long a string is that does not end nearby.
pub(super) const LONG_BYTES_MIN: usize = NEARBY_LANES * LANE;
/// How many bytes have a bit each in a mask.
pub(super) const BLOCK: usize = 64;

/// Whether there is none at all.
#[inline]
pub(super) fn is_absent(bytes: &[u8]) -> bool {
    match bytes.len() {
        0..LANE => rest_mask(bytes) == 0,
        length => first(bytes, 0) == length,
    }
}

/// The index of the first special byte at or behind `at`, or the length.
#[inline]
pub(super) fn first(bytes: &[u8], at: usize) -> usize {
    nearby(bytes, at).unwrap_or_else(|passed| in_long_run(bytes, passed))
}

/// The index of the first special byte, if it is one of the next few; else how far there is none.
#[inline]
pub(super) fn nearby(bytes: &[u8], mut at: usize) -> Result<usize, usize> {
    for _ in 0..NEARBY_LANES {
        let Some(lane) = bytes.get(at..).and_then(|rest| rest.first_chunk()) else { break };
        match lane_mask(lane) {
            0 => at += LANE,
            mask => return Ok(at + mask.trailing_zeros() as usize),
        }
    }
    Err(at)
}

/// The index of the first special byte at or behind `at`, or the length, where none is nearby.
pub(super) fn in_long_run(bytes: &[u8], mut at: usize) -> usize {
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        match block_mask(block) {
            0 => at += BLOCK,
            mask => return at + mask.trailing_zeros() as usize,
        }
    }
    while let Some(lane) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        match lane_mask(lane) {
            0 => at += LANE,
            mask => return at + mask.trailing_zeros() as usize,
        }
    }
    in_rest(bytes, at)
}

/// The same where no whole lane is left.
fn in_rest(bytes: &[u8], at: usize) -> usize {
    match rest_mask(bytes.get(at..).unwrap_or_default()) {
        0 => bytes.len(),
        mask => at + mask.trailing_zeros() as usize,
    }
}

/// The special bytes among the first of `bytes`: one bit for each, and how many were looked at. That are all only where
/// less than a lane is left.
#[inline]
pub(super) fn mask(bytes: &[u8]) -> (u64, usize) {
    if let Some(block) = bytes.first_chunk() {
        return (block_mask(block), BLOCK);
    }
    match bytes.first_chunk() {
        Some(lane) => (lane_mask(lane).into(), LANE),
        None => (rest_mask(bytes).into(), bytes.len()),
    }
}

/// One bit for each byte, the first lowest: set where it is special.
#[inline]
pub(super) fn block_mask(block: &[u8; BLOCK]) -> u64 {
    let (lanes, _) = block.as_chunks();
    lanes.iter().rev().fold(0, |mask, lane| mask << LANE | u64::from(lane_mask(lane)))
}

/// What stands where in a block: one bit for each byte, the first lowest.
pub(super) struct Masks {
    /// Quotes and control characters, one of which ends a string unless it belongs to an escape.
    pub(super) ends: u64,
    pub(super) backslashes: u64,
    /// The letters that nearly all escapes have: quote, backslash and `n`.
    pub(super) letters: u64,
}

impl Masks {
    #[inline]
    pub(super) fn of(block: &[u8; BLOCK]) -> Self {
        let (lanes, _) = block.as_chunks::<LANE>();
        let lanes: [u8x16; BLOCK / LANE] = array::from_fn(|at| u8x16::new(lanes[at]));
        let mask = |byte| {
            let found = lanes.map(|lane| lane.simd_eq(u8x16::splat(byte)).to_bitmask());
            found.into_iter().rev().fold(0, |mask, lane| mask << LANE | u64::from(lane))
        };
        let [quotes, backslashes] = [b'"', b'\\'].map(mask);
        let lowest = lanes.into_iter().fold(u8x16::MAX, u8x16::min);
        let has_controls = lowest.saturating_sub(u8x16::splat(b' ' - 1)).simd_eq(u8x16::ZERO);
        let ends = match has_controls.any() {
            true => block_mask(block) & !backslashes,
            false => quotes,
        };
        Self { ends, backslashes, letters: quotes | backslashes | mask(b'n') }
    }
}

/// The same for fewer bytes than a lane has: two parts that may overlap are read faster than all bytes are copied.
#[inline]
fn rest_mask(rest: &[u8]) -> u32 {
    if let (Some(first), Some(last)) = (rest.first_chunk(), rest.last_chunk()) {
        return parts_mask::<8>(first, last, rest.len() - 8);
    }
    if let (Some(first), Some(last)) = (rest.first_chunk(), rest.last_chunk()) {
        return parts_mask::<4>(first, last, rest.len() - 4);
    }
    let mut lane = [b' '; LANE];
    lane.iter_mut().zip(rest).for_each(|(place, byte)| *place = *byte);
    lane_mask(&lane)
}

#[inline]
fn parts_mask<const N: usize>(first: &[u8; N], last: &[u8; N], last_at: usize) -> u32 {
    let mut lane = [b' '; LANE];
    lane[..N].copy_from_slice(first);
    lane[LANE - N..].copy_from_slice(last);
    let mask = lane_mask(&lane);
    mask & ((1 << N) - 1) | mask >> (LANE - N) << last_at
}

#[inline]
fn lane_mask(lane: &[u8; LANE]) -> u32 {
    let bytes = u8x16::new(*lane);
    // Changing this bit moves the quote next to the control characters. Each difference is zero for what is special.
    let above_low = (bytes ^ u8x16::splat(0x02)).saturating_sub(u8x16::splat(0x20));
    let from_backslash = bytes ^ u8x16::splat(b'\\');
    above_low.min(from_backslash).simd_eq(u8x16::ZERO).to_bitmask()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_backslashes_and_control_characters_are_special() {
        for byte in 0..=u8::MAX {
            let is_special = matches!(byte, b'"' | b'\\' | 0..0x20);
            for length in 1..150 {
                let mut bytes = vec![b' '; length];
                bytes[length - 1] = byte;
                assert_eq!(first(&bytes, 0), length - usize::from(is_special), "{byte} {length}");
            }
        }
    }

    #[test]
    fn the_first_of_several_is_found() {
        let bytes = "ü\"".repeat(60).into_bytes();
        for at in 0..bytes.len() {
            let expected = at + bytes[at..].iter().position(|byte| *byte == b'"').unwrap();
            assert_eq!(first(&bytes, at), expected);
            assert_eq!(in_long_run(&bytes, at), expected);
        }
        assert_eq!(first(&bytes, bytes.len()), bytes.len());
    }

    #[test]
    fn masks_have_a_bit_for_each() {
        let bytes: Vec<u8> = (0..300).map(|index| b"ab\"c\\\nd"[index * 5 % 7]).collect();
        for length in 0..bytes.len() {
            let (mask, looked) = mask(&bytes[..length]);
            assert!(looked > 0 || length == 0);
            let special = (0..looked).filter(|index| b"\"\\\n".contains(&bytes[*index]));
            assert_eq!(mask, special.map(|index| 1 << index).sum::<u64>());
        }
    }
}
