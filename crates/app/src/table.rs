//! Rows of text in columns, for people to read; as wide as their terminal where that can be.

use crate::terminal::{columns, cut};

/// Between two columns.
const GAP: usize = 2;

/// A column of a table that is fitted into a width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) head: &'static str,
    pub(crate) align: Align,
    pub(crate) squeeze: Squeeze,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// What becomes of a column where the table is too wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Squeeze {
    /// It stays as it is: an id that is cut is no id.
    Never,
    /// It is cut down to so many columns.
    To(usize),
    /// It goes, the one with the highest number first.
    Away(u8),
}

impl Column {
    pub(crate) const fn left(head: &'static str, squeeze: Squeeze) -> Self {
        Self { head, align: Align::Left, squeeze }
    }

    pub(crate) const fn right(head: &'static str, squeeze: Squeeze) -> Self {
        Self { head, align: Align::Right, squeeze }
    }
}

/// Lays rows out under heads, within `width` if there is one.
pub(crate) fn fitted(heads: &[Column], rows: &[Vec<String>], width: Option<usize>) -> String {
    let head: Vec<String> = heads.iter().map(|column| column.head.to_owned()).collect();
    let natural: Vec<usize> = (0..heads.len())
        .map(|index| {
            let cells = rows.iter().chain([&head]).filter_map(|row| row.get(index));
            cells.map(|cell| columns(cell)).max().unwrap_or(0)
        })
        .collect();
    let widths = match width {
        Some(width) => squeezed(heads, &natural, width),
        None => natural.iter().copied().map(Some).collect(),
    };
    [&head].into_iter().chain(rows).map(|row| fitted_line(heads, row, &widths)).collect()
}

/// The width of each column; none for one that has to go.
fn squeezed(heads: &[Column], natural: &[usize], width: usize) -> Vec<Option<usize>> {
    let mut widths: Vec<Option<usize>> = natural.iter().copied().map(Some).collect();
    loop {
        let excess = total(&widths).saturating_sub(width);
        if excess == 0 || cut_one(heads, &mut widths, excess) {
            return widths;
        }
        let droppable =
            heads.iter().zip(&widths).enumerate().filter_map(|(index, (head, width))| {
                match (head.squeeze, width) {
                    (Squeeze::Away(rank), Some(_)) => Some((rank, index)),
                    _ => None,
                }
            });
        match droppable.max() {
            Some((_, index)) => widths[index] = None,
            None => return shrunk(heads, widths),
        }
    }
}

fn total(widths: &[Option<usize>]) -> usize {
    let shown = widths.iter().flatten();
    shown.clone().sum::<usize>() + GAP * shown.count().saturating_sub(1)
}

/// Cuts the columns that may be cut until nothing is in excess, if that can be.
fn cut_one(heads: &[Column], widths: &mut [Option<usize>], excess: usize) -> bool {
    let room = |(head, width): (&Column, &Option<usize>)| match (head.squeeze, width) {
        (Squeeze::To(least), Some(width)) => width.saturating_sub(least),
        _ => 0,
    };
    let rooms: Vec<usize> = heads.iter().zip(&*widths).map(room).collect();
    if rooms.iter().sum::<usize>() < excess {
        return false;
    }
    let mut left = excess;
    // From the right: what stands first says most.
    for (width, room) in widths.iter_mut().zip(rooms).rev() {
        let taken = room.min(left);
        *width = width.map(|width| width - taken);
        left -= taken;
    }
    true
}

/// All that may be cut is, and the rest stands beyond the edge.
fn shrunk(heads: &[Column], widths: Vec<Option<usize>>) -> Vec<Option<usize>> {
    let least = |(head, width): (&Column, Option<usize>)| match head.squeeze {
        Squeeze::To(least) => width.map(|width| width.min(least)),
        Squeeze::Never | Squeeze::Away(_) => width,
    };
    heads.iter().zip(widths).map(least).collect()
}

fn fitted_line(heads: &[Column], row: &[String], widths: &[Option<usize>]) -> String {
    let mut line = String::new();
    for ((head, cell), width) in heads.iter().zip(row).zip(widths) {
        let Some(width) = *width else { continue };
        let cell = cut(cell, width);
        let blank = " ".repeat(width.saturating_sub(columns(&cell)));
        match head.align {
            Align::Left => line.extend([&*cell, &*blank]),
            Align::Right => line.extend([&*blank, &*cell]),
        }
        line.push_str("  ");
    }
    format!("{}\n", line.trim_end())
}

/// Lays rows out in columns as wide as their widest cell, two spaces apart and as deep as `indent` on the left.
pub(crate) fn table(rows: &[Vec<String>], indent: usize) -> String {
    let columns_max = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| columns(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns_max).map(width).collect();
    rows.iter().map(|row| line(row, &widths, indent)).collect()
}

fn line(row: &[String], widths: &[usize], indent: usize) -> String {
    let mut line = " ".repeat(indent);
    for (cell, width) in row.iter().zip(widths) {
        let blank = " ".repeat(width.saturating_sub(columns(cell)));
        line.extend([&**cell, &*blank, "  "]);
    }
    format!("{}\n", line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows<const N: usize>(rows: &[[&str; N]]) -> Vec<Vec<String>> {
        rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect()
    }

    #[test]
    fn columns_are_aligned_and_lines_end_with_text() {
        let rows = rows(&[["a", "bb", "c"], ["dédé", "", ""], ["", "e", "f"]]);
        assert_eq!(table(&rows, 1), " a     bb  c\n dédé\n       e   f\n");
        assert_eq!(table(&[], 2), "");
    }

    const HEADS: [Column; 4] = [
        Column::left("ID", Squeeze::Never),
        Column::right("N", Squeeze::Away(1)),
        Column::left("MODEL", Squeeze::Away(2)),
        Column::left("TITLE", Squeeze::To(4)),
    ];

    #[track_caller]
    fn check(width: Option<usize>, expected: &str) {
        let rows = rows(&[["conv_1", "12", "gpt", "about 漢字 and pears"], ["b", "3", "m", ""]]);
        let table = fitted(&HEADS, &rows, width);
        assert_eq!(table, expected);
        let widest = table.lines().map(columns).max().unwrap_or(0);
        assert!(width.is_none_or(|width| widest <= width), "{widest}");
    }

    #[test]
    fn a_table_without_a_terminal_is_as_wide_as_it_is() {
        let expected =
            "ID       N  MODEL  TITLE\nconv_1  12  gpt    about 漢字 and pears\nb        3  m\n";
        check(None, expected);
        check(Some(80), expected);
    }

    #[test]
    fn what_is_too_wide_is_cut_first_and_left_out_then() {
        check(
            Some(30),
            "ID       N  MODEL  TITLE\nconv_1  12  gpt    about 漢字…\nb        3  m\n",
        );
        check(Some(22), "ID       N  TITLE\nconv_1  12  about 漢…\nb        3\n");
        check(Some(15), "ID      TITLE\nconv_1  about…\nb\n");
    }

    #[test]
    fn what_may_not_be_cut_stands_beyond_the_edge() {
        let table = fitted(&HEADS, &rows(&[["conv_1", "12", "gpt", "about"]]), Some(5));
        assert_eq!(table, "ID      TIT…\nconv_1  abo…\n");
    }
}
