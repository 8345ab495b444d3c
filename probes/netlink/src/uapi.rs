//! The kernel's numbers that libc lacks and more than one module needs, by the kernel's names (`include/uapi/linux`).

/// `netlink.h`: the text in an extended acknowledgement.
pub const NLMSGERR_ATTR_MSG: u16 = 1;
/// `sock_diag.h`: how many numbers SO_MEMINFO gives.
pub const SK_MEMINFO_VARS: usize = 9;

/// `pkt_sched.h`: the parent of a device's root qdisc.
pub const TC_H_ROOT: u32 = 0xffff_ffff;

/// `gen_stats.h`: attributes of a qdisc's or a class's TCA_STATS2.
pub const TCA_STATS_BASIC: u16 = 1;
pub const TCA_STATS_QUEUE: u16 = 3;
pub const TCA_STATS_APP: u16 = 4;
pub const TCA_STATS_PKT64: u16 = 8;
