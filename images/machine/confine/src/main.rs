//! `confine`: starts a program that can do nothing on the host but what it is given. Contract: SECURITY.md.
//!
//! The machine's kernel is an ordinary process of its user, and a lab from a stranger may take it over. So the host's
//! kernel binds it before it begins, and nothing takes that off again: Landlock for files, TCP and signals, a seccomp
//! filter for system calls, no new privileges, no capabilities, limits. All that it starts is bound likewise.

mod calls;
mod failure;
mod files;
mod rights;

use std::ffi::CString;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use nix::fcntl::{open, AtFlags, OFlag};
use nix::sched::{sched_setaffinity, CpuSet};
use nix::sys::personality::{self, Persona};
use nix::sys::resource::Resource;
use nix::sys::stat::Mode;
use nix::unistd::{execveat, Pid};

use failure::{Context, Failure, Result};
use files::{Bound, Files};

/// Arguments are wrong, or the program can't be started.
const EXIT_CANNOT_START: u8 = 125;

/// Starts a program bound to the files it is given, and prints what binds it in a line `boundary: ...` first.
///
/// What this host's kernel lacks is named in that line, and the program starts all the same.
#[derive(Parser)]
#[command(name = "confine")]
struct Arguments {
    /// A file, or a directory with all below it, that the program may read.
    #[arg(long, value_name = "PATH")]
    read: Vec<PathBuf>,
    /// One that it may read and execute.
    #[arg(long, value_name = "PATH")]
    execute: Vec<PathBuf>,
    /// One that it may read and change: there it makes plain files and directories, nothing else.
    #[arg(long, value_name = "PATH")]
    write: Vec<PathBuf>,
    /// Only the system calls that the machine's kernel needs.
    #[arg(long)]
    machine_calls: bool,
    /// No file that it writes may be longer.
    #[arg(long, value_name = "BYTES")]
    file_bytes: Option<u64>,
    /// No process of it may have a larger address space.
    #[arg(long, value_name = "BYTES")]
    memory_bytes: Option<u64>,
    /// No process of it may compute for longer.
    #[arg(long, value_name = "SECONDS")]
    cpu_seconds: Option<u64>,
    /// Do not print what binds it.
    #[arg(long)]
    quiet: bool,
    /// The processor that it runs on.
    #[arg(long, value_name = "NUMBER")]
    cpu: Option<usize>,
    /// What lists of processes call it, in the place of its path.
    #[arg(long, value_name = "TEXT")]
    name: Option<std::ffi::OsString>,
    /// Print the line, start nothing.
    #[arg(long, conflicts_with = "program")]
    ask: bool,
    /// The program, by its path, and its arguments.
    #[arg(last = true, required_unless_present = "ask")]
    program: Vec<std::ffi::OsString>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match start(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("confine: {failure}");
            ExitCode::from(EXIT_CANNOT_START)
        }
    }
}

fn start(arguments: &Arguments) -> Result<()> {
    // By its descriptor, for no other program may be started by its path.
    let program = arguments.program.first().map(Path::new);
    let opened = program
        .map(|path| open(path, OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty()).in_file(path))
        .transpose()?;
    if let Some(cpu) = arguments.cpu {
        run_on(cpu)?;
    }
    without_randomised_addresses();
    rights::limit(&[
        (Resource::RLIMIT_FSIZE, arguments.file_bytes),
        (Resource::RLIMIT_AS, arguments.memory_bytes),
        (Resource::RLIMIT_CPU, arguments.cpu_seconds),
    ])?;
    let files = Files {
        read: &arguments.read,
        execute: &arguments.execute,
        write: &arguments.write,
    };
    // A process without new privileges may be bound by who has none itself.
    rights::no_new_privileges()?;
    let bound = files.bind()?;
    rights::drop_capabilities(bound.has_files())?;
    rights::die_with_parent()?;
    let filter = arguments
        .machine_calls
        .then(|| calls::machine(&bound))
        .transpose()?;
    if !arguments.quiet {
        println!("boundary: {}", described(&bound, filter.as_deref()));
    }
    if let Some(filter) = filter.filter(|_| calls::are_supported()) {
        calls::bind(&filter)?;
    }
    match (program, opened) {
        (Some(path), Some(descriptor)) => execute(path, descriptor.as_raw_fd(), arguments),
        _ => Ok(()),
    }
}

fn described(bound: &Bound, filter: Option<&[seccompiler::sock_filter]>) -> String {
    let calls = match filter {
        None => None,
        Some(_) if calls::are_supported() => Some("seccomp"),
        Some(_) => Some("no seccomp (system calls are not bound)"),
    };
    [Some(bound.to_string()), calls.map(str::to_owned)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ")
}

fn run_on(cpu: usize) -> Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu)
        .and_then(|()| sched_setaffinity(Pid::from_raw(0), &set))
        .context(|| format!("run on processor {cpu}"))
}

/// The machine's kernel sizes its memory by where the host put it. A container may forbid this; then it goes without.
fn without_randomised_addresses() {
    if let Ok(persona) = personality::get() {
        let _ = personality::set(persona | Persona::ADDR_NO_RANDOMIZE);
    }
}

/// Becomes the program; returns only why it could not.
fn execute(path: &Path, descriptor: i32, arguments: &Arguments) -> Result<()> {
    let (first, others) = arguments
        .program
        .split_first()
        .ok_or_else(|| Failure::new("no program is named".to_owned()))?;
    let words = std::iter::once(arguments.name.as_ref().unwrap_or(first))
        .chain(others)
        .map(|word| c_string(word.as_bytes()))
        .collect::<Result<Vec<_>>>()?;
    let environment = std::env::vars_os()
        .map(|(name, value)| c_string(&[name.as_bytes(), b"=", value.as_bytes()].concat()))
        .collect::<Result<Vec<_>>>()?;
    // SAFETY: `start` holds the descriptor open until this returns.
    let descriptor = unsafe { std::os::fd::BorrowedFd::borrow_raw(descriptor) };
    execveat(
        descriptor,
        c"",
        &words,
        &environment,
        AtFlags::AT_EMPTY_PATH,
    )
    .map(|never| match never {})
    .in_file(path)
}

fn c_string(bytes: &[u8]) -> Result<CString> {
    CString::new(bytes).map_err(|_| Failure::new("an argument holds a NUL".to_owned()))
}
