// SPDX-License-Identifier: GPL-2.0
/*
 * The choice among next hops of equal cost by packet or flowlet (load_balancing.h).
 *
 * A network (a node) has it if its sysctl net.ipv4.load_balancing says so: a mode, then
 * words and numbers in turn,
 *
 *	packet-quality seed 7 idle_ns 256000 flows 512 load_min 0 load_max 9084
 *
 * Packets that the node itself sends are none of its business. What is drawn comes from a
 * generator of the node's own, whose seed the sysctl has: it moves no number of anybody
 * else.
 *
 * Linux chooses the first next hop whose bound is not below the packet's hash. Its bounds
 * follow from weights, and next hops that are dead, or whose link is down, have none (-1).
 * So a choice is told by another hash: that of the bound of the chosen, or a random one.
 */
#include <linux/netdevice.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <net/ip6_fib.h>
#include <net/ip_fib.h>
#include <net/load_balancing.h>
#include <net/nexthop.h>
#include <net/pkt_sched.h>
#include <net/switch_port.h>

#include "load_balancing.h"

#define LB_TEXT 256
#define LB_MOST_FLOWS (1 << 20)
#define LB_MOST_MEMBERS 256	/* next hops of a route; FRR has no more */
/* What a port's queue is called that is no switch_port; a shaper and a delay line may stand before it. */
#define LB_QUEUE_HANDLE TC_H_MAKE(3 << 16, 0)

enum lb_mode {
	LB_FLOW,
	LB_FLOWLET_RANDOM,
	LB_FLOWLET_QUALITY,
	LB_PACKET_RANDOM,
	LB_PACKET_ROUND_ROBIN,
	LB_PACKET_QUALITY,
	LB_MODES,
};

static const char *const lb_names[LB_MODES] = {
	[LB_FLOW] = "flow",
	[LB_FLOWLET_RANDOM] = "flowlet-random",
	[LB_FLOWLET_QUALITY] = "flowlet-quality",
	[LB_PACKET_RANDOM] = "packet-random",
	[LB_PACKET_ROUND_ROBIN] = "packet-round-robin",
	[LB_PACKET_QUALITY] = "packet-quality",
};

/* What the sysctl says; `named` are in its order. */
struct lb_config {
	enum lb_mode mode;
	union {
		struct {
			u64 seed, idle_ns, flows, load_min, load_max;
		};
		u64 named[5];
	};
};

static const char *const lb_words[] = { "seed", "idle_ns", "flows", "load_min", "load_max" };

/* A next hop that works. */
struct lb_member {
	struct net_device *dev;
	int bound;
};

struct load_balancing {
	struct rcu_head rcu;
	struct lb_config config;
	spinlock_t lock;		/* of what follows */
	u64 random;			/* the generator's state */
	u32 turn;			/* of the member with which a route's round robin begins */
	u32 members;			/* of the route that is looked at */
	struct lb_member member[LB_MOST_MEMBERS];
	struct lb_flowlet flowlet[];
};

/* -- The load of ports --------------------------------------------------------------------------- */

static u64 lb_queue_load(struct net_device *dev)
{
	struct Qdisc *root = rcu_dereference(dev->qdisc), *queue;
	u64 bytes;

	if (switch_port_load(root, &bytes))
		return bytes;
	queue = qdisc_lookup_rcu(dev, LB_QUEUE_HANDLE);
	return (queue ?: root)->qstats.backlog;
}

/* A port channel spreads what it gets over its members. */
static u64 lb_load(struct net_device *dev)
{
	struct net_device *member;
	struct list_head *at;
	u32 members = 0;
	u64 sum = 0;

	if (!netif_is_bond_master(dev))
		return lb_queue_load(dev);
	netdev_for_each_lower_dev(dev, member, at) {
		sum += lb_queue_load(member);
		members++;
	}
	return members ? div_u64(sum, members) : 0;
}

/* -- Members: the next hops of a route that work ------------------------------------------------- */

static void lb_add(struct load_balancing *balancing, struct net_device *dev, const atomic_t *bound)
{
	int now = atomic_read(bound);

	if (now >= 0 && dev && balancing->members < LB_MOST_MEMBERS)
		balancing->member[balancing->members++] = (struct lb_member) { dev, now };
}

/* A next hop object: a group whose members have bounds; there are others. */
static void lb_collect_object(struct load_balancing *balancing, const struct nexthop *object)
{
	const struct nh_group *group = object->is_group ? rcu_dereference(object->nh_grp) : NULL;
	int place;

	if (!group || !group->hash_threshold)
		return;
	for (place = 0; place < group->num_nh; place++) {
		const struct nh_grp_entry *entry = &group->nh_entries[place];
		const struct nh_info *info = rcu_dereference(entry->nh->nh_info);

		lb_add(balancing, info->fib_nhc.nhc_dev, &entry->hthr.upper_bound);
	}
}

static void lb_collect(struct load_balancing *balancing, struct fib_info *route)
{
	int place;

	balancing->members = 0;
	if (route->nh) {
		lb_collect_object(balancing, route->nh);
		return;
	}
	for (place = 0; place < fib_info_num_path(route); place++) {
		const struct fib_nh_common *one = fib_info_nhc(route, place);

		lb_add(balancing, one->nhc_dev, &one->nhc_upper_bound);
	}
}

/* Routes of IPv6 with several next hops are routes with one each, in a ring. */
static void lb_collect6(struct load_balancing *balancing, struct fib6_info *route)
{
	const struct fib6_info *one;

	balancing->members = 0;
	if (route->nh) {
		lb_collect_object(balancing, route->nh);
		return;
	}
	lb_add(balancing, route->fib6_nh->fib_nh_dev, &route->fib6_nh->fib_nh_upper_bound);
	list_for_each_entry_rcu(one, &route->fib6_siblings, fib6_siblings)
		lb_add(balancing, one->fib6_nh->fib_nh_dev, &one->fib6_nh->fib_nh_upper_bound);
}

static const struct lb_member *lb_best_member(struct load_balancing *balancing)
{
	const struct lb_config *config = &balancing->config;
	struct lb_best best = {};
	u32 place, band;

	for (place = 0; place < balancing->members; place++) {
		band = lb_band(lb_load(balancing->member[place].dev), config->load_min,
			       config->load_max);
		lb_offer(&best, &balancing->random, place, band);
	}
	return &balancing->member[best.member];
}

/* The one behind this port; NULL: there is none any more. */
static const struct lb_member *lb_member_at(const struct load_balancing *balancing, u32 ifindex)
{
	u32 place;

	for (place = 0; place < balancing->members; place++)
		if (balancing->member[place].dev->ifindex == ifindex)
			return &balancing->member[place];
	return NULL;
}

/* -- The choice ---------------------------------------------------------------------------------- */

static u32 lb_choose_flowlet(struct load_balancing *balancing, u32 hash)
{
	const struct lb_config *config = &balancing->config;
	struct lb_flowlet *flowlet = &balancing->flowlet[hash % (u32)config->flows];
	bool goes_on = lb_flowlet_goes_on(flowlet, ktime_get_ns(), config->idle_ns);
	const struct lb_member *chosen;

	if (config->mode == LB_FLOWLET_RANDOM) {
		if (!goes_on)
			flowlet->choice = lb_draw(&balancing->random) >> 1;
		return flowlet->choice;
	}
	chosen = goes_on ? lb_member_at(balancing, flowlet->choice) : NULL;
	if (!chosen)
		chosen = lb_best_member(balancing);
	flowlet->choice = chosen->dev->ifindex;
	return chosen->bound;
}

/* `turn`: the packets of this route that took its next hops in turn. */
static u32 lb_choose(struct load_balancing *balancing, u32 *turn, u32 hash)
{
	if (!balancing->members)
		return hash;
	switch (balancing->config.mode) {
	case LB_PACKET_RANDOM:
		return lb_draw(&balancing->random) >> 1;
	case LB_PACKET_ROUND_ROBIN:
		return balancing->member[(balancing->turn + (*turn)++) % balancing->members].bound;
	case LB_PACKET_QUALITY:
		return lb_best_member(balancing)->bound;
	default:
		return lb_choose_flowlet(balancing, hash);
	}
}

u32 load_balancing_choose(struct load_balancing *balancing, struct fib_info *route, u32 hash)
{
	spin_lock_bh(&balancing->lock);
	lb_collect(balancing, route);
	hash = lb_choose(balancing, &route->fib_turn, hash);
	spin_unlock_bh(&balancing->lock);
	return hash;
}

u32 load_balancing_choose6(struct load_balancing *balancing, struct fib6_info *route, u32 hash)
{
	spin_lock_bh(&balancing->lock);
	lb_collect6(balancing, route);
	hash = lb_choose(balancing, &route->fib6_turn, hash);
	spin_unlock_bh(&balancing->lock);
	return hash;
}

/* -- net.ipv4.load_balancing --------------------------------------------------------------------- */

static int lb_parse_named(struct lb_config *config, const char *word, const char *number)
{
	int place = match_string(lb_words, ARRAY_SIZE(lb_words), word);

	if (place < 0 || !number)
		return -EINVAL;
	return kstrtou64(number, 10, &config->named[place]);
}

static int lb_parse(struct lb_config *config, char *text)
{
	char *rest = strim(text), *word = strsep(&rest, " ");
	int mode = match_string(lb_names, LB_MODES, word), error = 0;

	if (mode < 0)
		return -EINVAL;
	*config = (struct lb_config) { .mode = mode, .flows = 1, .load_max = 1 };
	while (!error && (word = strsep(&rest, " ")))
		error = lb_parse_named(config, word, strsep(&rest, " "));
	if (error)
		return error;
	if (!config->flows || config->flows > LB_MOST_FLOWS || config->load_min >= config->load_max ||
	    config->load_max > U32_MAX)
		return -ERANGE;
	return 0;
}

static struct load_balancing *lb_make(const struct lb_config *config)
{
	struct load_balancing *made = kvzalloc(struct_size(made, flowlet, config->flows), GFP_KERNEL);

	if (!made)
		return NULL;
	made->config = *config;
	spin_lock_init(&made->lock);
	made->random = config->seed;
	made->turn = lb_draw(&made->random) >> 1;
	return made;
}

static int lb_set(struct net *net, char *text)
{
	struct load_balancing *made = NULL, *before;
	struct lb_config config;
	int error = lb_parse(&config, text);

	if (error)
		return error;
	if (config.mode != LB_FLOW) {
		made = lb_make(&config);
		if (!made)
			return -ENOMEM;
	}
	rtnl_lock();
	before = rcu_replace_pointer(net->ipv4.load_balancing, made, lockdep_rtnl_is_held());
	rtnl_unlock();
	if (before)
		kvfree_rcu(before, rcu);
	return 0;
}

static void lb_print(const struct net *net, char *text, size_t size)
{
	const struct load_balancing *balancing;
	size_t place, length;

	rcu_read_lock();
	balancing = rcu_dereference(net->ipv4.load_balancing);
	length = scnprintf(text, size, "%s", lb_names[balancing ? balancing->config.mode : LB_FLOW]);
	for (place = 0; balancing && place < ARRAY_SIZE(lb_words); place++)
		length += scnprintf(text + length, size - length, " %s %llu", lb_words[place],
				    balancing->config.named[place]);
	rcu_read_unlock();
}

static int lb_handle(const struct ctl_table *table, int write, void *buffer, size_t *lenp,
		     loff_t *ppos)
{
	struct net *net = table->data;
	char text[LB_TEXT] = {};
	const struct ctl_table shown = { .data = text, .maxlen = sizeof(text) };
	int error;

	if (!write)
		lb_print(net, text, sizeof(text));
	error = proc_dostring(&shown, write, buffer, lenp, ppos);
	return error || !write ? error : lb_set(net, text);
}

static const struct ctl_table lb_table[] = {
	{ .procname = "load_balancing", .mode = 0644, .proc_handler = lb_handle },
};

static int __net_init lb_net_init(struct net *net)
{
	struct ctl_table *table = kmemdup(lb_table, sizeof(lb_table), GFP_KERNEL);

	if (!table)
		return -ENOMEM;
	table->data = net;
	net->ipv4.load_balancing_sysctl = register_net_sysctl_sz(net, "net/ipv4", table,
								 ARRAY_SIZE(lb_table));
	if (net->ipv4.load_balancing_sysctl)
		return 0;
	kfree(table);
	return -ENOMEM;
}

static void __net_exit lb_net_exit(struct net *net)
{
	const struct ctl_table *table = net->ipv4.load_balancing_sysctl->ctl_table_arg;

	unregister_net_sysctl_table(net->ipv4.load_balancing_sysctl);
	kfree(table);
	/* No packet is on its way in a network that goes. */
	kvfree(rcu_dereference_protected(net->ipv4.load_balancing, true));
}

static struct pernet_operations lb_net_ops = {
	.init = lb_net_init,
	.exit = lb_net_exit,
};

static int __init lb_init(void)
{
	return register_pernet_subsys(&lb_net_ops);
}
fs_initcall(lb_init);
