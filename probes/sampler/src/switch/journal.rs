//! The table of congestion events: begin and end joined into one row.

use std::collections::BTreeMap;
use std::path::Path;

use crate::series::Series;
use crate::switch::event::Event;

const FORMAT: (&str, &str) = (
    "fabriclab-congestion-events-1",
    "start_ns,end_ns,port,queue,peak_bytes,ingress",
);

/// As the interface of what the switch sends itself.
const SELF: u32 = 0;

/// The names by which rows speak of a switch's interfaces.
#[derive(Debug, Default)]
pub struct Names {
    /// Sampled ports by their interfaces.
    pub ports: BTreeMap<String, String>,
    /// All interfaces by their indices, also those that are gone.
    pub interfaces: BTreeMap<u32, String>,
}

impl Names {
    /// Whether every interface in the event has a name.
    pub fn know(&self, event: &Event) -> bool {
        let indices = event.ingress.iter().map(|(index, _)| *index);
        indices
            .filter(|index| *index != SELF)
            .chain([event.interface_index])
            .all(|index| self.interfaces.contains_key(&index))
    }

    fn port(&self, interface_index: u32) -> Option<&str> {
        let interface = self.interfaces.get(&interface_index)?;
        self.ports.get(interface).map(String::as_str)
    }

    /// An interface's name; its number if it has none, or one that this format cannot hold.
    fn ingress(&self, interface_index: u32) -> String {
        match self.interfaces.get(&interface_index) {
            _ if interface_index == SELF => "self".to_owned(),
            Some(name) if !name.contains([',', ';', '=', '"']) => name.clone(),
            _ => format!("if{interface_index}"),
        }
    }
}

/// Events of one switch that have begun: the message of the beginning, by interface and queue.
#[derive(Default)]
pub struct OpenEvents(BTreeMap<(u32, u8), Event>);

pub struct Journal {
    epoch_ns: u64,
    series: Series,
}

impl Journal {
    pub fn create(output: &Path, epoch_ns: u64) -> Result<Self, String> {
        Ok(Self {
            epoch_ns,
            series: Series::create(output, FORMAT.0, FORMAT.1)?,
        })
    }

    /// Takes a message: the end of an event is a row. Events of ports that are not sampled are passed over.
    pub fn take(
        &mut self,
        event: Event,
        open: &mut OpenEvents,
        names: &Names,
    ) -> Result<(), String> {
        if names.port(event.interface_index).is_none() {
            return Ok(());
        }
        let key = (event.interface_index, event.queue);
        let before = open.0.remove(&key);
        // The end of an event whose queue begins another one was lost.
        if let Some(before) = before.filter(|before| before.start_ns != event.start_ns) {
            self.write(&before, names)?;
        }
        if event.end_ns.is_some() {
            return self.write(&event, names);
        }
        open.0.insert(key, event);
        Ok(())
    }

    /// Writes the events that are still on.
    pub fn close(&mut self, open: &mut OpenEvents, names: &Names) -> Result<(), String> {
        std::mem::take(&mut open.0)
            .values()
            .try_for_each(|event| self.write(event, names))
    }

    pub fn flush_by_time(&mut self, now_ns: u64) -> Result<(), String> {
        self.series.flush_by_time(now_ns)
    }

    pub fn flush(&mut self) -> Result<(), String> {
        self.series.flush()
    }

    fn write(&mut self, event: &Event, names: &Names) -> Result<(), String> {
        self.series.signed_row(self.since_epoch(event.start_ns));
        match event.end_ns {
            Some(end_ns) => self.series.display(self.since_epoch(end_ns)),
            None => self.series.empty(1),
        }
        self.series
            .text(names.port(event.interface_index).unwrap_or_default());
        self.series.number(u64::from(event.queue));
        self.series.number(event.peak_bytes);
        self.series.text(&ingress_text(&event.ingress, names));
        self.series.end_row()
    }

    /// Negative before the epoch, when daemons already talk.
    fn since_epoch(&self, time_ns: u64) -> i64 {
        time_ns as i64 - self.epoch_ns as i64
    }
}

/// `eth3=12345;self=60`
fn ingress_text(ingress: &[(u32, u64)], names: &Names) -> String {
    ingress
        .iter()
        .map(|(index, bytes)| format!("{}={bytes}", names.ingress(*index)))
        .collect::<Vec<_>>()
        .join(";")
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
