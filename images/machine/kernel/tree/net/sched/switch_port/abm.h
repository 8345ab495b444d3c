/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ABM: Addanki, Apostolaki, Ghobadi, Schmid, Vanbever, "ABM: Active Buffer Management in
 * Datacenters", SIGCOMM 2022. The threshold of queue i of priority p is
 *
 *	T(t) = alpha_p / n_p * (free cells of the pool) * mu_i / b
 *
 * n_p: the congested queues of that priority, on all ports: those that hold at least nine
 * tenths of their threshold, or, if a length is given, a part of one for each queue: what
 * it holds of that length, at most 1. mu_i / b: the part of the line that the queue gets
 * while frames wait in it. As with the dynamic threshold a frame is admitted iff the
 * queue's account is below T.
 *
 * Everything is exact: n_p follows each frame of a queue, mu_i / b is a fraction of two
 * sums of nanoseconds, and T is rounded down once. The authors' ns-3 code (commit
 * 40b84300, gen-queue-disc.cc) has the length 28,000 bytes, counts when frames arrive, and
 * takes n_p and mu_i once in an interval; a mu_i below one over the number of queues is
 * taken as 1 there.
 */
#ifndef SWITCH_ABM_H
#define SWITCH_ABM_H

#include "shim.h"

/* n_p is counted in parts of a queue. */
#define SWITCH_ABM_PARTS	1024

/* How long frames waited in a queue, and how long its frames were on the line. */
struct switch_drain {
	u64 start_ns;		/* of the interval that is under way */
	u64 since_ns;		/* when it was counted last */
	u64 waiting_ns;		/* of this interval */
	u64 served_ns;
	u64 last_waiting_ns;	/* of the interval before; 0: nothing waited */
	u64 last_served_ns;
	bool waiting;
};

/* Counts up to the present; an interval ends with the first look after its length. */
static inline void switch_drain_look(struct switch_drain *drain, u64 now, u64 interval_ns)
{
	if (drain->waiting)
		drain->waiting_ns += now - drain->since_ns;
	drain->since_ns = now;
	if (now - drain->start_ns < interval_ns)
		return;
	/* What was before a whole interval without a frame is not what is now. */
	if (!drain->waiting && now - drain->start_ns >= 2 * interval_ns)
		drain->waiting_ns = 0;
	drain->last_waiting_ns = drain->waiting_ns;
	drain->last_served_ns = drain->served_ns;
	drain->waiting_ns = 0;
	drain->served_ns = 0;
	drain->start_ns = now;
}

/* The threshold in cells; a queue in which nothing waited has all of the line. */
static inline u64 switch_abm_threshold(u64 free, s8 alpha_log, u32 parts, u64 served_ns,
				       u64 waiting_ns)
{
	u64 among = parts > SWITCH_ABM_PARTS ? parts : SWITCH_ABM_PARTS;

	free *= SWITCH_ABM_PARTS;
	if (!waiting_ns || served_ns >= waiting_ns)
		served_ns = waiting_ns = 1;
	if (alpha_log < 0)
		among <<= -alpha_log;
	else
		free <<= alpha_log;
	return mul_u64_u64_div_u64(free, served_ns, waiting_ns * among);
}

/* How congested a queue is, in parts: at nine tenths of its threshold, wholly. */
static inline u32 switch_abm_congested(u64 cells, u64 threshold)
{
	return cells && 10 * cells >= 9 * threshold ? SWITCH_ABM_PARTS : 0;
}

/* The same by a length in cells, at which it is wholly. */
static inline u32 switch_abm_filled(u64 cells, u32 length)
{
	return cells < length ? mul_u64_u64_div_u64(cells, SWITCH_ABM_PARTS, length) :
				SWITCH_ABM_PARTS;
}

#endif
