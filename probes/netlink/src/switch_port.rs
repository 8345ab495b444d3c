//! The numbers of `switch_port`, our own qdisc, by the names of its header without their prefix. The header,
//! `uapi/switch_port.h` in `images/machine/kernel/tree`, is the contract: the test below reads it and compares.

/// `TC_SWITCH_QUEUES`: as many queues as priority groups, traffic classes and priorities.
pub const QUEUES: usize = 8;
/// `TC_SWITCH_POOLS`
pub const POOLS: usize = 4;
/// `TC_SWITCH_SLICES`: the most parts of a switch's memory.
pub const SLICES: usize = 4;
/// What DSCP can say.
pub const CODEPOINTS: usize = 1 << 6;
/// `TC_SWITCH_NO_POOL`: memory of its own.
pub const NO_POOL: u8 = 255;

/// `TC_SWITCH_TRIM_BY_CLASS`: trimmed frames go to the queue of their DSCP's class.
pub const TRIM_BY_CLASS: u8 = 255;

/// `TC_SWITCH_QUEUE_CLASS`, `TC_SWITCH_GROUP_CLASS`: the class of queue 0, of priority group 0.
pub const QUEUE_CLASS: usize = 0x01;
pub const GROUP_CLASS: usize = 0x11;

/// `enum tca_switch_port`
pub mod port {
    pub const RATE: u16 = 2;
    pub const DELAY: u16 = 3;
    pub const OVERHEAD: u16 = 4;
    pub const MPU: u16 = 5;
    pub const LOSS: u16 = 6;
    pub const DSCP_TO_TC: u16 = 7;
    pub const TC_TO_QUEUE: u16 = 8;
    pub const TC_TO_PG: u16 = 9;
    pub const PRIORITY_TO_QUEUE: u16 = 10;
    pub const PRIORITY_TO_PG: u16 = 11;
    pub const PFC: u16 = 12;
    pub const BUFFER: u16 = 13;
    pub const QUEUE: u16 = 14;
    pub const GROUP: u16 = 15;
    pub const RING: u16 = 16;
    pub const TX_QUEUES: u16 = 17;
    pub const PACER: u16 = 18;
    pub const QCN: u16 = 19;
    pub const SLICE: u16 = 20;
    pub const ROCE: u16 = 21;
    pub const ROCE_CONTROL: u16 = 22;
    pub const ROCE_OPTIONS: u16 = 23;
    pub const TELEMETRY: u16 = 24;
    pub const TRIMMING: u16 = 25;
}

/// `enum tc_switch_storm_action`
pub mod storm {
    pub const DROP: u8 = 0;
    pub const FORWARD: u8 = 1;
}

/// `enum tca_switch_buffer`
pub mod buffer {
    pub const CELL: u16 = 1;
    pub const POOL: u16 = 2;
    pub const SLICES: u16 = 3;
}

/// `enum tc_switch_scheduling`
pub mod scheduling {
    pub const STRICT: u8 = 0;
    pub const DWRR: u8 = 1;
    pub const WRR: u8 = 2;
}

/// `enum tca_switch_queue`
pub mod queue {
    pub const INDEX: u16 = 2;
    pub const SCHEDULER: u16 = 3;
    pub const ACCOUNT: u16 = 4;
    pub const WRED: u16 = 5;
    pub const PHANTOM: u16 = 6;
    pub const VOQ_LIMIT: u16 = 7;
    pub const EVENT: u16 = 8;
    pub const QCN: u16 = 9;
    pub const SHARING: u16 = 10;
    pub const TRIM: u16 = 11;
}

/// `TC_SWITCH_WRED_*`: flags of `struct tc_switch_wred`.
pub mod wred {
    pub const ECN: u8 = 1;
    pub const KEEP_NON_ECT: u8 = 2;
    pub const DELAY: u8 = 4;
}

/// `enum tca_switch_group`
pub mod group {
    pub const INDEX: u16 = 2;
    pub const ACCOUNT: u16 = 3;
    pub const LOSSLESS: u16 = 4;
}

/// `enum switch_port_command`, of generic netlink.
pub mod command {
    pub const EVENT: u8 = 1;
}

/// Congestion events: `SWITCH_PORT_GENL_*`, `enum switch_port_event_attribute`.
pub mod event {
    pub const FAMILY: &str = "switch_port";
    pub const GROUP: &str = "events";
    pub const IFINDEX: u16 = 2;
    pub const QUEUE: u16 = 3;
    pub const START: u16 = 4;
    pub const END: u16 = 5;
    pub const PEAK: u16 = 7;
    pub const INGRESS: u16 = 8;
    pub const IIF: u16 = 9;
    pub const IIF_BYTES: u16 = 10;
}

#[cfg(test)]
#[path = "switch_port_tests.rs"]
mod tests;
