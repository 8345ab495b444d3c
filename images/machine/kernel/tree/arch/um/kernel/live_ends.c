// SPDX-License-Identifier: GPL-2.0
/*
 * The ends of a flow's TCP connection: where they are in the table of connections. All of
 * that is looked through only when there are other sockets than there were.
 */
#include <linux/bitops.h>
#include <linux/rculist_nulls.h>
#include <net/inet_hashtables.h>
#include <net/inet_timewait_sock.h>
#include <net/net_namespace.h>
#include <net/tcp.h>
#include "live_ends.h"

#define OPEN_STATES (TCPF_ESTABLISHED | TCPF_SYN_SENT | TCPF_SYN_RECV | TCPF_NEW_SYN_RECV)

static u32 mark_of(struct sock *sk)
{
	return sk->sk_state == TCP_TIME_WAIT ? inet_twsk(sk)->tw_mark :
	       sk_fullsock(sk) ? READ_ONCE(sk->sk_mark) : 0;
}

/* Whether it is an end of the flow's connection: one has the mark, the other gets it later. */
static bool is_end(const struct live_ends *ends, struct sock *sk, u32 mark)
{
	return mark_of(sk) == mark ||
	       (ends->count && sk->sk_family == AF_INET &&
		sk->sk_addrpair == ends->other_addresses &&
		sk->sk_num == ends->other_local && sk->sk_dport == ends->other_remote);
}

/* The other end has the same ones, exchanged. */
static void note_other(struct live_ends *ends, const struct sock *sk)
{
	ends->other_addresses = (__force __addrpair)ror64((__force u64)sk->sk_addrpair, 32);
	ends->other_local = ntohs(sk->sk_dport);
	ends->other_remote = htons(sk->sk_num);
}

static void note_bucket(struct live_ends *ends, u32 bucket)
{
	u32 number;

	for (number = 0; number < ends->count; number++)
		if (ends->buckets[number] == bucket)
			return;
	if (ends->count < ARRAY_SIZE(ends->buckets))
		ends->buckets[ends->count++] = bucket;
}

/* Finds where the ends are; they stay in their buckets. */
static void find_ends(struct live_ends *ends, u32 mark)
{
	struct inet_hashinfo *table = init_net.ipv4.tcp_death_row.hashinfo;
	struct hlist_nulls_node *place;
	struct sock *sk;
	u32 bucket;

	for (bucket = 0; bucket <= table->ehash_mask; bucket++)
		sk_nulls_for_each(sk, place, &table->ehash[bucket].chain) {
			if (!is_end(ends, sk, mark))
				continue;
			if (!ends->count)
				note_other(ends, sk);
			note_bucket(ends, bucket);
		}
}

void live_ends_find(struct live_ends *ends, u32 mark, bool anew)
{
	s64 sockets = percpu_counter_read(&tcp_sockets_allocated);

	if (sockets == ends->sockets)
		return;
	ends->sockets = sockets;
	if (anew)
		ends->count = 0;
	find_ends(ends, mark);
	/* The other end may have been passed by. */
	if (ends->count == 1)
		find_ends(ends, mark);
}

void live_ends_count(const struct live_ends *ends, u32 mark, unsigned int *open,
		     unsigned int *closing)
{
	struct inet_hashinfo *table = init_net.ipv4.tcp_death_row.hashinfo;
	struct hlist_nulls_node *place;
	struct sock *sk;
	u32 number;

	for (number = 0; number < ends->count; number++)
		sk_nulls_for_each(sk, place, &table->ehash[ends->buckets[number]].chain) {
			if (!is_end(ends, sk, mark))
				continue;
			if ((1 << sk->sk_state) & OPEN_STATES)
				++*open;
			else
				++*closing;
		}
}
