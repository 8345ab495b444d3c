//! The queue pairs of a host's flows over RoCE.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustc_hash::FxHashMap;

use super::kept_pairs::{first_of, KeptPair};
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
    /// Those that several flows share, by the number of the first.
    pub(super) kept: FxHashMap<u32, KeptPair>,
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
            kept: KeptPair::all_of(trace),
        }))
    }

    /// Posts all that a flow, or those that share its pair, may post now.
    pub(super) fn post(&mut self, row: RowId, trace: &Trace) -> io::Result<()> {
        let flow = &trace.flows[row as usize];
        let Some(kept) = flow.kept else {
            return self.post_one(row, flow, flow.number);
        };
        let first = first_of(trace, kept);
        while let Some(next) = self.kept.get(&first).and_then(KeptPair::next_to_post) {
            self.post_one(next, &trace.flows[next as usize], first)?;
            if !self.ends.get(&next).is_some_and(End::is_posted) {
                break;
            }
            if let Some(pair) = self.kept.get_mut(&first) {
                pair.is_posted();
            }
        }
        Ok(())
    }

    /// Posts what a flow may post; `pair` is the flow whose number its queue pair has.
    fn post_one(&mut self, row: RowId, flow: &Flow, pair: u32) -> io::Result<()> {
        let Some(end) = self.ends.get_mut(&row) else {
            return Ok(());
        };
        while let Some(message) = end.next_message(flow) {
            self.device.post(&Post::of(pair, message))?;
        }
        Ok(())
    }

    /// The flows that are connected with this one, the first of its pair.
    pub(super) fn rows_with(&self, row: RowId, flow: &Flow) -> Vec<RowId> {
        match self.kept.get(&flow.number) {
            Some(pair) => pair.rows().to_vec(),
            None => vec![row],
        }
    }
}

impl AsFd for QueuePairs {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}
