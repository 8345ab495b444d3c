/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The netlink interface of the qdisc "switch_port": a port of a switch whose ports
 * share a packet buffer. README.md beside this says what it does.
 *
 * RTM_NEWQDISC and RTM_GETQDISC carry the attributes of enum tca_switch_port in
 * TCA_OPTIONS. All nests have NLA_F_NESTED set. Rates are bits per second, sizes
 * bytes of the frame with its Ethernet header, times nanoseconds. A buffer's sizes
 * are rounded to cells: limits, thresholds and pools down, reserved sizes and
 * headroom up.
 */
#ifndef UAPI_SWITCH_PORT_H
#define UAPI_SWITCH_PORT_H

#include <linux/types.h>

#define TC_SWITCH_QUEUES 8		/* and traffic classes, priorities, priority groups */
#define TC_SWITCH_POOLS 4
#define TC_SWITCH_NO_POOL 255		/* memory of its own, up to the static limit */
#define TC_SWITCH_PORTS 256		/* the most ports of one switch */
#define TC_SWITCH_SLICES 4		/* the most parts of a switch's memory */

enum tca_switch_port {
	TCA_SWITCH_PORT_UNSPEC,
	TCA_SWITCH_PORT_PAD,
	TCA_SWITCH_PORT_RATE,		/* u64, bit/s, 8,000 to 10^12; required */
	TCA_SWITCH_PORT_DELAY,		/* u64, ns: propagation; default 0 */
	TCA_SWITCH_PORT_OVERHEAD,	/* u32: bytes on the wire beside the frame; default 24 */
	TCA_SWITCH_PORT_MPU,		/* u32: least bytes on the wire; default 84 */
	TCA_SWITCH_PORT_LOSS,		/* u32: frames of 2^32 that the wire loses; default 0 */
	TCA_SWITCH_PORT_DSCP_TO_TC,	/* 64 u8; default: class selector, dscp / 8 */
	TCA_SWITCH_PORT_TC_TO_QUEUE,	/* 8 u8; default: the same number; so are the next three */
	TCA_SWITCH_PORT_TC_TO_PG,	/* 8 u8: priority group of frames that come in here */
	TCA_SWITCH_PORT_PRIORITY_TO_QUEUE,	/* 8 u8: queue that a received pause stops */
	TCA_SWITCH_PORT_PRIORITY_TO_PG,	/* 8 u8: group whose state a sent pause tells */
	TCA_SWITCH_PORT_PFC,		/* struct tc_switch_pfc; default: no PFC */
	TCA_SWITCH_PORT_BUFFER,		/* nest of enum tca_switch_buffer: the whole switch's */
	TCA_SWITCH_PORT_QUEUE,		/* nests of enum tca_switch_queue: whole queues, up to 8 */
	TCA_SWITCH_PORT_GROUP,		/* nests of enum tca_switch_group: whole groups, up to 8 */
	TCA_SWITCH_PORT_RING,		/* u64: bytes that a queue takes of its qdisc in front */
	TCA_SWITCH_PORT_TX_QUEUES,	/* u8, 1 to 8: the host's flows are spread by hash; default 1 */
	TCA_SWITCH_PORT_PACER,		/* struct tc_switch_pacer; default: none */
	TCA_SWITCH_PORT_QCN,		/* struct tc_switch_qcn_limiter; default: none */
	TCA_SWITCH_PORT_SLICE,		/* struct tc_switch_slice; default: 0, 0 */
	TCA_SWITCH_PORT_ROCE,		/* struct tc_switch_roce; default: none */
	/* With ROCE only: the name of a congestion control (net/roce_control.h); default: none. */
	TCA_SWITCH_PORT_ROCE_CONTROL,
	/* With it only: words and values, "eta 950000 stages 5". */
	TCA_SWITCH_PORT_ROCE_OPTIONS,
	TCA_SWITCH_PORT_TELEMETRY,	/* flag: the port writes into RoCE packets that ask for it */
	TCA_SWITCH_PORT_TRIMMING,	/* struct tc_switch_trimming; default: none */
	__TCA_SWITCH_PORT_MAX,
};

#define TCA_SWITCH_PORT_MAX (__TCA_SWITCH_PORT_MAX - 1)

enum tc_switch_storm_action {
	TC_SWITCH_STORM_DROP,
	TC_SWITCH_STORM_FORWARD,
};

struct tc_switch_pfc {
	__u64 reaction_ns;	/* from arrival to effect, beside the frame in service */
	__u64 detection_ns;	/* of a pause storm; 0: no watchdog */
	__u64 restoration_ns;
	__u16 quanta;		/* of a pause sent, at least 2; repeated at half its time */
	__u8 priorities;	/* bit mask: those that pause and are paused */
	__u8 storm_action;
	__u32 reserved;
};

/* A host's NIC paces the flows of which an acknowledgement had ECE (HULL, NSDI 2012). */
struct tc_switch_pacer {
	__u64 bucket;		/* bytes on the wire, up to 1 MB; 0: no pacer */
	__u64 interval_ns;	/* from one rate to the next, 1 us to 10 ms */
	__u64 idle_ns;		/* a flow that sends nothing for so long is let go */
	__u32 eta;		/* of 2^32: what the newest rate weighs */
	__u32 beta;		/* 1/s: what the bits that wait add to the rate, at most 10,000 */
	__u32 probability;	/* of 2^32 - 1 that such an acknowledgement takes its flow in */
	__u32 reserved;
};

/* A host's NIC limits the flows of which congestion notifications come (QCN, IEEE 802.1Qau). */
struct tc_switch_qcn_limiter {
	__u64 least_bps;	/* 0: no limiters */
	__u64 active_bps;	/* what a cycle adds to the target in active increase */
	__u64 hyper_bps;	/* and in hyper-active increase, times the cycles */
	__u64 cycle_bytes;	/* on the wire; 1 KB to 1 GB */
	__u64 cycle_ns;		/* 1 us to 1 s */
};

/* A host's NIC sends RoCEv2 (roce.h). */
struct tc_switch_roce {
	__u32 mtu;		/* payload of a packet, 256 to 4096, a power of two; 0: no RoCE */
	__u32 window;		/* packets in flight of a pair; 0: up to 2^22 */
	__u32 ack_every;	/* packets from one request for an acknowledgement to the next */
	__u32 retries;		/* timeouts without progress after which a pair fails */
	__u64 timeout_ns;	/* of retransmission, 1 us to 10 s */
	__u64 notify_ns;	/* least time from one notification of a pair to the next */
	__u8 dscp;		/* of data */
	__u8 ack_dscp;
	__u8 notify_dscp;
	__u8 selective;		/* 1: selective repeat; 0: go-back-N */
	__u8 reads;		/* of a pair that are not answered in full (max_rd_atomic); 0: 16 */
	__u8 trimmed;		/* 1: a trimmed packet is answered by a NAK; 0: the NIC does not know it */
	__u16 reorder;		/* packets by which one may be overtaken and not be lost; selective repeat */
};

#define TC_SWITCH_TRIM_BY_CLASS 255	/* the queue of their DSCP's class */

/* Frames that a queue with TCA_SWITCH_QUEUE_TRIM has no room for go on without their payload. */
struct tc_switch_trimming {
	__u32 size;		/* bytes of the frame that remain, 64 to 65,535; 0: no trimming */
	__u8 dscp;		/* that they get */
	__u8 queue;		/* that they go to, or TC_SWITCH_TRIM_BY_CLASS */
	__u8 pad[2];
};

enum tca_switch_buffer {
	TCA_SWITCH_BUFFER_UNSPEC,
	TCA_SWITCH_BUFFER_CELL,		/* u32: bytes, default 1; with the first port only */
	TCA_SWITCH_BUFFER_POOL,		/* struct tc_switch_pool; several */
	TCA_SWITCH_BUFFER_SLICES,	/* u32: 1, 2 or 4; default 1; with the first port only */
	__TCA_SWITCH_BUFFER_MAX,
};

#define TCA_SWITCH_BUFFER_MAX (__TCA_SWITCH_BUFFER_MAX - 1)

/*
 * Of chips whose memory is in slices: each has the same part of every pool, limits and
 * reserved sizes hold in each, and a frame is in slice (in of the port that it came in
 * by) OR (out of the port that it leaves by).
 */
struct tc_switch_slice {
	__u8 in;
	__u8 out;
	__u8 pad[2];
};

struct tc_switch_pool {
	__u64 size;		/* of all slices: reserved and shared; without the headroom */
	__u64 headroom;		/* that its groups share; 0: each group has its own */
	__u32 index;		/* below TC_SWITCH_POOLS */
	__u32 reserved;
};

/* Memory of a queue or a priority group. */
struct tc_switch_account {
	__u64 reserved;		/* bytes */
	__u64 limit;		/* bytes beyond the reserved; ~0: the pool's; unless dynamic */
	__u8 pool;		/* index, or TC_SWITCH_NO_POOL */
	__u8 dynamic;		/* 1: the limit is 2^alpha_log of the pool's free bytes */
	__s8 alpha_log;		/* -8 to 7 */
	__u8 pad[5];
};

enum tc_switch_scheduling {
	TC_SWITCH_STRICT,	/* a higher queue number first */
	TC_SWITCH_DWRR,		/* quantum in bytes on the wire */
	TC_SWITCH_WRR,		/* quantum in frames */
};

enum tca_switch_queue {
	TCA_SWITCH_QUEUE_UNSPEC,
	TCA_SWITCH_QUEUE_PAD,
	TCA_SWITCH_QUEUE_INDEX,		/* u8; required */
	TCA_SWITCH_QUEUE_SCHEDULER,	/* struct tc_switch_scheduler; default: strict */
	TCA_SWITCH_QUEUE_ACCOUNT,	/* struct tc_switch_account; default: no pool, no limit */
	TCA_SWITCH_QUEUE_WRED,		/* struct tc_switch_wred; default: none */
	TCA_SWITCH_QUEUE_PHANTOM,	/* struct tc_switch_phantom; default: none */
	TCA_SWITCH_QUEUE_VOQ_LIMIT,	/* u64: bytes from one ingress port; default: no limit */
	TCA_SWITCH_QUEUE_EVENT,		/* u64: bytes at which an event begins; default: none */
	TCA_SWITCH_QUEUE_QCN,		/* struct tc_switch_qcn_point; default: none */
	TCA_SWITCH_QUEUE_SHARING,	/* struct tc_switch_sharing; default: by the account alone */
	TCA_SWITCH_QUEUE_TRIM,		/* flag: what there is no room for is trimmed by the port's TRIMMING */
	__TCA_SWITCH_QUEUE_MAX,
};

#define TCA_SWITCH_QUEUE_MAX (__TCA_SWITCH_QUEUE_MAX - 1)

struct tc_switch_scheduler {
	__u64 cir_bps;		/* served first up to this rate; 0: no guarantee */
	__u64 cbs;		/* bytes of burst */
	__u64 pir_bps;		/* never above this rate; 0: the line's */
	__u64 pbs;
	__u32 quantum;		/* DWRR: at least 64; WRR: at least 1 */
	__u8 scheduling;	/* enum tc_switch_scheduling; DWRR and WRR don't mix on a port */
	__u8 pad[3];
};

#define TC_SWITCH_WRED_ECN 1		/* ECT is marked and queued instead of dropped */
#define TC_SWITCH_WRED_KEEP_NON_ECT 2	/* non-ECT is queued instead of dropped */
#define TC_SWITCH_WRED_DELAY 4		/* min and max are a leaving frame's ns in the queue */

struct tc_switch_wred {
	__u64 min;		/* bytes or ns */
	__u64 max;		/* min = max: a step */
	__u32 probability;	/* below max, of 2^32 - 1 */
	__u8 weight_log;	/* the newest length weighs 2^-weight_log, 0 to 15 */
	__u8 flags;
	__u16 reserved;
};

struct tc_switch_phantom {
	__u64 rate_bps;		/* at which it drains */
	__u64 threshold;	/* bytes above which ECT is marked */
};

/* A congestion point: it tells the sources of the frames that it samples (QCN). */
struct tc_switch_qcn_point {
	__u64 set_point;	/* bytes that the queue is to have; 0: none */
	__u64 sample;		/* bytes from one sample to the next; 10 KB to 1 GB */
	__u32 weight;		/* of the queue's change, 0 to 1024 */
	__u32 reserved;
};

/*
 * A dynamic limit by a policy: "abm" (abm.h), or that of a module (net/switch_sharing.h).
 * Frames of some traffic classes are unscheduled (a flow's first round-trip time) and have
 * another alpha.
 */
struct tc_switch_sharing {
	char policy[16];
	__u32 interval_ns;	/* in which it is measured how a queue drains; 1 us to 1 s */
	__s8 unscheduled_alpha_log;	/* -8 to 7 */
	__u8 unscheduled_classes;	/* bit mask */
	__u8 pad[2];
	__u32 congested;	/* bytes that a congested queue holds; 0: 9/10 of its threshold */
};

enum tca_switch_group {
	TCA_SWITCH_GROUP_UNSPEC,
	TCA_SWITCH_GROUP_PAD,
	TCA_SWITCH_GROUP_INDEX,		/* u8; required */
	TCA_SWITCH_GROUP_ACCOUNT,	/* struct tc_switch_account; default: no pool, no limit */
	TCA_SWITCH_GROUP_LOSSLESS,	/* struct tc_switch_lossless; default: lossy */
	__TCA_SWITCH_GROUP_MAX,
};

#define TCA_SWITCH_GROUP_MAX (__TCA_SWITCH_GROUP_MAX - 1)

struct tc_switch_lossless {
	__u64 headroom;		/* bytes behind the limit; more than 0 */
	__u64 xon;		/* bytes at which the neighbour goes on */
	__u64 xon_offset;	/* or at so many below the limit, if that is more; 0: no */
};

/*
 * Statistics. The qdisc's TCA_STATS_APP is struct tc_switch_port_xstats. Queue q is
 * class 1+q, priority group g class 0x11+g: RTM_GETTCLASS gives struct
 * tc_switch_queue_xstats and tc_switch_group_xstats (a queue or a group that is not
 * configured and has had no frame is left out of a dump). Of a host's port class
 * 0x21+q is the place of the qdisc in front of queue q; what it holds is in the
 * port's backlog. All are u64, at the moment
 * or since the qdisc was created; structures grow at their end only.
 */
#define TC_SWITCH_QUEUE_CLASS 0x01
#define TC_SWITCH_GROUP_CLASS 0x11
#define TC_SWITCH_FRONT_CLASS 0x21

enum tc_switch_drop {
	TC_SWITCH_DROP_QUEUE_LIMIT,	/* the queue at its limit */
	TC_SWITCH_DROP_QUEUE_POOL,	/* the queue's pool full */
	TC_SWITCH_DROP_INGRESS,		/* the priority group at its limit, headroom and all */
	TC_SWITCH_DROP_VOQ,		/* too much from that ingress port */
	TC_SWITCH_DROP_WRED,
	TC_SWITCH_DROP_STORM,		/* by the pause watchdog */
	TC_SWITCH_DROP_RESET,		/* port down or qdisc deleted */
	TC_SWITCH_DROPS,
};

enum tc_switch_mark {
	TC_SWITCH_MARK_WRED,
	TC_SWITCH_MARK_PHANTOM,
	TC_SWITCH_MARKS,
};

struct tc_switch_pool_xstats {
	/* bytes of all slices; used: beyond the reserved; watermarks: the sum of the slices' own */
	__u64 size, reserved, used, watermark, headroom, headroom_watermark;
};

struct tc_switch_pacer_xstats {
	__u64 bytes, packets;		/* that wait; part of the port's backlog */
	__u64 rate_bps;			/* 0: no flow is paced */
	__u64 flows;			/* taken in at the moment */
	__u64 taken_in;
	__u64 passed, held;		/* frames of such flows: that found tokens, that waited */
	__u64 watermark_bytes;
};

struct tc_switch_qcn_xstats {
	__u64 bytes, packets;		/* that wait for their limiters; part of the port's backlog */
	__u64 flows;			/* limited at the moment */
	__u64 rate_bps;			/* of them all; 0: none is */
	__u64 notifications;		/* that were for flows of this port */
	__u64 cycles;			/* of byte counters and timers */
};

struct tc_switch_roce_xstats {
	__u64 pairs;			/* at the moment */
	__u64 limited;			/* of them: below the line's rate */
	__u64 rate_bps;			/* of those that have something to send */
	__u64 sent_packets, sent_bytes;	/* data; bytes of payload, all attempts */
	__u64 sent_again;		/* packets of them that had been sent before */
	__u64 received_packets, received_bytes;	/* data, in sequence */
	__u64 out_of_sequence;		/* packets behind a gap */
	__u64 duplicates;
	__u64 acks_sent, acks_received;
	__u64 naks_sent, naks_received;
	__u64 timeouts;
	__u64 ce_received;		/* data packets that a switch had marked */
	__u64 notifications_sent, notifications_received;
	__u64 strays;			/* RoCE packets that no pair waits for */
	__u64 read_requests_sent, read_requests_received;
	__u64 implied_naks;		/* later packets came, and no response to a READ */
	__u64 trimmed_received;		/* packets that came without their payload */
	__u64 credits_sent, credits_received;	/* packets of credit */
};

struct tc_switch_port_xstats {
	__u64 marks;
	__u64 drops;
	__u64 pauses_sent, pauses_received;	/* frames */
	__u64 wire_frames;			/* on the wire: sent and not arrived */
	__u64 lost;				/* by the wire */
	__u64 ports;				/* of this switch */
	struct tc_switch_pool_xstats pool[TC_SWITCH_POOLS];
	struct tc_switch_pacer_xstats pacer;
	struct tc_switch_qcn_xstats qcn;
	struct tc_switch_roce_xstats roce;
};

struct tc_switch_queue_xstats {
	__u64 bytes, packets, cells;
	__u64 watermark_bytes;
	__u64 sent_bytes, sent_packets;
	__u64 drops[TC_SWITCH_DROPS];
	__u64 marks[TC_SWITCH_MARKS];
	__u64 pauses_received;		/* times that the queue was stopped */
	__u64 paused_ns;
	__u64 storms;
	__u64 samples, notifications;	/* of the congestion point */
	__u64 trimmed_packets;		/* that there was no room for: they went on, or were dropped */
	__u64 trimmed_bytes;		/* that were cut off them */
	__u64 trimmed_drops;		/* of them: there was no room for the rest; they are in `drops`, too */
};

struct tc_switch_group_xstats {
	__u64 bytes, headroom_bytes;	/* whole cells */
	__u64 watermark_bytes;
	__u64 received_bytes, received_packets;	/* admitted */
	__u64 discards;
	__u64 xoffs;			/* times that it stopped its neighbour */
	__u64 xoff_ns;
};

/*
 * Congestion events: generic netlink, family "switch_port", multicast group "events" of
 * the switch's network namespace. A queue's event begins when it reaches its threshold
 * and ends when it is at half of it or less.
 */
#define SWITCH_PORT_GENL_NAME "switch_port"
#define SWITCH_PORT_GENL_VERSION 1
#define SWITCH_PORT_GENL_EVENTS "events"

enum switch_port_command {
	SWITCH_PORT_CMD_UNSPEC,
	SWITCH_PORT_CMD_EVENT,
};

enum switch_port_event_attribute {
	SWITCH_PORT_EVENT_UNSPEC,
	SWITCH_PORT_EVENT_PAD,
	SWITCH_PORT_EVENT_IFINDEX,	/* u32 */
	SWITCH_PORT_EVENT_QUEUE,	/* u8 */
	SWITCH_PORT_EVENT_START,	/* u64, ns of CLOCK_MONOTONIC */
	SWITCH_PORT_EVENT_END,		/* u64; not there: the event begins */
	SWITCH_PORT_EVENT_BYTES,	/* u64: in the queue now */
	SWITCH_PORT_EVENT_PEAK,		/* u64: the most since it began */
	SWITCH_PORT_EVENT_INGRESS,	/* nests: bytes of the event so far by ingress port */
	SWITCH_PORT_EVENT_IIF,		/* in INGRESS: u32, ifindex; 0: the switch itself */
	SWITCH_PORT_EVENT_IIF_BYTES,	/* in INGRESS: u64 */
	__SWITCH_PORT_EVENT_MAX,
};

#define SWITCH_PORT_EVENT_MAX (__SWITCH_PORT_EVENT_MAX - 1)

#endif
