/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /proc/fabriclab_samples: the kernel records queues, connections, interfaces and switches at
 * fixed times, or each change of queues (arch/um/kernel/samples.c).
 *
 * Each open file is a recorder. Who opens it writes requests, each in a call of its own: one
 * for each item, then SAMPLES_START. read() then returns whole records, 0 if there are none,
 * ENOBUFS if some were lost because nobody read. poll() tells when to read: when there are
 * many.
 */
#ifndef _UAPI_LINUX_FABRICLAB_SAMPLES_H
#define _UAPI_LINUX_FABRICLAB_SAMPLES_H

#include <linux/types.h>

enum samples_kind {
	/*
	 * A sample is taken at `first_ns` (CLOCK_MONOTONIC), before anything else happens then;
	 * the others every `interval_ns`, at the end of their instants. An interval of 0, of
	 * queues only: at the end of each instant at which one of them has changed.
	 */
	SAMPLES_START = 1,
	/* The qdisc `handle` of an interface: what RTM_GETQDISC answers, without the options. */
	SAMPLES_QUEUE = 2,
	/*
	 * A node's TCP connections: for each what inet_diag answers, as far as samplers read it.
	 * Behind them are the queue pairs of its RoCE NICs that send data, by samples_pair. All
	 * have records in each sample, and behind them one without bytes.
	 */
	SAMPLES_CONNECTIONS = 3,
	/* Only connections with the mark `handle` are told, or with another one that is asked for. */
	SAMPLES_MARK = 4,
	/* An interface: what RTM_GETSTATS answers with IFLA_STATS_LINK_64 alone. */
	SAMPLES_INTERFACE = 5,
	/*
	 * A port whose root qdisc is switch_port: records of the port itself, and of its queues
	 * and priority groups. Each begins with samples_part.
	 */
	SAMPLES_SWITCH_PORT = 6,
};

struct samples_request {
	__u32 kind;
	/* A descriptor of the network namespace. */
	__s32 netns;
	__u32 interface_index;
	__u32 handle;
	__u64 first_ns;
	__u64 interval_ns;
};

/*
 * An item as it was at the end of an instant. All but connections have a record at their first
 * sample, and then whenever it differs from the record before. Without bytes: it was not there.
 */
struct samples_record {
	/* When the sample was due, or the change was there, from `first_ns` on. */
	__u64 time_ns;
	/* Items have the numbers of their requests' order. */
	__u32 item;
	/* Of what follows; the next record begins at a multiple of 8 bytes. */
	__u32 length;
};

/*
 * A queue pair's: in place of INET_DIAG_INFO, with INET_DIAG_MARK, which is the pair's number,
 * and INET_DIAG_CONG.
 */
#define SAMPLES_ATTRIBUTE_PAIR 200

struct samples_pair {
	__u64 rate_bps;
	__u64 acknowledged_bytes;
	__u64 timeout_ns;
	__u32 in_flight;	/* packets, as are the next five; the rest is counted from the start */
	__u32 sent_again;
	__u32 timeouts;
	__u32 acknowledged;
	__u32 notifications;
	__u32 alpha;		/* of 2^32 - 1 */
	__u32 has_alpha;
	__u32 failed;
	__u64 rtt_ns;		/* the last that was measured; 0: none */
	__u32 window;		/* packets; 0: none */
	__u32 reserved;
	char control[16];	/* its congestion control's name */
};

enum samples_part_kind {
	SAMPLES_PART_PORT = 0,
	SAMPLES_PART_QUEUE = 1,
	SAMPLES_PART_GROUP = 2,
};

/*
 * A part of a switch's port. Its statistics follow as they are in the kernel's own
 * uapi/switch_port.h; nothing follows if the part is not there any more.
 */
struct samples_part {
	__u32 kind;
	/* Of the queue or the group. */
	__u32 number;
};

#endif
