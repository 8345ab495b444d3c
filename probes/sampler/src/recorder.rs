//! Samples that the kernel takes itself: `/proc/fabriclab_samples` of the virtual machine
//! (`images/machine/kernel/tree/include/uapi/linux/fabriclab_samples.h`). No process wakes for them.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::Path;

use netlink::{u32_at, u64_at};

const DEVICE: &str = "/proc/fabriclab_samples";
const OWN_NAMESPACE: &str = "/proc/self/ns/net";

/// `enum samples_kind`.
const SAMPLES_START: u32 = 1;
const SAMPLES_QUEUE: u32 = 2;
const SAMPLES_CONNECTIONS: u32 = 3;
const SAMPLES_MARK: u32 = 4;
const SAMPLES_INTERFACE: u32 = 5;
const SAMPLES_SWITCH_PORT: u32 = 6;

/// `struct samples_record`: time (8 bytes), item, length; a record ends at a multiple of so many bytes.
const HEADER_BYTES: usize = 16;
const ALIGNMENT_BYTES: usize = 8;

/// How much is read at once; the largest record is far shorter.
const BUFFER_BYTES: usize = 1 << 20;

/// What to record.
#[derive(Clone, Copy, Debug)]
pub enum Item {
    /// The qdisc with this handle of an interface.
    Queue { interface: u32, handle: u32 },
    /// A node's TCP connections: a record of each in every sample, then one without bytes.
    Connections,
    /// The counters of an interface.
    Interface { interface: u32 },
    /// A switch's port with its queues and priority groups, each of which has records of its own.
    SwitchPort { interface: u32 },
}

/// An item as it was when a sample was due. It holds until the item's next record, except for connections.
#[derive(Debug, PartialEq)]
pub struct Record<'a> {
    pub time_ns: u64,
    /// The place of the item among those that were added.
    pub item: usize,
    /// What netlink would have answered; empty: the item was not there.
    pub payload: &'a [u8],
}

pub struct Recorder {
    file: File,
    buffer: Vec<u8>,
    /// How much of the buffer is the beginning of a record whose end has not been read yet.
    kept: usize,
}

impl Recorder {
    /// `None` where the kernel takes no samples itself, or not for this process.
    pub fn open() -> Result<Option<Self>, String> {
        match OpenOptions::new().read(true).write(true).open(DEVICE) {
            Ok(file) => Ok(Some(Self {
                file,
                buffer: vec![0; BUFFER_BYTES],
                kept: 0,
            })),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(described(&error)),
        }
    }

    /// Adds an item of the namespace `netns`, or of the process's own.
    pub fn add(&mut self, netns: Option<&Path>, item: Item) -> Result<(), String> {
        let namespace = File::open(netns.unwrap_or(Path::new(OWN_NAMESPACE)));
        let namespace = namespace.map_err(|error| described(&error))?;
        let number = namespace.as_raw_fd() as u32;
        let words = match item {
            Item::Queue { interface, handle } => [SAMPLES_QUEUE, number, interface, handle],
            Item::Connections => [SAMPLES_CONNECTIONS, number, 0, 0],
            Item::Interface { interface } => [SAMPLES_INTERFACE, number, interface, 0],
            Item::SwitchPort { interface } => [SAMPLES_SWITCH_PORT, number, interface, 0],
        };
        self.ask(words, [0, 0])
    }

    /// Of all connections only those with this mark, or with another one that was named.
    pub fn name_mark(&mut self, mark: u32) -> Result<(), String> {
        self.ask([SAMPLES_MARK, 0, 0, mark], [0, 0])
    }

    /// The first sample is taken at `first_ns` (CLOCK_MONOTONIC). An interval of 0 records each change.
    pub fn start(&mut self, first_ns: u64, interval_ns: u64) -> Result<(), String> {
        self.ask([SAMPLES_START, 0, 0, 0], [first_ns, interval_ns])
    }

    /// `struct samples_request`: kind, namespace, interface, handle; first and interval.
    fn ask(&mut self, words: [u32; 4], times: [u64; 2]) -> Result<(), String> {
        let mut request: Vec<u8> = words.into_iter().flat_map(u32::to_ne_bytes).collect();
        request.extend(times.into_iter().flat_map(u64::to_ne_bytes));
        self.file
            .write_all(&request)
            .map_err(|error| described(&error))
    }

    /// Hands on the records that there are, in the order of time, those of one time in the items' order.
    pub fn read(
        &mut self,
        mut each: impl FnMut(Record<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        loop {
            let read = self.file.read(&mut self.buffer[self.kept..]);
            let read = read.map_err(|error| match error.raw_os_error() {
                Some(libc::ENOBUFS) => {
                    format!("{DEVICE}: samples were lost: the sampler did not read them in time")
                }
                _ => described(&error),
            })?;
            if read == 0 {
                return Ok(());
            }
            let filled = self.kept + read;
            let mut rest = &self.buffer[..filled];
            while let Some((record, after)) = split_record(rest) {
                each(record)?;
                rest = after;
            }
            self.kept = rest.len();
            self.buffer.copy_within(filled - self.kept..filled, 0);
        }
    }
}

impl AsFd for Recorder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn described(error: &io::Error) -> String {
    format!("{DEVICE}: {error}")
}

/// The first record and what follows it; `None` where it is not whole.
fn split_record(bytes: &[u8]) -> Option<(Record<'_>, &[u8])> {
    let length = u32_at(bytes, 12)? as usize;
    let record = Record {
        time_ns: u64_at(bytes, 0)?,
        item: u32_at(bytes, 8)? as usize,
        payload: bytes.get(HEADER_BYTES..HEADER_BYTES + length)?,
    };
    let end = HEADER_BYTES + length.next_multiple_of(ALIGNMENT_BYTES);
    Some((record, bytes.get(end..)?))
}

#[cfg(test)]
#[path = "recorder_tests.rs"]
mod tests;
