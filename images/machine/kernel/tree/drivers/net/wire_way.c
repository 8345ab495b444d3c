// SPDX-License-Identifier: GPL-2.0
/*
 * Frames on their way by cables, and their arrival: wire.c says how.
 */
#include <linux/etherdevice.h>
#include <linux/fabriclab_roce.h>
#include <linux/fabriclab_wires.h>
#include <linux/hardirq.h>
#include <linux/interrupt.h>
#include <linux/list_sort.h>
#include "wire.h"

#define WIRE_LANES_MAX 256
#define WIRE_HEADROOM NET_SKB_PAD
/* In a part of a buffer that is for time stamps of sockets: a cable made it. */
#define WIRE_MADE 0x57495245

struct wire_lane {
	struct sk_buff_head frames;
	u64 delay_ns;
	u32 part;
	u32 wires;	/* whose frames come by it */
};

struct wire_way {
	u64 sent;
	u64 arrival;
	u32 wire;
	u32 place;	/* among all frames of this wire */
};

static struct wire_lane lanes[WIRE_LANES_MAX];
static unsigned int lane_count;
static u64 next_arrival = U64_MAX;
static struct net *receiving;
static LIST_HEAD(due);

static struct wire_way *way(const struct sk_buff *skb)
{
	return (struct wire_way *)skb->cb;
}

struct net *wire_receiving(void)
{
	return in_serving_softirq() ? receiving : NULL;
}

void wire_serve(struct net *network)
{
	receiving = network;
}

u64 wire_next_arrival(void)
{
	return next_arrival;
}

/* -- On the way ---------------------------------------------------------------------- */

void wire_put_under_way(struct wire *to, struct sk_buff *skb, u64 sent, u64 arrival)
{
	struct sk_buff *before;

	way(skb)->sent = sent;
	way(skb)->arrival = arrival;
	way(skb)->wire = to->number;
	way(skb)->place = to->place++;
	/* It is the last one, but where a delay has changed. */
	skb_queue_reverse_walk(&to->lane->frames, before)
		if (way(before)->arrival <= arrival)
			break;
	__skb_queue_after(&to->lane->frames, before, skb);
	next_arrival = min(next_arrival, arrival);
}

static struct sk_buff *new_frame(u32 length, u64 stamp)
{
	struct sk_buff *skb = alloc_skb(WIRE_HEADROOM + length, GFP_ATOMIC);

	if (skb) {
		skb_reserve(skb, WIRE_HEADROOM);
		skb_shinfo(skb)->tskey = WIRE_MADE;
		skb_hwtstamps(skb)->hwtstamp = stamp;
	}
	return skb;
}

struct sk_buff *wire_new_frame(u32 length)
{
	return new_frame(length, 0);
}

static bool is_ours(const struct sk_buff *skb)
{
	return skb_shinfo(skb)->tskey == WIRE_MADE && !skb_is_nonlinear(skb) &&
	       !skb_cloned(skb) && skb_headroom(skb) == WIRE_HEADROOM;
}

/* The frame in a buffer of its own; NULL: there is no memory. */
struct sk_buff *wire_own_buffer(struct sk_buff *skb)
{
	struct sk_buff *own;

	if (is_ours(skb)) {
		skb_orphan(skb);
		skb_scrub_packet(skb, true);
		skb_clear_hash(skb);
		skb->priority = 0;
		skb->queue_mapping = 0;
		skb->tc_index = 0;
		return skb;
	}
	own = new_frame(skb->len, skb_hwtstamps(skb)->hwtstamp);
	if (own && skb_copy_bits(skb, 0, skb_put(own, skb->len), skb->len)) {
		kfree_skb(own);
		own = NULL;
	}
	consume_skb(skb);
	return own;
}

void wire_know_checksum(struct sk_buff *skb, const struct wire_passage *passage)
{
	skb->ip_summed = passage->checksum;
	if (passage->checksum != CHECKSUM_PARTIAL)
		return;
	skb->csum_start = skb_headroom(skb) + passage->csum_start;
	skb->csum_offset = passage->csum_offset;
}

void wire_take(const struct wire_passage *passage, const void *bytes, u32 length)
{
	struct wire *to = wire_end(passage->wire);
	struct sk_buff *skb = to ? new_frame(length, passage->stamp) : NULL;

	/* Its machine is larger than what stands in the rings: without memory it can't go on. */
	if (!skb)
		panic("fabriclab.wires: no %s wire %u\n", to ? "memory for a frame of" : "",
		      passage->wire);
	skb_put_data(skb, bytes, length);
	wire_know_checksum(skb, passage);
	wire_put_under_way(to, skb, passage->sent, passage->arrival);
}

/* -- Arrival ------------------------------------------------------------------------- */

/* Whether the cable was down at some time while the frame was under way, or it is too long. */
static bool is_lost(const struct wire *to, const struct sk_buff *skb)
{
	return !to->open || !netif_carrier_ok(to->dev) || way(skb)->sent < to->up_since ||
	       skb->len > to->longest;
}

static void receive(struct sk_buff *skb)
{
	struct wire *to = wire_end(way(skb)->wire);
	struct net_device *dev = to ? to->dev : NULL;

	skb->dev = dev;
	if (!dev || is_lost(to, skb)) {
		if (dev)
			dev_core_stats_rx_dropped_inc(dev);
		kfree_skb(skb);
		return;
	}
	dev_sw_netstats_rx_add(dev, skb->len);
	memset(skb->cb, 0, sizeof(skb->cb));
	skb->protocol = eth_type_trans(skb, dev);
	if (roce_takes(dev, skb))
		return;
	if (to->rx && dev->features & NETIF_F_GRO && !wire_nic_is_for_itself(skb)) {
		wire_nic_take(to, skb);
		return;
	}
	wire_serve(dev_net(dev));
	netif_receive_skb(skb);
	wire_serve(NULL);
}

/* One after another, to the end: no other work of the kernel comes between two of them. */
static void receive_due(struct tasklet_struct *unused)
{
	struct sk_buff *skb, *next;

	list_for_each_entry_safe(skb, next, &due, list) {
		skb_list_del_init(skb);
		receive(skb);
	}
}
static DECLARE_TASKLET(arrivals, receive_due);

static int by_wire(void *unused, const struct list_head *a, const struct list_head *b)
{
	const struct wire_way *first = way(list_entry(a, struct sk_buff, list));
	const struct wire_way *second = way(list_entry(b, struct sk_buff, list));

	if (first->wire != second->wire)
		return first->wire > second->wire;
	return (s32)(first->place - second->place) > 0;
}

static void take_due(struct wire_lane *lane, u64 now)
{
	struct sk_buff *skb;

	while ((skb = skb_peek(&lane->frames)) && way(skb)->arrival == now) {
		__skb_unlink(skb, &lane->frames);
		list_add_tail(&skb->list, &due);
	}
	if (skb)
		next_arrival = min(next_arrival, way(skb)->arrival);
}

void wire_deliver(u64 now)
{
	unsigned int i;

	next_arrival = U64_MAX;
	for (i = 0; i < lane_count; i++)
		take_due(&lanes[i], now);
	list_sort(NULL, &due, by_wire);
	irq_enter();
	tasklet_hi_schedule(&arrivals);
	irq_exit();
}

/* -- Lanes ----------------------------------------------------------------------------- */

/* A lane that has that delay, else one that nobody uses; all lanes are in use: any will do. */
static struct wire_lane *find_lane(u32 part, u64 delay_ns)
{
	struct wire_lane *lane, *unused = NULL;

	for (lane = lanes; lane < lanes + lane_count; lane++) {
		if (lane->part == part && lane->delay_ns == delay_ns)
			return lane;
		if (!lane->wires && skb_queue_empty(&lane->frames))
			unused = lane;
	}
	if (!unused && lane_count == WIRE_LANES_MAX)
		return lanes;
	if (!unused) {
		unused = &lanes[lane_count++];
		__skb_queue_head_init(&unused->frames);
	}
	unused->part = part;
	unused->delay_ns = delay_ns;
	return unused;
}

void wire_leave_lane(struct wire *wire)
{
	if (wire->lane)
		wire->lane->wires--;
	wire->lane = NULL;
}

void wire_join_lane(struct wire *wire, u64 delay_ns)
{
	wire_leave_lane(wire);
	wire->lane = find_lane(wire->part, delay_ns);
	wire->lane->wires++;
}
