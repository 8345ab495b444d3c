/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A NIC's pacer: one token bucket for the flows that had marks, whose rate follows
 * what they send.
 *
 * Alizadeh et al., "Less is More: Trading a little Bandwidth for Ultra-Low Latency in
 * the Data Center" (HULL), NSDI 2012, section 3.3 and 4.2. Every T_r:
 *
 *	R <- (1 - eta) R + eta M_r / T_r + beta Q_tb
 *
 * R in bits per second, M_r: bits that came to the pacer in T_r, Q_tb: bits that wait in
 * it, beta in 1/s (so in the published ns-2 code of the reproduction, hull-pacer.cc). R
 * begins with the line's rate, and is at least a hundredth of it (so the authors' later
 * ns-2 code, minrate_). It may be more than the line's: a burst of 64 KB in one T_r of
 * 64 us adds 1 Gbps. Cut off there, the mean of R would be below what the flows send, and
 * their windows would stand in the pacer.
 *
 * Tokens are kept in nanobits, so that R times nanoseconds is whole. A frame that is
 * larger than the bucket goes when that is full, and leaves it in debt.
 */
#ifndef SWITCH_PACER_H
#define SWITCH_PACER_H

#include "shim.h"

#define SWITCH_PACER_SLOWEST 100	/* of the line's rate, the least R */
#define SWITCH_PACER_FASTEST_BPS 1000000000000ULL
#define SWITCH_CERTAIN_OF_32 0xffffffffU

struct switch_pacer_config {
	u64 bucket_bytes;	/* 0: no pacer */
	u64 interval_ns;	/* T_r */
	u64 idle_ns;		/* T_i: a flow that sends nothing for so long is let go */
	u32 eta;		/* of 2^32 */
	u32 beta;		/* 1/s */
	u32 probability;	/* of 2^32 that an acknowledgement with ECE takes its flow in */
};

struct switch_pacer_bucket {
	s64 tokens;		/* nanobits; below 0: in debt */
	u64 filled_ns;		/* the time of which they are */
	u64 rate_bps;
	u64 bits;		/* M_r so far */
	u64 tick_ns;		/* when R changes next */
};

static inline s64 switch_pacer_nanobits(u64 bytes)
{
	return bytes * 8 * SWITCH_NS_PER_SEC;
}

/* The first flow is taken in. */
static inline void switch_pacer_begin(const struct switch_pacer_config *config,
				      struct switch_pacer_bucket *bucket, u64 line_bps, u64 now)
{
	bucket->tokens = switch_pacer_nanobits(config->bucket_bytes);
	bucket->filled_ns = now;
	bucket->rate_bps = line_bps;
	bucket->bits = 0;
	bucket->tick_ns = now + config->interval_ns;
}

/* Adds the tokens of the time until `now`. */
static inline void switch_pacer_fill(const struct switch_pacer_config *config,
				     struct switch_pacer_bucket *bucket, u64 now)
{
	s64 full = switch_pacer_nanobits(config->bucket_bytes);
	u64 room = full - bucket->tokens, time = switch_excess(now, bucket->filled_ns);

	if (time > div64_u64(room, bucket->rate_bps))
		bucket->tokens = full;
	else
		bucket->tokens += time * bucket->rate_bps;
	bucket->filled_ns += time;
}

/* The first whole nanosecond at which a frame may go, with R as it is. */
static inline u64 switch_pacer_ready(const struct switch_pacer_config *config,
				     const struct switch_pacer_bucket *bucket, u32 bytes)
{
	s64 need = switch_pacer_nanobits(switch_min(bytes, config->bucket_bytes));

	if (bucket->tokens >= need)
		return bucket->filled_ns;
	return bucket->filled_ns +
	       div64_u64(need - bucket->tokens + bucket->rate_bps - 1, bucket->rate_bps);
}

/* A frame goes at `now`. */
static inline void switch_pacer_take(const struct switch_pacer_config *config,
				     struct switch_pacer_bucket *bucket, u64 now, u32 bytes)
{
	switch_pacer_fill(config, bucket, now);
	bucket->tokens -= switch_pacer_nanobits(bytes);
}

/* The next R. `bits` came in T_r, and `waiting` bits wait; both below 2^34. */
static inline u64 switch_pacer_rate(const struct switch_pacer_config *config, u64 rate_bps,
				    u64 bits, u64 waiting, u64 line_bps)
{
	u64 measured = div64_u64(bits * SWITCH_NS_PER_SEC, config->interval_ns);
	u64 rate = rate_bps - mul_u64_u32_shr(rate_bps, config->eta, 32) +
		   mul_u64_u32_shr(measured, config->eta, 32) + config->beta * waiting;

	return switch_min(switch_max(rate, div64_u64(line_bps, SWITCH_PACER_SLOWEST)),
			  SWITCH_PACER_FASTEST_BPS);
}

/* It is tick_ns: R changes. */
static inline void switch_pacer_tick(const struct switch_pacer_config *config,
				     struct switch_pacer_bucket *bucket, u64 waiting, u64 line_bps)
{
	switch_pacer_fill(config, bucket, bucket->tick_ns);
	bucket->rate_bps = switch_pacer_rate(config, bucket->rate_bps, bucket->bits, waiting,
					     line_bps);
	bucket->bits = 0;
	bucket->tick_ns += config->interval_ns;
}

/* Whether a mark takes its flow in. */
static inline bool switch_pacer_takes_in(const struct switch_pacer_config *config, u32 random)
{
	return config->probability == SWITCH_CERTAIN_OF_32 || random < config->probability;
}

/* Whether a flow that sent last at `last` is let go. */
static inline bool switch_pacer_lets_go(const struct switch_pacer_config *config, u64 last, u64 now)
{
	return now >= last + config->idle_ns;
}

#endif
