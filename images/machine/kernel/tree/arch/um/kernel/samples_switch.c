// SPDX-License-Identifier: GPL-2.0
/*
 * What a sample tells of a switch's port: its statistics, those of its queues and of its
 * priority groups. Each of them has records of its own.
 */
#include <linux/netdevice.h>
#include <net/switch_port.h>
#include <uapi/linux/fabriclab_samples.h>
#include "samples.h"

/* The port that is being looked at: look() has no room for whom it tells. */
static struct {
	struct samples_recorder *recorder;
	u32 number;
	struct sk_buff *skb;
	/* A bit for each part that is there. */
	u32 found;
} looked_at;

/* Parts are numbered through: the port, its queues, its groups. */
static u32 part_of(enum live_record_kind kind, u32 number)
{
	if (kind == LIVE_RECORD_SWITCH_PORT)
		return 0;
	return 1 + number + (kind == LIVE_RECORD_GROUP ? SAMPLES_SWITCH_QUEUES : 0);
}

static struct samples_part head_of(u32 part)
{
	if (!part)
		return (struct samples_part) { .kind = SAMPLES_PART_PORT };
	return (struct samples_part) {
		.kind = part > SAMPLES_SWITCH_QUEUES ? SAMPLES_PART_GROUP : SAMPLES_PART_QUEUE,
		.number = (part - 1) % SAMPLES_SWITCH_QUEUES,
	};
}

static void tell_part(u32 part, const void *stats, size_t bytes)
{
	struct sk_buff *skb = looked_at.skb;
	struct samples_part head = head_of(part);

	skb_trim(skb, 0);
	skb_put_data(skb, &head, sizeof(head));
	skb_put_data(skb, stats, bytes);
	samples_tell(looked_at.recorder, looked_at.number, part, skb);
}

static void take_part(enum live_record_kind kind, u32 number, const void *head, size_t head_bytes,
		      const void *tail, size_t tail_bytes)
{
	u32 part = part_of(kind, number);

	looked_at.found |= BIT(part);
	tell_part(part, tail, tail_bytes);
}

/* What has a record, but is not there any more. */
static void tell_missing(const struct samples_item *item)
{
	u32 part;

	for (part = 0; part < SAMPLES_SWITCH_PARTS; part++)
		if (item->last[part].is_told && !(looked_at.found & BIT(part)))
			tell_part(part, NULL, 0);
}

void samples_take_switch_port(struct samples_recorder *recorder, u32 number, u64 now,
			      struct sk_buff *skb)
{
	struct samples_item *item = &recorder->items[number];
	struct net_device *dev = samples_find_device(item);
	struct switch_look look = { .until = now, .tell = take_part };

	looked_at.recorder = recorder;
	looked_at.number = number;
	looked_at.skb = skb;
	looked_at.found = 0;
	if (dev)
		switch_port_look(rcu_dereference(dev->qdisc), &look);
	tell_missing(item);
}
