/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Weighted random early detection as switch chips have it: a curve from the
 * queue's length to a probability, each frame on its own.
 *
 *	length < min		never
 *	min <= length < max	probability * (length - min) / (max - min)
 *	max <= length		always
 *
 * The length is bytes or, for a threshold by delay, nanoseconds; the newest one
 * or an average that weighs it with 2^-weight_log (Floyd and Jacobson, "Random
 * Early Detection Gateways for Congestion Avoidance", ToN 1(4), 1993). With
 * min = max it is a step: DCTCP's K (RFC 8257, section 3.1).
 *
 * Unlike RED (include/net/red.h) the probability is not made uniform by a count
 * of the frames since the last mark, and a frame that finds the queue empty
 * starts the average anew instead of letting it decay for the idle time.
 */
#ifndef SWITCH_WRED_H
#define SWITCH_WRED_H

#include "shim.h"

#define SWITCH_WRED_CERTAIN (1ULL << 32)
#define SWITCH_WRED_WEIGHT_LOG_MAX 15

struct switch_wred_curve {
	u64 min;
	u64 max;
	u64 probability;	/* just below max, of SWITCH_WRED_CERTAIN */
	u8 weight_log;
};

/* The average after a sample below 2^48; `average` is kept in units of 2^-weight_log. */
static inline u64 switch_wred_sample(const struct switch_wred_curve *curve, u64 *average,
				     u64 length)
{
	if (!length)
		*average = 0;
	else
		*average += length - (*average >> curve->weight_log);
	return *average >> curve->weight_log;
}

/* The probability of a mark or drop, of SWITCH_WRED_CERTAIN. */
static inline u64 switch_wred_probability(const struct switch_wred_curve *curve, u64 length)
{
	u64 above, range;

	if (length >= curve->max)
		return SWITCH_WRED_CERTAIN;
	if (length < curve->min)
		return 0;
	above = length - curve->min;
	range = curve->max - curve->min;
	/* Fewer bits where the product would not fit: 2^32 * 2^31 does. */
	while (range >> 31) {
		range >>= 1;
		above >>= 1;
	}
	return div64_u64(curve->probability * above, range);
}

#endif
