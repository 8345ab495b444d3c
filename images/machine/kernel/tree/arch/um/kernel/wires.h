/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the machines of one lab share: a line for each, and a ring for each pair of them.
 * The host makes the memory (fabriclab/engine/shared_memory.py), all zero but the promises.
 */
#ifndef UM_WIRES_H
#define UM_WIRES_H

#include <linux/fabriclab_wires.h>
#include <linux/types.h>

#define WIRES_PARTS_MAX 32
#define WIRES_LINE_BYTES 128
#define WIRES_SUBJECTS 2
#define WIRES_RINGS_AT (WIRES_PARTS_MAX * WIRES_LINE_BYTES)
#define WIRES_RING_HEADER_BYTES 256

/* A machine's line: it alone writes it, but for `sleepers`. */
struct wires_line {
	u64 promise;	/* no frame of this machine arrives before, but for those in the rings */
	u64 ended;	/* when its traffic ended; 0: it has not */
	u32 version;	/* who sleeps waits for it to change */
	u32 sleepers;
	u32 gone;	/* it reads its rings no longer */
	u32 unused;
	/* For the host, when it is gone: wall time for which it waited, and how often. */
	u64 waited_ns;
	u64 waits;
	u64 sent;	/* frames to others, */
	u64 took;	/* and from others */
	u64 idle;	/* while it waits: what comes next for it; else 0 */
	u64 looks[WIRES_SUBJECTS];	/* what PID 1 saw when it looked at routes, at queues */
} __aligned(WIRES_LINE_BYTES);

/* From one machine to another. Positions only grow. */
struct wires_ring {
	u64 head;	/* the writer's */
	u8 apart[WIRES_LINE_BYTES - sizeof(u64)];
	u64 tail;	/* the reader's */
	u8 apart_too[WIRES_LINE_BYTES - sizeof(u64)];
	u8 bytes[];
};

struct wires_frame {
	u32 length;	/* WIRES_SKIP: go on at the ring's beginning */
	struct wire_passage passage;
	u8 bytes[];
};

#define WIRES_SKIP U32_MAX

/* arch/um/kernel/wires.c */
extern struct wires {
	unsigned int index;
	unsigned int count;
	u64 begin;	/* when the lab begins, virtual time */
	u64 least;	/* no cable between machines is shorter, ns */
	u32 ring_bytes;	/* a power of two */
	struct wires_line *lines;
	void *rings;
	u64 waited_ns;
	u64 waits;
	u64 took;
} wires;

/* The host's own processors order other machines' loads and stores; ours is none of them. */
static inline void wires_fence(void)
{
	asm volatile("mfence" ::: "memory");
}

static inline void wires_pause(void)
{
	asm volatile("pause" ::: "memory");
}

void wires_publish(u64 promise);
void wires_wake(void);

/* arch/um/kernel/wires_ring.c: what others have written becomes frames under way. */
void wires_drain(void);

#endif
