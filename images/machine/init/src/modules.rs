//! Kernel modules of the job: a user's own algorithms.

use std::fs::{self, File};
use std::path::Path;

use nix::errno::Errno;
use nix::kmod::{finit_module, ModuleInitFlags};

use crate::events;
use crate::failure::{Context, Failure, Result};
use crate::job::JOB;

/// Loads a module, a file relative to the run directory, and reports where its code lies.
pub fn load(file: &str) -> Result<()> {
    let module = File::open(Path::new(JOB).join(file))
        .context(|| "open it".to_owned())
        .map_err(|failure| failure.in_file(file))?;
    // What exactly it did not like, the kernel has said on its console.
    finit_module(&module, c"", ModuleInitFlags::empty())
        .map_err(|errno| Failure::new(refusal(errno)).in_file(file))?;
    let loaded = fs::read_to_string("/proc/modules").context(|| "read /proc/modules".to_owned())?;
    // The newest one is the first.
    if let Some((name, address)) = loaded.lines().next().and_then(name_and_address) {
        events::module(name, address);
    }
    Ok(())
}

/// `NAME SIZE USERS DEPENDENCIES STATE 0xADDRESS ...`, proc_modules(5).
fn name_and_address(line: &str) -> Option<(&str, &str)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let address = words.get(5)?.strip_prefix("0x")?;
    Some((words[0], address))
}

fn refusal(errno: Errno) -> String {
    let why = match errno {
        Errno::EEXIST => "the kernel already has a module of that name",
        Errno::ENOEXEC => "it is not a module of this kernel",
        Errno::ENOENT => "the kernel does not offer all that it uses",
        other => other.desc(),
    };
    format!("the kernel refuses this module: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_proc_modules() {
        let line = "own_mycc 12288 0 - Live 0x0000000064a00000 (O)";
        assert_eq!(
            name_and_address(line),
            Some(("own_mycc", "0000000064a00000"))
        );
        assert_eq!(name_and_address("own_mycc 12288 0"), None);
    }

    #[test]
    fn what_the_kernel_says_is_told_in_words() {
        assert!(refusal(Errno::EEXIST).ends_with("already has a module of that name"));
        assert!(refusal(Errno::EINVAL).ends_with("Invalid argument"));
    }
}
