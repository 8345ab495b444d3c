/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Phantom queue: a counter that drains at a fraction gamma of the line's rate
 * and marks above a threshold, so that marks come before a real queue builds.
 *
 * Alizadeh et al., "Less is More: Trading a little Bandwidth for Ultra-Low
 * Latency in the Data Center" (HULL), NSDI 2012, section 3.1:
 *
 *	c <- max(0, c - gamma * C * dt) + length; mark if c > threshold
 *
 * The counter is kept as the time that it takes to drain, which is a virtual
 * line's backlog: exact, no division by dt.
 */
#ifndef SWITCH_PHANTOM_QUEUE_H
#define SWITCH_PHANTOM_QUEUE_H

#include "line.h"

struct switch_phantom_config {
	u64 rate_bps;		/* gamma * C; 0: no phantom queue */
	u64 threshold_bytes;
	u64 threshold_ns;	/* what the threshold takes to drain */
};

static inline void switch_phantom_configure(struct switch_phantom_config *phantom, u64 rate_bps,
					    u64 threshold_bytes)
{
	phantom->rate_bps = rate_bps;
	phantom->threshold_bytes = threshold_bytes;
	phantom->threshold_ns = rate_bps ? switch_line_time(rate_bps, threshold_bytes) : 0;
}

/* A frame leaves the port at `now`; whether it is to be marked. */
static inline bool switch_phantom_send(const struct switch_phantom_config *phantom,
				       struct switch_line *line, u64 now, u32 bytes)
{
	if (!phantom->rate_bps)
		return false;
	return switch_line_send(line, phantom->rate_bps, now, bytes) - now > phantom->threshold_ns;
}

#endif
