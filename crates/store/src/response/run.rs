//! Items that are named one after the other, as a gateway names those that come without a name, share a row: `x_0` stands for
//! `x_1` and `x_2` as well. A row of its own for each would be most of what is written of a call.

use super::{Direction, Item, NewItem};
use crate::engine::Row;
use crate::error::{Error, Result};
use crate::id::{Hash, ItemId, TurnId};

const HASH_BYTES: usize = 32;
const PART_BYTES: usize = size_of::<u32>();

/// An item, and where it stands in its turn.
pub(super) struct Placed {
    pub(super) position: i64,
    pub(super) item: Item,
}

/// How many items from the first on are named one after the other, from zero on, and go in one direction.
pub(super) fn length(items: &[NewItem]) -> usize {
    let Some((first, (stem, 0))) = items.first().and_then(|it| Some((it, split(it.id.as_str())?)))
    else {
        return 0;
    };
    let goes_on = |(item, number): &(&NewItem, i64)| {
        item.direction == first.direction && split(item.id.as_str()) == Some((stem, *number))
    };
    items.iter().zip(0..).take_while(goes_on).count()
}

/// The id of the row that an item may share, and its number there.
pub(super) fn first_of(id: &str) -> Option<(String, i64)> {
    let (stem, number) = split(id).filter(|(_, number)| *number > 0)?;
    Some((format!("{stem}_0"), number))
}

/// A number as one by which a list is read.
pub(super) fn index(number: i64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The messages and parts of items that share a row.
pub(super) fn written(items: &[NewItem]) -> Vec<u8> {
    let mut written = Vec::with_capacity(items.len() * (HASH_BYTES + PART_BYTES));
    for item in items {
        written.extend_from_slice(item.message.as_bytes());
        written.extend_from_slice(&item.part.to_le_bytes());
    }
    written
}

/// The items of a row: id, turn, direction, position, message, part and how many there are.
pub(super) fn read(mut row: Row) -> Result<Vec<Placed>> {
    let (id, turn): (ItemId, TurnId) = (row.take()?, row.take()?);
    let direction = Direction::of_column(row.take()?);
    let position: i64 = row.take()?;
    let (bytes, part, items): (Vec<u8>, i64, i64) = (row.take()?, row.take()?, row.take()?);
    if items <= 1 {
        let (message, part) =
            (Hash::from_bytes(&bytes)?, u32::try_from(part).map_err(|_| damaged())?);
        return Ok(vec![Placed { position, item: Item { id, turn, direction, message, part } }]);
    }
    let (stem, _) = split(id.as_str()).ok_or_else(damaged)?;
    let pieces = bytes.chunks(HASH_BYTES + PART_BYTES).zip(0_i64..);
    let items = pieces.map(|(piece, number)| {
        let (message, part) = piece.split_at_checked(HASH_BYTES).ok_or_else(damaged)?;
        let part = part.try_into().map(u32::from_le_bytes).map_err(|_| damaged())?;
        let (id, message) = (ItemId::new(format!("{stem}_{number}"))?, Hash::from_bytes(message)?);
        let item = Item { id, turn: turn.clone(), direction, message, part };
        Ok(Placed { position: position + number, item })
    });
    items.collect()
}

/// What stands before the number of an id, and the number. One that is spelled in another way is none.
fn split(id: &str) -> Option<(&str, i64)> {
    let (stem, digits) = id.rsplit_once('_')?;
    let is_plain = digits == "0" || !digits.starts_with('0');
    let is_number = is_plain && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number).map(|number| (stem, number))
}

fn damaged() -> Error {
    Error::corrupt("an item in the store is damaged")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: &str, direction: Direction) -> NewItem {
        NewItem { id: ItemId::new(id).unwrap(), direction, message: Hash::of_bytes(b"m"), part: 3 }
    }

    #[test]
    fn only_what_is_named_one_after_the_other_shares_a_row() {
        use Direction::{Input, Output};
        for (ids, shared) in [
            (&["m_0", "m_1", "m_2"][..], 3),
            (&["m_0", "m_1", "m_3"], 2),
            (&["m_0", "n_1"], 1),
            (&["m_1", "m_2"], 0),
            (&["m_0", "m_01"], 1),
            (&["m_0", "m_+1"], 1),
            (&["m_x_0", "m_x_1"], 2),
            (&["m", "m_1"], 0),
            (&[], 0),
        ] {
            let items: Vec<NewItem> = ids.iter().map(|id| item(id, Input)).collect();
            assert_eq!(length(&items), shared, "{ids:?}");
        }
        assert_eq!(length(&[item("m_0", Input), item("m_1", Output)]), 1);
    }

    #[test]
    fn an_item_is_looked_for_in_the_row_of_the_first() {
        assert_eq!(first_of("msg_a_12"), Some(("msg_a_0".to_owned(), 12)));
        for alone in ["msg_a_0", "msg_a", "msg", "msg_-1", "msg_99999999999999999999"] {
            assert_eq!(first_of(alone), None, "{alone}");
        }
    }
}
