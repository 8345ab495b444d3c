/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a switch does with the five-tuple's hash when a packet that it forwards has several
 * next hops (net/ipv4/load_balancing.c). A network that chooses by the hash alone pays for
 * one look at a pointer.
 */
#ifndef NET_LOAD_BALANCING_H
#define NET_LOAD_BALANCING_H

#include <linux/rcupdate.h>
#include <net/net_namespace.h>

struct fib6_info;
struct fib_info;
struct load_balancing;

u32 load_balancing_choose(struct load_balancing *balancing, struct fib_info *route, u32 hash);
u32 load_balancing_choose6(struct load_balancing *balancing, struct fib6_info *route, u32 hash);

/* The 31 bits by which a packet's next hop is chosen; `hash`: those of its five-tuple. */
static inline u32 load_balancing_hash(const struct net *net, struct fib_info *route, u32 hash)
{
	struct load_balancing *balancing = rcu_dereference(net->ipv4.load_balancing);

	return unlikely(balancing) ? load_balancing_choose(balancing, route, hash) : hash;
}

/* The same of IPv6. */
static inline u32 load_balancing_hash6(const struct net *net, struct fib6_info *route, u32 hash)
{
	struct load_balancing *balancing = rcu_dereference(net->ipv4.load_balancing);

	return unlikely(balancing) ? load_balancing_choose6(balancing, route, hash) : hash;
}

#endif
