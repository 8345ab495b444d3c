// SPDX-License-Identifier: GPL-2.0
/*
 * What a sample tells of a node's TCP connections: what inet_diag answers of each, as far as
 * samplers read it. Nobody runs meanwhile: what a task may hold the lock of is read all the
 * same.
 */
#include <linux/fabriclab_roce.h>
#include <linux/inet_diag.h>
#include <linux/tcp.h>
#include <linux/version.h>
#include <net/inet_hashtables.h>
#include <net/net_namespace.h>
#include <net/netlink.h>
#include <net/tcp.h>
#include <uapi/linux/fabriclab_samples.h>
#include "samples.h"

/* Those in which a socket has a connection. */
#define SAMPLES_STATES (TCPF_ESTABLISHED | TCPF_SYN_SENT | TCPF_FIN_WAIT1 | TCPF_FIN_WAIT2 | \
			TCPF_CLOSE_WAIT | TCPF_LAST_ACK | TCPF_CLOSING)

/* Linux 6.12, net/ipv4/tcp.c: tcp_compute_delivery_rate(). */
static u64 delivery_rate(const struct tcp_sock *tp)
{
	u32 rate = READ_ONCE(tp->rate_delivered);
	u32 interval = READ_ONCE(tp->rate_interval_us);

	return rate && interval ?
	       div_u64((u64)rate * tp->mss_cache * USEC_PER_SEC, interval) : 0;
}

/* Linux 6.12, net/ipv4/tcp.c: tcp_get_info(), of which this has what does not change by itself. */
static void read_info(const struct sock *sk, struct tcp_info *info)
{
	const struct inet_connection_sock *csk = inet_csk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	unsigned long rate = READ_ONCE(sk->sk_pacing_rate);

	info->tcpi_state = sk->sk_state;
	info->tcpi_ca_state = csk->icsk_ca_state;
	info->tcpi_snd_cwnd = tcp_snd_cwnd(tp);
	info->tcpi_snd_ssthresh = tp->snd_ssthresh;
	info->tcpi_rtt = tp->srtt_us >> 3;
	info->tcpi_rttvar = tp->mdev_us >> 2;
	info->tcpi_min_rtt = tcp_min_rtt(tp);
	info->tcpi_rto = jiffies_to_usecs(csk->icsk_rto);
	info->tcpi_unacked = tp->packets_out;
	info->tcpi_lost = tp->lost_out;
	info->tcpi_retrans = tp->retrans_out;
	info->tcpi_total_retrans = tp->total_retrans;
	info->tcpi_total_rto = tp->total_rto;
	info->tcpi_delivered = tp->delivered;
	info->tcpi_delivered_ce = tp->delivered_ce;
	info->tcpi_pacing_rate = rate == ~0UL ? ~0ULL : rate;
	info->tcpi_delivery_rate = delivery_rate(tp);
	info->tcpi_bytes_acked = tp->bytes_acked;
}

static void put_congestion_control(struct sock *sk, struct sk_buff *skb)
{
	const struct tcp_congestion_ops *control = inet_csk(sk)->icsk_ca_ops;
	union tcp_cc_info own;
	size_t bytes = 0;
	int kind;

	if (!control)
		return;
	nla_put_string(skb, INET_DIAG_CONG, control->name);
	if (control->get_info)
		bytes = control->get_info(sk, ~0U, &kind, &own);
	if (bytes)
		nla_put(skb, kind, bytes, &own);
}

/* MPTCP's, for which a subflow's socket is of a protocol below. */
static void put_upper_protocol(struct sock *sk, struct sk_buff *skb)
{
	const struct tcp_ulp_ops *protocol = inet_csk(sk)->icsk_ulp_ops;
	int owned = sk->sk_lock.owned;
	struct nlattr *nest;

	if (!protocol || !protocol->get_info)
		return;
	nest = nla_nest_start_noflag(skb, INET_DIAG_ULP_INFO);
	if (!nest)
		return;
	sk->sk_lock.owned = 0;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	/* As to who may administer the network: all of it. */
	protocol->get_info(sk, skb, true);
#else
	protocol->get_info(sk, skb);
#endif
	sk->sk_lock.owned = owned;
	nla_nest_end(skb, nest);
}

static void put_connection(struct sock *sk, struct sk_buff *skb)
{
	struct inet_diag_msg *head = skb_put_zero(skb, sizeof(*head));
	struct tcp_info info = {};

	inet_diag_msg_common_fill(head, sk);
	head->idiag_state = sk->sk_state;
	read_info(sk, &info);
	nla_put_u32(skb, INET_DIAG_MARK, READ_ONCE(sk->sk_mark));
	nla_put_64bit(skb, INET_DIAG_INFO, sizeof(info), &info, INET_DIAG_PAD);
	put_congestion_control(sk, skb);
	put_upper_protocol(sk, skb);
}

static bool is_wanted(const struct samples_recorder *recorder, u32 mark)
{
	u32 number;

	for (number = 0; number < recorder->mark_count; number++)
		if (recorder->marks[number] == mark)
			return true;
	return mark && !recorder->mark_count;
}

/* -- RoCE ---------------------------------------------------------------------------- */

/* Whom pairs are told to. */
struct pairs_taker {
	struct samples_recorder *recorder;
	u32 number;
	struct sk_buff *skb;
};

static void take_pair(void *to, u32 mark, const struct samples_pair *sample)
{
	struct pairs_taker *taker = to;
	struct sk_buff *skb = taker->skb;
	struct inet_diag_msg *head;

	if (!is_wanted(taker->recorder, mark))
		return;
	skb_trim(skb, 0);
	head = skb_put_zero(skb, sizeof(*head));
	head->idiag_family = AF_INET;
	head->idiag_state = sample->failed ? TCP_CLOSE : TCP_ESTABLISHED;
	head->id.idiag_cookie[0] = mark;
	nla_put_u32(skb, INET_DIAG_MARK, mark);
	nla_put_string(skb, INET_DIAG_CONG, sample->control);
	nla_put_64bit(skb, SAMPLES_ATTRIBUTE_PAIR, sizeof(*sample), sample, INET_DIAG_PAD);
	samples_append(taker->recorder, taker->number, skb);
}

void samples_take_connections(struct samples_recorder *recorder, u32 number, struct sk_buff *skb)
{
	struct net *net = recorder->items[number].net;
	struct inet_hashinfo *table = net->ipv4.tcp_death_row.hashinfo;
	struct pairs_taker taker = { recorder, number, skb };
	struct hlist_nulls_node *place;
	struct sock *sk;
	u32 bucket;

	for (bucket = 0; bucket <= table->ehash_mask; bucket++)
		sk_nulls_for_each(sk, place, &table->ehash[bucket].chain) {
			if (!net_eq(sock_net(sk), net) || !(1 << sk->sk_state & SAMPLES_STATES) ||
			    sk->sk_protocol != IPPROTO_TCP ||
			    !is_wanted(recorder, READ_ONCE(sk->sk_mark)))
				continue;
			skb_trim(skb, 0);
			put_connection(sk, skb);
			samples_append(recorder, number, skb);
		}
	roce_each_pair(net, take_pair, &taker);
	/* Their end. */
	skb_trim(skb, 0);
	samples_append(recorder, number, skb);
}
