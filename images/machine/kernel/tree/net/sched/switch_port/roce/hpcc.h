/* SPDX-License-Identifier: GPL-2.0 */
/*
 * HPCC: a pair's rate by what the switches of its path tell of their ports.
 *
 * Y. Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, algorithm 1, whose
 * names stand in brackets. The window W and the rate are one: W = R T.
 *
 * Each acknowledgement gives an estimate of how many bytes are on the way at the busiest
 * link, as a part of what fills it (U): its queue and what it has sent since the
 * acknowledgement before. From U the rate follows, from a reference R_c that itself moves
 * once in a round trip.
 */
#ifndef ROCE_HPCC_H
#define ROCE_HPCC_H

#include "telemetry.h"

#define ROCE_HPCC_ONE (1ULL << 30)	/* U = 1 */

/* In the order of the control's options. */
struct roce_hpcc_config {
	u64 eta_ppm;		/* of the link that is to be filled */
	u64 stages;		/* maxStage: additive increases before a multiplicative one */
	u64 increase_bps;	/* W_AI, as a rate */
	u64 least_bps;
	u64 base_rtt_ns;	/* T */
};

/* What the busiest link of a path says with an acknowledgement. */
struct roce_hpcc_link {
	u64 rate_bps;
	u64 queue_bytes;
	u32 time_ns;
	u32 sent;
};

struct roce_hpcc {
	u64 rate_bps;		/* R */
	u64 reference_bps;	/* R_c */
	u64 use;		/* U */
	u64 updated;		/* lastUpdateSeq: the packet whose acknowledgement ends this round */
	u32 stage;		/* incStage */
	u32 links;		/* that the last acknowledgement told of; 0: none has come */
	struct roce_hpcc_link link[ROCE_TELEMETRY_HOPS];
};

static inline void roce_hpcc_begin(struct roce_hpcc *state, u64 line_bps)
{
	*state = (struct roce_hpcc) { .rate_bps = line_bps, .reference_bps = line_bps };
}

/* How much of a link is used, between two looks at it; `gap_ns`: what lies between them. */
static inline u64 roce_hpcc_use(const struct roce_hpcc_config *config,
				const struct roce_hpcc_link *before,
				const struct roce_hpcc_link *link, u32 *gap_ns)
{
	u64 queue_bits = switch_min(before->queue_bytes, link->queue_bytes) * 8;
	u32 sent = (link->sent - before->sent) & (BIT(ROCE_TELEMETRY_SENT_BITS) - 1);
	u64 bits = (u64)sent * ROCE_TELEMETRY_SENT_UNIT * 8;
	u64 kbps = link->rate_bps / 1000;

	*gap_ns = (link->time_ns - before->time_ns) & (BIT(ROCE_TELEMETRY_TIME_BITS) - 1);
	if (!*gap_ns || !kbps)
		return 0;
	/* A bit in a ns is 10^6 kbit/s. */
	return switch_mul_div(bits, 1000000 * ROCE_HPCC_ONE, *gap_ns * kbps) +
	       switch_mul_div(queue_bits, 1000000 * ROCE_HPCC_ONE, config->base_rtt_ns * kbps);
}

/* MeasureInflight: the busiest link moves U, the more the longer the gap. */
static inline void roce_hpcc_measure(const struct roce_hpcc_config *config,
				     struct roce_hpcc *state, const struct roce_hpcc_link *link,
				     u32 links)
{
	u64 most = 0, period = config->base_rtt_ns, tau = 0;
	u32 number;

	for (number = 0; number < links; number++) {
		u32 gap;
		u64 use = roce_hpcc_use(config, &state->link[number], &link[number], &gap);

		if (use > most) {
			most = use;
			tau = switch_min(gap, period);
		}
	}
	state->use = switch_mul_div(state->use, period - tau, period) +
		     switch_mul_div(most, tau, period);
}

/* ComputeWind: the rate that follows from the reference; `whole`: the reference moves, too. */
static inline void roce_hpcc_compute(const struct roce_hpcc_config *config,
				     struct roce_hpcc *state, u64 line_bps, bool whole)
{
	u64 eta = ROCE_HPCC_ONE * config->eta_ppm / 1000000;
	bool multiplies = state->use && (state->use >= eta || state->stage >= config->stages);
	u64 rate = state->reference_bps;

	if (multiplies)
		rate = switch_mul_div(rate, eta, state->use);
	rate = switch_min(rate + config->increase_bps, line_bps);
	state->rate_bps = switch_max(rate, config->least_bps);
	if (!whole)
		return;
	state->reference_bps = state->rate_bps;
	state->stage = multiplies ? 0 : state->stage + 1;
}

/*
 * An acknowledgement of all up to `packet` has come, with what `links` links tell; `next` is
 * sent next. A path of another length is another path: it is a first look, too.
 */
static inline void roce_hpcc_acknowledged(const struct roce_hpcc_config *config,
					  struct roce_hpcc *state, u64 line_bps, u64 packet,
					  u64 next, const struct roce_hpcc_link *link, u32 links)
{
	bool whole = packet + 1 > state->updated;
	u32 number;

	if (state->links == links && links) {
		roce_hpcc_measure(config, state, link, links);
		roce_hpcc_compute(config, state, line_bps, whole);
	}
	if (whole)
		state->updated = next;
	state->links = links;
	for (number = 0; number < links; number++)
		state->link[number] = link[number];
}

/* W: what a rate has on its way in a round trip without queues. */
static inline u64 roce_hpcc_window(const struct roce_hpcc_config *config, u64 rate_bps)
{
	return switch_mul_div(rate_bps, config->base_rtt_ns, 8 * SWITCH_NS_PER_SEC);
}

#endif
