// SPDX-License-Identifier: GPL-2.0
/*
 * What a sample tells of a queue: the answer to RTM_GETQDISC, without the qdisc's options
 * (Linux 6.12, net/sched/sch_api.c: tc_fill_qdisc()).
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/gen_stats.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include <net/switch_port.h>
#include "samples.h"

/* By its name, once it is not there any more, as netlink's samplers do. */
struct net_device *samples_find_device(struct samples_item *item)
{
	struct net_device *dev = dev_get_by_index_rcu(item->net, item->interface_index);

	if (dev)
		return dev;
	dev = dev_get_by_name_rcu(item->net, item->name);
	if (dev)
		item->interface_index = dev->ifindex;
	return dev;
}

static int put_own_statistics(struct Qdisc *sch, u64 now, struct gnet_dump *dump)
{
	if (switch_port_dump_stats(sch, now, dump))
		return 0;
	return sch->ops->dump_stats ? sch->ops->dump_stats(sch, dump) : 0;
}

static int put_statistics(struct Qdisc *sch, u64 now, struct sk_buff *skb)
{
	bool per_cpu = qdisc_is_percpu_stats(sch);
	struct gnet_dump dump;

	if (gnet_stats_start_copy(skb, TCA_STATS2, NULL, &dump, TCA_PAD) < 0 ||
	    put_own_statistics(sch, now, &dump) < 0 ||
	    gnet_stats_copy_basic(&dump, per_cpu ? sch->cpu_bstats : NULL, &sch->bstats,
				  true) < 0 ||
	    gnet_stats_copy_queue(&dump, per_cpu ? sch->cpu_qstats : NULL, &sch->qstats,
				  qdisc_qlen_sum(sch)) < 0)
		return -EMSGSIZE;
	return gnet_stats_finish_copy(&dump);
}

u64 samples_next_change(struct samples_item *item)
{
	struct net_device *dev = samples_find_device(item);
	struct Qdisc *sch = dev ? qdisc_lookup_rcu(dev, item->handle) : NULL;

	return sch ? switch_port_next_event(sch) : U64_MAX;
}

bool samples_read_queue(struct samples_item *item, u64 now, struct sk_buff *skb)
{
	struct net_device *dev = samples_find_device(item);
	struct Qdisc *sch = dev ? qdisc_lookup_rcu(dev, item->handle) : NULL;
	struct tcmsg *head;

	if (!sch)
		return false;
	head = skb_put_zero(skb, sizeof(*head));
	head->tcm_ifindex = dev->ifindex;
	head->tcm_handle = sch->handle;
	return !nla_put_string(skb, TCA_KIND, sch->ops->id) && !put_statistics(sch, now, skb);
}
