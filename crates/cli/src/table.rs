//! A plain table for a terminal.

use std::fmt;

/// No column is wider; longer cells are cut.
const MAX_WIDTH: usize = 60;

/// Rows under a header, columns as wide as they need to be.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(header: &[&str]) -> Self {
        Self { rows: vec![header.iter().map(|&cell| cell.to_owned()).collect()] }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or_default().min(MAX_WIDTH)
        };
        (0..columns).map(width).collect()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        for (position, row) in self.rows.iter().enumerate() {
            let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| pad(cell, width)).collect();
            writeln!(f, "{}", cells.join("  ").trim_end())?;
            if position == 0 {
                let rules: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
                writeln!(f, "{}", rules.join("  "))?;
            }
        }
        Ok(())
    }
}

/// Brings a cell to `width` characters; numbers go to the right.
fn pad(cell: &str, width: usize) -> String {
    if cell.chars().count() > width {
        let kept: String = cell.chars().take(width - 1).collect();
        return format!("{kept}…");
    }
    if cell.parse::<f64>().is_ok() { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_numbers_go_right() {
        let mut table = Table::new(&["rank", "name"]);
        table.row(vec!["1".to_owned(), "naïve".to_owned()]);
        table.row(vec!["10".to_owned(), "b".to_owned()]);
        assert_eq!(table.to_string(), "rank  name\n----  -----\n   1  naïve\n  10  b\n");
    }

    #[test]
    fn long_cells_are_cut() {
        let mut table = Table::new(&["x"]);
        table.row(vec!["y".repeat(100)]);
        let text = table.to_string();
        assert!(text.lines().all(|line| line.chars().count() <= MAX_WIDTH) && text.contains('…'));
    }
}
