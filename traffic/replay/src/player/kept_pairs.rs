//! Queue pairs that several flows share: who is next. A pure data structure.
//!
//! A pair carries its flows in trace order, whenever each of them starts: packets of RoCE name their pair alone, so
//! both ends have to know which flow a message is of. It is how a collective library's channel works: a program of
//! transfers in a fixed order (NCCL).

use rustc_hash::FxHashMap;

use crate::roce::Counters;
use crate::schedule::RowId;
use crate::trace::{KeptId, Trace};

/// The flows of one shared queue pair.
#[derive(Debug, Default)]
pub(super) struct KeptPair {
    /// In trace order.
    rows: Vec<RowId>,
    /// How many of them have posted all that they have to post.
    posted: usize,
    /// How many of them have ended.
    ended: usize,
    /// What the pair had been through when the last of those ended.
    before: Counters,
}

impl KeptPair {
    /// The shared queue pairs of a host, each by the number of its first flow, which its packets carry.
    pub(super) fn all_of(trace: &Trace) -> FxHashMap<u32, Self> {
        let mut pairs: FxHashMap<u32, Self> = FxHashMap::default();
        for (row, flow) in trace.flows.iter().enumerate() {
            if let Some(kept) = flow.kept.filter(|&kept| trace.is_kept_pair(kept)) {
                let pair = pairs.entry(first_of(trace, kept)).or_default();
                pair.rows.push(row as RowId);
            }
        }
        pairs
    }

    pub(super) fn rows(&self) -> &[RowId] {
        &self.rows
    }

    /// The flow whose messages go to the NIC next.
    pub(super) fn next_to_post(&self) -> Option<RowId> {
        self.rows.get(self.posted).copied()
    }

    /// The flow whose turn it was has posted everything.
    pub(super) fn is_posted(&mut self) {
        self.posted += 1;
    }

    /// The flow that the next completion is of.
    pub(super) fn current(&self) -> Option<RowId> {
        self.rows.get(self.ended).copied()
    }

    /// What the pair went through on behalf of the current flow.
    pub(super) fn counters(&self, now: Counters) -> Counters {
        now.since(self.before)
    }

    /// The current flow has ended.
    pub(super) fn current_ended(&mut self, now: Counters) {
        self.ended += 1;
        self.before = now;
    }

    /// The pair has failed, and all flows that have not ended with it.
    pub(super) fn fail(&mut self) -> Vec<RowId> {
        self.posted = self.rows.len();
        self.rows.split_off(self.ended)
    }
}

/// The number of a kept connection's first flow.
pub(super) fn first_of(trace: &Trace, kept: KeptId) -> u32 {
    trace.kept[kept as usize].first_flow
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(sent_again: u32) -> Counters {
        Counters {
            sent_again,
            ..Counters::default()
        }
    }

    fn pair(rows: &[RowId]) -> KeptPair {
        KeptPair {
            rows: rows.to_vec(),
            ..KeptPair::default()
        }
    }

    #[test]
    fn flows_are_posted_and_end_in_trace_order() {
        let mut pair = pair(&[3, 5, 9]);
        assert_eq!((pair.next_to_post(), pair.current()), (Some(3), Some(3)));
        pair.is_posted();
        assert_eq!((pair.next_to_post(), pair.current()), (Some(5), Some(3)));
        pair.current_ended(counters(2));
        assert_eq!(pair.current(), Some(5));
        assert_eq!(pair.counters(counters(7)), counters(5));
        pair.current_ended(counters(7));
        pair.current_ended(counters(7));
        assert_eq!(pair.current(), None);
    }

    #[test]
    fn a_pair_that_fails_takes_what_is_open_with_it() {
        let mut pair = pair(&[3, 5, 9]);
        pair.is_posted();
        pair.current_ended(counters(0));
        assert_eq!(pair.fail(), [5, 9]);
        assert_eq!((pair.next_to_post(), pair.current()), (None, None));
    }
}
