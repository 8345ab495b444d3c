//! The calls of a host's flows over Homa.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustc_hash::FxHashMap;

use crate::homa::HomaSocket;
use crate::network::Network;
use crate::schedule::RowId;
use crate::trace::{Trace, Transport};

/// The host's one socket of Homa, and the calls that it has begun.
pub(super) struct Calls {
    pub(super) socket: HomaSocket,
    /// When each that is open started.
    pub(super) begun: FxHashMap<RowId, i64>,
    /// Whether it answered with the data of a pull.
    pub(super) has_answered: bool,
}

impl Calls {
    /// `None` where no flow of this host goes over Homa.
    pub(super) fn of(trace: &Trace, network: &Network) -> io::Result<Option<Self>> {
        let Some(flow) = trace.flows.iter().find(|flow| trace.is_homa(flow)) else {
            return Ok(None);
        };
        let socket = HomaSocket::open(network.port(flow.service)).map_err(|error| {
            let line = trace.services[usize::from(flow.service)].line;
            let transport = Transport::Homa;
            io::Error::new(
                error.kind(),
                format!("transport is \"{transport}\" on line {line} of the trace: this kernel has no Homa: {error}"),
            )
        })?;
        Ok(Some(Self {
            socket,
            begun: FxHashMap::default(),
            has_answered: false,
        }))
    }
}

impl AsFd for Calls {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
