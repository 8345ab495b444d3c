// SPDX-License-Identifier: GPL-2.0
/*
 * The TCP connections of a node, for the host. Nobody runs meanwhile: what a task may
 * hold the lock of is read all the same.
 */
#include <linux/inet_diag.h>
#include <linux/rcupdate.h>
#include <net/inet_hashtables.h>
#include <net/inet_timewait_sock.h>
#include <net/net_namespace.h>
#include <net/tcp.h>
#include "live_look.h"

/* Newer series know other kinds of ECN, too. */
#ifndef TCP_ECN_MODE_ANY
#define TCP_ECN_MODE_ANY TCP_ECN_OK
#endif

/* Linux 6.12, net/ipv4/tcp_rate.c and tcp.c: tcp_compute_delivery_rate(). */
static u64 delivery_rate(const struct tcp_sock *tp)
{
	u64 rate = READ_ONCE(tp->rate_delivered);
	u32 interval = READ_ONCE(tp->rate_interval_us);

	return rate && interval ?
	       div_u64(rate * tp->mss_cache * USEC_PER_SEC, interval) : LIVE_UNKNOWN;
}

/* Linux 6.12, net/ipv4/tcp.c: tcp_get_info(). */
static void read_options(const struct tcp_sock *tp, struct live_connection_state *state)
{
	if (tp->rx_opt.tstamp_ok)
		state->options |= TCPI_OPT_TIMESTAMPS;
	if (tcp_is_sack(tp))
		state->options |= TCPI_OPT_SACK;
	if (tp->rx_opt.wscale_ok)
		state->options |= TCPI_OPT_WSCALE;
	if (tp->ecn_flags & TCP_ECN_MODE_ANY)
		state->options |= TCPI_OPT_ECN;
	if (tp->ecn_flags & TCP_ECN_SEEN)
		state->options |= TCPI_OPT_ECN_SEEN;
}

static void read_times(const struct sock *sk, struct live_connection_state *state)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 least = tcp_min_rtt(tp);

	/* Eighths and quarters of a microsecond. */
	state->srtt_ns = tp->srtt_us * (NSEC_PER_USEC / 8);
	state->rttvar_ns = tp->mdev_us * (NSEC_PER_USEC / 4);
	state->min_rtt_ns = least == ~0U ? LIVE_UNKNOWN : (u64)least * NSEC_PER_USEC;
	state->rto_ns = jiffies_to_nsecs(inet_csk(sk)->icsk_rto);
}

static void read_counters(const struct tcp_sock *tp, struct live_connection_state *state)
{
	state->bytes_sent = tp->bytes_sent;
	state->bytes_acked = tp->bytes_acked;
	state->bytes_retrans = tp->bytes_retrans;
	state->bytes_received = tp->bytes_received;
	state->unacked = tp->packets_out;
	state->sacked = tp->sacked_out;
	state->lost = tp->lost_out;
	state->retrans = tp->retrans_out;
	state->total_retrans = tp->total_retrans;
	state->timeouts = tp->total_rto;
	state->delivered = tp->delivered;
	state->delivered_ce = tp->delivered_ce;
}

static void read_windows(const struct tcp_sock *tp, struct live_connection_state *state)
{
	state->cwnd = tcp_snd_cwnd(tp);
	state->ssthresh = tp->snd_ssthresh;
	state->mss = tp->mss_cache;
	state->send_window = tp->snd_wnd;
	state->receive_window = tp->rcv_wnd;
	state->snd_una = tp->snd_una;
	state->snd_nxt = tp->snd_nxt;
	state->write_seq = tp->write_seq;
	state->rcv_nxt = tp->rcv_nxt;
	state->copied_seq = tp->copied_seq;
}

/* What the congestion control has of its own, as `ss -i` shows it. */
static void read_congestion_control(struct sock *sk, struct live_connection_state *state)
{
	const struct tcp_congestion_ops *control = inet_csk(sk)->icsk_ca_ops;
	union tcp_cc_info own = {};
	int kind = 0;

	if (!control)
		return;
	strscpy(state->congestion, control->name, sizeof(state->congestion));
	if (!control->get_info || !control->get_info(sk, ~0U, &kind, &own))
		return;
	state->own_kind = kind;
	memcpy(state->own, &own, sizeof(own));
}

static void read_state(struct sock *sk, struct live_connection_state *state)
{
	const struct inet_connection_sock *csk = inet_csk(sk);
	unsigned long rate = READ_ONCE(sk->sk_pacing_rate);

	state->pacing_rate = rate == ~0UL ? LIVE_UNKNOWN : rate;
	state->delivery_rate = delivery_rate(tcp_sk(sk));
	state->ca_state = csk->icsk_ca_state;
	state->retransmits = csk->icsk_retransmits;
	state->backoff = csk->icsk_backoff;
	read_options(tcp_sk(sk), state);
	read_times(sk, state);
	read_counters(tcp_sk(sk), state);
	read_windows(tcp_sk(sk), state);
	read_congestion_control(sk, state);
}

/* Both ends; of what waits for its end (TIME_WAIT) or is being set up as well. */
static void read_ends(const struct sock *sk, struct live_connection *ends)
{
	ends->family = sk->sk_family;
	ends->state = sk->sk_state;
	ends->local_port = sk->sk_num;
	ends->remote_port = ntohs(sk->sk_dport);
	if (sk->sk_family == AF_INET6) {
		memcpy(ends->local, &sk->sk_v6_rcv_saddr, sizeof(ends->local));
		memcpy(ends->remote, &sk->sk_v6_daddr, sizeof(ends->remote));
	} else {
		memcpy(ends->local, &sk->sk_rcv_saddr, sizeof(sk->sk_rcv_saddr));
		memcpy(ends->remote, &sk->sk_daddr, sizeof(sk->sk_daddr));
	}
}

static void tell_connection(u32 node, struct sock *sk, bool briefly)
{
	struct live_connection ends = {};
	struct live_connection_state state = {};

	read_ends(sk, &ends);
	if (sk->sk_state == TCP_TIME_WAIT)
		ends.mark = inet_twsk(sk)->tw_mark;
	else if (sk->sk_state == TCP_NEW_SYN_RECV)
		ends.mark = inet_rsk(inet_reqsk(sk))->ir_mark;
	else
		ends.mark = READ_ONCE(sk->sk_mark);
	if (briefly || !sk_fullsock(sk) || sk->sk_state == TCP_LISTEN) {
		live_look_tell(LIVE_RECORD_CONNECTION, node, &ends, sizeof(ends), NULL, 0);
		return;
	}
	read_state(sk, &state);
	live_look_tell(LIVE_RECORD_CONNECTION, node, &ends, sizeof(ends), &state, sizeof(state));
}

static bool is_of(const struct sock *sk, const struct net *net)
{
	return net_eq(sock_net(sk), net) &&
	       (!sk_fullsock(sk) || sk->sk_protocol == IPPROTO_TCP);
}

static void look_at_listeners(u32 node, struct net *net)
{
	struct inet_hashinfo *table = net->ipv4.tcp_death_row.hashinfo;
	struct hlist_nulls_node *place;
	struct sock *sk;
	u32 bucket;

	for (bucket = 0; bucket <= table->lhash2_mask; bucket++)
		sk_nulls_for_each(sk, place, &table->lhash2[bucket].nulls_head)
			if (is_of(sk, net))
				tell_connection(node, sk, true);
}

void live_look_connections(u32 node, struct net *net, bool briefly)
{
	struct inet_hashinfo *table = net->ipv4.tcp_death_row.hashinfo;
	struct hlist_nulls_node *place;
	struct sock *sk;
	u32 bucket;

	if (!briefly)
		look_at_listeners(node, net);
	for (bucket = 0; bucket <= table->ehash_mask; bucket++)
		sk_nulls_for_each(sk, place, &table->ehash[bucket].chain)
			if (is_of(sk, net) && (!briefly || sk->sk_state != TCP_TIME_WAIT))
				tell_connection(node, sk, briefly);
}
