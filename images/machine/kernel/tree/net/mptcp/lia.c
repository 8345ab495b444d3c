// SPDX-License-Identifier: GPL-2.0
/* The Linked Increases Algorithm for MPTCP (RFC 6356): a connection takes from
 * a bottleneck what one TCP flow takes, however many subflows it has there.
 *
 * Slow start, the halved window after a loss, and all of a connection that is
 * plain TCP are Reno's; only the growth in congestion avoidance is coupled. As
 * in mptcp_coupled.c of the out-of-tree MPTCP the windows are in segments, of
 * the same size on all subflows. Other than there, and allowed by section 4.1,
 * the increase is computed for each acknowledgement, not kept.
 *
 * The list of subflows is read without the connection's lock, from softirqs:
 * this is for machines of one processor without preemption (see Kconfig).
 */
#include <net/tcp.h>

#include "lia.h"
#include "protocol.h"

/* A subflow with a round trip time; others are no path yet, or no more. */
static struct lia_path lia_path_of(struct mptcp_subflow_context *subflow)
{
	const struct sock *sk = mptcp_subflow_tcp_sock(subflow);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)) ||
	    !tp->srtt_us)
		return (struct lia_path){};
	return lia_path(tcp_snd_cwnd(tp), tp->srtt_us >> 3);
}

static u32 lia_coupled_interval(struct mptcp_sock *msk, u32 window)
{
	struct mptcp_subflow_context *subflow;
	struct lia_path best = {}, path;
	u64 sum = 0;

	mptcp_for_each_subflow(msk, subflow) {
		path = lia_path_of(subflow);
		if (path.window && (!best.window || lia_is_better(path, best)))
			best = path;
	}
	if (!best.window)
		return window;

	mptcp_for_each_subflow(msk, subflow) {
		path = lia_path_of(subflow);
		if (path.window)
			sum += lia_term(path, best);
	}
	return lia_interval(sum, best, window);
}

static void lia_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 interval;

	if (!tcp_is_cwnd_limited(sk))
		return;

	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}

	interval = tcp_snd_cwnd(tp);
	if (sk_is_mptcp(sk) && mptcp_subflow_ctx(sk)->conn)
		interval = lia_coupled_interval(mptcp_sk(mptcp_subflow_ctx(sk)->conn),
						interval);
	tcp_cong_avoid_ai(tp, interval, acked);
}

static struct tcp_congestion_ops lia __read_mostly = {
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= lia_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "lia",
};

static int __init lia_register(void)
{
	return tcp_register_congestion_control(&lia);
}
late_initcall(lia_register);
