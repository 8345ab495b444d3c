//! `replay`: plays the flows of one host of a lab and logs a row a flow. Contract: `traffic/README.md`.

mod clock;
mod connection;
mod counters;
mod errno;
mod ethernet;
mod exec;
mod failure;
mod flows;
mod head;
mod homa;
mod hosts;
mod listening;
mod log;
mod meeting;
mod mptcp;
mod network;
mod pause_storm;
mod player;
mod problems;
mod program;
mod receiver;
mod rendezvous;
mod roce;
mod schedule;
mod sender;
mod sys;
mod table;
mod trace;
mod wait;
mod wakeups;
mod window;
mod window_ipv6;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use clock::Clock;
use exec::ExecArgs;
use failure::{system, Failure};
use flows::Flows;
use hosts::Hosts;
use log::FlowLog;
use network::{Local, Network};
use pause_storm::PauseStormArgs;
use player::Player;
use problems::Problems;
use program::ProgramArgs;
use rendezvous::Rendezvous;
use trace::Trace;

/// Time zero of the run on CLOCK_MONOTONIC, in nanoseconds.
const EPOCH_VARIABLE: &str = "FABRICLAB_EPOCH_NS";
/// Input or arguments are wrong.
const EXIT_WRONG_INPUT: u8 = 2;

/// Replays a flow trace on one host: plays the flows that name the host, listens for the others, and logs a row for
/// each flow's side.
///
/// Times count from the epoch, CLOCK_MONOTONIC nanoseconds in FABRICLAB_EPOCH_NS. It ends when all flows of the host
/// have ended, at --until-ns, or on SIGTERM or SIGINT; what is open then is logged as it stands, on SIGPWR (the host
/// goes down) as failed.
///
/// Exit status: 0 done (flows that failed say so in the log), 1 the system failed, 2 wrong input or arguments.
#[derive(Parser)]
#[command(
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    arg_required_else_help = true
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    play: Option<PlayArgs>,
}

#[derive(Subcommand)]
enum Command {
    /// Checks a trace and says what is wrong with it, without playing it
    Check(Inputs),
    /// Runs a program from one time after the epoch to another, and logs when that was and what it wrote
    Exec(ExecArgs),
    /// Runs a program of a lab's own when what it waits for is there, fails where it does, and logs when it ran
    Program(ProgramArgs),
    /// Sends pause frames of priority flow control from one time after the epoch to another, as a broken NIC does
    PauseStorm(PauseStormArgs),
}

#[derive(Args)]
struct Inputs {
    /// Flow trace, CSV with the version line "# fabriclab-trace-1"
    #[arg(long, value_name = "FILE")]
    trace: PathBuf,
    /// Addresses of the hosts, CSV host,address,ipv6 with the version line "# fabriclab-hosts-1"
    #[arg(long, value_name = "FILE")]
    hosts: PathBuf,
}

#[derive(Args)]
struct PlayArgs {
    /// The host whose flows are played, by its name in the hosts file
    #[arg(long, value_name = "NAME")]
    host: String,
    /// Flow trace, CSV with the version line "# fabriclab-trace-1"
    #[arg(long, value_name = "FILE")]
    trace: PathBuf,
    /// Addresses of the hosts, CSV host,address,ipv6 with the version line "# fabriclab-hosts-1"
    #[arg(long, value_name = "FILE")]
    hosts: PathBuf,
    /// Flow log to write, CSV
    #[arg(long, value_name = "FILE")]
    log: PathBuf,
    /// End at this time, nanoseconds after the epoch
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
    until_ns: Option<i64>,
    /// Directory in which hosts meet, the same for all; needed where a flow waits for what other hosts receive
    #[arg(long, value_name = "DIR")]
    rendezvous: Option<PathBuf>,
    /// Port of all hosts; further combinations of transport, congestion control and version of IP have the next ones
    #[arg(long, value_name = "N", default_value_t = 7000, value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,
    /// Listen on the host's own address only, and connect from it, so that several hosts can share a network namespace
    /// (default: all addresses)
    #[arg(long)]
    bind: bool,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match (cli.command, cli.play) {
        (Some(Command::Check(inputs)), _) => check(&inputs),
        (Some(Command::Exec(arguments)), _) => {
            read_epoch().and_then(|epoch_ns| exec::exec(&arguments, epoch_ns))
        }
        (Some(Command::Program(arguments)), _) => {
            read_epoch().and_then(|epoch_ns| program::program(&arguments, epoch_ns))
        }
        (Some(Command::PauseStorm(arguments)), _) => {
            read_epoch().and_then(|epoch_ns| pause_storm::pause_storm(&arguments, epoch_ns))
        }
        (None, Some(arguments)) => play(&arguments),
        (None, None) => Err(Failure::WrongInput(
            "replay: --host, --trace, --hosts and --log are required; see replay --help\n"
                .to_owned(),
        )),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::WrongInput(message)) => {
            eprint!("{message}");
            ExitCode::from(EXIT_WRONG_INPUT)
        }
        Err(Failure::System(message)) => {
            eprintln!("replay: {message}");
            ExitCode::FAILURE
        }
    }
}

fn check(inputs: &Inputs) -> Result<(), Failure> {
    let hosts = read_hosts(&inputs.hosts)?;
    trace::check(&inputs.trace, &hosts).map_err(wrong)
}

fn play(arguments: &PlayArgs) -> Result<(), Failure> {
    let epoch_ns = read_epoch()?;
    let hosts = read_hosts(&arguments.hosts)?;
    let Some(host) = hosts.find(&arguments.host) else {
        let right = hosts.must_be_known(&arguments.host);
        return Err(Failure::WrongInput(format!(
            "replay: --host is \"{}\": {right}\n",
            arguments.host
        )));
    };
    let trace = trace::read(&arguments.trace, &hosts, host).map_err(wrong)?;
    let rendezvous = open_rendezvous(arguments, &trace)?;
    let log = FlowLog::create(&arguments.log)
        .map_err(|error| system(&arguments.log.display().to_string(), &error))?;
    let limit = sys::raise_descriptor_limit()
        .map_err(|error| system("the limit of open descriptors", &error))?;
    let local = Local {
        addresses: hosts.addresses(host),
        port: arguments.port,
        bind: arguments.bind,
    };
    let network = Network::listen(&trace, local, limit)
        .map_err(|error| Failure::System(error.to_string()))?;
    let clock = Clock::from_epoch(epoch_ns);
    if clock.now_ns() > 0 {
        eprintln!(
            "replay: ready {} ns after the epoch: flows that were due start late",
            clock.now_ns()
        );
    }
    clock.forget();
    let player = Player::new(
        hosts,
        Flows::new(trace, log),
        network,
        rendezvous,
        clock,
        arguments.until_ns,
    );
    player
        .and_then(Player::run)
        .map_err(|error| Failure::System(error.to_string()))
}

/// Opens the place where hosts meet, if this host's flows wait for what others receive, or others' for what it does.
fn open_rendezvous(arguments: &PlayArgs, trace: &Trace) -> Result<Option<Rendezvous>, Failure> {
    let crossing = trace
        .barriers
        .values()
        .filter(|barrier| barrier.crosses_hosts());
    let Some(line) = crossing.map(|barrier| barrier.line).min() else {
        return Ok(None);
    };
    let (file, host) = (arguments.trace.display(), &arguments.host);
    let Some(directory) = &arguments.rendezvous else {
        return Err(Failure::WrongInput(format!(
            "{file}:{line}: after names a group that several hosts take part in, {host} among them: replay needs \
             --rendezvous, a directory that all hosts share\n"
        )));
    };
    match Rendezvous::open(directory, host) {
        Ok(rendezvous) => Ok(Some(rendezvous)),
        Err(error) => Err(Failure::System(format!(
            "--rendezvous {}: {error}: must be a writable directory that all hosts share, as {file}:{line} waits for a \
             group that several hosts take part in",
            directory.display()
        ))),
    }
}

fn read_hosts(path: &Path) -> Result<Hosts, Failure> {
    Hosts::read(path).map_err(wrong)
}

fn wrong(problems: Problems) -> Failure {
    Failure::WrongInput(problems.to_string())
}

fn read_epoch() -> Result<i64, Failure> {
    let right = "must be the epoch, a whole number of nanoseconds on CLOCK_MONOTONIC";
    let written = std::env::var(EPOCH_VARIABLE).map_err(|_| {
        Failure::WrongInput(format!("replay: {EPOCH_VARIABLE} is not set: {right}\n"))
    })?;
    let epoch_ns = written.parse().ok().filter(|&ns: &i64| ns >= 0);
    epoch_ns.ok_or_else(|| {
        Failure::WrongInput(format!(
            "replay: {EPOCH_VARIABLE} is \"{written}\": {right}\n"
        ))
    })
}
