/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A token bucket: a rate and a burst.
 *
 * Written as virtual scheduling (ITU-T I.371, GCRA): what conforming frames take
 * on a virtual line of the bucket's rate may be ahead of the clock by the time
 * of the burst. That is the bucket's fill level seen from the other side, exact
 * and without a refill.
 *
 * As in switch chips a frame may start when the bucket is not empty, and may
 * leave it in debt: in any interval of t seconds at most burst + rate * t bytes
 * and one frame pass.
 */
#ifndef SWITCH_TOKEN_BUCKET_H
#define SWITCH_TOKEN_BUCKET_H

#include "line.h"

struct switch_bucket_config {
	u64 rate_bps;		/* 0: no bucket */
	u64 burst_bytes;
	u64 burst_ns;		/* the burst's time at the rate */
};

static inline void switch_bucket_configure(struct switch_bucket_config *bucket, u64 rate_bps,
					   u64 burst_bytes)
{
	bucket->rate_bps = rate_bps;
	bucket->burst_bytes = burst_bytes;
	bucket->burst_ns = rate_bps ? switch_line_time(rate_bps, burst_bytes) : 0;
}

/* The first time at which a frame conforms. */
static inline u64 switch_bucket_ready(const struct switch_bucket_config *bucket,
				      const struct switch_line *line)
{
	return bucket->rate_bps ? switch_excess(line->free_ns, bucket->burst_ns) : 0;
}

/* Takes a frame's tokens. */
static inline void switch_bucket_take(const struct switch_bucket_config *bucket,
				      struct switch_line *line, u64 now, u32 bytes)
{
	if (bucket->rate_bps)
		switch_line_send(line, bucket->rate_bps, now, bytes);
}

#endif
