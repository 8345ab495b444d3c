//! Samples queues, TCP connections, interfaces and switches over netlink at fixed times and writes CSV. The file
//! formats stand in `probes/README.md`.
//!
//! One process, one thread: a machine in virtual time has one CPU, and each system call in it costs microseconds of
//! wall clock time. So requests are built once, sent in batches, answered in batches, and nothing is allocated for a
//! sample.

mod config;
#[cfg(test)]
mod fixtures;
mod inet_diag;
mod interface;
mod links;
mod namespace;
mod ports;
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

use config::{Config, Handle, Interfaces, Queues};
use interface::InterfaceQuery;
use ports::{PortSampler, PortSpec};
use queue::QueueQuery;
use schedule::{common_period, DueTimes, Punctuality, Timer, Wake};
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

/// One part of the configuration at work.
pub trait Probe {
    /// Takes a sample; a row is written if it differs from the row before, and always in the last sample. `time_ns`
    /// counts from the epoch.
    fn sample(&mut self, time_ns: u64, last: bool) -> Result<(), String>;

    /// Writes what is buffered.
    fn finish(&mut self) -> Result<(), String>;
}

struct Part {
    probe: Box<dyn Probe>,
    interval_ns: u64,
    due: DueTimes,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let started = start(&arguments);
    let (mut parts, timer) = match started {
        Ok(started) => started,
        Err(error) => return fail(&error, 2),
    };
    let sampled = run(&mut parts, &timer);
    // Even after an error everything that was measured is written.
    let written = parts
        .iter_mut()
        .map(|part| part.probe.finish())
        .fold(Ok(()), Result::and);
    match sampled.and_then(|punctuality| written.map(|()| punctuality)) {
        Ok(punctuality) => {
            eprintln!("{punctuality}");
            ExitCode::SUCCESS
        }
        Err(error) => fail(&error, 1),
    }
}

fn fail(error: &str, status: u8) -> ExitCode {
    eprintln!("sampler: {error}");
    ExitCode::from(status)
}

fn start(arguments: &Arguments) -> Result<(Vec<Part>, Timer), String> {
    let epoch_ns = read_epoch(std::env::var(EPOCH_VARIABLE).ok().as_deref())?;
    let config = config::read_config(&arguments.config)?;
    let parts = open_parts(&config, epoch_ns)
        .map_err(|error| format!("{}: {error}", arguments.config.display()))?;
    let period_ns = common_period(parts.iter().map(|part| part.interval_ns));
    let timer = Timer::start(epoch_ns, period_ns).map_err(|error| format!("timer: {error}"))?;
    Ok((parts, timer))
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

/// Samples until SIGTERM or SIGINT.
fn run(parts: &mut [Part], timer: &Timer) -> Result<Punctuality, String> {
    let period_ns = common_period(parts.iter().map(|part| part.interval_ns));
    let mut expirations = 0;
    let mut punctuality = Punctuality::default();
    while let Wake::Expired(count) = timer.wait().map_err(|error| format!("timer: {error}"))? {
        expirations += count;
        let now_ns = (expirations - 1) * period_ns;
        for part in &mut *parts {
            if let Some(due) = part.due.take(now_ns) {
                part.probe.sample(due.time_ns, false)?;
                punctuality.count(&due, || timer.now_ns().unwrap_or(0));
            }
        }
    }
    for part in parts {
        if let Some(now_ns) = timer.now_ns() {
            part.probe.sample(now_ns, true)?;
        }
    }
    Ok(punctuality)
}
