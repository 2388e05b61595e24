//! Rows of text in columns, for people to read.

/// Lays rows out in columns as wide as their widest cell, two spaces apart and as deep as `indent` on the left.
pub(crate) fn table(rows: &[Vec<String>], indent: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    rows.iter().map(|row| line(row, &widths, indent)).collect()
}

fn line(row: &[String], widths: &[usize], indent: usize) -> String {
    let mut line = " ".repeat(indent);
    for (cell, width) in row.iter().zip(widths) {
        line.push_str(&format!("{cell:<width$}  "));
    }
    format!("{}\n", line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_end_with_text() {
        let rows = [["a", "bb", "c"], ["dédé", "", ""], ["", "e", "f"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&rows, 1), " a     bb  c\n dédé\n       e   f\n");
        assert_eq!(table(&[], 2), "");
    }
}
