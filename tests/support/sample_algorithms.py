"""A user's own algorithms for tests: one that is right, and how it is broken."""

from __future__ import annotations


def registration(avoid: str) -> str:
    """Return what makes a congestion control `mine` of a function that opens the window, for the end of a file."""
    return """static struct tcp_congestion_ops mine __read_mostly = {
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= AVOID,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "mine",
};

static int __init mine_register(void)
{
	return tcp_register_congestion_control(&mine);
}
module_init(mine_register);

MODULE_LICENSE("GPL");
""".replace("AVOID", avoid)


CONTROL = """// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include <net/tcp.h>

/* Not this one: struct tcp_congestion_ops old = { .name = "old", }; */
static void mine_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	tcp_reno_cong_avoid(sk, ack, acked);
}

""" + registration("mine_cong_avoid")
"""Reno by another name."""

AVOID = "\ttcp_reno_cong_avoid(sk, ack, acked);\n"
"""The line of it that others take the place of."""
AVOID_LINE = CONTROL[: CONTROL.index(AVOID)].count("\n") + 1


def control(*lines: str, name: str = "mine") -> str:
    """Return the algorithm with other lines in the place of its one."""
    text = "".join(f"\t{line}\n" for line in lines) or AVOID
    return CONTROL.replace(AVOID, text).replace('"mine"', f'"{name}"')


QDISC = """// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include <net/own_qdisc.h>
#include <net/pkt_sched.h>

static int mine_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	return qdisc_enqueue_tail(skb, sch);
}

static int mine_init(struct Qdisc *sch, struct nlattr *options, struct netlink_ext_ack *extack)
{
	u64 buffer, limit = 0;
	const struct own_option known[] = { { "buffer", &buffer }, { "limit", &limit } };

	return own_options(options, known, ARRAY_SIZE(known), extack);
}

static struct Qdisc_ops mine_ops __read_mostly = {
	.id		= "mine",
	.enqueue	= mine_enqueue,
	.dequeue	= qdisc_dequeue_head,
	.peek		= qdisc_peek_head,
	.init		= mine_init,
	.reset		= qdisc_reset_queue,
	.owner		= THIS_MODULE,
};

static int __init mine_register(void)
{
	return register_qdisc(&mine_ops);
}
module_init(mine_register);

MODULE_LICENSE("GPL");
"""
"""A queue without an end, which does not show its marks."""
