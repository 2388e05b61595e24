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
    /// It is cut down to so many columns, and further once nothing else can go.
    To(usize),
    /// It goes, the one with the highest number first.
    Away(u8),
}

impl Column {
    pub(crate) const fn left(head: &'static str, squeeze: Squeeze) -> Self {
        Self { head, align: Align::Left, squeeze }
    }

    fn is_cut(&self) -> bool {
        matches!(self.squeeze, Squeeze::To(_))
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
            None => return shrunk(heads, widths, width),
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

/// What is cut to less says nothing.
const CUT_LEAST: usize = 4;

/// All that may be cut is, as far as it has to be, or goes. What then stands beyond the edge may not be cut.
fn shrunk(heads: &[Column], mut widths: Vec<Option<usize>>, allowed: usize) -> Vec<Option<usize>> {
    for (head, width) in heads.iter().zip(&mut widths) {
        if let Squeeze::To(least) = head.squeeze {
            *width = width.map(|width| width.min(least));
        }
    }
    for (index, _) in heads.iter().enumerate().rev().filter(|(_, head)| head.is_cut()) {
        let excess = total(&widths).saturating_sub(allowed);
        widths[index] = widths[index].map(|width| width.saturating_sub(excess));
        widths[index] = widths[index].filter(|width| *width >= CUT_LEAST);
    }
    widths
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
    fn what_may_not_be_cut_stands_alone_and_beyond_the_edge() {
        let rows = rows(&[["conv_1", "12", "gpt", "about"]]);
        assert_eq!(fitted(&HEADS, &rows, Some(12)), "ID      TIT…\nconv_1  abo…\n");
        assert_eq!(fitted(&HEADS, &rows, Some(11)), "ID\nconv_1\n");
        assert_eq!(fitted(&HEADS, &rows, Some(5)), "ID\nconv_1\n");
    }

    #[test]
    fn what_is_cut_is_cut_further_where_nothing_else_can_go() {
        let heads = [Column::left("ID", Squeeze::Never), Column::left("TITLE", Squeeze::To(12))];
        let id = format!("conv_{}", "x".repeat(23));
        let table = fitted(&heads, &rows(&[[&id, "a title that is long"]]), Some(40));
        assert_eq!(table.lines().map(columns).max(), Some(40), "{table}");
    }
}
