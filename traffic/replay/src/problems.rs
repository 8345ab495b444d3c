//! What is wrong with an input file, collected so that a user sees all of it in one go.

use std::fmt;
use std::path::{Path, PathBuf};

/// Problems shown at most; the rest are counted.
pub const SHOWN: usize = 20;

/// The problems of one file, in the order in which they were found.
#[derive(Debug)]
pub struct Problems {
    file: PathBuf,
    found: Vec<(u64, String)>,
    total: usize,
}

impl Problems {
    pub fn of(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
            found: Vec::new(),
            total: 0,
        }
    }

    /// Notes a problem at a line (1 is the file's first; 0 means the file as a whole).
    pub fn add(&mut self, line: u64, message: impl Into<String>) {
        self.total += 1;
        if self.found.len() < SHOWN {
            self.found.push((line, message.into()));
        }
    }

    /// Notes a value that is wrong, and what would be right.
    pub fn wrong(&mut self, line: u64, column: &str, value: &str, right: impl fmt::Display) {
        self.add(line, format!("{column} is \"{value}\": {right}"));
    }

    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// The value if nothing is wrong, else the problems.
    pub fn unless_found<T>(self, value: T) -> Result<T, Self> {
        if self.is_empty() {
            Ok(value)
        } else {
            Err(self)
        }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.display();
        let mut found: Vec<_> = self.found.iter().collect();
        found.sort_by_key(|(line, _)| *line);
        for (line, message) in found {
            match line {
                0 => writeln!(f, "{file}: {message}")?,
                line => writeln!(f, "{file}:{line}: {message}")?,
            }
        }
        match self.total - self.found.len() {
            0 => Ok(()),
            more => writeln!(f, "{file}: and {more} more problems"),
        }
    }
}

/// `; did you mean "x"?` when one of the valid words is close to what was written.
pub fn suggestion<'a>(written: &str, valid: impl IntoIterator<Item = &'a str>) -> String {
    let nearest = valid
        .into_iter()
        .map(|word| (strsim::damerau_levenshtein(written, word), word))
        .min();
    match nearest {
        Some((distance, word)) if distance <= 1 + written.len() / 4 => {
            format!("; did you mean \"{word}\"?")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_are_shown_and_the_rest_counted() {
        let mut problems = Problems::of(Path::new("t.csv"));
        for line in (1..=25).rev() {
            problems.wrong(line, "flow", "x", "must be a number");
        }
        let shown = problems.to_string();
        assert_eq!(shown.lines().count(), SHOWN + 1);
        assert!(
            shown.starts_with("t.csv:6: flow is \"x\": must be a number\n"),
            "{shown}"
        );
        assert!(shown.ends_with("t.csv: and 5 more problems\n"), "{shown}");
    }

    #[test]
    fn only_a_near_word_is_suggested() {
        assert_eq!(
            suggestion("h44", ["h4", "h1", "switch"]),
            "; did you mean \"h4\"?"
        );
        assert_eq!(suggestion("spine", ["h4", "h1"]), "");
    }
}
