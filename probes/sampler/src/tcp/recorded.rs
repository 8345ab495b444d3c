//! Connections whose samples the kernel takes itself. The last sample is asked for as all others are where it does not.

use std::os::fd::{AsFd, BorrowedFd};

use super::{TcpSampler, MAX_FLOWS_IN_KERNEL};
use crate::inet_diag::read_socket;
use crate::probe::Probe;
use crate::recorder::{Item, Record, Recorder};

struct RecordedConnections {
    sampler: TcpSampler,
    recorder: Recorder,
}

/// Lets the kernel take the samples; where it can't, the sampler goes on asking for each.
pub fn record(
    sampler: TcpSampler,
    epoch_ns: u64,
    interval_ns: u64,
) -> Result<Box<dyn Probe>, String> {
    let Some(mut recorder) = Recorder::open()? else {
        return Ok(Box::new(sampler));
    };
    for node in &sampler.nodes {
        recorder.add(node.netns.as_deref(), Item::Connections)?;
    }
    let marks = sampler.marks.as_deref().unwrap_or_default();
    if marks.len() <= MAX_FLOWS_IN_KERNEL {
        for mark in marks {
            recorder.name_mark(*mark)?;
        }
    }
    recorder.start(epoch_ns, interval_ns)?;
    Ok(Box::new(RecordedConnections { sampler, recorder }))
}

impl Probe for RecordedConnections {
    fn sample(&mut self, time_ns: u64, last: bool) -> Result<(), String> {
        self.drain()?;
        match last {
            true => self.sampler.sample(time_ns, true),
            false => self.sampler.series.flush_by_time(time_ns),
        }
    }

    fn drain(&mut self) -> Result<(), String> {
        let Self { sampler, recorder } = self;
        recorder.read(|record| sampler.take_record(&record))
    }

    fn recorder(&self) -> Option<BorrowedFd<'_>> {
        Some(self.recorder.as_fd())
    }

    fn finish(&mut self) -> Result<(), String> {
        self.sampler.finish()
    }
}

impl TcpSampler {
    /// Takes a connection, or writes the rows of a node of which all have been taken.
    fn take_record(&mut self, record: &Record<'_>) -> Result<(), String> {
        if !record.payload.is_empty() {
            self.sockets.extend(read_socket(record.payload));
            return Ok(());
        }
        let node = &mut self.nodes[record.item];
        let marks = self.marks.as_deref();
        let when = (record.time_ns, false);
        let taken = node.take(&mut self.sockets, marks, when, &mut self.series);
        self.sockets.clear();
        taken
    }
}
