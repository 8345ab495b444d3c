/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DCQCN: the reaction point in a sender's NIC, a rate limiter for a queue pair, and the
 * notification point in a receiver's.
 *
 * Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015,
 * section 3.1 and figure 7, whose names stand in brackets.
 *
 * A notification (CNP) cuts the rate to R_C (1 - alpha / 2), the rate before becomes the
 * target R_T, and alpha moves to 1 by g. Without one for K = 55 us alpha becomes
 * (1 - g) alpha. Each 55 us (T) and each 10 MB sent (BC) since the last cut is a cycle,
 * in which the rate halves its distance to the target. Fewer than F = 5 of either are
 * fast recovery; then the target grows by R_AI, and when both have passed F by R_HAI.
 */
#ifndef ROCE_DCQCN_H
#define ROCE_DCQCN_H

#include "../shim.h"

#define ROCE_ONE 0xffffffffU	/* alpha = 1 */
#define ROCE_NEVER (~0ULL)

/* In the order of the control's options. */
struct roce_dcqcn_config {
	u64 least_bps;
	u64 active_bps;		/* R_AI */
	u64 hyper_bps;		/* R_HAI */
	u64 cycle_bytes;	/* B; on the wire */
	u64 cycle_ns;		/* of the timer, T */
	u64 alpha_ns;		/* K */
	u64 gain;		/* g, of 2^32; below 1 */
	u64 recovery_cycles;	/* F */
};

struct roce_dcqcn {
	u64 rate_bps;		/* R_C; the line's: there is no limit */
	u64 target_bps;		/* R_T */
	u64 line_bps;
	u32 alpha;
	u32 byte_cycles;	/* BC */
	u32 timer_cycles;	/* T */
	u64 sent_bytes;		/* of the byte counter's cycle */
	u64 cycle_ns;		/* when the timer's cycle ends */
	u64 alpha_ns;		/* when alpha decays */
};

static inline void roce_dcqcn_begin(struct roce_dcqcn *state, u64 line_bps)
{
	*state = (struct roce_dcqcn) {
		.rate_bps = line_bps,
		.target_bps = line_bps,
		.line_bps = line_bps,
		.alpha = ROCE_ONE,
		.cycle_ns = ROCE_NEVER,
		.alpha_ns = ROCE_NEVER,
	};
}

/* A notification has come. */
static inline void roce_dcqcn_notify(const struct roce_dcqcn_config *config,
				     struct roce_dcqcn *state, u64 now)
{
	/* The kernel's shift is 32 at most. */
	u64 cut = mul_u64_u32_shr(state->rate_bps, state->alpha, 32) / 2;

	state->target_bps = state->rate_bps;
	state->rate_bps = switch_max(state->rate_bps - cut, config->least_bps);
	state->alpha += mul_u64_u32_shr(ROCE_ONE - state->alpha, config->gain, 32);
	state->byte_cycles = 0;
	state->timer_cycles = 0;
	state->sent_bytes = 0;
	state->cycle_ns = now + config->cycle_ns;
	state->alpha_ns = now + config->alpha_ns;
}

/* A cycle has ended and is counted. At the line's rate the limiter is gone. */
static inline void roce_dcqcn_increase(const struct roce_dcqcn_config *config,
				       struct roce_dcqcn *state)
{
	u32 fewer = switch_min(state->byte_cycles, state->timer_cycles);
	u32 more = switch_max(state->byte_cycles, state->timer_cycles);

	if (fewer > config->recovery_cycles)
		state->target_bps += config->hyper_bps;
	else if (more >= config->recovery_cycles)
		state->target_bps += config->active_bps;
	state->target_bps = switch_min(state->target_bps, state->line_bps);
	state->rate_bps += (state->target_bps - state->rate_bps + 1) / 2;
	if (state->rate_bps == state->line_bps)
		state->cycle_ns = ROCE_NEVER;
}

/* Whether the pair's rate is below the line's. */
static inline bool roce_dcqcn_limits(const struct roce_dcqcn *state)
{
	return state->rate_bps < state->line_bps;
}

/* When its state changes by itself next. */
static inline u64 roce_dcqcn_next(const struct roce_dcqcn *state)
{
	return switch_min(state->cycle_ns, state->alpha_ns);
}

/* Does what is due until `now`, in the order of its times. */
static inline void roce_dcqcn_advance(const struct roce_dcqcn_config *config,
				      struct roce_dcqcn *state, u64 now)
{
	while (roce_dcqcn_next(state) <= now) {
		u32 decay = mul_u64_u32_shr(state->alpha, config->gain, 32);

		if (state->cycle_ns < state->alpha_ns) {
			state->cycle_ns += config->cycle_ns;
			state->timer_cycles++;
			roce_dcqcn_increase(config, state);
			continue;
		}
		/* Below 1/g of the smallest fraction there is no decay left. */
		state->alpha -= decay;
		state->alpha_ns = decay ? state->alpha_ns + config->alpha_ns : ROCE_NEVER;
	}
}

/* Bytes of the pair have been sent. */
static inline void roce_dcqcn_sent(const struct roce_dcqcn_config *config,
				   struct roce_dcqcn *state, u32 bytes)
{
	if (!roce_dcqcn_limits(state))
		return;
	state->sent_bytes += bytes;
	if (state->sent_bytes < config->cycle_bytes)
		return;
	state->sent_bytes -= config->cycle_bytes;
	state->byte_cycles++;
	roce_dcqcn_increase(config, state);
}

/* -- Notification point ------------------------------------------------------------------------ */

/* A packet with CE has come: whether a notification goes; `next_ns`: the earliest time for one. */
static inline bool roce_notifies(u64 *next_ns, u64 interval_ns, u64 now)
{
	if (now < *next_ns)
		return false;
	*next_ns = now + interval_ns;
	return true;
}

#endif
