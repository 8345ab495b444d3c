// SPDX-License-Identifier: GPL-2.0
/*
 * Samples at fixed times, or of each change, taken by the kernel itself.
 *
 * A sample is taken when the clock is about to leave the instant at which it is due: when
 * everything of that instant has happened, and nobody runs who is not asleep. No task and no
 * interrupt takes part, no timer is armed, and nothing that happens later depends on it. Who
 * reads the records is woken when there are many, and runs before the time goes on.
 *
 * A queue changes only when something happens, so changes are looked for at the end of every
 * instant. The one exception are departures from a switch's port, which have no timer
 * (net/sched/switch_port): the time stops at them for a look.
 */
#include <linux/bottom_half.h>
#include <linux/hardirq.h>
#include <linux/log2.h>
#include <linux/rcupdate.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/time-internal.h>
#include <linux/vmalloc.h>
#include <uapi/linux/fabriclab_samples.h>
#include "samples.h"

/* More than one item's record takes. */
#define SAMPLES_ITEM_BYTES 4096
/* Records of so many samples have room, and never less than that, if not more than that. */
#define SAMPLES_KEPT 64
#define SAMPLES_LEAST_BYTES (1 << 20)
#define SAMPLES_MOST_BYTES (1 << 24)
/* When there are so many, they are read. */
#define SAMPLES_MANY_BYTES (1 << 19)

unsigned long long samples_due = U64_MAX;
unsigned long long samples_changes = U64_MAX;
static LIST_HEAD(recorders);

/* -- Records ------------------------------------------------------------------------- */

bool samples_are_many(const struct samples_recorder *recorder)
{
	return recorder->lost || kfifo_len(&recorder->records) >= SAMPLES_MANY_BYTES;
}

/* Remembers the record, to compare the next one with it; whether there is memory for it. */
static bool remember(struct samples_last *last, const struct sk_buff *skb)
{
	if (skb->len > last->room) {
		u8 *bytes = krealloc(last->bytes, skb->len, GFP_ATOMIC);

		if (!bytes)
			return false;
		last->bytes = bytes;
		last->room = skb->len;
	}
	memcpy(last->bytes, skb->data, skb->len);
	last->length = skb->len;
	last->is_told = true;
	return true;
}

bool samples_append(struct samples_recorder *recorder, u32 number, struct sk_buff *skb)
{
	struct samples_record head = {
		.time_ns = recorder->time,
		.item = number,
		.length = skb->len,
	};

	if (kfifo_avail(&recorder->records) < sizeof(head) + ALIGN(skb->len, 8)) {
		recorder->lost++;
		return false;
	}
	skb_put_zero(skb, ALIGN(skb->len, 8) - skb->len);
	kfifo_in(&recorder->records, (const u8 *)&head, sizeof(head));
	kfifo_in(&recorder->records, skb->data, skb->len);
	return true;
}

void samples_tell(struct samples_recorder *recorder, u32 number, u32 part, struct sk_buff *skb)
{
	struct samples_last *last = &recorder->items[number].last[part];

	if (last->is_told && last->length == skb->len && !memcmp(last->bytes, skb->data, skb->len))
		return;
	if (remember(last, skb))
		samples_append(recorder, number, skb);
	else
		recorder->lost++;
}

/* -- Samples ------------------------------------------------------------------------- */

static bool read_item(struct samples_item *item, u64 now, struct sk_buff *skb)
{
	if (item->kind == SAMPLES_INTERFACE)
		return samples_read_interface(item, skb);
	return samples_read_queue(item, now, skb);
}

static void take_item(struct samples_recorder *recorder, u32 number, u64 now, struct sk_buff *skb)
{
	struct samples_item *item = &recorder->items[number];

	if (item->kind == SAMPLES_CONNECTIONS) {
		samples_take_connections(recorder, number, skb);
		return;
	}
	if (item->kind == SAMPLES_SWITCH_PORT) {
		samples_take_switch_port(recorder, number, now, skb);
		return;
	}
	skb_trim(skb, 0);
	if (!read_item(item, now, skb))
		skb_trim(skb, 0);
	samples_tell(recorder, number, 0, skb);
}

/* The next time after `now` at which one of its items changes though nothing else happens. */
static u64 next_change(struct samples_recorder *recorder, u64 now)
{
	u64 next = U64_MAX;
	u32 number;

	for (number = 0; number < recorder->count; number++)
		next = min(next, samples_next_change(&recorder->items[number]));
	return max(next, now + 1);
}

static void take(struct samples_recorder *recorder, u64 now, struct sk_buff *skb)
{
	u32 number;

	if (!recorder->interval && now > recorder->first)
		recorder->time = now - recorder->first;
	for (number = 0; number < recorder->count; number++)
		take_item(recorder, number, now, skb);
	if (!recorder->interval) {
		samples_changes = now;
		recorder->due = next_change(recorder, now);
		return;
	}
	recorder->time += recorder->interval;
	recorder->due = recorder->first + recorder->time;
}

static bool is_due(const struct samples_recorder *recorder, u64 now)
{
	return recorder->due <= now || (!recorder->interval && now >= recorder->first);
}

/* Wakes who waits for records, if anybody does. */
static bool wake(struct samples_recorder *recorder)
{
	if (!wq_has_sleeper(&recorder->readers))
		return false;
	/* The idle loop sleeps for RCU; an interrupt wakes it. */
	irq_enter();
	wake_up_interruptible(&recorder->readers);
	irq_exit();
	return true;
}

static void find_next_due(void)
{
	struct samples_recorder *recorder;
	bool each = false;

	samples_due = U64_MAX;
	list_for_each_entry(recorder, &recorders, list) {
		samples_due = min(samples_due, recorder->due);
		each |= !recorder->interval;
	}
	if (!each)
		samples_changes = U64_MAX;
}

bool samples_take(unsigned long long now)
{
	struct samples_recorder *recorder;
	static struct sk_buff *skb;
	bool locked, woken = false;

	if (!skb)
		skb = alloc_skb(SAMPLES_ITEM_BYTES, GFP_ATOMIC | __GFP_NOFAIL);
	/* No softirq runs when it is enabled again. */
	local_bh_disable();
	rcu_read_lock();
	/* Qdiscs ask that RTNL be held; if a task that sleeps holds it, that will do. */
	locked = rtnl_trylock();
	list_for_each_entry(recorder, &recorders, list)
		if (is_due(recorder, now))
			take(recorder, now, skb);
	if (locked)
		__rtnl_unlock();
	rcu_read_unlock();
	_local_bh_enable();
	find_next_due();
	list_for_each_entry(recorder, &recorders, list)
		woken |= samples_are_many(recorder) && wake(recorder);
	return woken;
}

/* -- Begin and end ------------------------------------------------------------------- */

int samples_start(struct samples_recorder *recorder, u64 first, u64 interval)
{
	size_t bytes = (size_t)recorder->count * SAMPLES_ITEM_BYTES / 4 * SAMPLES_KEPT;
	u64 now = time_travel_now();

	bytes = clamp_t(size_t, bytes, SAMPLES_LEAST_BYTES, SAMPLES_MOST_BYTES);
	bytes = roundup_pow_of_two(bytes);
	/* Nobody knows how many connections there will be, or changes. */
	if (recorder->items[0].kind == SAMPLES_CONNECTIONS || !interval)
		bytes = SAMPLES_MOST_BYTES;
	recorder->memory = vmalloc(bytes);
	if (!recorder->memory)
		return -ENOMEM;
	kfifo_init(&recorder->records, recorder->memory, bytes);
	recorder->first = first;
	recorder->interval = interval;
	if (now >= first)
		recorder->time = interval ? DIV_ROUND_UP_ULL(now - first, interval) * interval :
				 now - first;
	recorder->due = first + recorder->time;
	/* The first one shows what is there before anything begins at `first`. */
	if (now < first)
		recorder->due--;
	list_add_tail(&recorder->list, &recorders);
	find_next_due();
	return 0;
}

void samples_stop(struct samples_recorder *recorder)
{
	list_del_init(&recorder->list);
	find_next_due();
}
