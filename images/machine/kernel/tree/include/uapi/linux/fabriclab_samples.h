/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /proc/fabriclab_samples: the kernel records at fixed times what queues hold and count
 * (arch/um/kernel/samples.c).
 *
 * Each open file is a recorder. Who opens it writes requests, each in a call of its own: one
 * for each item, then SAMPLES_START. read() then returns whole records, 0 if there are none,
 * ENOBUFS if some were lost because nobody read. poll() tells when to read: when half of the
 * recorder's memory is full.
 */
#ifndef _UAPI_LINUX_FABRICLAB_SAMPLES_H
#define _UAPI_LINUX_FABRICLAB_SAMPLES_H

#include <linux/types.h>

enum samples_kind {
	/* From now on a sample is taken at `first_ns` (CLOCK_MONOTONIC), then every `interval_ns`. */
	SAMPLES_START = 1,
	/* The qdisc `handle` of an interface: what RTM_GETQDISC answers, without the options. */
	SAMPLES_QUEUE = 2,
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
 * An item as it was at the end of an instant. An item has a record at its first sample, and
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
