// SPDX-License-Identifier: GPL-2.0
/* HPCC as a NIC's congestion control; hpcc.h is the algorithm. */
#include <linux/time64.h>
#include <net/roce_control.h>

#include "hpcc.h"

static const struct roce_control_option options[] = {
	{ "eta", 950000, 1, 1000000 },
	{ "stages", 5, 0, U32_MAX },
	{ "increase", 40000000, 0, U64_MAX },
	{ "least", 100000000, 8000, U64_MAX },
	{ "base_rtt", 13 * NSEC_PER_USEC, NSEC_PER_USEC, 10 * NSEC_PER_MSEC },
	{}
};

static const struct roce_hpcc_config *config_of(const struct roce_flow *flow)
{
	return (const struct roce_hpcc_config *)flow->options;
}

static void decide(struct roce_flow *flow, const struct roce_hpcc *state)
{
	flow->rate_bps = state->rate_bps;
	flow->window_bytes = roce_hpcc_window(config_of(flow), state->rate_bps);
}

static void hpcc_begin(struct roce_flow *flow)
{
	struct roce_hpcc *state = roce_control_state(flow, struct roce_hpcc);

	roce_hpcc_begin(state, flow->line_bps);
	decide(flow, state);
}

static void hpcc_acknowledged(struct roce_flow *flow, const struct roce_acknowledgement *ack)
{
	struct roce_hpcc *state = roce_control_state(flow, struct roce_hpcc);
	struct roce_hpcc_link link[ROCE_TELEMETRY_HOPS];
	u32 number;

	for (number = 0; number < ack->hop_count; number++)
		link[number] = (struct roce_hpcc_link) {
			.rate_bps = ack->hop[number].rate_bps,
			.queue_bytes = ack->hop[number].queue_bytes,
			.time_ns = ack->hop[number].time_ns,
			.sent = ack->hop[number].sent,
		};
	roce_hpcc_acknowledged(config_of(flow), state, flow->line_bps, ack->packet, ack->next, link,
			       ack->hop_count);
	decide(flow, state);
}

struct roce_control roce_control_hpcc = {
	.name = "hpcc",
	.options = options,
	.wants_telemetry = true,
	.has_window = true,
	.begin = hpcc_begin,
	.acknowledged = hpcc_acknowledged,
};
