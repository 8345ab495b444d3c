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
mod recorder;
mod schedule;
mod series;
mod subflow;
mod switch;
mod tcp;

use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;

use clap::Parser;
use nix::sys::resource::{getrlimit, setrlimit, Resource};

use config::{Config, Handle, Interfaces, Queues};
use connections::ConnectionWatcher;
use interface::InterfaceQuery;
use ports::{recorded, PortSampler, PortSpec};
use probe::Probe;
use queue::QueueQuery;
use schedule::{common_period, DueTimes, Punctuality, Timer, Wake, Watched};
use switch::SwitchSampler;
use tcp::TcpSampler;

/// The epoch, from which all times count: CLOCK_MONOTONIC in nanoseconds (see `images/machine/README.md`).
const EPOCH_VARIABLE: &str = "FABRICLAB_EPOCH_NS";

/// What the kernel has recorded is taken at the latest after this time.
const TAKE_NS: u64 = 250_000_000;

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
    /// When to sample, or to take the samples that the kernel has taken.
    due: DueTimes,
}

/// All that the configuration asks for, at work.
struct Sampler {
    parts: Vec<Part>,
    period_ns: u64,
    watcher: Option<ConnectionWatcher>,
    /// What wakes the sampler beside its timer: connections that end, then the kernel's recorders.
    wakes: Option<Watched>,
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
        let sampler = PortSampler::open(queue_ports(queues), &queues.output)?;
        let interval_ns = queues.interval_ns.0;
        let probe = recorded::record(sampler, epoch_ns, interval_ns)?;
        parts.push(Part::new(probe, interval_ns));
    }
    if let Some(tcp) = &config.tcp {
        let interval_ns = tcp.interval_ns.0;
        let probe = tcp::recorded::record(TcpSampler::open(tcp)?, epoch_ns, interval_ns)?;
        parts.push(Part::new(probe, interval_ns));
    }
    if let Some(interfaces) = &config.interfaces {
        let sampler = PortSampler::open(interface_ports(interfaces), &interfaces.output)?;
        let interval_ns = interfaces.interval_ns.0;
        let probe = recorded::record(sampler, epoch_ns, interval_ns)?;
        parts.push(Part::new(probe, interval_ns));
    }
    if let Some(switches) = &config.switches {
        let interval_ns = switches.interval_ns.0;
        let sampler = SwitchSampler::open(switches, epoch_ns)?;
        let probe = switch::recorded::record(sampler, epoch_ns, interval_ns)?;
        parts.push(Part::new(probe, interval_ns));
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
    fn new(probe: Box<dyn Probe>, interval_ns: u64) -> Self {
        Self {
            probe,
            interval_ns,
            due: DueTimes::new(interval_ns),
        }
    }

    fn wake_ns(&self) -> Option<u64> {
        self.probe.wake_ns(self.interval_ns)
    }

    fn is_recorded(&self) -> bool {
        self.probe.recorder().is_some()
    }
}

impl Sampler {
    fn start(arguments: &Arguments) -> Result<Self, String> {
        let epoch_ns = read_epoch(std::env::var(EPOCH_VARIABLE).ok().as_deref())?;
        let config = config::read_config(&arguments.config)?;
        let named = |error| format!("{}: {error}", arguments.config.display());
        let mut parts = open_parts(&config, epoch_ns).map_err(named)?;
        let watcher = config.connections.as_ref().map(ConnectionWatcher::open);
        let watcher = watcher.transpose().map_err(named)?;
        let period_ns = share_period(&mut parts);
        let timer = Timer::start(epoch_ns, period_ns).map_err(of_timer)?;
        Ok(Self {
            wakes: watch(&timer, watcher.as_ref(), &parts).map_err(of_timer)?,
            parts,
            period_ns,
            watcher,
            timer,
        })
    }

    /// Samples until SIGTERM or SIGINT.
    fn run(&mut self) -> Result<Punctuality, String> {
        let mut expirations = 0;
        let mut punctuality = Punctuality::default();
        loop {
            match self.wait()? {
                Wake::Expired(count) => {
                    expirations += count;
                    self.sample((expirations - 1) * self.period_ns, &mut punctuality)?;
                }
                Wake::Readable(numbers) => self.take(&numbers)?,
                Wake::Stop => break,
            }
        }
        for part in &mut self.parts {
            if let Some(now_ns) = self.timer.now_ns() {
                if part.is_recorded() && part.interval_ns > 0 {
                    punctuality.count_recorded(now_ns.div_ceil(part.interval_ns));
                }
                part.probe.sample(now_ns, true)?;
            }
        }
        if let Some(watcher) = &mut self.watcher {
            watcher.take_last(|| self.timer.since_epoch_ns())?;
        }
        Ok(punctuality)
    }

    fn wait(&self) -> Result<Wake, String> {
        let woken = match &self.wakes {
            Some(wakes) => self.timer.wait_beside(wakes),
            None => self.timer.wait(),
        };
        woken.map_err(of_timer)
    }

    fn sample(&mut self, now_ns: u64, punctuality: &mut Punctuality) -> Result<(), String> {
        for part in &mut self.parts {
            if let Some(due) = part.due.take(now_ns) {
                part.probe.sample(due.time_ns, false)?;
                if !part.is_recorded() {
                    punctuality.count(&due, || self.timer.now_ns().unwrap_or(0));
                }
            }
        }
        Ok(())
    }

    /// Takes what is readable, by the numbers that [`watch`] gave.
    fn take(&mut self, numbers: &[usize]) -> Result<(), String> {
        let mut sockets = 0;
        if let Some(watcher) = &mut self.watcher {
            sockets = watcher.sockets().count();
            let own: Vec<usize> = numbers.iter().copied().filter(|n| *n < sockets).collect();
            if !own.is_empty() {
                watcher.take(&own, self.timer.since_epoch_ns())?;
            }
        }
        let recorded = self.parts.iter_mut().filter(|part| part.is_recorded());
        recorded
            .enumerate()
            .filter(|(place, _)| numbers.contains(&(sockets + place)))
            .try_for_each(|(_, part)| part.probe.drain())
    }

    fn finish(&mut self) -> Result<(), String> {
        let connections = match &mut self.watcher {
            Some(watcher) => watcher.finish(),
            None => Ok(()),
        };
        self.parts
            .iter_mut()
            .map(|part| part.probe.finish())
            .fold(connections, Result::and)
    }
}

/// The timer, the sockets of connections that end, and the recorders, in this order; `None` where only the timer wakes.
fn watch(
    timer: &Timer,
    watcher: Option<&ConnectionWatcher>,
    parts: &[Part],
) -> std::io::Result<Option<Watched>> {
    let sockets = watcher.into_iter().flat_map(ConnectionWatcher::sockets);
    let recorders = parts.iter().filter_map(|part| part.probe.recorder());
    let all: Vec<BorrowedFd<'_>> = sockets.map(AsFd::as_fd).chain(recorders).collect();
    match all.is_empty() {
        true => Ok(None),
        false => Watched::new(timer, all.into_iter()).map(Some),
    }
}

fn of_timer(error: std::io::Error) -> String {
    format!("timer: {error}")
}

/// The period of the timer, which expires once, at the epoch, if that is 0. What the kernel records is taken now and
/// then, whenever the timer expires anyway, so that a machine that is killed keeps what was measured.
fn share_period(parts: &mut [Part]) -> u64 {
    let period_ns = common_period(parts.iter().filter_map(Part::wake_ns));
    let taken_ns = match period_ns {
        0 => TAKE_NS,
        _ => TAKE_NS.next_multiple_of(period_ns),
    };
    for part in parts.iter_mut() {
        part.due = DueTimes::new(part.wake_ns().unwrap_or(taken_ns));
    }
    match (period_ns, parts.iter().any(Part::is_recorded)) {
        (0, true) => taken_ns,
        _ => period_ns,
    }
}
