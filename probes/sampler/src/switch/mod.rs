//! Samples switches: ports, queues, priority groups and pools of the kernel's `switch_port`, and its congestion events.
//!
//! The ports of one network namespace are one switch.

mod event;
#[cfg(test)]
pub mod fixtures;
mod journal;
mod listener;
mod port;
pub mod recorded;
mod rows;
mod tables;
mod xstats;

use std::path::{Path, PathBuf};

use crate::config::Switches;
use crate::links;
use crate::namespace::{describe, open_socket};
use crate::ports::Values;
use crate::probe::Probe;
use crate::series::Series;
use netlink::{Inbox, Protocol, Socket};

use journal::{Journal, Names, OpenEvents};
use listener::Listener;
use port::Port;
use rows::{write_all, Latest, Subject};
use tables::Tables;
use xstats::{POOLS, POOL_VALUES};

/// The classes of a port, eight queues and eight groups, take about 10 KB; a larger answer would come in several parts.
const ANSWER_BYTES: usize = 16 * 1024;
const ANSWER_SLOTS: usize = 4;

/// The ports of one network namespace.
struct Switch {
    name: String,
    netns: Option<PathBuf>,
    socket: Socket,
    listener: Listener,
    names: Names,
    open_events: OpenEvents,
    /// Some queue tells of events, or did.
    has_events: bool,
    /// What a port told of the pools in the sample that is being taken.
    told: Option<[Option<Values<POOL_VALUES>>; POOLS]>,
    pools: [Latest<POOL_VALUES>; POOLS],
}

pub struct SwitchSampler {
    switches: Vec<Switch>,
    ports: Vec<Port>,
    tables: Tables,
    journal: Journal,
    answers: Inbox,
    events: Inbox,
}

impl SwitchSampler {
    /// Opens the sockets, finds every port, then creates the output files.
    pub fn open(switches: &Switches, epoch_ns: u64) -> Result<Self, String> {
        let mut opened: Vec<Switch> = Vec::new();
        let mut ports = Vec::with_capacity(switches.ports.len());
        for (index, port) in switches.ports.iter().enumerate() {
            let key = format!("switches.ports[{index}]");
            let switch = place_of(&mut opened, port.switch(), port.netns.as_deref())
                .map_err(|error| format!("{key}.netns: {error}"))?;
            let found = Port::find(&key, port, &opened[switch].socket, switch)?;
            let names = &mut opened[switch].names.ports;
            names.insert(found.interface.clone(), found.name.clone());
            ports.push(found);
        }
        Ok(Self {
            switches: opened,
            ports,
            tables: Tables::create(&switches.outputs)?,
            journal: Journal::create(&switches.outputs.events, epoch_ns)?,
            answers: Inbox::new(ANSWER_SLOTS, ANSWER_BYTES),
            events: Listener::new_inbox(),
        })
    }

    fn sample_ports(&mut self, time_ns: u64, last: bool) -> Result<(), String> {
        for port in &mut self.ports {
            let switch = &mut self.switches[port.switch];
            let reading = port.read(&switch.socket, &mut self.answers)?;
            port.write_rows(&reading, time_ns, last, &mut self.tables)?;
            switch.has_events |= reading.has_events;
            // Every port of a switch tells of the same pools.
            if reading.port.is_some() {
                switch.told.get_or_insert(reading.pools);
            }
        }
        self.switches
            .iter_mut()
            .try_for_each(|switch| switch.write_pools(time_ns, last, &mut self.tables.pools))
    }

    /// Whether any queue tells of events; reads all ports.
    fn find_events(&mut self) -> Result<bool, String> {
        for port in &mut self.ports {
            let switch = &mut self.switches[port.switch];
            switch.has_events |= port.read(&switch.socket, &mut self.answers)?.has_events;
        }
        Ok(self.switches.iter().any(|switch| switch.has_events))
    }

    fn take_events(&mut self) -> Result<(), String> {
        self.switches
            .iter_mut()
            .filter(|switch| switch.has_events)
            .try_for_each(|switch| switch.take_events(&mut self.events, &mut self.journal))
    }

    fn flush_by_time(&mut self, time_ns: u64) -> Result<(), String> {
        self.tables.flush_by_time(time_ns)?;
        self.journal.flush_by_time(time_ns)
    }

    /// Writes the events that are still on, and says what was lost.
    fn close_events(&mut self) -> Result<(), String> {
        for switch in &mut self.switches {
            self.journal.close(&mut switch.open_events, &switch.names)?;
            let lost = switch.listener.lost().map_err(|error| error.to_string())?;
            if lost > 0 {
                eprintln!(
                    "sampler: switches: {lost} messages of congestion events of {} were lost: sample them more often",
                    switch.name
                );
            }
        }
        Ok(())
    }
}

impl Probe for SwitchSampler {
    fn sample(&mut self, time_ns: u64, last: bool) -> Result<(), String> {
        self.sample_ports(time_ns, last)?;
        self.take_events()?;
        if last {
            self.close_events()?;
        }
        self.flush_by_time(time_ns)
    }

    fn finish(&mut self) -> Result<(), String> {
        self.tables.flush().and(self.journal.flush())
    }
}

impl Switch {
    fn open(name: &str, netns: Option<&Path>) -> Result<Self, String> {
        let mut switch = Self {
            name: name.to_owned(),
            netns: netns.map(Path::to_owned),
            socket: open_socket(netns, Protocol::Route)?,
            listener: Listener::open(netns)?,
            names: Names::default(),
            open_events: OpenEvents::default(),
            has_events: false,
            told: None,
            pools: Default::default(),
        };
        switch.name_interfaces()?;
        Ok(switch)
    }

    fn name_interfaces(&mut self) -> Result<(), String> {
        let found = links::list(&self.socket).map_err(|error| {
            format!("interfaces of {}: {error}", describe(self.netns.as_deref()))
        })?;
        let names = found.into_iter().map(|link| (link.index, link.name));
        self.names.interfaces.extend(names);
        Ok(())
    }

    fn write_pools(&mut self, time_ns: u64, last: bool, series: &mut Series) -> Result<(), String> {
        let subject = Subject {
            time_ns,
            name: &self.name,
            last,
        };
        let pools = self.told.take().unwrap_or_default();
        write_all(&mut self.pools, &pools, subject, series)
    }

    fn take_events(&mut self, inbox: &mut Inbox, journal: &mut Journal) -> Result<(), String> {
        let mut events = Vec::new();
        self.listener
            .drain(inbox, |event| events.push(event))
            .map_err(|error| format!("congestion events of {}: {error}", self.name))?;
        for event in events {
            if !self.names.know(&event) {
                self.name_interfaces()?;
            }
            journal.take(event, &mut self.open_events, &self.names)?;
        }
        Ok(())
    }
}

/// The place of the switch that this namespace is; opened if it is a new one.
fn place_of(switches: &mut Vec<Switch>, name: &str, netns: Option<&Path>) -> Result<usize, String> {
    let known = switches
        .iter()
        .position(|switch| switch.netns.as_deref() == netns);
    if let Some(place) = known {
        return Ok(place);
    }
    switches.push(Switch::open(name, netns)?);
    Ok(switches.len() - 1)
}
