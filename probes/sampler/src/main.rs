//! Samples queues, TCP connections, interfaces and switches over netlink at fixed times, takes down those that end, and
//! writes CSV. The file formats stand in `probes/README.md`.
//!
//! One process, one thread: a machine in virtual time has one CPU, and each system call in it costs microseconds of
//! wall clock time. So requests are built once, sent in batches, answered in batches, and nothing is allocated for a
//! sample.

mod config;
mod connections;
#[cfg(test)]
mod fixtures;
mod inet_diag;
mod interface;
mod links;
mod namespace;
mod ports;
mod probe;
mod queue;
mod schedule;
mod series;
mod subflow;
mod switch;
mod tcp;

use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;

use clap::Parser;
use nix::sys::resource::{getrlimit, setrlimit, Resource};

use config::{Config, Handle, Interfaces, Queues};
use connections::ConnectionWatcher;
use interface::InterfaceQuery;
use ports::{PortSampler, PortSpec};
use probe::Probe;
use queue::QueueQuery;
use schedule::{common_period, DueTimes, Punctuality, Timer, Wake, Watched};
use switch::SwitchSampler;
use tcp::TcpSampler;

/// The epoch, from which all times count: CLOCK_MONOTONIC in nanoseconds (see `images/machine/README.md`).
const EPOCH_VARIABLE: &str = "FABRICLAB_EPOCH_NS";

/// Samples queues, TCP connections, interfaces and switches over netlink at fixed times and writes CSV.
///
/// The epoch comes in FABRICLAB_EPOCH_NS (CLOCK_MONOTONIC, nanoseconds). SIGTERM takes a last sample and ends with 0; a
/// wrong configuration ends with 2, an error while sampling with 1.
#[derive(Parser)]
#[command(name = "sampler", version)]
struct Arguments {
    /// What to sample, how often and to where: JSON, format fabriclab-sampler-1
    #[arg(long)]
    config: PathBuf,
}

struct Part {
    probe: Box<dyn Probe>,
    interval_ns: u64,
    due: DueTimes,
}

/// Connections that are told when they end, and what wakes the sampler then.
struct Told {
    watcher: ConnectionWatcher,
    wakes: Watched,
}

/// All that the configuration asks for, at work.
struct Sampler {
    parts: Vec<Part>,
    told: Option<Told>,
    timer: Timer,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    raise_descriptor_limit();
    let mut sampler = match Sampler::start(&arguments) {
        Ok(sampler) => sampler,
        Err(error) => return fail(&error, 2),
    };
    let sampled = sampler.run();
    // Even after an error everything that was measured is written.
    let written = sampler.finish();
    match sampled.and_then(|punctuality| written.map(|()| punctuality)) {
        Ok(punctuality) => {
            eprintln!("{punctuality}");
            ExitCode::SUCCESS
        }
        Err(error) => fail(&error, 1),
    }
}

/// Every node has a socket of its own, and a fabric may have more nodes than the usual limit. Where it can't be raised,
/// the socket that is one too many is told.
fn raise_descriptor_limit() {
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

fn fail(error: &str, status: u8) -> ExitCode {
    eprintln!("sampler: {error}");
    ExitCode::from(status)
}

fn read_epoch(value: Option<&str>) -> Result<u64, String> {
    let wanted = "set it to the epoch, CLOCK_MONOTONIC in nanoseconds, 1 or more";
    let value = value.ok_or_else(|| format!("{EPOCH_VARIABLE} is not set: {wanted}"))?;
    // A timer that is set to 0 is off.
    value
        .parse()
        .ok()
        .filter(|epoch_ns| *epoch_ns > 0)
        .ok_or_else(|| format!("{EPOCH_VARIABLE} is `{value}`: {wanted}"))
}

fn open_parts(config: &Config, epoch_ns: u64) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    if let Some(queues) = &config.queues {
        let probe = PortSampler::open(queue_ports(queues), &queues.output)?;
        parts.push(Part::new(probe, queues.interval_ns.0));
    }
    if let Some(tcp) = &config.tcp {
        parts.push(Part::new(TcpSampler::open(tcp)?, tcp.interval_ns.0));
    }
    if let Some(interfaces) = &config.interfaces {
        let probe = PortSampler::open(interface_ports(interfaces), &interfaces.output)?;
        parts.push(Part::new(probe, interfaces.interval_ns.0));
    }
    if let Some(switches) = &config.switches {
        let probe = SwitchSampler::open(switches, epoch_ns)?;
        parts.push(Part::new(probe, switches.interval_ns.0));
    }
    Ok(parts)
}

fn queue_ports(queues: &Queues) -> Vec<PortSpec<'_, QueueQuery>> {
    let marks = Rc::new(queues.marks.clone());
    let query = |handle: Handle| QueueQuery {
        handle,
        marks: Rc::clone(&marks),
    };
    queues
        .ports
        .iter()
        .enumerate()
        .map(|(index, port)| PortSpec {
            key: format!("queues.ports[{index}]"),
            name: &port.name.0,
            netns: port.netns.as_deref(),
            interface: &port.interface.0,
            query: query(port.handle),
            parts: port
                .leaves
                .as_ref()
                .map(|leaves| leaves.iter().copied().map(query).collect()),
        })
        .collect()
}

fn interface_ports(interfaces: &Interfaces) -> Vec<PortSpec<'_, InterfaceQuery>> {
    interfaces
        .ports
        .iter()
        .enumerate()
        .map(|(index, port)| PortSpec {
            key: format!("interfaces.ports[{index}]"),
            name: &port.name.0,
            netns: port.netns.as_deref(),
            interface: &port.interface.0,
            query: InterfaceQuery,
            parts: None,
        })
        .collect()
}

impl Part {
    fn new(probe: impl Probe + 'static, interval_ns: u64) -> Self {
        Self {
            probe: Box::new(probe),
            interval_ns,
            due: DueTimes::new(interval_ns),
        }
    }
}

impl Sampler {
    fn start(arguments: &Arguments) -> Result<Self, String> {
        let epoch_ns = read_epoch(std::env::var(EPOCH_VARIABLE).ok().as_deref())?;
        let config = config::read_config(&arguments.config)?;
        let named = |error| format!("{}: {error}", arguments.config.display());
        let parts = open_parts(&config, epoch_ns).map_err(named)?;
        let watcher = config.connections.as_ref().map(ConnectionWatcher::open);
        let watcher = watcher.transpose().map_err(named)?;
        let timer = Timer::start(epoch_ns, period_of(&parts)).map_err(of_timer)?;
        let told = watcher.map(|watcher| Told::new(watcher, &timer));
        Ok(Self {
            told: told.transpose()?,
            parts,
            timer,
        })
    }

    /// Samples until SIGTERM or SIGINT.
    fn run(&mut self) -> Result<Punctuality, String> {
        let period_ns = period_of(&self.parts);
        let mut expirations = 0;
        let mut punctuality = Punctuality::default();
        loop {
            match self.wait()? {
                Wake::Expired(count) => {
                    expirations += count;
                    self.sample((expirations - 1) * period_ns, &mut punctuality)?;
                }
                Wake::Readable(sockets) => {
                    if let Some(Told { watcher, .. }) = &mut self.told {
                        watcher.take(&sockets, self.timer.since_epoch_ns())?;
                    }
                }
                Wake::Stop => break,
            }
        }
        for part in &mut self.parts {
            if let Some(now_ns) = self.timer.now_ns() {
                part.probe.sample(now_ns, true)?;
            }
        }
        if let Some(Told { watcher, .. }) = &mut self.told {
            watcher.take_last(|| self.timer.since_epoch_ns())?;
        }
        Ok(punctuality)
    }

    fn wait(&self) -> Result<Wake, String> {
        let woken = match &self.told {
            Some(Told { wakes, .. }) => self.timer.wait_beside(wakes),
            None => self.timer.wait(),
        };
        woken.map_err(of_timer)
    }

    fn sample(&mut self, now_ns: u64, punctuality: &mut Punctuality) -> Result<(), String> {
        for part in &mut self.parts {
            if let Some(due) = part.due.take(now_ns) {
                part.probe.sample(due.time_ns, false)?;
                punctuality.count(&due, || self.timer.now_ns().unwrap_or(0));
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), String> {
        let connections = match &mut self.told {
            Some(Told { watcher, .. }) => watcher.finish(),
            None => Ok(()),
        };
        self.parts
            .iter_mut()
            .map(|part| part.probe.finish())
            .fold(connections, Result::and)
    }
}

impl Told {
    fn new(watcher: ConnectionWatcher, timer: &Timer) -> Result<Self, String> {
        let wakes = Watched::new(timer, watcher.sockets()).map_err(of_timer)?;
        Ok(Self { watcher, wakes })
    }
}

fn of_timer(error: std::io::Error) -> String {
    format!("timer: {error}")
}

/// 0 where nothing is sampled: then the timer expires once, at the epoch.
fn period_of(parts: &[Part]) -> u64 {
    common_period(parts.iter().map(|part| part.interval_ns))
}
