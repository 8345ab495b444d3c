// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion control by receivers: NDP's (SIGCOMM 2017), which Ultra Ethernet has as RCCC.
 *
 * A sender begins with one window at the line's rate, about what a round-trip time takes.
 * From then on it sends a packet, new or again, for each that its receiver gives credit for
 * (credit.c). A packet that is lost as a whole brings no credit back; its timeout does.
 */
#include <linux/math64.h>
#include <net/roce_control.h>

enum { FIRST, RATE };

static const struct roce_control_option options[] = {
	[FIRST] = { "first", 16384, 1, U32_MAX },	/* bytes of data */
	[RATE] = { "rate", 1000000, 1, 1000000 },	/* of the receiver's line, of 10^6 */
	{}
};

static u64 first_window(const struct roce_flow *flow)
{
	return DIV_ROUND_UP_ULL(flow->options[FIRST], flow->mtu);
}

static void credit_begin(struct roce_flow *flow)
{
	flow->credit = first_window(flow);
}

static void credit_credited(struct roce_flow *flow, u32 packets)
{
	flow->credit += packets;
}

static void credit_lost(struct roce_flow *flow, u64 now, bool timed_out)
{
	if (timed_out)
		flow->credit = first_window(flow);
}

/* As a receiver. */
static u64 credit_bps(const u64 *options, u64 line_bps)
{
	return mul_u64_u64_div_u64(line_bps, options[RATE], 1000000);
}

struct roce_control roce_control_credit = {
	.name = "credit",
	.options = options,
	.begin = credit_begin,
	.credited = credit_credited,
	.lost = credit_lost,
	.credit_bps = credit_bps,
};
