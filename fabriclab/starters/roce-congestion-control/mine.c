// SPDX-License-Identifier: GPL-2.0
/*
 * mine: a congestion control of a RoCE NIC, to begin with.
 *
 * Additive increase, multiplicative decrease, by delay: each acknowledgement tells how
 * long its packet and itself took. Below the target the rate rises by a step; above it a
 * quarter of the rate goes, at most once in a round trip.
 *
 * include/net/roce_control.h says what each function is for, and what a switch may tell of
 * itself (.wants_telemetry). fabriclab's own are DCQCN, HPCC, TIMELY and Swift
 * (images/machine/kernel/tree/net/sched/switch_port/roce/control_*.c).
 */
#include <linux/module.h>
#include <linux/time64.h>
#include <net/roce_control.h>

/* What is left of the rate above the target, in quarters. */
#define AFTER_DELAY	3

/* The words of a lab's `options`, with what they are where the lab does not write them. */
enum { TARGET, STEP, LEAST };

static const struct roce_control_option options[] = {
	[TARGET] = { "target", 25 * NSEC_PER_USEC, NSEC_PER_USEC, NSEC_PER_SEC },
	[STEP] = { "step", 20000000, 1, 1000000000000 },	/* bits a second */
	[LEAST] = { "least", 10000000, 8000, 1000000000000 },
	{}
};

/* What each queue pair keeps: 256 bytes at most. */
struct mine {
	u64	fell_ns;	/* when its rate fell last */
};

/* A queue pair begins, at the line's rate. */
static void mine_begin(struct roce_flow *flow)
{
	roce_control_state(flow, struct mine)->fell_ns = 0;
}

/* An acknowledgement has come. */
static void mine_acknowledged(struct roce_flow *flow, const struct roce_acknowledgement *ack)
{
	struct mine *state = roce_control_state(flow, struct mine);

	/* A packet that was sent again tells nothing of the delay. */
	if (!ack->rtt_ns)
		return;
	if (ack->rtt_ns < flow->options[TARGET]) {
		flow->rate_bps = min(flow->rate_bps + flow->options[STEP], flow->line_bps);
	} else if (ack->now - state->fell_ns >= ack->rtt_ns) {
		flow->rate_bps = max(flow->rate_bps / 4 * AFTER_DELAY, flow->options[LEAST]);
		state->fell_ns = ack->now;
	}
}

static struct roce_control mine = {
	.begin		= mine_begin,
	.acknowledged	= mine_acknowledged,
	.options	= options,
	/* What tables and reports call it: at most 15 characters. */
	.name		= "mine",
};

static int __init mine_register(void)
{
	return roce_control_register(&mine);
}

module_init(mine_register);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A congestion control of a RoCE NIC to begin with");
