// SPDX-License-Identifier: GPL-2.0
/* TIMELY as a NIC's congestion control; timely.h is the algorithm. */
#include <linux/time64.h>
#include <net/roce_control.h>

#include "timely.h"

static const struct roce_control_option options[] = {
	{ "low", 50 * NSEC_PER_USEC, 0, U32_MAX },
	{ "high", 500 * NSEC_PER_USEC, 0, U32_MAX },
	{ "least_rtt", 20 * NSEC_PER_USEC, 1, U32_MAX },
	{ "weight", 875000, 1, 1000000 },
	{ "decrease", 800000, 1, 1000000 },
	{ "increase", 10000000, 0, U32_MAX },
	{ "least", 10000000, 8000, U64_MAX },
	{}
};

static void timely_begin(struct roce_flow *flow)
{
	roce_timely_begin(roce_control_state(flow, struct roce_timely), flow->line_bps);
}

static void timely_acknowledged(struct roce_flow *flow, const struct roce_acknowledgement *ack)
{
	struct roce_timely *state = roce_control_state(flow, struct roce_timely);

	if (!ack->rtt_ns)
		return;
	roce_timely_completed((const struct roce_timely_config *)flow->options, state,
			      flow->line_bps, ack->rtt_ns);
	flow->rate_bps = state->rate_bps;
}

struct roce_control roce_control_timely = {
	.name = "timely",
	.options = options,
	.begin = timely_begin,
	.acknowledged = timely_acknowledged,
};
