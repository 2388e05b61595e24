//! The tables of fates: where each canonical field stands in a protocol, and what becomes of it on the way there.

use crate::conversation::Count;
use crate::loss::LossKind;
use crate::protocol::Fate;
use crate::protocol::Field;
use crate::protocol::semantics::Speller;
use crate::protocol::usage::Table;

/// One field: where it stands, and what becomes of it.
#[derive(Clone, Copy)]
pub(in crate::protocol) struct Row {
    field: Field,
    /// Empty for a whole node, or for a field whose place the node already names.
    pub(in crate::protocol) pointer: &'static str,
    pub(in crate::protocol) fate: Fate,
}

/// A row for every field but those of the usage, in the order of [`Field::ALL`].
pub(in crate::protocol) type Rows = [Row; Field::UsageInput as usize];

/// The rows of a protocol, those of the usage included, which have a table of their own.
pub(in crate::protocol) struct Fates<S: 'static> {
    rows: Rows,
    usage: &'static Table<S>,
}

impl<S: Speller> Fates<S> {
    /// The build breaks while a row is out of its place.
    pub(in crate::protocol) const fn new(rows: Rows, usage: &'static Table<S>) -> Self {
        let mut index = 0;
        while index < rows.len() {
            assert!(rows[index].field as usize == index, "a row is out of order");
            index += 1;
        }
        Self { rows, usage }
    }

    pub(in crate::protocol) const fn row(&self, field: Field) -> Row {
        match Count::of(field) {
            Some(count) => {
                let stated = self.usage.row(count);
                row(field, stated.pointer, stated.fate)
            }
            None => self.rows[field as usize],
        }
    }
}

pub(in crate::protocol) const CARRIED: Fate = Fate::Carried;

pub(in crate::protocol) const fn row(field: Field, pointer: &'static str, fate: Fate) -> Row {
    Row { field, pointer, fate }
}

pub(in crate::protocol) const fn depends(words: &'static str) -> Fate {
    Fate::Depends(words)
}

pub(in crate::protocol) const fn dropped(reason: &'static str) -> Fate {
    Fate::Lost(LossKind::Dropped, reason)
}
