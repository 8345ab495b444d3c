//! Switches whose samples the kernel takes itself. The last sample is asked for as all others are where it does not.
//! Congestion events come by netlink in either case: the kernel sends them when they happen.

use std::os::fd::{AsFd, BorrowedFd};

use super::xstats::Reading;
use super::SwitchSampler;
use crate::probe::Probe;
use crate::recorder::{Item, Record, Recorder};

/// Events wait in a socket's buffer, which has to be emptied before it is full, but not for every sample.
const EVENTS_NS: u64 = 1_000_000;

struct RecordedSwitches {
    sampler: SwitchSampler,
    recorder: Recorder,
    rows: Rows,
    has_events: bool,
}

/// What ports told last, and the rows of one time, which are written when it is over.
struct Rows {
    readings: Vec<Reading>,
    time_ns: u64,
    /// The ports with new values, in their order.
    due: Vec<usize>,
}

/// Lets the kernel take the samples; where it can't, the sampler goes on asking for each.
pub fn record(
    mut sampler: SwitchSampler,
    epoch_ns: u64,
    interval_ns: u64,
) -> Result<Box<dyn Probe>, String> {
    let Some(mut recorder) = Recorder::open()? else {
        return Ok(Box::new(sampler));
    };
    for port in &sampler.ports {
        let Some(interface) = port.interface_index else {
            return Ok(Box::new(sampler));
        };
        let netns = sampler.switches[port.switch].netns.as_deref();
        recorder.add(netns, Item::SwitchPort { interface })?;
    }
    let has_events = sampler.find_events()?;
    recorder.start(epoch_ns, interval_ns)?;
    let rows = Rows {
        readings: sampler.ports.iter().map(|_| Reading::default()).collect(),
        time_ns: 0,
        due: Vec::new(),
    };
    Ok(Box::new(RecordedSwitches {
        sampler,
        recorder,
        rows,
        has_events,
    }))
}

impl Probe for RecordedSwitches {
    fn sample(&mut self, time_ns: u64, last: bool) -> Result<(), String> {
        self.drain()?;
        if last {
            return self.sampler.sample(time_ns, true);
        }
        self.sampler.take_events()?;
        self.sampler.flush_by_time(time_ns)
    }

    fn drain(&mut self) -> Result<(), String> {
        let Self {
            sampler,
            recorder,
            rows,
            ..
        } = self;
        recorder.read(|record| rows.take(&record, sampler))?;
        rows.write(sampler)
    }

    fn recorder(&self) -> Option<BorrowedFd<'_>> {
        Some(self.recorder.as_fd())
    }

    fn wake_ns(&self, interval_ns: u64) -> Option<u64> {
        self.has_events.then(|| interval_ns.max(EVENTS_NS))
    }

    fn finish(&mut self) -> Result<(), String> {
        self.sampler.finish()
    }
}

impl Rows {
    fn take(&mut self, record: &Record<'_>, sampler: &mut SwitchSampler) -> Result<(), String> {
        if record.time_ns != self.time_ns {
            self.write(sampler)?;
            self.time_ns = record.time_ns;
        }
        self.readings[record.item].take_part(record.payload);
        if self.due.last() != Some(&record.item) {
            self.due.push(record.item);
        }
        Ok(())
    }

    fn write(&mut self, sampler: &mut SwitchSampler) -> Result<(), String> {
        let mut switches: Vec<usize> = Vec::new();
        for place in self.due.drain(..) {
            let port = &mut sampler.ports[place];
            let reading = &self.readings[place];
            port.write_rows(reading, self.time_ns, false, &mut sampler.tables)?;
            switches.push(port.switch);
        }
        switches.sort_unstable();
        switches.dedup();
        switches
            .into_iter()
            .try_for_each(|switch| self.write_pools(switch, sampler))
    }

    /// Every port of a switch tells of the same pools.
    fn write_pools(&self, number: usize, sampler: &mut SwitchSampler) -> Result<(), String> {
        let switch = &mut sampler.switches[number];
        switch.told = sampler
            .ports
            .iter()
            .zip(&self.readings)
            .find(|(port, reading)| port.switch == number && reading.port.is_some())
            .map(|(_, reading)| reading.pools);
        switch.write_pools(self.time_ns, false, &mut sampler.tables.pools)
    }
}
