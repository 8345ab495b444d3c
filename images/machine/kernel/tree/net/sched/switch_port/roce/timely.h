/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TIMELY: a pair's rate by the gradient of its round-trip times.
 *
 * R. Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015,
 * algorithm 1, whose names stand in brackets. Below T_low the rate rises, above T_high it
 * falls by how far the time is above it, and between them by its gradient. After five
 * rises in a row without a positive gradient steps are five times as long (HAI).
 */
#ifndef ROCE_TIMELY_H
#define ROCE_TIMELY_H

#include "../shim.h"

#define ROCE_TIMELY_HYPER 5
#define ROCE_TIMELY_SHIFT 16	/* gradients and times are of 2^-16 */
#define ROCE_TIMELY_PPM 1000000

/* In the order of the control's options. */
struct roce_timely_config {
	u64 low_ns;		/* T_low */
	u64 high_ns;		/* T_high */
	u64 least_rtt_ns;	/* minRTT, of the fabric without queues */
	u64 weight_ppm;		/* alpha: what the newest difference weighs */
	u64 decrease_ppm;	/* beta */
	u64 increase_bps;	/* delta */
	u64 least_bps;
};

struct roce_timely {
	u64 rate_bps;
	u64 rtt_ns;		/* prev_rtt; 0: none was measured */
	s64 difference;		/* rtt_diff, of 2^-16 ns */
	u32 rises;		/* in a row */
};

static inline void roce_timely_begin(struct roce_timely *state, u64 line_bps)
{
	*state = (struct roce_timely) { .rate_bps = line_bps };
}

/* The rate less this part of it, of 2^16. */
static inline void roce_timely_fall(const struct roce_timely_config *config,
				    struct roce_timely *state, u64 part)
{
	u64 one = 1ULL << ROCE_TIMELY_SHIFT;
	u64 beta = config->decrease_ppm;
	u64 cut = switch_min(switch_mul_div(part, beta, ROCE_TIMELY_PPM), one);

	state->rate_bps -= switch_mul_div(state->rate_bps, cut, one);
	state->rate_bps = switch_max(state->rate_bps, config->least_bps);
	state->rises = 0;
}

static inline void roce_timely_rise(const struct roce_timely_config *config,
				    struct roce_timely *state, u64 line_bps, u32 steps)
{
	state->rate_bps = switch_min(state->rate_bps + steps * config->increase_bps, line_bps);
}

/* The filter of differences. Division rounds to zero. */
static inline void roce_timely_measure(const struct roce_timely_config *config,
				       struct roce_timely *state, u64 rtt_ns)
{
	s64 newest = ((s64)rtt_ns - (s64)state->rtt_ns) * (1LL << ROCE_TIMELY_SHIFT);
	s64 weight = config->weight_ppm;

	state->difference = (state->difference / ROCE_TIMELY_PPM) * (ROCE_TIMELY_PPM - weight) +
			    (state->difference % ROCE_TIMELY_PPM) * (ROCE_TIMELY_PPM - weight) /
				    ROCE_TIMELY_PPM +
			    (newest / ROCE_TIMELY_PPM) * weight +
			    (newest % ROCE_TIMELY_PPM) * weight / ROCE_TIMELY_PPM;
	state->rtt_ns = rtt_ns;
}

/* A completion: a round-trip time was measured. */
static inline void roce_timely_completed(const struct roce_timely_config *config,
					 struct roce_timely *state, u64 line_bps, u64 rtt_ns)
{
	u64 one = 1ULL << ROCE_TIMELY_SHIFT;

	if (!state->rtt_ns) {
		state->rtt_ns = rtt_ns;
		return;
	}
	roce_timely_measure(config, state, rtt_ns);
	if (rtt_ns < config->low_ns) {
		state->rises = 0;
		roce_timely_rise(config, state, line_bps, 1);
	} else if (rtt_ns > config->high_ns) {
		roce_timely_fall(config, state, one - switch_mul_div(config->high_ns, one, rtt_ns));
	} else if (state->difference <= 0) {
		state->rises++;
		roce_timely_rise(config, state, line_bps,
				 state->rises >= ROCE_TIMELY_HYPER ? ROCE_TIMELY_HYPER : 1);
	} else {
		roce_timely_fall(config, state, state->difference / config->least_rtt_ns);
	}
}

#endif
