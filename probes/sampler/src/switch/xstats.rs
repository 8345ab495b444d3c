//! The statistics of a switch port, as the kernel's `uapi/switch_port.h` lays them out: 64-bit words, in structures
//! that grow at their ends. What an older kernel does not have is `None`.

use crate::links::QDISC_HEADER_BYTES;
use crate::ports::Values;
use crate::queue::kind_and_statistics;
use netlink::switch_port::{queue, GROUP_CLASS, QUEUE_CLASS};
pub use netlink::switch_port::{POOLS, QUEUES};
use netlink::uapi::TCA_STATS_APP;
use netlink::{find_attribute, u32_at, u64_at};

pub const KIND: &str = "switch_port";

pub const PORT_VALUES: usize = 5;
pub const QUEUE_VALUES: usize = 17;
pub const GROUP_VALUES: usize = 8;
pub const TRIM_VALUES: usize = 3;
pub const POOL_VALUES: usize = 6;

/// `tcm_handle` of `struct tcmsg`; a class's number is its low half.
const HANDLE_OFFSET: usize = 8;
const MINOR_MASK: u32 = 0xffff;

/// Places in `struct tc_switch_port_xstats`: marks, drops, lost, pauses_sent, pauses_received.
const PORT_WORDS: [usize; PORT_VALUES] = [0, 1, 5, 2, 3];
/// Where its pools begin, each of `struct tc_switch_pool_xstats`.
const FIRST_POOL_WORD: usize = 7;
/// Places in `struct tc_switch_queue_xstats`: all up to `storms` but `cells`, the third.
const QUEUE_WORDS: [usize; QUEUE_VALUES] =
    [0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17];

/// Where it has what was trimmed: packets, bytes, those that were dropped.
const FIRST_TRIM_WORD: usize = 20;

/// `enum samples_part_kind` and `struct samples_part` of `fabriclab_samples.h`, behind which are the same structures.
const PART_PORT: u32 = 0;
const PART_QUEUE: u32 = 1;
const PART_GROUP: u32 = 2;
const PART_BYTES: usize = 8;

/// What one port told in one sample; `None`: it did not.
#[derive(Debug, Default, PartialEq)]
pub struct Reading {
    pub port: Option<Values<PORT_VALUES>>,
    pub queues: [Option<Values<QUEUE_VALUES>>; QUEUES],
    pub groups: [Option<Values<GROUP_VALUES>>; QUEUES],
    /// What the queues trimmed.
    pub trims: [Option<Values<TRIM_VALUES>>; QUEUES],
    /// Those of the switch; a pool without a size does not exist.
    pub pools: [Option<Values<POOL_VALUES>>; POOLS],
    /// Some queue tells of congestion events.
    pub has_events: bool,
}

impl Reading {
    /// Takes RTM_NEWQDISC; nothing if the qdisc is another one.
    pub fn take_qdisc(&mut self, payload: &[u8]) {
        let Some(words) = own_statistics(payload) else {
            return;
        };
        self.set_port(Some(words));
    }

    fn set_port(&mut self, words: Option<&[u8]>) {
        self.port = words.map(|words| PORT_WORDS.map(|place| word(words, place)));
        for (index, pool) in self.pools.iter_mut().enumerate() {
            *pool = words
                .map(|words| consecutive(words, FIRST_POOL_WORD + index * POOL_VALUES))
                .filter(|values| values[0].is_some_and(|size| size > 0));
        }
    }

    fn set_queue(&mut self, number: usize, words: Option<&[u8]>) {
        self.queues[number] = words.map(queue_values);
        self.trims[number] = words.map(|words| consecutive(words, FIRST_TRIM_WORD));
    }

    /// Takes RTM_NEWTCLASS: a queue or a priority group.
    pub fn take_class(&mut self, payload: &[u8]) {
        let class = u32_at(payload, HANDLE_OFFSET).map(|handle| (handle & MINOR_MASK) as usize);
        let (Some(class), Some(words)) = (class, own_statistics(payload)) else {
            return;
        };
        let number = class.wrapping_sub(QUEUE_CLASS);
        if number < QUEUES {
            self.set_queue(number, Some(words));
            self.has_events |= tells_of_events(payload);
        } else if let Some(group) = slot(&mut self.groups, class, GROUP_CLASS) {
            *group = Some(consecutive(words, 0));
        }
    }

    /// Takes a record of the kernel's: the port, a queue or a priority group, which has no statistics if it is gone.
    pub fn take_part(&mut self, record: &[u8]) {
        let (Some(kind), Some(number), Some(words)) = (
            u32_at(record, 0),
            u32_at(record, 4),
            record.get(PART_BYTES..),
        ) else {
            return;
        };
        let (number, words) = (
            number as usize,
            Some(words).filter(|words| !words.is_empty()),
        );
        match kind {
            PART_PORT => self.set_port(words),
            PART_QUEUE if number < QUEUES => self.set_queue(number, words),
            PART_GROUP if number < QUEUES => {
                self.groups[number] = words.map(|words| consecutive(words, 0));
            }
            _ => {}
        }
    }
}

fn queue_values(words: &[u8]) -> Values<QUEUE_VALUES> {
    QUEUE_WORDS.map(|place| word(words, place))
}

fn slot<T>(slots: &mut [T], class: usize, first: usize) -> Option<&mut T> {
    slots.get_mut(class.checked_sub(first)?)
}

fn word(words: &[u8], place: usize) -> Option<u64> {
    u64_at(words, place * 8)
}

fn consecutive<const N: usize>(words: &[u8], first: usize) -> Values<N> {
    std::array::from_fn(|place| word(words, first + place))
}

/// Whether a queue's options have a threshold for events.
fn tells_of_events(payload: &[u8]) -> bool {
    payload
        .get(QDISC_HEADER_BYTES..)
        .and_then(|rest| find_attribute(rest, libc::TCA_OPTIONS))
        .and_then(|options| find_attribute(options, queue::EVENT))
        .is_some()
}

/// A switch port's own statistics in the message of its qdisc or of one of its classes.
fn own_statistics(payload: &[u8]) -> Option<&[u8]> {
    let (kind, statistics) = kind_and_statistics(payload)?;
    match kind == KIND.as_bytes() {
        true => find_attribute(statistics, TCA_STATS_APP),
        false => None,
    }
}

#[cfg(test)]
#[path = "xstats_tests.rs"]
mod tests;
