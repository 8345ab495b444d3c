//! Files of the run directory that the host writes while the lab is live: traces, configurations.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Component, Path, PathBuf};

use crate::failure::{Context, Failure, Result};
use crate::job::JOB;

/// All that may be written, a directory of the run directory: what a recording leads to must not mix with what an
/// engine wrote.
const DIRECTORY: &str = "live";

/// Writes texts by their paths, in order, in place of what is there.
pub fn write(texts: &BTreeMap<String, String>) -> Result<()> {
    each(texts, |path, text| {
        fs::write(path, text).context(|| format!("write {}", path.display()))
    })
}

/// Adds texts to the files of these paths; what is not there is made.
pub fn append(texts: &BTreeMap<String, String>) -> Result<()> {
    each(texts, |path, text| {
        let mut options = File::options();
        let opened = options.create(true).append(true).open(path);
        opened
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .context(|| format!("write {}", path.display()))
    })
}

fn each(texts: &BTreeMap<String, String>, work: impl Fn(&Path, &str) -> Result<()>) -> Result<()> {
    for (name, text) in texts {
        let path = Path::new(JOB).join(checked(name)?);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).context(|| format!("make {}", parent.display()))?;
        }
        work(&path, text)?;
    }
    Ok(())
}

fn checked(name: &str) -> Result<PathBuf> {
    let path = PathBuf::from(name);
    let mut parts = path.components();
    let first = parts.next() == Some(Component::Normal(DIRECTORY.as_ref()));
    let is_below = parts.clone().next().is_some();
    if first && is_below && parts.all(|part| matches!(part, Component::Normal(_))) {
        return Ok(path);
    }
    Err(Failure::new(format!(
        "\"{name}\" is not the path of a file below {DIRECTORY}/"
    ))
    .in_file(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_below_the_directory_are_taken() {
        for good in ["live/a", "live/s1/flows.csv", "live//a"] {
            assert!(checked(good).is_ok(), "{good}");
        }
        for bad in [
            "live",
            "live/",
            "/live/a",
            "a",
            "live/../a",
            "live/a/../../b",
            "",
            "lives/a",
        ] {
            let failure = checked(bad).expect_err(bad);
            assert!(
                failure.message.contains("below live/"),
                "{}",
                failure.message
            );
        }
    }
}
