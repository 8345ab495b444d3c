//! What went wrong, as an `error` event tells it.

use serde::Serialize;

/// An error with all that is known about its place. Absent parts are left out of the event.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Relative to the run directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The line itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    pub message: String,
}

pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            ..Self::default()
        }
    }

    pub fn in_node(mut self, node: &str) -> Self {
        self.node = Some(node.to_owned());
        self
    }

    pub fn in_file(mut self, file: &str) -> Self {
        self.file = Some(file.to_owned());
        self
    }

    pub fn at_line(mut self, line: usize, text: &str) -> Self {
        self.line = Some(line);
        self.text = Some(text.to_owned());
        self
    }
}

/// Says what was being done when a system call failed.
pub trait Context<T> {
    fn context(self, doing: impl FnOnce() -> String) -> Result<T>;
}

impl<T> Context<T> for std::io::Result<T> {
    fn context(self, doing: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| Failure::new(format!("{}: {error}", doing())))
    }
}

impl<T> Context<T> for nix::Result<T> {
    fn context(self, doing: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|errno| Failure::new(format!("{}: {}", doing(), errno.desc())))
    }
}
