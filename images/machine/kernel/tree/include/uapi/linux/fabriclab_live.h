/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What a live machine and its host say to each other, over one stream socket.
 *
 * Each message is a header and `length` bytes. Numbers are in the host's byte
 * order; times are nanoseconds of virtual time since the machine was switched on.
 */
#ifndef _UAPI_LINUX_FABRICLAB_LIVE_H
#define _UAPI_LINUX_FABRICLAB_LIVE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* The character device by which PID 1 reads inputs and writes what they lead to. */
#define LIVE_DEVICE_MAJOR	10
#define LIVE_DEVICE_MINOR	240	/* 241 is ROCE_DEVICE_MINOR */

/* Of the device: time stands still from now on, until the host lets it go on. */
#define LIVE_IOC_STOP		_IO('f', 1)

/*
 * Of the device: the n-th call names node number n - 1 of looks: its network namespace
 * is that of the process whose number is the argument.
 */
#define LIVE_IOC_NODE		_IO('f', 2)

/* The longest input, and the longest output, in bytes. */
#define LIVE_PAYLOAD_MAX	65536

/* The speed at which a virtual second takes a second, in LIVE_PACE. */
#define LIVE_REAL_TIME		(1ULL << 32)

struct live_header {
	__u32 kind;
	__u32 length;
	__u64 a;
	__u64 b;
};

/*
 * A program that never slept was made to, when a program had gone on in user mode
 * for the `calls`th time since the machine was last idle; it had computed there for
 * so many ticks of the wall clock (0: it had just come there, or from a nap).
 */
struct live_nap {
	__u64 calls;
	__u64 length_ns;
	__u64 ticks;
	char program[16];
	char node[64];
};

/* From the host. */
enum live_request {
	/* Bytes for PID 1, to be taken as soon as the machine is idle. */
	LIVE_INPUT = 1,
	/*
	 * The same, of a recording: to be taken when `a` timer events have
	 * happened, at the instant `b`.
	 */
	LIVE_INPUT_AT = 2,
	/*
	 * Time goes on: a virtual second in LIVE_REAL_TIME / a seconds, as fast
	 * as the host can if a is 0. It stops at the instant b.
	 */
	LIVE_PACE = 3,
	/* Time stops. */
	LIVE_STOP = 4,
	/*
	 * a = 1: no event happens before the host has said what comes next
	 * (LIVE_INPUT_AT, LIVE_NAP_AT). a = 0: the recording is at its end.
	 */
	LIVE_REPLAY = 5,
	/*
	 * What stands in the ports that the payload names (struct live_place); a: bit 0:
	 * each frame, too. A look changes nothing.
	 */
	LIVE_LOOK = 6,
	/*
	 * The TCP connections of node `a`; ~0: of all. b = 1: whose they are and between
	 * whom, no more (struct live_connection alone).
	 */
	LIVE_CONNECTIONS = 7,
	/*
	 * Time stops when the condition of the payload (struct live_condition) comes true;
	 * a: its number, below LIVE_CONDITIONS. Without a payload it is forgotten.
	 */
	LIVE_BREAK = 8,
	/*
	 * Of a recording: after `a` timer events, at the instant b, a program
	 * is to sleep; a struct live_nap follows, of which the names do not
	 * count.
	 */
	LIVE_NAP_AT = 16,
};

/* To the host. */
enum live_answer {
	/* Bytes that PID 1 wrote. */
	LIVE_OUTPUT = 1,
	/* The next input was taken: after `a` timer events, at the instant b. */
	LIVE_TAKEN = 2,
	/* It is the virtual instant a at the wall clock's (CLOCK_MONOTONIC) b. */
	LIVE_CLOCK = 3,
	/*
	 * Time stands still at the instant a; b: why (enum live_stop) in the low 32 bits,
	 * of LIVE_STOP_BREAK the condition's number in the high ones. Then the payload is a
	 * u64: what it compares, as it was when it came true.
	 */
	LIVE_STOPPED = 4,
	/*
	 * The recording's next input can't be taken where it was: after `a`
	 * timer events it is the instant b. Time stands still.
	 */
	LIVE_DIVERGED = 5,
	/*
	 * Records (struct live_record) of what LIVE_LOOK or LIVE_CONNECTIONS asked for, as it
	 * is at the instant a; b = 1: more follow.
	 */
	LIVE_LOOKED = 6,
	/*
	 * After `a` timer events, at the instant b, a program was made to sleep;
	 * a struct live_nap follows.
	 */
	LIVE_NAPPED = 16,
	/*
	 * The same, of a program whose system calls take time, for it makes very
	 * many: it sleeps again and again. This is told once a second, of any one.
	 */
	LIVE_CHARGED = 17,
};

enum live_stop {
	/* LIVE_STOP. */
	LIVE_STOP_ASKED = 1,
	/* The instant that LIVE_PACE named. */
	LIVE_STOP_UNTIL = 2,
	/* PID 1 asked (LIVE_IOC_STOP). */
	LIVE_STOP_BY_INIT = 3,
	/* A condition has come true (LIVE_BREAK). */
	LIVE_STOP_BREAK = 4,
};

/* -- Looks -------------------------------------------------------------------------- */

#define LIVE_NAME_MAX 16

struct live_place {
	__u32 node;
	char interface[LIVE_NAME_MAX];
};

/* What is not known, or has no end. */
#define LIVE_UNKNOWN (~0ULL)

/*
 * A record: this, the structure of its kind, and what that says to follow; `length` bytes
 * in all, a multiple of 8. Those behind a port's belong to it, until the next port's.
 */
struct live_record {
	__u16 kind;
	__u16 length;
	__u32 number;
};

enum live_record_kind {
	/* struct live_port; number: which of the places asked for. */
	LIVE_RECORD_PORT = 1,
	/* Of a switch port: struct live_switch_port, struct tc_switch_port_xstats. */
	LIVE_RECORD_SWITCH_PORT = 2,
	/* number: the queue; struct live_account, struct tc_switch_queue_xstats. */
	LIVE_RECORD_QUEUE = 3,
	/* number: the priority group; struct live_account, struct tc_switch_group_xstats. */
	LIVE_RECORD_GROUP = 4,
	/* Of another port; number: the handle; struct live_qdisc, its statistics (TCA_STATS_APP). */
	LIVE_RECORD_QDISC = 5,
	/*
	 * A frame that stands, in the order of departure; number: the queue, or the handle of
	 * the qdisc; struct live_frame, the frame from its network header on, cut.
	 */
	LIVE_RECORD_FRAME = 6,
	/* number: the node; struct live_connection, struct live_connection_state. */
	LIVE_RECORD_CONNECTION = 7,
};

struct live_port {
	__u64 tx_bytes, tx_packets, rx_bytes, rx_packets;
	__u32 exists;
	__u32 up;
};

struct live_switch_port {
	__u64 rate_bps;
	/* Bit masks of priorities: that the other end paused, that it is told to pause. */
	__u32 paused;
	__u32 pausing;
};

struct live_account {
	/* Bytes beyond the reserved ones that it may have now. */
	__u64 limit;
	__u64 reserved;
	/* A group: whether it is in XOFF. */
	__u64 xoff;
};

struct live_qdisc {
	char kind[LIVE_NAME_MAX];
	__u32 parent;
	__u32 packets;
	__u64 bytes, drops, overlimits, sent_bytes, sent_packets;
	/* At which it sends (tbf). */
	__u64 rate_bps;
};

struct live_frame {
	/* Since it was queued. */
	__u64 waited_ns;
	__u32 bytes;
	/* EtherType, in the host's byte order. */
	__u16 protocol;
	/* So many bytes of it follow. */
	__u16 header;
};

struct live_connection {
	__u16 family;
	__u16 state;
	/* SO_MARK: the flow's number plus one. */
	__u32 mark;
	__u16 local_port, remote_port;
	__u32 reserved;
	__u8 local[16], remote[16];
};

/* As tcp_get_info() tells, but for times, which are as exact as the kernel has them. */
struct live_connection_state {
	char congestion[LIVE_NAME_MAX];
	__u64 srtt_ns, rttvar_ns, min_rtt_ns, rto_ns;
	__u64 pacing_rate, delivery_rate;
	__u64 bytes_sent, bytes_acked, bytes_retrans, bytes_received;
	__u32 ca_state, retransmits, backoff, options;
	__u32 cwnd, ssthresh, mss, send_window;
	__u32 unacked, sacked, lost, retrans;
	__u32 total_retrans, timeouts, delivered, delivered_ce;
	/* Sequence numbers: unacknowledged, next, written; next to come, next to be read. */
	__u32 snd_una, snd_nxt, write_seq, rcv_nxt;
	__u32 copied_seq, receive_window;
	/* Which of union tcp_cc_info follows (INET_DIAG_...; 0: none), and it. */
	__u32 own_kind;
	__u32 own[5];
};

/* -- Conditions --------------------------------------------------------------------- */

#define LIVE_CONDITIONS 64
#define LIVE_ANY (~0U)

enum live_condition_kind {
	/* More than `threshold` stands in the queue. */
	LIVE_CONDITION_QUEUE = 1,
	/* Since the event before, there: a frame was dropped, or marked; a PFC frame sent or taken. */
	LIVE_CONDITION_DROP = 2,
	LIVE_CONDITION_MARK = 3,
	LIVE_CONDITION_PAUSE = 4,
	/* The same, of the node: a retransmission timer of TCP has run out. */
	LIVE_CONDITION_TIMEOUT = 5,
	/* A connection with `mark` was open, and one end of it closes, or it is gone. */
	LIVE_CONDITION_FLOW = 6,
};

/* One that is true stops time; then it has to be false before it does again. */
struct live_condition {
	__u32 kind;
	/* LIVE_ANY: all. */
	__u32 node;
	/* None: all of the node. */
	char interface[LIVE_NAME_MAX];
	/* Of a switch port; LIVE_ANY: all. */
	__u32 queue;
	/* `threshold` is packets. */
	__u32 in_packets;
	__u64 threshold;
	__u32 mark;
	__u32 reserved;
};

#endif
