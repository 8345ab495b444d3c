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
#define LIVE_DEVICE_MINOR	240

/* Of the device: time stands still from now on, until the host lets it go on. */
#define LIVE_IOC_STOP		_IO('f', 1)

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
	 * a = 1: no event happens before the host has said which input comes
	 * next (LIVE_INPUT_AT). a = 0: the recording is at its end.
	 */
	LIVE_REPLAY = 5,
};

/* To the host. */
enum live_answer {
	/* Bytes that PID 1 wrote. */
	LIVE_OUTPUT = 1,
	/* The next input was taken: after `a` timer events, at the instant b. */
	LIVE_TAKEN = 2,
	/* It is the virtual instant a at the wall clock's (CLOCK_MONOTONIC) b. */
	LIVE_CLOCK = 3,
	/* Time stands still at the instant a; b: why (enum live_stop). */
	LIVE_STOPPED = 4,
	/*
	 * The recording's next input can't be taken where it was: after `a`
	 * timer events it is the instant b. Time stands still.
	 */
	LIVE_DIVERGED = 5,
};

enum live_stop {
	/* LIVE_STOP. */
	LIVE_STOP_ASKED = 1,
	/* The instant that LIVE_PACE named. */
	LIVE_STOP_UNTIL = 2,
	/* PID 1 asked (LIVE_IOC_STOP). */
	LIVE_STOP_BY_INIT = 3,
};

#endif
