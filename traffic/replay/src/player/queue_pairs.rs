//! The queue pairs of a host's flows over RoCE.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustc_hash::FxHashMap;

use crate::roce::{Device, End, Post};
use crate::schedule::RowId;
use crate::trace::{Flow, Trace, Transport};

/// The queue pairs of this host's flows that have not ended. A passive end has its pair before the first packet comes,
/// because RoCE has no handshake here.
pub(super) struct QueuePairs {
    pub(super) device: Device,
    pub(super) ends: FxHashMap<RowId, End>,
    /// Why flows that start here, later, have no queue pair.
    pub(super) failed: FxHashMap<RowId, i32>,
    pub(super) said_why: bool,
}

impl QueuePairs {
    /// `None` where no flow of this host goes over RoCE.
    pub(super) fn of(trace: &Trace) -> io::Result<Option<Self>> {
        let Some(flow) = trace.flows.iter().find(|flow| trace.is_roce(flow)) else {
            return Ok(None);
        };
        let device = Device::open().map_err(|error| {
            let line = trace.services[usize::from(flow.service)].line;
            let transport = Transport::Roce;
            io::Error::new(
                error.kind(),
                format!("transport is \"{transport}\" on line {line} of the trace: this kernel has no RoCE: {error}"),
            )
        })?;
        Ok(Some(Self {
            device,
            ends: FxHashMap::default(),
            failed: FxHashMap::default(),
            said_why: false,
        }))
    }

    /// Posts all that an end may post now.
    pub(super) fn post(&mut self, row: RowId, flow: &Flow) -> io::Result<()> {
        let Some(end) = self.ends.get_mut(&row) else {
            return Ok(());
        };
        while let Some(message) = end.next_message(flow) {
            self.device.post(&Post::of(flow.number, message))?;
        }
        Ok(())
    }
}

impl AsFd for QueuePairs {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}
