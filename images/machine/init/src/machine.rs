//! The machine itself: its command line, limits, console and end.

use std::fs;

use nix::sched::{unshare, CloneFlags};
use nix::sys::reboot::{reboot, RebootMode};
use nix::sys::termios::{tcdrain, tcgetattr, tcsetattr, OutputFlags, SetArg};
use nix::unistd::sync;

use crate::events::{self, Phase, Status};
use crate::failure::{Context, Failure, Result};
use crate::limits;
use crate::mounts::{HostDirectories, Named};
use crate::rights;

/// Makes a panic an error event and an orderly end. Without it the kernel would panic too.
pub fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        events::error(Phase::Shutdown, &Failure::new(format!("PID 1: {panic}")));
        events::end(Status::Failed);
        power_off();
    }));
}

/// What the command line says of the host: `fabriclab_rootfs=`, `fabriclab_job=`, `fabriclab_inputs=NAME:PATH,...`, and
/// where a lab brings programs along `fabriclab_layers=NAME:PATH,...`. Needs /proc.
pub fn host_directories() -> Result<HostDirectories> {
    let line = fs::read_to_string("/proc/cmdline").context(|| "read /proc/cmdline".to_owned())?;
    Ok(HostDirectories {
        rootfs: parameter(&line, "fabriclab_rootfs")?,
        job: parameter(&line, "fabriclab_job")?,
        inputs: named(&line, "fabriclab_inputs")?,
        layers: named(&line, "fabriclab_layers")?,
    })
}

/// Directories with their names; without the parameter there are none.
fn named(line: &str, parameter: &str) -> Result<Vec<Named>> {
    let value = |word: &str| Some(word.strip_prefix(parameter)?.strip_prefix('=')?.to_owned());
    let Some(value) = line.split_whitespace().find_map(value) else {
        return Ok(Vec::new());
    };
    let one = |written: &str| match written.split_once(':') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => Ok(Named {
            name: name.to_owned(),
            path: path.to_owned(),
        }),
        _ => Err(Failure::new(format!(
            "{parameter} names \"{written}\": NAME:<directory> is wanted"
        ))),
    };
    value.split(',').map(one).collect()
}

/// `fabriclab_batch=tools` on the command line: see [`crate::namespace::Machine`].
pub fn batch_by_tools() -> bool {
    fs::read_to_string("/proc/cmdline").is_ok_and(|line| {
        line.split_whitespace()
            .any(|word| word == "fabriclab_batch=tools")
    })
}

/// `fabriclab_part=N` on the command line: this machine is one of several of a lab.
pub fn part() -> Option<u32> {
    let line = fs::read_to_string("/proc/cmdline").ok()?;
    let word = |word: &str| word.strip_prefix("fabriclab_part=")?.parse().ok();
    line.split_whitespace().find_map(word)
}

fn parameter(line: &str, name: &str) -> Result<String> {
    line.split_whitespace()
        .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
        .filter(|value| !value.is_empty())
        .map(str::to_owned)
        .ok_or_else(|| {
            Failure::new(format!(
                "the kernel's command line lacks {name}=<directory>"
            ))
        })
}

/// PID 1 is born sharing its root and working directory with the kernel's threads; one that shares can't enter a mount
/// namespace.
pub fn own_root() -> Result<()> {
    unshare(CloneFlags::CLONE_FS)
        .context(|| "stop sharing the root with the kernel's threads".to_owned())
}

/// Lines of events end in a newline alone.
pub fn plain_console() {
    let output = std::io::stdout();
    // A console that is no terminal has nothing to set.
    if let Ok(mut settings) = tcgetattr(&output) {
        settings.output_flags.remove(OutputFlags::OPOST);
        let _ = tcsetattr(&output, SetArg::TCSANOW, &settings);
    }
}

/// PID 1 may do what it must, programs no more than they need.
pub fn prepare_for_programs() -> Result<()> {
    limits::raise()?;
    rights::few_capabilities()
}

/// Writes everything to the host and ends the machine.
pub fn power_off() -> ! {
    let _ = tcdrain(std::io::stdout());
    sync();
    let _ = reboot(RebootMode::RB_POWER_OFF);
    // Refused only to a process that is not PID 1 with all its rights.
    std::process::exit(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_whole_words() {
        let line = "mem=1G fabriclab_job=/run/1 x_fabriclab_rootfs=/no fabriclab_rootfs=\n";
        assert_eq!(parameter(line, "fabriclab_job"), Ok("/run/1".to_owned()));
        assert!(parameter(line, "fabriclab_rootfs").is_err());
    }

    #[test]
    fn directories_have_names() {
        let read = |line: &str| {
            named(line, "fabriclab_layers").map(|layers| {
                let pair = |layer: Named| format!("{} at {}", layer.name, layer.path);
                layers.into_iter().map(pair).collect::<Vec<_>>()
            })
        };
        assert_eq!(read("mem=1G"), Ok(Vec::new()));
        let both = read("fabriclab_layers=debian:/a,hadoop:b mem=1G");
        assert_eq!(
            both,
            Ok(vec!["debian at /a".to_owned(), "hadoop at b".to_owned()])
        );
        for wrong in [
            "fabriclab_layers=",
            "fabriclab_layers=a:",
            "fabriclab_layers=:/a",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
