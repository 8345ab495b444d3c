//! What went wrong, in words.

use std::fmt;
use std::path::Path;

/// Why a program can't be started bound.
#[derive(Debug)]
pub struct Failure(String);

pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub fn new(message: String) -> Self {
        Self(message)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Says what was tried, behind which the reason stands.
pub trait Context<T> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T>;

    fn in_file(self, path: &Path) -> Result<T>
    where
        Self: Sized,
    {
        self.context(|| path.display().to_string())
    }
}

impl<T, E: fmt::Display> Context<T> for std::result::Result<T, E> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| Failure(format!("{}: {error}", what())))
    }
}
