//! `replay program`: runs a program of a lab's own, at its time and when what it waits for is there, and logs how it
//! went. Contract of its record: `traffic/README.md`.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use clap::Args;
use nix::sys::signal::{killpg, Signal};
use nix::unistd::Pid;

use crate::failure::{system, Failure};
use crate::listening;
use crate::meeting::{Meeting, Sign};
use crate::sys;
use crate::wait::{Waiter, Wake};
use crate::wakeups::{self, Termination};

const RECORD_HEAD: &str = "# fabriclab-program-1\nstart_ns,end_ns,ended_by,status\n";
/// From one look whether the program listens to the next.
const LOOK_NS: i64 = 1_000_000;
/// How long a program may take to end after SIGTERM. Less than what the machine's PID 1 gives us.
const GRACE_NS: i64 = 1_000_000_000;

#[derive(Args)]
pub struct ProgramArgs {
    /// Its name among the lab's programs
    #[arg(long, value_name = "NAME")]
    name: String,
    /// Start it at this time at the earliest, nanoseconds after the epoch
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(i64).range(0..))]
    at_ns: i64,
    /// Send it SIGTERM at this time, nanoseconds after the epoch
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
    until_ns: Option<i64>,
    /// Start it when this program has ended as it should (NAME), or its node listens on a TCP port (NAME:PORT)
    #[arg(long, value_name = "NAME[:PORT]")]
    after: Vec<Sign>,
    /// Tell the others as soon as this node listens on this TCP port
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    announce: Vec<u16>,
    /// Directory in which programs meet, the same for all
    #[arg(long, value_name = "DIR")]
    rendezvous: PathBuf,
    /// The exit status that means success
    #[arg(long, value_name = "N", default_value_t = 0)]
    status: u8,
    /// A variable of its environment
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = parse_variable)]
    environment: Vec<(String, String)>,
    /// A file for its standard output (default: ours)
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Where to write when it ran and how it ended
    #[arg(long, value_name = "FILE")]
    record: PathBuf,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    argv: Vec<String>,
}

fn parse_variable(written: &str) -> Result<(String, String), String> {
    match written.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("must be a variable such as LANG=C".to_owned()),
    }
}

/// Why a program has ended, in the words of its record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EndedBy {
    Itself,
    /// Its time had come.
    Until,
    /// We were told to end: the run is over.
    Signal,
    /// Its host lost its power.
    Power,
}

impl EndedBy {
    fn word(self) -> &'static str {
        match self {
            Self::Itself => "itself",
            Self::Until => "until",
            Self::Signal => "signal",
            Self::Power => "power",
        }
    }
}

/// A program that has ended; times in nanoseconds after the epoch.
struct Ended {
    start_ns: i64,
    end_ns: i64,
    by: EndedBy,
    status: ExitStatus,
    /// Ports that others wait for, and on which nobody listened.
    missed: Vec<u16>,
}

/// Runs the program. It fails where the program does.
pub fn program(arguments: &ProgramArgs, epoch_ns: i64) -> Result<(), Failure> {
    let record = |ended: Option<&Ended>| {
        write_record(&arguments.record, ended)
            .map_err(|error| system(&arguments.record.display().to_string(), &error))
    };
    record(None)?;
    let meeting = Meeting::open(&arguments.rendezvous)
        .map_err(|error| system(&arguments.rendezvous.display().to_string(), &error))?;
    let mut run = Run {
        arguments,
        epoch_ns,
        meeting,
        waiter: Waiter::new().map_err(|error| system("its signals", &error))?,
    };
    if !run
        .wait_for_start()
        .map_err(|error| system("wait", &error))?
    {
        return Ok(());
    }
    let child = start(arguments)?;
    let ended = run
        .follow(child)
        .map_err(|error| system(&arguments.argv[0], &error))?;
    record(Some(&ended))?;
    judge(arguments, &ended)?;
    let sign = Sign::ended(&arguments.name);
    run.meeting
        .show(&sign)
        .map_err(|error| system("tell the other programs", &error))
}

fn judge(arguments: &ProgramArgs, ended: &Ended) -> Result<(), Failure> {
    let name = &arguments.name;
    if ended.by != EndedBy::Itself {
        return Ok(());
    }
    if ended.status.code() != Some(i32::from(arguments.status)) {
        return Err(Failure::System(format!(
            "{name} ended with {}; exit {} was expected",
            words(ended.status),
            arguments.status
        )));
    }
    match ended.missed.first() {
        None => Ok(()),
        Some(port) => Err(Failure::System(format!(
            "{name} ended before anybody listened on TCP port {port}, which another program waits for"
        ))),
    }
}

fn words(status: ExitStatus) -> String {
    match status.signal() {
        Some(signal) => format!("signal {signal}"),
        None => format!("exit {}", status.code().unwrap_or_default()),
    }
}

/// Starts the program as the leader of a process group, which is ended with it.
fn start(arguments: &ProgramArgs) -> Result<Child, Failure> {
    let mut command = Command::new(&arguments.argv[0]);
    command
        .args(&arguments.argv[1..])
        .envs(arguments.environment.iter().cloned())
        .stdin(Stdio::null())
        .process_group(0);
    if let Some(path) = &arguments.output {
        let output = create(path).map_err(|error| system(&path.display().to_string(), &error))?;
        command.stdout(output);
    }
    sys::give_signals_back(&mut command);
    command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::System(format!(
            "{}: this node has no such program; `packages` names the Debian packages that a program needs",
            arguments.argv[0]
        )),
        _ => system(&arguments.argv[0], &error),
    })
}

fn create(path: &Path) -> io::Result<File> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    File::create(path)
}

fn write_record(path: &Path, ended: Option<&Ended>) -> io::Result<()> {
    let row = match ended {
        None => ",,,\n".to_owned(),
        Some(ended) => format!(
            "{},{},{},{}\n",
            ended.start_ns,
            ended.end_ns,
            ended.by.word(),
            words(ended.status)
        ),
    };
    io::Write::write_all(&mut create(path)?, format!("{RECORD_HEAD}{row}").as_bytes())
}

struct Run<'a> {
    arguments: &'a ProgramArgs,
    epoch_ns: i64,
    meeting: Meeting,
    waiter: Waiter,
}

impl Run<'_> {
    /// Waits for the program's time, and for what it waits for; `false`: it is not to start any more.
    fn wait_for_start(&mut self) -> io::Result<bool> {
        let at_ns = self.epoch_ns.saturating_add(self.arguments.at_ns);
        if !self.waiter.sleep_until(at_ns)? {
            return Ok(false);
        }
        let until_ns = self.arguments.until_ns;
        if let Some(until_ns) = until_ns {
            self.waiter.arm(self.epoch_ns.saturating_add(until_ns))?;
        }
        while !self.meeting.has_all(&self.arguments.after) {
            match self.waiter.wait(self.meeting.changes())? {
                Wake::Readable => self.meeting.take_changes()?,
                Wake::Signal(_) | Wake::Due => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Follows the program to its end, which is at its time at the latest.
    fn follow(&mut self, mut child: Child) -> io::Result<Ended> {
        let start_ns = self.now_ns();
        let group = Pid::from_raw(child.id() as libc::pid_t);
        let end: OwnedFd = sys::process_descriptor(child.id())?;
        let mut quiet = self.arguments.announce.clone();
        let mut by = EndedBy::Itself;
        let mut kill_at_ns = None;
        loop {
            self.arm(&quiet, by, kill_at_ns)?;
            let asked = match self.waiter.wait(&end)? {
                Wake::Readable => break,
                Wake::Due => {
                    self.announce(&mut quiet)?;
                    let now_ns = self.now_ns();
                    if kill_at_ns.is_some_and(|at_ns| now_ns >= at_ns) {
                        kill_group(group, Signal::SIGKILL);
                        kill_at_ns = Some(i64::MAX);
                    }
                    let is_over = self.arguments.until_ns.is_some_and(|at_ns| now_ns >= at_ns);
                    (is_over && by == EndedBy::Itself).then_some(EndedBy::Until)
                }
                Wake::Signal(Termination::Told) => Some(EndedBy::Signal),
                Wake::Signal(Termination::PowerLost) => Some(EndedBy::Power),
            };
            if let Some(asked) = asked {
                by = asked;
                kill_at_ns = Some(self.now_ns().saturating_add(GRACE_NS));
                kill_group(
                    group,
                    if asked == EndedBy::Power {
                        Signal::SIGKILL
                    } else {
                        Signal::SIGTERM
                    },
                );
            }
        }
        self.announce(&mut quiet)?;
        let end_ns = self.now_ns();
        Ok(Ended {
            start_ns,
            end_ns,
            by,
            status: child.wait()?,
            missed: quiet,
        })
    }

    fn now_ns(&self) -> i64 {
        wakeups::monotonic_ns() - self.epoch_ns
    }

    /// Sets the timer for what comes next: a look at the ports, the program's time, the end of our patience.
    fn arm(&mut self, quiet: &[u16], by: EndedBy, kill_at_ns: Option<i64>) -> io::Result<()> {
        let look = (!quiet.is_empty()).then(|| self.now_ns() + LOOK_NS);
        let until = self.arguments.until_ns.filter(|_| by == EndedBy::Itself);
        let kill = kill_at_ns.filter(|&at_ns| at_ns != i64::MAX);
        match [look, until, kill].into_iter().flatten().min() {
            Some(at_ns) => self.waiter.arm(self.epoch_ns.saturating_add(at_ns)),
            None => Ok(()),
        }
    }

    /// Tells the others of the ports on which somebody listens by now; those that are left stay in `quiet`.
    fn announce(&self, quiet: &mut Vec<u16>) -> io::Result<()> {
        if quiet.is_empty() {
            return Ok(());
        }
        let open = listening::ports()?;
        for &port in quiet.iter().filter(|port| open.contains(port)) {
            let sign = Sign::listens(&self.arguments.name, port);
            self.meeting.show(&sign)?;
        }
        quiet.retain(|port| !open.contains(port));
        Ok(())
    }
}

/// Sends a signal to a program and to those that it started. One that has just ended is waited for next.
fn kill_group(group: Pid, signal: Signal) {
    let _ = killpg(group, signal);
}
