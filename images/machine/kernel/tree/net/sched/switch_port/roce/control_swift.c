// SPDX-License-Identifier: GPL-2.0
/* Swift as a NIC's congestion control; swift.h is the algorithm. */
#include <linux/time64.h>
#include <net/roce_control.h>

#include "swift.h"

static const struct roce_control_option options[] = {
	{ "base", 25 * NSEC_PER_USEC, 0, U32_MAX },
	{ "hop", NSEC_PER_USEC, 0, U32_MAX },
	{ "range", 100 * NSEC_PER_USEC, 0, U32_MAX },
	{ "increase", 1000000, 1, U32_MAX },
	{ "decrease", 800000, 1, 1000000 },
	{ "most_decrease", 500000, 1, 999999 },
	{ "most", 256, 1, 1 << 22 },
	{}
};

static const struct roce_swift_config *config_of(const struct roce_flow *flow)
{
	return (const struct roce_swift_config *)flow->options;
}

static void decide(struct roce_flow *flow, const struct roce_swift *state)
{
	flow->rate_bps = roce_swift_rate(state, flow->line_bps, flow->mtu);
	flow->window_bytes = state->window / ROCE_SWIFT_ONE * flow->mtu;
}

static void swift_begin(struct roce_flow *flow)
{
	struct roce_swift *state = roce_control_state(flow, struct roce_swift);

	roce_swift_begin(config_of(flow), state);
	decide(flow, state);
}

static void swift_acknowledged(struct roce_flow *flow, const struct roce_acknowledgement *ack)
{
	struct roce_swift *state = roce_control_state(flow, struct roce_swift);

	if (!ack->rtt_ns)
		return;
	roce_swift_acknowledged(config_of(flow), state, ack->rtt_ns, ack->packets, ack->routers,
				ack->now);
	decide(flow, state);
}

static void swift_lost(struct roce_flow *flow, u64 now, bool timed_out)
{
	struct roce_swift *state = roce_control_state(flow, struct roce_swift);

	roce_swift_lost(config_of(flow), state, timed_out, now);
	decide(flow, state);
}

struct roce_control roce_control_swift = {
	.name = "swift",
	.options = options,
	.has_window = true,
	.begin = swift_begin,
	.acknowledged = swift_acknowledged,
	.lost = swift_lost,
};
