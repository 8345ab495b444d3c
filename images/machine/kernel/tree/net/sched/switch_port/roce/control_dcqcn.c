// SPDX-License-Identifier: GPL-2.0
/* DCQCN as a NIC's congestion control; dcqcn.h is the algorithm. */
#include <linux/time64.h>
#include <net/roce_control.h>

#include "dcqcn.h"

static const struct roce_control_option options[] = {
	{ "least", 1000000, 8000, U64_MAX },
	{ "active", 40000000, 0, U64_MAX },
	{ "hyper", 400000000, 0, U64_MAX },
	{ "cycle_bytes", 10000000, 1000, U64_MAX },
	{ "cycle_time", 55 * NSEC_PER_USEC, NSEC_PER_USEC, U64_MAX },
	{ "alpha_time", 55 * NSEC_PER_USEC, NSEC_PER_USEC, U64_MAX },
	{ "gain", 1 << 24, 0, U32_MAX },
	{ "recovery_cycles", 5, 0, U32_MAX },
	{}
};

static const struct roce_dcqcn_config *config_of(const struct roce_flow *flow)
{
	return (const struct roce_dcqcn_config *)flow->options;
}

static void dcqcn_begin(struct roce_flow *flow)
{
	roce_dcqcn_begin(roce_control_state(flow, struct roce_dcqcn), flow->line_bps);
}

static void dcqcn_notified(struct roce_flow *flow, u64 now)
{
	struct roce_dcqcn *state = roce_control_state(flow, struct roce_dcqcn);

	roce_dcqcn_notify(config_of(flow), state, now);
	flow->rate_bps = state->rate_bps;
}

static void dcqcn_sent(struct roce_flow *flow, u32 bytes)
{
	struct roce_dcqcn *state = roce_control_state(flow, struct roce_dcqcn);

	roce_dcqcn_sent(config_of(flow), state, bytes);
	flow->rate_bps = state->rate_bps;
}

static u64 dcqcn_next(const struct roce_flow *flow)
{
	return roce_dcqcn_next(roce_control_state(flow, const struct roce_dcqcn));
}

static void dcqcn_advance(struct roce_flow *flow, u64 now)
{
	struct roce_dcqcn *state = roce_control_state(flow, struct roce_dcqcn);

	roce_dcqcn_advance(config_of(flow), state, now);
	flow->rate_bps = state->rate_bps;
}

static u32 dcqcn_alpha(const struct roce_flow *flow)
{
	return roce_control_state(flow, const struct roce_dcqcn)->alpha;
}

struct roce_control roce_control_dcqcn = {
	.name = "dcqcn",
	.options = options,
	.wants_notifications = true,
	.begin = dcqcn_begin,
	.notified = dcqcn_notified,
	.sent = dcqcn_sent,
	.next = dcqcn_next,
	.advance = dcqcn_advance,
	.alpha = dcqcn_alpha,
};
