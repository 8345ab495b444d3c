//! Reading a job: its text, then what can be wrong with it.

use std::collections::HashSet;

use super::{check, Job, Program};
use crate::failure::{Failure, Result};

/// Reads a job's text and checks all that can be checked without the machine.
pub fn parse(text: &str, file: &str) -> Result<Job> {
    let job: Job = serde_json::from_str(text).map_err(|error| locate(text, &error, file))?;
    job.check()
        .map_err(|message| Failure::new(message).in_file(file))?;
    Ok(job)
}

/// Checks programs that are to be started beside those of a job, with its nodes.
pub fn check_programs(nodes: HashSet<&str>, programs: &[Program]) -> Result<()> {
    check::check_programs(programs.iter(), &nodes).map_err(Failure::new)
}

fn locate(text: &str, error: &serde_json::Error, file: &str) -> Failure {
    let failure = Failure::new(error.to_string()).in_file(file);
    match text.lines().nth(error.line().saturating_sub(1)) {
        Some(line) if error.line() > 0 => failure.at_line(error.line(), line.trim()),
        _ => failure,
    }
}
