//! Ports whose samples the kernel takes itself. The last sample is asked for as all others are where it does not.

use std::os::fd::{AsFd, BorrowedFd};

use super::{Port, PortSampler, Query};
use crate::probe::Probe;
use crate::recorder::{Record, Recorder};
use crate::series::Series;

struct RecordedPorts<Q, const N: usize> {
    sampler: PortSampler<Q, N>,
    recorder: Recorder,
    rows: Rows,
}

/// The rows of one time, which are written when it is over.
struct Rows {
    /// For each port the one in whose rows its values are: itself, or the port that it is a part of.
    owners: Vec<usize>,
    time_ns: u64,
    /// The ports with new values, in their order.
    due: Vec<usize>,
}

/// Lets the kernel take the samples, or record each change if the interval is 0; where it can't, the sampler goes on
/// asking for each, which it can't for changes.
pub fn record<Q: Query<N> + 'static, const N: usize>(
    mut sampler: PortSampler<Q, N>,
    epoch_ns: u64,
    interval_ns: u64,
) -> Result<Box<dyn Probe>, String> {
    let Some(mut recorder) = Recorder::open()? else {
        return ask(sampler, interval_ns);
    };
    let namespaces = sampler.namespaces();
    for (port, netns) in sampler.ports.iter().zip(namespaces) {
        let Some(index) = port.interface_index else {
            return ask(sampler, interval_ns);
        };
        recorder.add(netns.as_deref(), port.query.item(index))?;
    }
    recorder.start(epoch_ns, interval_ns)?;
    let ports = &mut sampler.ports;
    ports.iter_mut().for_each(|port| port.samples.push(None));
    let rows = Rows {
        owners: owners(ports),
        time_ns: 0,
        due: Vec::new(),
    };
    Ok(Box::new(RecordedPorts {
        sampler,
        recorder,
        rows,
    }))
}

fn ask<Q: Query<N> + 'static, const N: usize>(
    sampler: PortSampler<Q, N>,
    interval_ns: u64,
) -> Result<Box<dyn Probe>, String> {
    match interval_ns {
        0 => Err(
            "queues.interval_ns: 0 (each change) is for the virtual machine, whose kernel records \
             changes itself; write 10000 (10 us) to 1000000000 (1 s) nanoseconds"
                .to_owned(),
        ),
        _ => Ok(Box::new(sampler)),
    }
}

impl<Q: Query<N>, const N: usize> Probe for RecordedPorts<Q, N> {
    fn sample(&mut self, time_ns: u64, last: bool) -> Result<(), String> {
        self.drain()?;
        if !last {
            return self.sampler.series.flush_by_time(time_ns);
        }
        let ports = &mut self.sampler.ports;
        ports.iter_mut().for_each(|port| port.samples.clear());
        self.sampler.sample(time_ns, true)
    }

    fn drain(&mut self) -> Result<(), String> {
        let Self {
            sampler,
            recorder,
            rows,
        } = self;
        let PortSampler { ports, series, .. } = sampler;
        recorder.read(|record| rows.take(&record, ports, series))?;
        rows.write(ports, series)
    }

    fn recorder(&self) -> Option<BorrowedFd<'_>> {
        Some(self.recorder.as_fd())
    }

    fn finish(&mut self) -> Result<(), String> {
        self.sampler.finish()
    }
}

impl Rows {
    fn take<Q: Query<N>, const N: usize>(
        &mut self,
        record: &Record<'_>,
        ports: &mut [Port<Q, N>],
        series: &mut Series,
    ) -> Result<(), String> {
        if record.time_ns != self.time_ns {
            self.write(ports, series)?;
            self.time_ns = record.time_ns;
        }
        let port = &mut ports[record.item];
        port.samples[0] = port.query.read(record.payload);
        let owner = self.owners[record.item];
        if self.due.last() != Some(&owner) {
            self.due.push(owner);
        }
        Ok(())
    }

    fn write<Q: Query<N>, const N: usize>(
        &mut self,
        ports: &mut [Port<Q, N>],
        series: &mut Series,
    ) -> Result<(), String> {
        for owner in self.due.drain(..) {
            let (port, others) = ports[owner..].split_first_mut().expect("it is a port");
            let parts = &others[..port.parts.unwrap_or(0)];
            port.write_row(0, self.time_ns, parts, series)?;
        }
        Ok(())
    }
}

fn owners<Q, const N: usize>(ports: &[Port<Q, N>]) -> Vec<usize> {
    let mut owners = Vec::with_capacity(ports.len());
    while owners.len() < ports.len() {
        let owner = owners.len();
        let parts = ports[owner].parts.unwrap_or(0);
        owners.extend(std::iter::repeat_n(owner, 1 + parts));
    }
    owners
}
