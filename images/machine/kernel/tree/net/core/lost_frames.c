// SPDX-License-Identifier: GPL-2.0
/*
 * Every frame that is dropped, by network namespace, device and reason, in
 * /proc/fabriclab_lost_frames: lines of
 *
 *   NAMESPACE INTERFACE REASON NAME FRAMES
 *
 * with the namespace's inode (0: nobody knows whose it was), the interface's index (0: none
 * that is known) and the reason's number and name (include/net/dropreason-core.h). The
 * first line says how many frames had no room in the table.
 *
 * It is counted where kfree_skb() frees. Frames that came to their end are freed by
 * consume_skb() and are not lost. Nothing is allocated: what is counted must move nothing.
 */
#include <linux/hash.h>
#include <linux/init.h>
#include <linux/jhash.h>
#include <linux/netdevice.h>
#include <linux/proc_fs.h>
#include <linux/rtnetlink.h>
#include <linux/seq_file.h>
#include <net/dst.h>
#include <net/lost_frames.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#define LOST_LOG 14
#define LOST_ROOM (1 << LOST_LOG)
#define KNOWN_LOG 14

struct lost_frames {
	u64 frames;	/* 0: the place is free */
	u32 network;
	u32 interface;
	u32 reason;
};

static struct lost_frames lost[LOST_ROOM];
static u64 without_room;
/* Devices that have been seen to be there, and are. */
static const struct net_device *known[1 << KNOWN_LOG];

static const struct net_device **place_of(const struct net_device *dev)
{
	return &known[hash_ptr(dev, KNOWN_LOG)];
}

static bool is_registered(const struct net_device *wanted)
{
	struct net_device *dev;
	struct net *net;

	for_each_net_rcu(net)
		for_each_netdev_rcu(net, dev)
			if (dev == wanted)
				return true;
	return false;
}

/*
 * The frame's device. Trees of frames (TCP, fq, netem) and sockets of UDP keep other things
 * where it stands, so only what is found among the devices is one.
 */
static const struct net_device *device_of(const struct sk_buff *skb)
{
	const struct net_device *dev = skb->dev;
	const struct net_device **place;

	if (!dev)
		return NULL;
	place = place_of(dev);
	if (*place == dev)
		return dev;
	if (!is_registered(dev))
		return NULL;
	*place = dev;
	return dev;
}

static bool is_of_internet(const struct sock *sk)
{
	return sk->sk_family == AF_INET || sk->sk_family == AF_INET6;
}

/* Messages between processes are sk_buffs as well: netlink's, those of local sockets. */
static bool is_frame(const struct sk_buff *skb)
{
	switch (skb->protocol) {
	case htons(ETH_P_IP):
	case htons(ETH_P_IPV6):
	case htons(ETH_P_ARP):
		return true;
	default:
		return false;
	}
}

static void count(u32 network, u32 interface, u32 reason)
{
	u32 first = jhash_3words(network, interface, reason, 0);
	u32 step;

	for (step = 0; step < LOST_ROOM; step++) {
		struct lost_frames *place = &lost[(first + step) & (LOST_ROOM - 1)];

		if (place->frames && (place->network != network || place->interface != interface ||
				      place->reason != reason))
			continue;
		place->network = network;
		place->interface = interface;
		place->reason = reason;
		place->frames++;
		return;
	}
	without_room++;
}

void count_lost_frame(const struct sk_buff *skb, enum skb_drop_reason reason,
		      const struct sock *sk)
{
	const struct net_device *dev;
	unsigned long flags;

	local_irq_save(flags);
	rcu_read_lock();
	dev = device_of(skb);
	sk = sk ?: skb->sk;
	if (dev)
		count(dev_net(dev)->ns.inum, dev->ifindex, reason);
	else if (sk && is_of_internet(sk))
		count(sock_net(sk)->ns.inum, 0, reason);
	else if (!sk && is_frame(skb))
		count(0, 0, reason);
	rcu_read_unlock();
	local_irq_restore(flags);
}

/* -- Reading ------------------------------------------------------------------------- */

static const char *name_of(u32 reason)
{
	const struct drop_reason_list *list = rcu_dereference(drop_reasons_by_subsys[0]);
	const char *name = reason < list->n_reasons ? list->reasons[reason] : NULL;

	return name ?: "UNKNOWN";
}

static int lost_show(struct seq_file *file, void *unused)
{
	struct lost_frames *place;

	seq_printf(file, "fabriclab-lost-frames-1 %llu\n", without_room);
	rcu_read_lock();
	for (place = lost; place < lost + LOST_ROOM; place++)
		if (place->frames)
			seq_printf(file, "%u %u %u %s %llu\n", place->network, place->interface,
				   place->reason, name_of(place->reason), place->frames);
	rcu_read_unlock();
	return 0;
}

static int device_event(struct notifier_block *unused, unsigned long event, void *info)
{
	struct net_device *dev = netdev_notifier_info_to_dev(info);
	const struct net_device **place = place_of(dev);

	if (event == NETDEV_UNREGISTER && *place == dev)
		*place = NULL;
	return NOTIFY_DONE;
}

static struct notifier_block devices = { .notifier_call = device_event };

static int __init lost_init(void)
{
	int status = register_netdevice_notifier(&devices);

	/* Each namespace has its own /proc/net; this one file is of them all. */
	if (!status && !proc_create_single("fabriclab_lost_frames", 0400, NULL, lost_show))
		status = -ENOMEM;
	return status;
}
device_initcall(lost_init);
