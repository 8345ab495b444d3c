//! `replay exec`: runs a program that cannot wait for a time itself (iperf3), from one time after the epoch to another.
//! Contract of its log: `traffic/README.md`.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use clap::Args;
use nix::sys::signal::{kill, Signal};
use nix::unistd::Pid;

use crate::failure::{system, Failure};
use crate::sys;
use crate::wait::{Waiter, Wake};
use crate::wakeups::{self, Termination};

const LOG_HEAD: &str = "# fabriclab-exec-1\nstart_ns,end_ns,ended_by,status\n";
const READ_BYTES: usize = 1 << 16;

#[derive(Args)]
pub struct ExecArgs {
    /// Start it at this time, nanoseconds after the epoch (default: at once, also before the epoch)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
    at_ns: Option<i64>,
    /// Send it SIGINT at this time, nanoseconds after the epoch
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
    until_ns: Option<i64>,
    /// Where to write when it ran and its standard output
    #[arg(long, value_name = "FILE")]
    log: PathBuf,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    argv: Vec<String>,
}

/// When a program ran, in nanoseconds after the epoch, and how it ended.
struct Record {
    start_ns: i64,
    end_ns: i64,
    ended_by: &'static str,
    status: ExitStatus,
    output: Vec<u8>,
}

/// Runs the program. That it fails is no failure of ours: its log says so.
pub fn exec(arguments: &ExecArgs, epoch_ns: i64) -> Result<(), Failure> {
    let at_log = |error: io::Error| system(&arguments.log.display().to_string(), &error);
    let mut log = create_with_parents(&arguments.log).map_err(at_log)?;
    let program = &arguments.argv[0];
    let record = supervise(arguments, epoch_ns).map_err(|error| system(program, &error))?;
    write_record(&mut log, record.as_ref()).map_err(at_log)
}

fn create_with_parents(path: &Path) -> io::Result<File> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    File::create(path)
}

/// `None`: a signal came before its time.
fn supervise(arguments: &ExecArgs, epoch_ns: i64) -> io::Result<Option<Record>> {
    let mut waiter = Waiter::new()?;
    if let Some(at_ns) = arguments.at_ns {
        if !waiter.sleep_until(epoch_ns.saturating_add(at_ns))? {
            return Ok(None);
        }
    }
    let start_ns = wakeups::monotonic_ns() - epoch_ns;
    let mut child = spawn(&arguments.argv)?;
    if let Some(until_ns) = arguments.until_ns {
        waiter.arm(epoch_ns.saturating_add(until_ns))?;
    }
    let mut stdout = child.stdout.take().expect("its output is piped");
    let (ended_by, end_ns, output) = follow(&mut waiter, &child, &mut stdout)?;
    Ok(Some(Record {
        start_ns,
        end_ns: end_ns - epoch_ns,
        ended_by,
        status: child.wait()?,
        output,
    }))
}

fn spawn(argv: &[String]) -> io::Result<Child> {
    let mut command = Command::new(&argv[0]);
    command
        .args(&argv[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    sys::give_signals_back(&mut command);
    command.spawn()
}

/// Reads the program's output to its end; on the way it is told to end, once. Returns by whom, when (CLOCK_MONOTONIC),
/// and the output.
fn follow(
    waiter: &mut Waiter,
    child: &Child,
    stdout: &mut ChildStdout,
) -> io::Result<(&'static str, i64, Vec<u8>)> {
    let mut told = None;
    let mut output = Vec::new();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let by = match waiter.wait(stdout)? {
            Wake::Due => "until",
            Wake::Signal(Termination::Told) => "signal",
            Wake::Signal(Termination::PowerLost) => "power",
            Wake::Readable => match stdout.read(&mut buffer)? {
                0 => {
                    let (by, at_ns) = told.unwrap_or_else(|| ("itself", wakeups::monotonic_ns()));
                    return Ok((by, at_ns, output));
                }
                read => {
                    output.extend_from_slice(&buffer[..read]);
                    continue;
                }
            },
        };
        if told.is_none() {
            told = Some((by, wakeups::monotonic_ns()));
            interrupt(child)?;
        }
    }
}

fn interrupt(child: &Child) -> io::Result<()> {
    // It has not been waited for, so its number is still its own.
    Ok(kill(
        Pid::from_raw(child.id() as libc::pid_t),
        Signal::SIGINT,
    )?)
}

fn write_record(log: &mut File, record: Option<&Record>) -> io::Result<()> {
    let mut text = LOG_HEAD.as_bytes().to_vec();
    match record {
        None => text.extend_from_slice(b",,signal,\n"),
        Some(record) => {
            let status = match record.status.signal() {
                Some(signal) => format!("signal {signal}"),
                None => format!("exit {}", record.status.code().unwrap_or_default()),
            };
            let Record {
                start_ns,
                end_ns,
                ended_by,
                ..
            } = record;
            writeln!(text, "{start_ns},{end_ns},{ended_by},{status}")?;
            text.extend_from_slice(&record.output);
        }
    }
    log.write_all(&text)
}
