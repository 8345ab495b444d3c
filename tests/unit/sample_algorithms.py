"""A user's own algorithms for tests: one that is right, and how it is broken."""

from __future__ import annotations

CONTROL = """// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include <net/tcp.h>

/* Not this one: struct tcp_congestion_ops old = { .name = "old", }; */
static void mine_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	tcp_reno_cong_avoid(sk, ack, acked);
}

static struct tcp_congestion_ops mine __read_mostly = {
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= mine_cong_avoid,
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
"""
"""Reno by another name."""

AVOID = "\ttcp_reno_cong_avoid(sk, ack, acked);\n"
"""The line of it that others take the place of."""
AVOID_LINE = CONTROL[: CONTROL.index(AVOID)].count("\n") + 1


def control(*lines: str, name: str = "mine") -> str:
    """Return the algorithm with other lines in the place of its one."""
    text = "".join(f"\t{line}\n" for line in lines) or AVOID
    return CONTROL.replace(AVOID, text).replace('"mine"', f'"{name}"')
