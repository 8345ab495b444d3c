// SPDX-License-Identifier: GPL-2.0
/*
 * What a sample tells of an interface: the answer to RTM_GETSTATS with its 64-bit counters
 * (Linux 6.12, net/core/rtnetlink.c: rtnl_fill_statsinfo()).
 */
#include <linux/if_link.h>
#include <linux/netdevice.h>
#include <net/netlink.h>
#include "samples.h"

bool samples_read_interface(struct samples_item *item, struct sk_buff *skb)
{
	struct net_device *dev = samples_find_device(item);
	struct rtnl_link_stats64 stats;
	struct if_stats_msg *head;

	if (!dev)
		return false;
	head = skb_put_zero(skb, sizeof(*head));
	head->ifindex = dev->ifindex;
	head->filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
	dev_get_stats(dev, &stats);
	return !nla_put_64bit(skb, IFLA_STATS_LINK_64, sizeof(stats), &stats, IFLA_STATS_UNSPEC);
}
