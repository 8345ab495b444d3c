/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /proc/fabriclab_samples: the kernel records queues and connections at fixed times
 * (arch/um/kernel/samples.c).
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
	 * the others every `interval_ns`, at the end of their instants.
	 */
	SAMPLES_START = 1,
	/* The qdisc `handle` of an interface: what RTM_GETQDISC answers, without the options. */
	SAMPLES_QUEUE = 2,
	/*
	 * A node's TCP connections: for each what inet_diag answers, as far as samplers read it.
	 * All have records in each sample, and behind them one without bytes.
	 */
	SAMPLES_CONNECTIONS = 3,
	/* Only connections with the mark `handle` are told, or with another one that is asked for. */
	SAMPLES_MARK = 4,
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
 * An item as it was at the end of an instant. A queue has a record at its first sample, and
 * then whenever it differs from its record before. Without bytes: it was not there.
 */
struct samples_record {
	/* When the sample was due, from `first_ns` on. */
	__u64 time_ns;
	/* Items have the numbers of their requests' order. */
	__u32 item;
	/* Of what follows; the next record begins at a multiple of 8 bytes. */
	__u32 length;
};

#endif
