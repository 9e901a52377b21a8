//! Tables that fit the terminal, and are plain columns in a pipe.

use comfy_table::{ContentArrangement, Table, presets};

/// Returns `rows` under `header`. In a pipe nothing is wrapped, so that a line is a row.
pub(crate) fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(header).add_rows(rows);
    table.set_content_arrangement(match table.is_tty() {
        true => ContentArrangement::Dynamic,
        false => ContentArrangement::Disabled,
    });
    let columns = table.column_count();
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if index + 1 == columns { 0 } else { 2 }));
    }
    table.lines().fold(String::new(), |text, line| text + line.trim_end() + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_pipe_a_row_is_a_line_and_columns_are_aligned() {
        let rows = [vec!["a".to_owned(), "x".repeat(300)], vec!["long".to_owned(), "y".to_owned()]];
        let text = table(&["N", "VALUE"], rows);
        assert_eq!(text, format!("N     VALUE\na     {}\nlong  y\n", "x".repeat(300)));
    }
}
