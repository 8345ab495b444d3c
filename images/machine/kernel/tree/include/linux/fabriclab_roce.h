/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a cable's end asks of its host's RoCE NIC (net/sched/switch_port/roce).
 */
#ifndef FABRICLAB_ROCE_H
#define FABRICLAB_ROCE_H

#include <linux/jump_label.h>

struct net;
struct net_device;
struct samples_pair;
struct sk_buff;

#ifdef CONFIG_NET_SCH_SWITCH_PORT
/* On while there is a NIC of that kind. */
DECLARE_STATIC_KEY_FALSE(roce_is_on);

bool roce_receive(struct net_device *dev, struct sk_buff *skb);
/* Tells of each queue pair of a node that sends data, at this instant. */
void roce_each_pair(struct net *net,
		    void (*tell)(void *to, u32 number, const struct samples_pair *sample), void *to);

/* Whether the NIC has taken a frame that has arrived, whose data begin behind Ethernet's header. */
static inline bool roce_takes(struct net_device *dev, struct sk_buff *skb)
{
	return static_branch_unlikely(&roce_is_on) && roce_receive(dev, skb);
}
#else
static inline bool roce_takes(struct net_device *dev, struct sk_buff *skb)
{
	return false;
}

static inline void roce_each_pair(struct net *net,
				  void (*tell)(void *to, u32 number,
					       const struct samples_pair *sample), void *to)
{
}
#endif

#endif
