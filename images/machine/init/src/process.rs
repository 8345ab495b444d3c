//! Starting programs in the machine or in a node.

use std::ffi::CString;
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::path::Path;

use nix::errno::Errno;
use nix::sched::{setns, CloneFlags};
use nix::sys::personality;
use nix::sys::signal::{kill, sigprocmask, SigSet, SigmaskHow, Signal};
use nix::sys::wait::waitpid;
use nix::unistd::{dup2_stderr, dup2_stdin, dup2_stdout, setsid, Pid};

use crate::failure::{Context, Failure, Result};
use crate::limits;
use crate::namespace::{Machine, Node};
use crate::persona;
use crate::sys::{self, Program};

const PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin:/tools";
const NODE_NAMESPACES: CloneFlags = CloneFlags::CLONE_NEWNET
    .union(CloneFlags::CLONE_NEWNS)
    .union(CloneFlags::CLONE_NEWUTS);

/// Where a program reads and writes.
pub struct Streams {
    pub input: OwnedFd,
    pub output: OwnedFd,
    pub errors: OwnedFd,
    /// They are one terminal, which is to control the program's session.
    pub is_terminal: bool,
}

impl Streams {
    /// No input; output and errors into one file.
    pub fn logged(log: &str) -> Result<Self> {
        let errors = append(log)?;
        let output = errors.try_clone().context(|| format!("open {log}"))?;
        Self::of(output, errors)
    }

    /// No input; output and errors into two files.
    pub fn split(output: &str, log: &str) -> Result<Self> {
        Self::of(create(output)?, create(log)?)
    }

    /// No input; output and errors are thrown away.
    pub fn none() -> Result<Self> {
        let open = || File::create("/dev/null").context(|| "open /dev/null".to_owned());
        Self::of(open()?, open()?)
    }

    fn of(output: File, errors: File) -> Result<Self> {
        let input = File::open("/dev/null").context(|| "open /dev/null".to_owned())?;
        Ok(Self {
            input: input.into(),
            output: output.into(),
            errors: errors.into(),
            is_terminal: false,
        })
    }
}

fn create(path: &str) -> Result<File> {
    make_parent(path)?;
    File::create(path).context(|| format!("open {path}"))
}

/// A daemon that starts again adds to what it wrote before.
fn append(path: &str) -> Result<File> {
    make_parent(path)?;
    let mut options = File::options();
    let opened = options.create(true).append(true).open(path);
    opened.context(|| format!("open {path}"))
}

fn make_parent(path: &str) -> Result<()> {
    if let Some(parent) = Path::new(path).parent() {
        fs::create_dir_all(parent).context(|| format!("make {}", parent.display()))?;
    }
    Ok(())
}

/// What a program is to the others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// It takes part, and draws from the machine's randomness as all do.
    Plays,
    /// The same, and of all such programs that are due at an instant the one that was woken first runs first, until it
    /// waits: the order among a node's does not tell what else is in its machine.
    PlaysInTurn,
    /// It only looks: what it draws is of a stream of its own, so that nobody else's numbers tell whether it is there.
    Watches,
    /// The same, and at any instant it runs when all others have.
    WatchesLast,
}

/// Starts a program; `node` absent is the machine. `variables` (`NAME=value`) go into its environment.
pub fn start(
    machine: &Machine,
    node: Option<&Node>,
    argv: &[String],
    variables: &[String],
    part: Part,
    streams: &Streams,
) -> Result<Pid> {
    let arguments = argv
        .iter()
        .map(|argument| c_string(argument))
        .collect::<Result<Vec<_>>>()?;
    let variables = environment(node, variables)?;
    let program = Program::new(candidates(&argv[0])?, arguments, variables);
    let part = match part {
        Part::Watches if machine.of_wires => Part::WatchesLast,
        part => part,
    };
    let spawn = || spawn(node, part, streams, &program);
    let started = match node {
        Some(node) => machine.children_inside(node, spawn)?,
        None => spawn(),
    };
    started.map_err(|errno| Failure::new(format!("start {}: {}", argv[0], errno.desc())))
}

fn environment(node: Option<&Node>, more: &[String]) -> Result<Vec<CString>> {
    let own = node.map_or(&[][..], |node| &node.environment);
    let name = node.map(|node| format!("FABRICLAB_NODE={}", node.name));
    let usual = [format!("PATH={PATH}"), "HOME=/root".to_owned()];
    let is_own = |variable: &str| {
        let name = &variable[..=variable.find('=').unwrap_or(0)];
        own.iter().any(|one| one.starts_with(name))
    };
    let variables = usual.into_iter().filter(|variable| !is_own(variable));
    let variables = variables.chain(name).chain(own.iter().cloned());
    variables
        .chain(more.iter().cloned())
        .map(|variable| c_string(&variable))
        .collect()
}

/// The paths to try, as a shell would.
fn candidates(program: &str) -> Result<Vec<CString>> {
    if program.contains('/') {
        return Ok(vec![c_string(program)?]);
    }
    PATH.split(':')
        .map(|directory| c_string(&format!("{directory}/{program}")))
        .collect()
}

fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Failure::new(format!("{text:?} holds a NUL")))
}

/// Starts a program as posix_spawn does; the error is why it could not be started.
fn spawn(
    node: Option<&Node>,
    part: Part,
    streams: &Streams,
    program: &Program,
) -> nix::Result<Pid> {
    let mut error = None;
    let pid = sys::vfork(|| {
        error = Some(become_program(node, part, streams, program));
        127
    })?;
    match error {
        None => Ok(pid),
        Some(errno) => {
            // It has exited; nobody else would reap it before its failure is told.
            let _ = waitpid(pid, None);
            Err(errno)
        }
    }
}

/// Turns this process into the program; returns why it could not. It may only make system calls: what it allocated
/// nobody would free.
fn become_program(node: Option<&Node>, part: Part, streams: &Streams, program: &Program) -> Errno {
    match prepare(node, part, streams) {
        Ok(()) => program.exec(),
        Err(errno) => errno,
    }
}

fn prepare(node: Option<&Node>, part: Part, streams: &Streams) -> nix::Result<()> {
    if let Some(node) = node {
        setns(node.pidfd(), NODE_NAMESPACES)?;
    }
    let _ = setsid();
    limits::of_a_program()?;
    match part {
        Part::Plays | Part::Watches => {}
        Part::PlaysInTurn => sys::run_in_turn()?,
        Part::WatchesLast => sys::yield_to_all()?,
    }
    if matches!(part, Part::Watches | Part::WatchesLast) {
        // Any bits are accepted, by kernels to which this one says nothing too.
        let _ = personality::set(persona::WATCHES);
    }
    let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None);
    let _ = sys::set_ignored(Signal::SIGPIPE, false);
    if streams.is_terminal {
        sys::take_terminal(&streams.input)?;
    }
    dup2_stdin(&streams.input)?;
    dup2_stdout(&streams.output)?;
    dup2_stderr(&streams.errors)
}

/// Kills all processes of a node but its first, whoever started them.
pub fn kill_all(machine: &Machine, node: &Node) -> Result<()> {
    let killer = machine.children_inside(node, || {
        sys::vfork(|| {
            // All that this process sees, which is its node's, but itself and the first. That there are none is no
            // error.
            let _ = kill(Pid::from_raw(-1), Signal::SIGKILL);
            0
        })
    })?;
    killer
        .and_then(|pid| waitpid(pid, None))
        .map(drop)
        .context(|| format!("kill the processes of {}", node.name))
}

/// Kills all processes of a session (setsid(2)), by the number of the process that leads it, dead or alive.
pub fn kill_session(leader: Pid) {
    let Ok(entries) = fs::read_dir("/proc") else {
        return;
    };
    let numbers = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for number in numbers.collect::<Vec<i32>>() {
        let status = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        if session_in(&status) == Some(leader.as_raw()) {
            let _ = kill(Pid::from_raw(number), Signal::SIGKILL);
        }
    }
}

/// The session of /proc/PID/stat (proc(5)). The program's name, in brackets, may hold anything.
fn session_in(status: &str) -> Option<i32> {
    let (_, fields) = status.rsplit_once(')')?;
    fields.split_whitespace().nth(3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_the_fourth_field_after_the_name() {
        assert_eq!(session_in("12 (a ) b) S 1 12 7 0 -1 4194560"), Some(7));
        assert_eq!(session_in(""), None);
    }
}
