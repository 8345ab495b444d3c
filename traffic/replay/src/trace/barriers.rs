//! What one host needs to know of a group that some flow waits for.

use crate::hosts::HostId;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Barrier {
    /// The row that waits: the first of this host, or of another one.
    pub line: u64,
    /// How many other hosts receive flows of the group, if flows wait for it here.
    pub remote_parts: u32,
    /// When the last of its iperf3 flows is over, if flows wait for it here.
    pub until_ns: Option<i64>,
    /// The other hosts where flows wait for it, if this host receives flows of it.
    pub waiters: Vec<HostId>,
}

impl Barrier {
    pub fn crosses_hosts(&self) -> bool {
        self.remote_parts > 0 || !self.waiters.is_empty()
    }
}
