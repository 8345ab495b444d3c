// SPDX-License-Identifier: GPL-2.0
/* Prague: a scalable congestion control for L4S.
 *
 * Source: draft-briscoe-iccrg-prague-congestion-control, its requirements RFC 9331, section 4. As DCTCP (RFC 8257) it
 * reduces its window by half of the fraction of marked packets, but
 *
 * - it sends ECT(1), by which a DualPI2 port knows it, and hears of each mark by accurate ECN (RFC 9768);
 * - it grows beside its reductions, by unmarked packets only, in parts of a packet;
 * - below a round trip of 25 ms it behaves as if it were that long, so that it takes no more of a line than a flow
 *   whose queue is long (the draft's section on RTT independence);
 * - its packets are paced.
 *
 * Left out: windows below two packets, the fallback where a port has classic ECN, ageing of alpha when idle. A loss
 * halves the window at once, as Reno's; the draft would let it shrink as CUBIC's.
 *
 * It needs Linux 7.3 as fabriclab builds it: ../../docs/l4s.md.
 */
#include <linux/module.h>
#include <net/tcp.h>

#ifndef TCP_CONG_ECT_1
#error "prague needs accurate ECN and ECT(1): KERNEL_SERIES=7.3, docs/l4s.md"
#endif

#define WINDOW_SHIFT	20	/* windows are in parts of a packet */
#define ALPHA_SHIFT	20	/* and the fraction of marks in parts of 1 */
#define ALPHA_ONE	(1U << ALPHA_SHIFT)
#define GAIN_SHIFT	4	/* g = 1/16 */
#define VIRTUAL_RTT_US	25000U
#define LEAST_WINDOW	2U

struct prague {
	u64	window;
	u64	round_us;	/* when the round began, in which marks are counted */
	u64	reduced_us;	/* when marks last reduced the window */
	u32	alpha;
	u32	delivered;	/* at the last acknowledgement */
	u32	delivered_ce;
	u32	round_delivered;	/* at the beginning of the round */
	u32	round_delivered_ce;
	u32	before_loss;	/* the window that an undo gives back */
};

static u32 prague_rtt_us(const struct tcp_sock *tp)
{
	return max(tp->srtt_us >> 3, 1U);
}

static u32 prague_virtual_rtt_us(const struct tcp_sock *tp)
{
	return max(prague_rtt_us(tp), VIRTUAL_RTT_US);
}

static void prague_begin_round(const struct tcp_sock *tp, struct prague *ca)
{
	ca->round_us = tp->tcp_mstamp;
	ca->round_delivered = tp->delivered;
	ca->round_delivered_ce = tp->delivered_ce;
}

static void prague_init(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct prague *ca = inet_csk_ca(sk);

	ca->window = (u64)tcp_snd_cwnd(tp) << WINDOW_SHIFT;
	ca->alpha = ALPHA_ONE;
	ca->delivered = tp->delivered;
	ca->delivered_ce = tp->delivered_ce;
	ca->reduced_us = 0;
	ca->before_loss = 0;
	prague_begin_round(tp, ca);
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
}

/* What the kernel would begin a reduction with: marks and losses are answered below. */
static u32 prague_ssthresh(struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

static void prague_set_window(struct tcp_sock *tp, struct prague *ca, u64 window)
{
	ca->window = clamp_t(u64, window, (u64)LEAST_WINDOW << WINDOW_SHIFT,
			     (u64)tp->snd_cwnd_clamp << WINDOW_SHIFT);
	tcp_snd_cwnd_set(tp, ca->window >> WINDOW_SHIFT);
}

static void prague_set_state(struct sock *sk, u8 state)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct prague *ca = inet_csk_ca(sk);
	bool lossy = state == TCP_CA_Recovery || state == TCP_CA_Loss;

	if (!lossy || inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery ||
	    inet_csk(sk)->icsk_ca_state == TCP_CA_Loss)
		return;
	ca->before_loss = ca->window >> WINDOW_SHIFT;
	tp->snd_ssthresh = max(ca->before_loss / 2, LEAST_WINDOW);
	/* After a timeout the kernel has made the window small already. */
	if (state == TCP_CA_Recovery)
		prague_set_window(tp, ca, (u64)tp->snd_ssthresh << WINDOW_SHIFT);
}

static u32 prague_undo_cwnd(struct sock *sk)
{
	const struct prague *ca = inet_csk_ca(sk);

	return max(tcp_snd_cwnd(tcp_sk(sk)), ca->before_loss);
}

/* alpha = (1 - g) alpha + g F, once a virtual round trip. */
static void prague_update_alpha(const struct tcp_sock *tp, struct prague *ca)
{
	u32 packets = tp->delivered - ca->round_delivered;
	u32 marked = tp->delivered_ce - ca->round_delivered_ce;
	s64 fraction;

	if (!packets || tp->tcp_mstamp - ca->round_us < prague_virtual_rtt_us(tp))
		return;
	fraction = div_u64((u64)min(marked, packets) << ALPHA_SHIFT, packets);
	ca->alpha += (fraction - (s64)ca->alpha) >> GAIN_SHIFT;
	prague_begin_round(tp, ca);
}

/* By alpha / 2, once a virtual round trip. */
static void prague_reduce(struct tcp_sock *tp, struct prague *ca)
{
	if (ca->reduced_us && tp->tcp_mstamp - ca->reduced_us < prague_virtual_rtt_us(tp))
		return;
	ca->reduced_us = tp->tcp_mstamp;
	prague_set_window(tp, ca, ca->window - mul_u64_u32_shr(ca->window, ca->alpha, ALPHA_SHIFT + 1));
	tp->snd_ssthresh = tcp_snd_cwnd(tp);
}

/* A packet a virtual round trip, as seen in its rate: (RTT / virtual RTT)^2 packets a round trip. */
static void prague_grow(struct sock *sk, struct tcp_sock *tp, struct prague *ca, u32 unmarked)
{
	u64 rtt_us = prague_rtt_us(tp), virtual_us = prague_virtual_rtt_us(tp), part;

	if (!unmarked || !tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		prague_set_window(tp, ca, ca->window + ((u64)unmarked << WINDOW_SHIFT));
		return;
	}
	part = div64_u64((rtt_us * rtt_us) << WINDOW_SHIFT, virtual_us * virtual_us);
	prague_set_window(tp, ca, ca->window + div_u64(part * unmarked, tcp_snd_cwnd(tp)));
}

static void prague_pace(struct sock *sk, const struct tcp_sock *tp)
{
	u64 rate = (u64)tcp_snd_cwnd(tp) * tp->mss_cache * USEC_PER_SEC;

	rate = div_u64(rate, prague_rtt_us(tp)) << (tcp_in_slow_start(tp) ? 1 : 0);
	WRITE_ONCE(sk->sk_pacing_rate, min_t(u64, rate, READ_ONCE(sk->sk_max_pacing_rate)));
}

static void prague_cong_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *sample)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct prague *ca = inet_csk_ca(sk);
	u32 packets = tp->delivered - ca->delivered;
	u32 marked = min(tp->delivered_ce - ca->delivered_ce, packets);

	ca->delivered = tp->delivered;
	ca->delivered_ce = tp->delivered_ce;
	/* Timeouts and idle times change the window, too. */
	if (ca->window >> WINDOW_SHIFT != tcp_snd_cwnd(tp))
		ca->window = (u64)tcp_snd_cwnd(tp) << WINDOW_SHIFT;
	prague_update_alpha(tp, ca);
	if (marked)
		prague_reduce(tp, ca);
	if (inet_csk(sk)->icsk_ca_state != TCP_CA_Recovery)
		prague_grow(sk, tp, ca, packets - marked);
	prague_pace(sk, tp);
}

static struct tcp_congestion_ops prague __read_mostly = {
	.flags = TCP_CONG_NEEDS_ECN | TCP_CONG_NEEDS_ACCECN | TCP_CONG_ECT_1_NEGOTIATION | TCP_CONG_ECT_1,
	.init = prague_init,
	.ssthresh = prague_ssthresh,
	.set_state = prague_set_state,
	.undo_cwnd = prague_undo_cwnd,
	.cong_control = prague_cong_control,
	.owner = THIS_MODULE,
	.name = "prague",
};

static int __init prague_register(void)
{
	BUILD_BUG_ON(sizeof(struct prague) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&prague);
}
module_init(prague_register);
MODULE_LICENSE("GPL");
