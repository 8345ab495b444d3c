// SPDX-License-Identifier: GPL-2.0
/*
 * mine: a congestion control of your own, to begin with.
 *
 * It is Reno (RFC 5681): one segment more each round trip, half the window after
 * a loss. With one twist: where a switch marks packets in place of dropping them
 * (ECN), the queue is short, and a quarter less is enough (RFC 8511, "ABE").
 *
 * It is written like Linux's own, net/ipv4/tcp_*.c: those are the best examples,
 * and include/net/tcp.h (struct tcp_congestion_ops) says what each function is
 * for. A file may use whatever Linux offers to modules (EXPORT_SYMBOL).
 */
#include <linux/module.h>
#include <net/tcp.h>

/* What is left of the window after a loss and after a mark, in parts of 1024. */
#define AFTER_LOSS	512
#define AFTER_MARK	768
#define SHIFT		10
/* RFC 5681, section 3.1: a window is never less than two segments. */
#define LEAST_WINDOW	2U

/* What each connection keeps: 104 bytes at most (ICSK_CA_PRIV_SIZE). */
struct mine {
	bool	marked;		/* the last acknowledgement told of a mark */
	u32	marks;		/* so many did */
};

/* A connection begins. */
static void mine_init(struct sock *sk)
{
	struct mine *ca = inet_csk_ca(sk);

	ca->marked = false;
	ca->marks = 0;
}

/* An acknowledgement has come; nothing has been done about it yet. */
static void mine_in_ack_event(struct sock *sk, u32 flags)
{
	struct mine *ca = inet_csk_ca(sk);

	ca->marked = flags & CA_ACK_ECE;
	if (ca->marked)
		ca->marks++;
}

/* Something was lost or marked: the window that the connection is to shrink to. */
static u32 mine_ssthresh(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct mine *ca = inet_csk_ca(sk);
	u32 part = ca->marked ? AFTER_MARK : AFTER_LOSS;

	return max((tcp_snd_cwnd(tp) * part) >> SHIFT, LEAST_WINDOW);
}

/* `acked` segments have been acknowledged, and all is well: the window may grow. */
static void mine_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	/* A window that is not used says nothing of the network. */
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	/* One segment more for each window that is acknowledged. */
	tcp_cong_avoid_ai(tp, tcp_snd_cwnd(tp), acked);
}

static struct tcp_congestion_ops mine __read_mostly = {
	.init		= mine_init,
	.in_ack_event	= mine_in_ack_event,
	.ssthresh	= mine_ssthresh,
	.cong_avoid	= mine_cong_avoid,
	/* The loss was none after all: back to the old window. */
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	/* What tables, reports and `ss -i` call it: at most 15 characters. */
	.name		= "mine",
};

static int __init mine_register(void)
{
	BUILD_BUG_ON(sizeof(struct mine) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&mine);
}

module_init(mine_register);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A congestion control to begin with");
