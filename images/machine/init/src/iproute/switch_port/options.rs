//! A port's options as netlink attributes. Source: the kernel's `uapi/switch_port.h`, whose order and layout this has.

use super::roce::{Control, Roce};
use netlink::switch_port::{buffer, group, port, queue, CODEPOINTS, NO_POOL, QUEUES};
use netlink::Request;

const UNLIMITED: u64 = u64::MAX;
/// A policy's name in `struct tc_switch_sharing`, with the zero behind it.
pub(super) const POLICY_BYTES: usize = 16;

/// What a line names. Sizes are bytes, times nanoseconds, rates bits a second; `None` is not sent.
#[derive(Default)]
pub(super) struct Port {
    pub(super) rate_bps: Option<u64>,
    pub(super) delay_ns: Option<u64>,
    pub(super) overhead: Option<u32>,
    pub(super) mpu: Option<u32>,
    /// Of 2^32.
    pub(super) loss: Option<u32>,
    /// Bytes that a queue takes of the qdisc in front of it.
    pub(super) ring: Option<u64>,
    pub(super) tx_queues: Option<u8>,
    pub(super) pacer: Option<Pacer>,
    pub(super) limiter: Option<Limiter>,
    pub(super) roce: Option<Roce>,
    /// The port writes into RoCE packets that ask for it.
    pub(super) telemetry: Option<()>,
    pub(super) trimming: Option<Trimming>,
    pub(super) maps: Maps,
    pub(super) pfc: Option<Pfc>,
    pub(super) cell: Option<u32>,
    pub(super) slices: Option<u32>,
    /// Of frames that come in here, of frames that leave here.
    pub(super) slice: Option<[u8; 2]>,
    pub(super) pools: Vec<Pool>,
    pub(super) queues: Vec<Queue>,
    pub(super) groups: Vec<Group>,
}

/// The maps by their attributes' order.
#[derive(Default)]
pub(super) struct Maps([Option<Vec<u8>>; MAPS.len()]);

/// Word, attribute, entries.
const MAPS: [(&str, u16, usize); 5] = [
    ("dscp_to_tc", port::DSCP_TO_TC, CODEPOINTS),
    ("tc_to_queue", port::TC_TO_QUEUE, QUEUES),
    ("tc_to_group", port::TC_TO_PG, QUEUES),
    ("priority_to_queue", port::PRIORITY_TO_QUEUE, QUEUES),
    ("priority_to_group", port::PRIORITY_TO_PG, QUEUES),
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

/// What becomes of frames that a queue which trims has no room for; a size of 0: they are dropped.
#[derive(Default)]
pub(super) struct Trimming {
    pub(super) size: u32,
    pub(super) dscp: u8,
    pub(super) queue: u8,
}

pub(super) struct Pacer {
    pub(super) bucket: u64,
    pub(super) interval_ns: u64,
    pub(super) idle_ns: u64,
    /// Of 2^32 - 1, as `probability`.
    pub(super) eta: u32,
    pub(super) beta: u32,
    pub(super) probability: u32,
}

pub(super) struct Limiter {
    pub(super) least_bps: u64,
    pub(super) active_bps: u64,
    pub(super) hyper_bps: u64,
    pub(super) cycle_bytes: u64,
    pub(super) cycle_ns: u64,
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

pub(super) struct CongestionPoint {
    pub(super) set_point: u64,
    pub(super) sample: u64,
    pub(super) weight: u32,
}

/// How a queue with a dynamic limit shares its pool.
pub(super) struct Sharing {
    pub(super) policy: String,
    pub(super) interval_ns: u32,
    /// Bytes that a congested queue holds; 0: by its threshold.
    pub(super) congested: u32,
    pub(super) unscheduled_alpha_log: i8,
    /// Traffic classes, a bit mask.
    pub(super) unscheduled_classes: u8,
}

pub(super) struct Queue {
    pub(super) index: u8,
    pub(super) scheduler: Scheduler,
    pub(super) account: Account,
    pub(super) wred: Option<Wred>,
    pub(super) phantom: Option<Phantom>,
    pub(super) voq_limit: Option<u64>,
    pub(super) event: Option<u64>,
    pub(super) qcn: Option<CongestionPoint>,
    pub(super) sharing: Option<Sharing>,
    /// What there is no room for is trimmed.
    pub(super) trims: Option<()>,
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
pub(super) fn message(mut request: Request, port: &Port) -> Request {
    request.nest_flagged(libc::TCA_OPTIONS, |options| {
        add_line(options, port);
        for ((_, kind, _), map) in MAPS.iter().zip(&port.maps.0) {
            add(options, *kind, map.as_ref(), |map| map.clone());
        }
        add(options, port::PFC, port.pfc.as_ref(), Pfc::bytes);
        add(options, port::PACER, port.pacer.as_ref(), Pacer::bytes);
        add(options, port::QCN, port.limiter.as_ref(), Limiter::bytes);
        add(options, port::ROCE, port.roce.as_ref(), Roce::bytes);
        let control = port.roce.as_ref().and_then(|roce| roce.control.as_ref());
        add(options, port::ROCE_CONTROL, control, Control::name);
        add(options, port::ROCE_OPTIONS, control, Control::options);
        add(options, port::TELEMETRY, port.telemetry.as_ref(), |()| {
            Vec::new()
        });
        add(
            options,
            port::TRIMMING,
            port.trimming.as_ref(),
            Trimming::bytes,
        );
        add(options, port::SLICE, port.slice, |[into, out]| {
            vec![into, out, 0, 0]
        });
        add_buffer(options, port);
        for queue in &port.queues {
            options.nest_flagged(port::QUEUE, |nest| queue.add_to(nest));
        }
        for group in &port.groups {
            options.nest_flagged(port::GROUP, |nest| group.add_to(nest));
        }
    });
    request
}

fn add_line(options: &mut Request, port: &Port) {
    add_u64(options, port::RATE, port.rate_bps);
    add_u64(options, port::DELAY, port.delay_ns);
    add_u64(options, port::RING, port.ring);
    add(options, port::TX_QUEUES, port.tx_queues, |count| {
        vec![count]
    });
    for (kind, value) in [
        (port::OVERHEAD, port.overhead),
        (port::MPU, port.mpu),
        (port::LOSS, port.loss),
    ] {
        add(options, kind, value, |value| value.to_ne_bytes().to_vec());
    }
}

fn add_buffer(options: &mut Request, port: &Port) {
    if port.cell.is_none() && port.slices.is_none() && port.pools.is_empty() {
        return;
    }
    options.nest_flagged(port::BUFFER, |buffer| {
        for (kind, value) in [(buffer::CELL, port.cell), (buffer::SLICES, port.slices)] {
            add(buffer, kind, value, |value| value.to_ne_bytes().to_vec());
        }
        for pool in &port.pools {
            buffer.attribute(buffer::POOL, &pool.bytes());
        }
    });
}

/// Adds an attribute if there is a value.
fn add<T>(message: &mut Request, kind: u16, value: Option<T>, bytes: impl FnOnce(T) -> Vec<u8>) {
    if let Some(value) = value {
        message.attribute(kind, &bytes(value));
    }
}

fn add_u64(message: &mut Request, kind: u16, value: Option<u64>) {
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

impl Trimming {
    /// struct tc_switch_trimming
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.size.to_ne_bytes().to_vec();
        bytes.extend_from_slice(&[self.dscp, self.queue, 0, 0]);
        bytes
    }
}

impl Pacer {
    /// struct tc_switch_pacer
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = words(&[self.bucket, self.interval_ns, self.idle_ns]);
        for part in [self.eta, self.beta, self.probability, 0] {
            bytes.extend_from_slice(&part.to_ne_bytes());
        }
        bytes
    }
}

impl Limiter {
    /// struct tc_switch_qcn_limiter
    fn bytes(&self) -> Vec<u8> {
        words(&[
            self.least_bps,
            self.active_bps,
            self.hyper_bps,
            self.cycle_bytes,
            self.cycle_ns,
        ])
    }
}

impl CongestionPoint {
    /// struct tc_switch_qcn_point
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = words(&[self.set_point, self.sample]);
        bytes.extend_from_slice(&self.weight.to_ne_bytes());
        bytes.extend_from_slice(&[0; 4]);
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

impl Sharing {
    /// struct tc_switch_sharing
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.policy.as_bytes().to_vec();
        bytes.resize(POLICY_BYTES, 0);
        bytes.extend_from_slice(&self.interval_ns.to_ne_bytes());
        bytes.extend_from_slice(&self.unscheduled_alpha_log.to_ne_bytes());
        bytes.extend_from_slice(&[self.unscheduled_classes, 0, 0]);
        bytes.extend_from_slice(&self.congested.to_ne_bytes());
        bytes
    }
}

impl Queue {
    fn add_to(&self, nest: &mut Request) {
        nest.attribute(queue::INDEX, &[self.index])
            .attribute(queue::SCHEDULER, &self.scheduler.bytes())
            .attribute(queue::ACCOUNT, &self.account.bytes());
        add(nest, queue::WRED, self.wred.as_ref(), Wred::bytes);
        add(nest, queue::PHANTOM, self.phantom.as_ref(), |phantom| {
            words(&[phantom.rate_bps, phantom.threshold])
        });
        add_u64(nest, queue::VOQ_LIMIT, self.voq_limit);
        add_u64(nest, queue::EVENT, self.event);
        add(nest, queue::QCN, self.qcn.as_ref(), CongestionPoint::bytes);
        add(nest, queue::SHARING, self.sharing.as_ref(), Sharing::bytes);
        add(nest, queue::TRIM, self.trims, |()| Vec::new());
    }
}

impl Group {
    fn add_to(&self, nest: &mut Request) {
        nest.attribute(group::INDEX, &[self.index])
            .attribute(group::ACCOUNT, &self.account.bytes());
        add(nest, group::LOSSLESS, self.lossless.as_ref(), |lossless| {
            words(&[lossless.headroom, lossless.xon, lossless.xon_offset])
        });
    }
}
