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
	/* Time stands still at the instant a; b: why (enum live_stop). */
	LIVE_STOPPED = 4,
	/*
	 * The recording's next input can't be taken where it was: after `a`
	 * timer events it is the instant b. Time stands still.
	 */
	LIVE_DIVERGED = 5,
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
};

#endif
