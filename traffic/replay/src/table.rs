//! A CSV file with a version line and named columns, the form of every input.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use csv::{ByteRecord, Reader, ReaderBuilder};

use crate::problems::{suggestion, Problems};

/// What is read of a file at a time: large, as a read costs more than a copy in the virtual machine.
const READ_AHEAD_BYTES: usize = 256 * 1024;

/// An open table; rows come one at a time.
pub struct Table {
    reader: Reader<BufReader<File>>,
    record: ByteRecord,
    /// Where each column of [`Columns`] stands in the file; `None` if it is not there.
    position: Vec<Option<usize>>,
    /// Fields of a row.
    width: usize,
}

/// The columns that a table may have.
#[derive(Clone, Copy)]
pub struct Columns {
    pub names: &'static [&'static str],
    /// How many of the names, from the first, must be there; the others are empty in every row where they are not.
    pub required: usize,
}

/// One row; columns are asked for by their place in [`Columns`].
pub struct Row<'a> {
    record: &'a ByteRecord,
    position: &'a [Option<usize>],
    /// The row's line in the file, from 1.
    pub line: u64,
}

impl Row<'_> {
    /// A column's text without surrounding blanks; what is not UTF-8 reads as U+FFFD, which no column accepts.
    pub fn text(&self, column: usize) -> &str {
        std::str::from_utf8(self.bytes(column).trim_ascii()).unwrap_or("\u{fffd}")
    }

    fn bytes(&self, column: usize) -> &[u8] {
        self.position[column].map_or(&[], |position| &self.record[position])
    }
}

impl Table {
    /// Opens a file whose first line is `version` and whose second names its columns, in any order.
    pub fn open(
        path: &Path,
        version: &str,
        columns: Columns,
        problems: &mut Problems,
    ) -> Option<Self> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) => {
                problems.add(0, format!("cannot be read: {error}"));
                return None;
            }
        };
        let mut file = BufReader::with_capacity(READ_AHEAD_BYTES, file);
        let mut first = Vec::new();
        if let Err(error) = file.read_until(b'\n', &mut first) {
            problems.add(0, format!("cannot be read: {error}"));
            return None;
        }
        let first = String::from_utf8_lossy(&first);
        if first.trim_end() != version {
            problems.add(
                1,
                format!(
                    "the first line is \"{}\": must be \"{version}\"",
                    first.trim_end()
                ),
            );
            return None;
        }
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(file);
        let mut header = ByteRecord::new();
        if !matches!(reader.read_byte_record(&mut header), Ok(true)) {
            problems.add(
                2,
                format!(
                    "the column names are missing: must be {}",
                    columns.names.join(",")
                ),
            );
            return None;
        }
        let position = match_columns(&header, columns, problems)?;
        Some(Self {
            reader,
            record: ByteRecord::new(),
            position,
            width: header.len(),
        })
    }

    /// The next row; a row of the wrong length is a problem and is passed over.
    pub fn next(&mut self, problems: &mut Problems) -> Option<Row<'_>> {
        loop {
            match self.reader.read_byte_record(&mut self.record) {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    problems.add(0, format!("cannot be read: {error}"));
                    return None;
                }
            }
            // The reader counts from the column names, which stand on the second line.
            let line = 1 + self.record.position().map_or(0, csv::Position::line);
            if self.record.len() == self.width {
                return Some(Row {
                    record: &self.record,
                    position: &self.position,
                    line,
                });
            }
            let (got, want) = (self.record.len(), self.width);
            problems.add(
                line,
                format!("the row has {got} fields: must have {want}, as the line of column names"),
            );
        }
    }
}

fn match_columns(
    header: &ByteRecord,
    columns: Columns,
    problems: &mut Problems,
) -> Option<Vec<Option<usize>>> {
    let names: Vec<String> = header
        .iter()
        .map(|name| String::from_utf8_lossy(name).trim().to_owned())
        .collect();
    for (index, name) in names.iter().enumerate() {
        if !columns.names.contains(&name.as_str()) {
            let hint = suggestion(name, columns.names.iter().copied());
            let valid = columns.names.join(", ");
            problems.add(
                2,
                format!("unknown column \"{name}\": must be one of {valid}{hint}"),
            );
        } else if names[..index].contains(name) {
            problems.add(
                2,
                format!("column \"{name}\" occurs twice; it must occur once"),
            );
        }
    }
    let find = |column: &&str| names.iter().position(|name| name == column);
    let position: Vec<_> = columns.names.iter().map(find).collect();
    for (column, position) in columns.names.iter().zip(&position).take(columns.required) {
        if position.is_none() {
            problems.add(
                2,
                format!("column \"{column}\" is missing: must be one of the column names"),
            );
        }
    }
    problems.is_empty().then_some(position)
}
