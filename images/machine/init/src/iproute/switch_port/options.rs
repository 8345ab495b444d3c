//! A port's options as netlink attributes. Source: `images/machine/kernel/switch/uapi/switch_port.h`, whose order and layout this has.

use crate::iproute::tc::TCA_OPTIONS;
use crate::netlink::Message;

/// enum tca_switch_port
const RATE: u16 = 2;
const DELAY: u16 = 3;
const OVERHEAD: u16 = 4;
const MPU: u16 = 5;
const LOSS: u16 = 6;
const PFC: u16 = 12;
const BUFFER: u16 = 13;
const QUEUE: u16 = 14;
const GROUP: u16 = 15;
/// enum tca_switch_buffer
const BUFFER_CELL: u16 = 1;
const BUFFER_POOL: u16 = 2;
/// enum tca_switch_queue
const QUEUE_INDEX: u16 = 2;
const QUEUE_SCHEDULER: u16 = 3;
const QUEUE_ACCOUNT: u16 = 4;
const QUEUE_WRED: u16 = 5;
const QUEUE_PHANTOM: u16 = 6;
const QUEUE_VOQ_LIMIT: u16 = 7;
const QUEUE_EVENT: u16 = 8;
/// enum tca_switch_group
const GROUP_INDEX: u16 = 2;
const GROUP_ACCOUNT: u16 = 3;
const GROUP_LOSSLESS: u16 = 4;

const NO_POOL: u8 = 255;
const UNLIMITED: u64 = u64::MAX;

/// What a line names. Sizes are bytes, times nanoseconds, rates bits a second; `None` is not sent.
#[derive(Default)]
pub(super) struct Port {
    pub(super) rate_bps: Option<u64>,
    pub(super) delay_ns: Option<u64>,
    pub(super) overhead: Option<u32>,
    pub(super) mpu: Option<u32>,
    /// Of 2^32.
    pub(super) loss: Option<u32>,
    pub(super) maps: Maps,
    pub(super) pfc: Option<Pfc>,
    pub(super) cell: Option<u32>,
    pub(super) pools: Vec<Pool>,
    pub(super) queues: Vec<Queue>,
    pub(super) groups: Vec<Group>,
}

/// The maps by their attributes' order.
#[derive(Default)]
pub(super) struct Maps([Option<Vec<u8>>; MAPS.len()]);

/// Word, attribute, entries.
const MAPS: [(&str, u16, usize); 5] = [
    ("dscp_to_tc", 7, super::CODEPOINTS),
    ("tc_to_queue", 8, super::QUEUES as usize),
    ("tc_to_group", 9, super::QUEUES as usize),
    ("priority_to_queue", 10, super::QUEUES as usize),
    ("priority_to_group", 11, super::QUEUES as usize),
];

impl Maps {
    /// The place of the map of that name, and how many entries it has.
    pub(super) fn slot(&mut self, name: &str) -> Option<(&mut Option<Vec<u8>>, usize)> {
        let number = MAPS.iter().position(|(known, ..)| *known == name)?;
        Some((&mut self.0[number], MAPS[number].2))
    }
}

pub(super) struct Pfc {
    pub(super) reaction_ns: u64,
    pub(super) detection_ns: u64,
    pub(super) restoration_ns: u64,
    pub(super) quanta: u16,
    /// A bit each.
    pub(super) priorities: u8,
    pub(super) storm_action: u8,
}

pub(super) struct Pool {
    pub(super) index: u32,
    pub(super) size: u64,
    pub(super) headroom: u64,
}

pub(super) struct Account {
    pub(super) reserved: u64,
    pub(super) limit: Option<u64>,
    pub(super) pool: Option<u8>,
    pub(super) alpha_log: Option<i8>,
}

pub(super) struct Scheduler {
    pub(super) cir_bps: u64,
    pub(super) cbs: u64,
    pub(super) pir_bps: u64,
    pub(super) pbs: u64,
    pub(super) quantum: u32,
    pub(super) scheduling: u8,
}

pub(super) struct Wred {
    pub(super) min: u64,
    pub(super) max: u64,
    /// Of 2^32 - 1.
    pub(super) probability: u32,
    pub(super) weight_log: u8,
    pub(super) flags: u8,
}

pub(super) struct Phantom {
    pub(super) rate_bps: u64,
    pub(super) threshold: u64,
}

pub(super) struct Queue {
    pub(super) index: u8,
    pub(super) scheduler: Scheduler,
    pub(super) account: Account,
    pub(super) wred: Option<Wred>,
    pub(super) phantom: Option<Phantom>,
    pub(super) voq_limit: Option<u64>,
    pub(super) event: Option<u64>,
}

pub(super) struct Lossless {
    pub(super) headroom: u64,
    pub(super) xon: u64,
    pub(super) xon_offset: u64,
}

pub(super) struct Group {
    pub(super) index: u8,
    pub(super) account: Account,
    pub(super) lossless: Option<Lossless>,
}

/// The request with the port's options behind what it has.
pub(super) fn message(mut request: Message, port: &Port) -> Message {
    request.nest_flagged(TCA_OPTIONS, |options| {
        add_line(options, port);
        for ((_, kind, _), map) in MAPS.iter().zip(&port.maps.0) {
            add(options, *kind, map.as_ref(), |map| map.clone());
        }
        add(options, PFC, port.pfc.as_ref(), Pfc::bytes);
        add_buffer(options, port);
        for queue in &port.queues {
            options.nest_flagged(QUEUE, |nest| queue.add_to(nest));
        }
        for group in &port.groups {
            options.nest_flagged(GROUP, |nest| group.add_to(nest));
        }
    });
    request
}

fn add_line(options: &mut Message, port: &Port) {
    add_u64(options, RATE, port.rate_bps);
    add_u64(options, DELAY, port.delay_ns);
    for (kind, value) in [
        (OVERHEAD, port.overhead),
        (MPU, port.mpu),
        (LOSS, port.loss),
    ] {
        add(options, kind, value, |value| value.to_ne_bytes().to_vec());
    }
}

fn add_buffer(options: &mut Message, port: &Port) {
    if port.cell.is_none() && port.pools.is_empty() {
        return;
    }
    options.nest_flagged(BUFFER, |buffer| {
        add(buffer, BUFFER_CELL, port.cell, |cell| {
            cell.to_ne_bytes().to_vec()
        });
        for pool in &port.pools {
            buffer.attribute(BUFFER_POOL, &pool.bytes());
        }
    });
}

/// Adds an attribute if there is a value.
fn add<T>(message: &mut Message, kind: u16, value: Option<T>, bytes: impl FnOnce(T) -> Vec<u8>) {
    if let Some(value) = value {
        message.attribute(kind, &bytes(value));
    }
}

fn add_u64(message: &mut Message, kind: u16, value: Option<u64>) {
    add(message, kind, value, |value| value.to_ne_bytes().to_vec());
}

/// A structure's 64-bit members, which come first in all of them.
fn words(values: &[u64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_ne_bytes())
        .collect()
}

impl Pfc {
    /// struct tc_switch_pfc
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = words(&[self.reaction_ns, self.detection_ns, self.restoration_ns]);
        bytes.extend_from_slice(&self.quanta.to_ne_bytes());
        bytes.extend_from_slice(&[self.priorities, self.storm_action, 0, 0, 0, 0]);
        bytes
    }
}

impl Pool {
    /// struct tc_switch_pool
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = words(&[self.size, self.headroom]);
        bytes.extend_from_slice(&self.index.to_ne_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes
    }
}

impl Account {
    /// struct tc_switch_account
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = words(&[self.reserved, self.limit.unwrap_or(UNLIMITED)]);
        let alpha_log = self.alpha_log.unwrap_or(0).to_ne_bytes()[0];
        bytes.extend_from_slice(&[
            self.pool.unwrap_or(NO_POOL),
            self.alpha_log.is_some().into(),
            alpha_log,
        ]);
        bytes.extend_from_slice(&[0; 5]);
        bytes
    }
}

impl Scheduler {
    /// struct tc_switch_scheduler
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = words(&[self.cir_bps, self.cbs, self.pir_bps, self.pbs]);
        bytes.extend_from_slice(&self.quantum.to_ne_bytes());
        bytes.extend_from_slice(&[self.scheduling, 0, 0, 0]);
        bytes
    }
}

impl Wred {
    /// struct tc_switch_wred
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = words(&[self.min, self.max]);
        bytes.extend_from_slice(&self.probability.to_ne_bytes());
        bytes.extend_from_slice(&[self.weight_log, self.flags, 0, 0]);
        bytes
    }
}

impl Queue {
    fn add_to(&self, nest: &mut Message) {
        nest.attribute(QUEUE_INDEX, &[self.index])
            .attribute(QUEUE_SCHEDULER, &self.scheduler.bytes())
            .attribute(QUEUE_ACCOUNT, &self.account.bytes());
        add(nest, QUEUE_WRED, self.wred.as_ref(), Wred::bytes);
        add(nest, QUEUE_PHANTOM, self.phantom.as_ref(), |phantom| {
            words(&[phantom.rate_bps, phantom.threshold])
        });
        add_u64(nest, QUEUE_VOQ_LIMIT, self.voq_limit);
        add_u64(nest, QUEUE_EVENT, self.event);
    }
}

impl Group {
    fn add_to(&self, nest: &mut Message) {
        nest.attribute(GROUP_INDEX, &[self.index])
            .attribute(GROUP_ACCOUNT, &self.account.bytes());
        add(nest, GROUP_LOSSLESS, self.lossless.as_ref(), |lossless| {
            words(&[lossless.headroom, lossless.xon, lossless.xon_offset])
        });
    }
}
