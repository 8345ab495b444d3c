// SPDX-License-Identifier: GPL-2.0
/*
 * What the host sees of a live machine: its ports, the frames that stand in them, its
 * connections.
 *
 * A look is taken in the idle loop, where no task and no interrupt runs, at an instant
 * between two timer events. It reads; what it has to bring up to date (a switch's chip,
 * net/sched/switch_port/look.c) it does to no effect that anybody could tell of.
 */
#include <linux/bottom_half.h>
#include <linux/init.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <net/codel.h>
#include <net/gen_stats.h>
#include <net/net_namespace.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include <net/switch_port.h>
#include "live.h"
#include "live_look.h"

/* So many bytes of a frame are shown: IP and TCP with all their options. */
#define LIVE_FRAME_BYTES 120
/* The most that the statistics of one qdisc take. */
#define LIVE_STATISTICS_BYTES 16384

/* -- Nodes ------------------------------------------------------------------------- */

static struct net **nodes;
static u32 node_count;

/* PID 1 names the next node, by one of its processes. */
int live_look_name_node(pid_t pid)
{
	struct net **more = krealloc_array(nodes, node_count + 1, sizeof(*nodes), GFP_KERNEL);
	struct net *net;

	if (!more)
		return -ENOMEM;
	nodes = more;
	net = get_net_ns_by_pid(pid);
	if (IS_ERR(net))
		return PTR_ERR(net);
	nodes[node_count++] = net;
	return 0;
}

struct net *live_look_node(u32 number)
{
	return number < node_count ? nodes[number] : NULL;
}

/* -- Records ----------------------------------------------------------------------- */

/* Those that wait to be sent. */
static struct {
	u64 instant;
	size_t length;
	u8 bytes[LIVE_PAYLOAD_MAX] __aligned(8);
} told;

static void send_records(bool more)
{
	live_answer(LIVE_LOOKED, told.instant, more, told.bytes, told.length);
	told.length = 0;
}

void live_look_tell(enum live_record_kind kind, u32 number, const void *head,
		    size_t head_bytes, const void *tail, size_t tail_bytes)
{
	size_t length = ALIGN(sizeof(struct live_record) + head_bytes + tail_bytes, 8);
	struct live_record *record;

	if (told.length + length > sizeof(told.bytes))
		send_records(true);
	record = (struct live_record *)(told.bytes + told.length);
	memset(record, 0, length);
	record->kind = kind;
	record->length = length;
	record->number = number;
	memcpy(record + 1, head, head_bytes);
	memcpy((u8 *)(record + 1) + head_bytes, tail, tail_bytes);
	told.length += length;
}

/* -- Frames ------------------------------------------------------------------------ */

static void tell_frame(u32 queue, const struct sk_buff *skb, u64 waited_ns)
{
	int offset = skb_network_offset(skb);
	int length = clamp_t(int, skb->len - offset, 0, LIVE_FRAME_BYTES);
	struct live_frame head = {
		.waited_ns = waited_ns,
		.bytes = qdisc_pkt_len(skb),
		.protocol = ntohs(skb_protocol(skb, true)),
	};
	u8 bytes[LIVE_FRAME_BYTES];

	if (!skb_copy_bits(skb, offset, bytes, length))
		head.header = length;
	live_look_tell(LIVE_RECORD_FRAME, queue, &head, sizeof(head), bytes, head.header);
}

/*
 * How long a frame of a stock qdisc has stood; only CoDel writes down when it came (struct
 * codel_skb_cb of net/codel_qdisc.h).
 */
static u64 frame_waited(const struct Qdisc *sch, const struct sk_buff *skb, u64 until)
{
	codel_time_t now = until >> CODEL_SHIFT;
	const codel_time_t *came = (const codel_time_t *)qdisc_skb_cb(skb)->data;

	if (strcmp(sch->ops->id, "codel"))
		return LIVE_UNKNOWN;
	return (u64)(codel_time_t)(now - *came) << CODEL_SHIFT;
}

/* -- Stock qdiscs ------------------------------------------------------------------ */

/* Where qdiscs tell of themselves; NULL: there is no memory. */
static struct sk_buff *fresh_message(void)
{
	static struct sk_buff *skb;

	if (!skb)
		skb = alloc_skb(LIVE_STATISTICS_BYTES, GFP_ATOMIC);
	if (skb)
		skb_trim(skb, 0);
	return skb;
}

size_t live_look_statistics(struct Qdisc *sch, const u8 **statistics)
{
	struct sk_buff *skb = fresh_message();
	struct gnet_dump dump = {};
	struct nlattr *found;

	if (!skb || !sch->ops->dump_stats ||
	    gnet_stats_start_copy(skb, TCA_STATS2, NULL, &dump, TCA_PAD) < 0 ||
	    sch->ops->dump_stats(sch, &dump) < 0)
		return 0;
	dump.tail->nla_len = skb_tail_pointer(skb) - (u8 *)dump.tail;
	found = nla_find_nested(dump.tail, TCA_STATS_APP);
	if (!found)
		return 0;
	*statistics = nla_data(found);
	return nla_len(found);
}

/* At which a token bucket sends. */
static u64 read_rate(struct Qdisc *sch)
{
	struct sk_buff *skb = fresh_message();
	const struct nlattr *options, *found;

	if (!skb || strcmp(sch->ops->id, "tbf") || sch->ops->dump(sch, skb) < 0)
		return LIVE_UNKNOWN;
	options = (struct nlattr *)skb->data;
	found = nla_find_nested(options, TCA_TBF_RATE64);
	if (found)
		return nla_get_u64(found) * BITS_PER_BYTE;
	found = nla_find_nested(options, TCA_TBF_PARMS);
	if (!found)
		return LIVE_UNKNOWN;
	return ((const struct tc_tbf_qopt *)nla_data(found))->rate.rate * (u64)BITS_PER_BYTE;
}

static void look_at_qdisc(struct Qdisc *sch, const struct switch_look *look)
{
	struct gnet_stats_basic_sync basic;
	struct live_qdisc head = { .parent = sch->parent };
	struct gnet_stats_queue queue = {};
	const u8 *statistics = NULL;
	const struct sk_buff *skb;
	size_t length;

	gnet_stats_basic_sync_init(&basic);
	gnet_stats_add_basic(&basic, sch->cpu_bstats, &sch->bstats, false);
	gnet_stats_add_queue(&queue, sch->cpu_qstats, &sch->qstats);
	strscpy(head.kind, sch->ops->id, sizeof(head.kind));
	head.packets = qdisc_qlen_sum(sch);
	head.bytes = queue.backlog;
	head.drops = queue.drops;
	head.overlimits = queue.overlimits;
	head.sent_bytes = u64_stats_read(&basic.bytes);
	head.sent_packets = u64_stats_read(&basic.packets);
	head.rate_bps = read_rate(sch);
	length = live_look_statistics(sch, &statistics);
	live_look_tell(LIVE_RECORD_QDISC, sch->handle, &head, sizeof(head), statistics, length);
	for (skb = look->frames ? sch->q.head : NULL; skb; skb = skb->next)
		tell_frame(sch->handle, skb, frame_waited(sch, skb, look->until));
}

static struct Qdisc *child_of(struct net_device *dev, const struct Qdisc *parent)
{
	struct Qdisc *sch;
	int bucket;

	hash_for_each_rcu(dev->qdisc_hash, bucket, sch, hash)
		if (sch != parent && TC_H_MAJ(sch->parent) == TC_H_MAJ(parent->handle))
			return sch;
	return NULL;
}

struct Qdisc *live_look_queue(struct net_device *dev, struct Qdisc *root)
{
	struct Qdisc *queue = root, *below;

	while (!strcmp(queue->ops->id, "tbf") || !strcmp(queue->ops->id, "netem")) {
		below = child_of(dev, queue);
		if (!below)
			break;
		queue = below;
	}
	return queue;
}

/* The root, and those below it in no order. */
static void look_at_qdiscs(struct net_device *dev, struct Qdisc *root,
			   const struct switch_look *look)
{
	struct Qdisc *sch;
	int bucket;

	look_at_qdisc(root, look);
	hash_for_each_rcu(dev->qdisc_hash, bucket, sch, hash)
		if (sch != root && sch->parent != TC_H_INGRESS)
			look_at_qdisc(sch, look);
}

/* -- Ports ------------------------------------------------------------------------- */

static void look_at_device(struct net_device *dev, u32 number, const struct switch_look *look)
{
	struct rtnl_link_stats64 stats;
	struct live_port head = {
		.exists = 1,
		.up = netif_running(dev) && netif_carrier_ok(dev),
	};
	struct Qdisc *root = rcu_dereference(dev->qdisc);

	dev_get_stats(dev, &stats);
	head.tx_bytes = stats.tx_bytes;
	head.tx_packets = stats.tx_packets;
	head.rx_bytes = stats.rx_bytes;
	head.rx_packets = stats.rx_packets;
	live_look_tell(LIVE_RECORD_PORT, number, &head, sizeof(head), NULL, 0);
	if (!root || root == &noop_qdisc)
		return;
	if (!switch_port_look(root, look))
		look_at_qdiscs(dev, root, look);
}

static void look_at_port(const struct live_place *place, u32 number,
			 const struct switch_look *look)
{
	struct net *net = live_look_node(place->node);
	static const struct live_port none;
	char name[LIVE_NAME_MAX + 1] = {};
	struct net_device *dev;

	memcpy(name, place->interface, LIVE_NAME_MAX);
	dev = net ? dev_get_by_name_rcu(net, name) : NULL;
	if (dev)
		look_at_device(dev, number, look);
	else
		live_look_tell(LIVE_RECORD_PORT, number, &none, sizeof(none), NULL, 0);
}

static void look_at_ports(const struct live_place *places, u32 count,
			  const struct switch_look *look)
{
	u32 number;

	for (number = 0; number < count; number++)
		look_at_port(&places[number], number, look);
}

static void look_at_connections(u64 node, bool briefly)
{
	u32 number;

	for (number = 0; number < node_count; number++)
		if (node == LIVE_UNKNOWN || node == number)
			live_look_connections(number, nodes[number], briefly);
}

void live_look(const struct live_header *asked, const void *payload, u64 instant, u64 until)
{
	struct switch_look look = {
		.until = until,
		.frames = asked->a & 1,
		.tell = live_look_tell,
		.tell_frame = tell_frame,
	};

	told.instant = instant;
	/* No softirq runs when it is enabled again. */
	local_bh_disable();
	rcu_read_lock();
	if (asked->kind == LIVE_LOOK)
		look_at_ports(payload, asked->length / sizeof(struct live_place), &look);
	else
		look_at_connections(asked->a, asked->b);
	rcu_read_unlock();
	_local_bh_enable();
	send_records(false);
}
