// SPDX-License-Identifier: GPL-2.0
/* DX: congestion control by the queueing delay of the last window (dx.h).
 *
 * The delay is one-way, as the receiver measures and tells it (net/tcp_delay.h);
 * the least ever told is the delay of an empty path. Windows are kept in parts
 * of a packet. As with Vegas, slow start ends with the first window that found
 * a queue. Losses are answered as Reno answers them.
 */
#include <linux/module.h>
#include <net/tcp.h>

#include "dx.h"

struct dx {
	u64 window;		/* in 2^-DX_SHIFT */
	u64 sum_ns;		/* of the delays told in this round */
	u32 count;
	u32 base_ns;		/* the least delay */
	u32 round_end;		/* sequence number */
};

static void dx_begin_round(struct sock *sk)
{
	struct dx *dx = inet_csk_ca(sk);

	dx->sum_ns = 0;
	dx->count = 0;
	dx->round_end = tcp_sk(sk)->snd_nxt;
}

static void dx_init(struct sock *sk)
{
	struct dx *dx = inet_csk_ca(sk);

	dx->window = 0;
	dx->base_ns = U32_MAX;
	dx_begin_round(sk);
}

static void dx_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct dx *dx = inet_csk_ca(sk);

	if (!tp->delay.told)
		return;
	dx->base_ns = min(dx->base_ns, tp->delay.told_ns);
	dx->sum_ns += (u64)tp->delay.told_ns * tp->delay.told;
	dx->count += tp->delay.told;
}

/* Loss recovery and slow start have windows of their own. */
static void dx_take_window(const struct tcp_sock *tp, struct dx *dx)
{
	if (dx_packets(dx->window) != tcp_snd_cwnd(tp))
		dx->window = (u64)tcp_snd_cwnd(tp) << DX_SHIFT;
}

static void dx_end_round(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct dx *dx = inet_csk_ca(sk);
	u64 queue_ns = div_u64(dx->sum_ns, dx->count) - dx->base_ns;

	if (queue_ns == 0 && tcp_in_slow_start(tp))
		return;
	dx_take_window(tp, dx);
	dx->window = dx_next_window(dx->window, queue_ns, max(tcp_min_rtt(tp), 1U) * 1000ULL);
	dx->window = min(dx->window, (u64)tp->snd_cwnd_clamp << DX_SHIFT);
	tcp_snd_cwnd_set(tp, dx_packets(dx->window));
	tp->snd_ssthresh = min(tp->snd_ssthresh, tcp_snd_cwnd(tp));
}

static void dx_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct dx *dx = inet_csk_ca(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (!before(ack, dx->round_end)) {
		if (dx->count)
			dx_end_round(sk);
		dx_begin_round(sk);
	}
	/* The receiver tells nothing (data with its acknowledgements): as Reno. */
	if (tcp_in_slow_start(tp))
		tcp_slow_start(tp, acked);
	else if (dx->base_ns == U32_MAX)
		tcp_reno_cong_avoid(sk, ack, acked);
}

static struct tcp_congestion_ops tcp_dx __read_mostly = {
	.flags = TCP_CONG_DELAYS,
	.init = dx_init,
	.ssthresh = tcp_reno_ssthresh,
	.undo_cwnd = tcp_reno_undo_cwnd,
	.cong_avoid = dx_cong_avoid,
	.pkts_acked = dx_pkts_acked,
	.owner = THIS_MODULE,
	.name = "dx",
};

static int __init dx_register(void)
{
	BUILD_BUG_ON(sizeof(struct dx) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&tcp_dx);
}
module_init(dx_register);
