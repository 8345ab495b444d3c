/* SPDX-License-Identifier: GPL-2.0 */
/* The Linked Increases Algorithm for MPTCP (RFC 6356): its arithmetic.
 *
 * For each acknowledged segment, subflow i in congestion avoidance grows by
 *
 *	min(alpha / sum(w), 1 / w_i)
 *	alpha = sum(w) * max(w_j / rtt_j^2) / sum(w_j / rtt_j)^2
 *
 * (equations 1 and 2, in segments). So, with b the subflow of the greatest
 * w / rtt^2, it grows by one segment after as many acknowledged ones as
 *
 *	max(sum(w_j * rtt_b / rtt_j)^2 / w_b, w_i)
 *
 * where sum(w) is gone, and only the ratio of round trip times counts.
 */
#ifndef _MPTCP_LIA_H
#define _MPTCP_LIA_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define LIA_MAX_WINDOW	(1U << 23)	/* segments */
#define LIA_MAX_RTT	(1U << 20)	/* us: longer ones count as this */
#define LIA_SHIFT	10		/* of the ratio of round trip times */

struct lia_path {
	u32 window;	/* segments; 0: no path */
	u32 rtt;	/* us */
};

static inline struct lia_path lia_path(u32 window, u32 rtt_us)
{
	return (struct lia_path){
		.window = clamp(window, 1U, LIA_MAX_WINDOW),
		.rtt = clamp(rtt_us, 1U, LIA_MAX_RTT),
	};
}

/* Whether w / rtt^2 is greater; 23 + 2 * 20 bits. */
static inline bool lia_is_better(struct lia_path path, struct lia_path than)
{
	return (u64)path.window * than.rtt * than.rtt >
	       (u64)than.window * path.rtt * path.rtt;
}

/* A term of the sum, scaled; 23 + 20 + 10 bits. */
static inline u64 lia_term(struct lia_path path, struct lia_path best)
{
	return div64_u64(((u64)path.window * best.rtt) << LIA_SHIFT, path.rtt);
}

/* Segments to be acknowledged for one more; a sum beyond 32 bits, which are
 * four million segments, would overflow its square and counts as 32 bits.
 */
static inline u32 lia_interval(u64 sum, struct lia_path best, u32 window)
{
	u64 interval;

	sum = min_t(u64, sum, U32_MAX);
	interval = div64_u64(sum * sum, (u64)best.window << (2 * LIA_SHIFT));
	return clamp_t(u64, interval, window, U32_MAX);
}

#endif
