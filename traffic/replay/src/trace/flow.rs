//! A flow as one of its hosts sees it.

use super::groups::GroupId;
use super::services::ServiceId;
use crate::hosts::HostId;

/// Length of the flow's number at the head of its data, and of a pull's request.
pub const HEAD_BYTES: u64 = 4;

pub type KeptId = u32;

/// How much a flow sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Bytes(u64),
    /// A long flow: as much as the network takes until this time, in nanoseconds after the epoch.
    UntilNs(i64),
}

/// Who starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    Push,
    Pull,
    /// The destination reads the data by its NIC (RDMA READ); the source's program has no part in it.
    Read,
}

/// This host's part in a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    Src,
    Dst,
}

/// A group that a flow waits for, and for how long after it is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// `None`: the epoch.
    pub group: Option<GroupId>,
    pub delay_ns: i64,
}

/// A flow that this host takes part in.
#[derive(Clone, Debug)]
pub struct Flow {
    pub number: u32,
    pub peer: HostId,
    /// After the epoch, or after `after` is complete.
    pub start_ns: i64,
    pub extent: Extent,
    pub mode: Mode,
    pub side: Side,
    /// Of a pull.
    pub request_bytes: u32,
    pub service: ServiceId,
    pub dscp: u8,
    pub kept: Option<KeptId>,
    pub group: Option<GroupId>,
    /// It starts `start_ns` after the last of them.
    pub after: Box<[Awaited]>,
}

impl Flow {
    /// Whether this host connects, or reads, and so starts the flow.
    pub fn starts_here(&self) -> bool {
        (self.mode == Mode::Push) == (self.side == Side::Src)
    }

    pub fn is_long(&self) -> bool {
        matches!(self.extent, Extent::UntilNs(_))
    }
}
