//! A CSV file that grows row by row: no allocation a row, few writes.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A write at every so many bytes...
const FLUSH_BYTES: usize = 256 * 1024;
/// ...and at the latest this long after the one before, so that a machine that is killed keeps what was measured.
const FLUSH_INTERVAL_NS: u64 = 250_000_000;

/// One row is longer than any that the sampler writes, so that the buffer never grows.
const ROW_BYTES: usize = 16 * 1024;

pub struct Series {
    file: File,
    path: PathBuf,
    buffer: Vec<u8>,
    flushed_ns: u64,
    format: itoa::Buffer,
}

impl Series {
    /// Creates (or empties) the file and writes its version line and its column names.
    pub fn create(path: &Path, version: &str, columns: &str) -> Result<Self, String> {
        let file = File::create(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let buffer = Vec::with_capacity(FLUSH_BYTES + ROW_BYTES);
        let mut series = Self {
            file,
            path: path.to_owned(),
            buffer,
            flushed_ns: 0,
            format: itoa::Buffer::new(),
        };
        series
            .buffer
            .extend_from_slice(format!("# {version}\n{columns}\n").as_bytes());
        series.flush()?;
        Ok(series)
    }

    /// Starts a row.
    pub fn row(&mut self, time_ns: u64, name: &str) {
        self.buffer
            .extend_from_slice(self.format.format(time_ns).as_bytes());
        self.text(name);
    }

    /// Starts a row of what may have happened before the epoch.
    pub fn signed_row(&mut self, time_ns: i64) {
        self.buffer
            .extend_from_slice(self.format.format(time_ns).as_bytes());
    }

    pub fn number(&mut self, value: u64) {
        self.buffer.push(b',');
        self.buffer
            .extend_from_slice(self.format.format(value).as_bytes());
    }

    /// A number, or an empty field.
    pub fn optional(&mut self, value: Option<u64>) {
        match value {
            Some(value) => self.number(value),
            None => self.buffer.push(b','),
        }
    }

    pub fn text(&mut self, value: &str) {
        self.buffer.push(b',');
        self.buffer.extend_from_slice(value.as_bytes());
    }

    /// What can be written, and has no comma in it.
    pub fn display(&mut self, value: impl std::fmt::Display) {
        write!(self.buffer, ",{value}").expect("a vector takes every write");
    }

    /// The shortest decimal that reads back as `value`.
    pub fn fraction(&mut self, value: f64) {
        self.display(value);
    }

    pub fn empty(&mut self, fields: usize) {
        self.buffer.resize(self.buffer.len() + fields, b',');
    }

    pub fn end_row(&mut self) -> Result<(), String> {
        self.buffer.push(b'\n');
        match self.buffer.len() >= FLUSH_BYTES {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// Writes what is buffered if the last time was long enough ago.
    pub fn flush_by_time(&mut self, now_ns: u64) -> Result<(), String> {
        if now_ns < self.flushed_ns + FLUSH_INTERVAL_NS {
            return Ok(());
        }
        self.flushed_ns = now_ns;
        self.flush()
    }

    /// Writes all that is buffered; a full disk is reported here.
    pub fn flush(&mut self) -> Result<(), String> {
        let written = self.file.write_all(&self.buffer);
        self.buffer.clear();
        written.map_err(|error| format!("{}: {error}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn writes_by_time_and_keeps_the_order() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.csv");
        let mut series = Series::create(&path, "fabriclab-x-1", "time_ns,port,a,b,c,d,e").unwrap();
        assert_eq!(content(&path), "# fabriclab-x-1\ntime_ns,port,a,b,c,d,e\n");
        series.row(7, "s1:eth1");
        series.number(u64::MAX);
        series.optional(None);
        series.fraction(1.0 / 1024.0);
        series.empty(2);
        series.end_row().unwrap();
        series.flush_by_time(FLUSH_INTERVAL_NS - 1).unwrap();
        assert_eq!(content(&path).lines().count(), 2);
        series.flush_by_time(FLUSH_INTERVAL_NS).unwrap();
        assert_eq!(
            content(&path).lines().nth(2),
            Some("7,s1:eth1,18446744073709551615,,0.0009765625,,")
        );
    }

    #[test]
    fn writes_when_the_buffer_is_full_and_never_lets_it_grow() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.csv");
        let mut series = Series::create(&path, "v", "c").unwrap();
        let capacity = series.buffer.capacity();
        for time in 0..30_000 {
            series.row(time, "a-port-with-a-name");
            series.end_row().unwrap();
        }
        assert!(content(&path).len() >= FLUSH_BYTES);
        assert_eq!(series.buffer.capacity(), capacity);
    }

    #[test]
    fn a_full_disk_is_an_error_that_names_the_file() {
        let error = Series::create(Path::new("/dev/full"), "v", "c")
            .err()
            .unwrap();
        assert!(error.starts_with("/dev/full: No space left"), "{error}");
    }

    #[test]
    fn a_directory_that_is_missing_is_an_error_that_names_the_file() {
        let error = Series::create(Path::new("/nowhere/x.csv"), "v", "c")
            .err()
            .unwrap();
        assert!(error.starts_with("/nowhere/x.csv: No such file"), "{error}");
    }
}
