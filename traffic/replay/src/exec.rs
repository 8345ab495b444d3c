//! `replay exec`: runs a program that cannot wait for a time itself (iperf3), from one time after the epoch to another. Contract of its
//! log: `traffic/README.md`.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use clap::Args;

use crate::sys::{self, Timer};
use crate::{system, Failure};

const LOG_HEAD: &str = "# fabriclab-exec-1\nstart_ns,end_ns,ended_by,status\n";
/// `poll` passes over such a descriptor.
const NO_DESCRIPTOR: RawFd = -1;
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

/// What came first.
enum Wake {
    /// The time of the timer.
    Due,
    /// SIGTERM or SIGINT.
    Signal,
    /// The program wrote something, or closed its output.
    Output,
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
    let mut waiter = Waiter {
        signals: sys::termination_signals()?,
        timer: Timer::new()?,
        armed: false,
    };
    if let Some(at_ns) = arguments.at_ns {
        waiter.arm(epoch_ns.saturating_add(at_ns))?;
        if matches!(waiter.wait(NO_DESCRIPTOR)?, Wake::Signal) {
            return Ok(None);
        }
    }
    let start_ns = sys::monotonic_ns() - epoch_ns;
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
    // SAFETY: the function makes system calls only: it is async-signal-safe, as what runs between fork and exec must be.
    unsafe { command.pre_exec(unblock_signals) };
    command.spawn()
}

/// A program inherits which signals are blocked; ours are (`sys::termination_signals`).
fn unblock_signals() -> io::Result<()> {
    // SAFETY: all zeroes is valid storage for a signal set, sigemptyset initialises it, the old set is not asked for.
    let status = unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut())
    };
    match status {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Reads the program's output to its end; on the way it is told to end, once. Returns by whom, when (CLOCK_MONOTONIC), and the output.
fn follow(
    waiter: &mut Waiter,
    child: &Child,
    stdout: &mut ChildStdout,
) -> io::Result<(&'static str, i64, Vec<u8>)> {
    let mut told = None;
    let mut output = Vec::new();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let by = match waiter.wait(stdout.as_raw_fd())? {
            Wake::Due => "until",
            Wake::Signal => "signal",
            Wake::Output => match stdout.read(&mut buffer)? {
                0 => {
                    let (by, at_ns) = told.unwrap_or_else(|| ("itself", sys::monotonic_ns()));
                    return Ok((by, at_ns, output));
                }
                read => {
                    output.extend_from_slice(&buffer[..read]);
                    continue;
                }
            },
        };
        if told.is_none() {
            told = Some((by, sys::monotonic_ns()));
            interrupt(child)?;
        }
    }
}

fn interrupt(child: &Child) -> io::Result<()> {
    // SAFETY: no pointers. The child has not been waited for, so its number is still its own.
    match unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The timer and the signals that one waits for beside the program's output.
struct Waiter {
    signals: OwnedFd,
    timer: Timer,
    armed: bool,
}

impl Waiter {
    /// Sets the timer, on CLOCK_MONOTONIC; the time before, if any, has passed.
    fn arm(&mut self, at_ns: i64) -> io::Result<()> {
        self.timer.expired();
        self.armed = true;
        self.timer.arm(at_ns)
    }

    /// Waits for whatever comes first. The timer and a signal are told once.
    fn wait(&mut self, output: RawFd) -> io::Result<Wake> {
        let timer = match self.armed {
            true => self.timer.as_raw_fd(),
            false => NO_DESCRIPTOR,
        };
        loop {
            let ready = poll([self.signals.as_raw_fd(), timer, output])?;
            match ready {
                [true, _, _] => return self.take_signal().map(|()| Wake::Signal),
                [_, true, _] => {
                    self.armed = false;
                    return Ok(Wake::Due);
                }
                [_, _, true] => return Ok(Wake::Output),
                [false, false, false] => {}
            }
        }
    }

    fn take_signal(&self) -> io::Result<()> {
        let mut signal = File::from(self.signals.try_clone()?);
        signal
            .read_exact(&mut [0; size_of::<libc::signalfd_siginfo>()])
            .map(drop)
    }
}

/// Waits without a limit; which of the descriptors are readable or at their end.
fn poll<const N: usize>(descriptors: [RawFd; N]) -> io::Result<[bool; N]> {
    let mut entries = descriptors.map(|fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    });
    // SAFETY: `entries` is valid for reading and writing, and has N entries.
    if unsafe { libc::poll(entries.as_mut_ptr(), N as libc::nfds_t, -1) } < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(entries.map(|entry| entry.revents != 0))
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
