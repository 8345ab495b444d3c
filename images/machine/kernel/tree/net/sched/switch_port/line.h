/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A line that sends one bit after another: when it is free again, exactly.
 *
 * Times are whole nanoseconds. What a frame's time has beyond them, in units
 * of 1/rate ns, is carried to the frame that follows without a gap: the end of
 * the n-th frame of a busy period is floor(bits sent so far / rate), whatever
 * the rate.
 */
#ifndef SWITCH_LINE_H
#define SWITCH_LINE_H

#include "shim.h"

struct switch_line {
	u64 free_ns;	/* when the last frame has left */
	u64 remainder;	/* what free_ns lacks, in 1/rate ns */
};

/* What a frame takes on the line. IEEE 802.3: preamble 8, FCS 4, gap 12, at least 84 with them. */
static inline u32 switch_wire_bytes(u32 frame_bytes, u32 overhead, u32 mpu)
{
	u32 bytes = frame_bytes + overhead;

	return bytes > mpu ? bytes : mpu;
}

/*
 * Sends `bytes` at `rate_bps` (bits per second), at `now` or when the line is free,
 * whichever is later. Returns when the last bit has left. Bytes are below 2 GiB.
 */
static inline u64 switch_line_send(struct switch_line *line, u64 rate_bps, u64 now, u32 bytes)
{
	if (now > line->free_ns) {
		line->free_ns = now;
		line->remainder = 0;
	}
	line->free_ns += div64_u64_rem(bytes * 8ULL * SWITCH_NS_PER_SEC + line->remainder, rate_bps,
				       &line->remainder);
	return line->free_ns;
}

/* Goes on at another rate: what is less than a nanosecond is forgotten. */
static inline void switch_line_set_rate(struct switch_line *line)
{
	line->remainder = 0;
}

/* How long `bytes` (below 2 GiB) take at `rate_bps`, in whole ns. */
static inline u64 switch_line_time(u64 rate_bps, u64 bytes)
{
	return div64_u64(bytes * 8 * SWITCH_NS_PER_SEC, rate_bps);
}

#endif
