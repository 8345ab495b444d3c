/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recorders, each of which samples several items at times of its own.
 */
#ifndef UM_SAMPLES_H
#define UM_SAMPLES_H

#include <linux/if.h>
#include <linux/kfifo.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/fabriclab_samples.h>

struct net;
struct net_device;
struct sk_buff;

/* So many marks are looked for one by one. */
#define SAMPLES_MARKS 64

/* The record before, if there is any. */
struct samples_last {
	bool is_told;
	u32 length;
	u32 room;
	u8 *bytes;
};

struct samples_item {
	/* SAMPLES_QUEUE, SAMPLES_CONNECTIONS, SAMPLES_INTERFACE or SAMPLES_SWITCH_PORT */
	u32 kind;
	struct net *net;
	u32 interface_index;
	u32 handle;
	/* Of the interface, by which it is found when it is there again. */
	char name[IFNAMSIZ];
	/* Of each of its parts. */
	struct samples_last *last;
	u32 parts;
};

struct samples_recorder {
	/* Of those that have started. */
	struct list_head list;
	u64 first;
	/* 0: one is taken at each instant at which an item may have changed. */
	u64 interval;
	/* The next sample: its time from `first` on, and when it is taken. */
	u64 time;
	u64 due;
	struct samples_item *items;
	u32 count;
	/* Of connections; none: each that has one. */
	u32 marks[SAMPLES_MARKS];
	u32 mark_count;
	/* Records that nobody has read yet. */
	struct kfifo records;
	void *memory;
	u64 lost;
	wait_queue_head_t readers;
	/* Held by who writes requests or reads. */
	struct mutex lock;
};

/* samples.c */
int samples_start(struct samples_recorder *recorder, u64 first, u64 interval);
void samples_stop(struct samples_recorder *recorder);
bool samples_are_many(const struct samples_recorder *recorder);
/* Adds a record; the bytes behind it are zero. */
bool samples_append(struct samples_recorder *recorder, u32 number, struct sk_buff *skb);
/* Adds the record of a part if it differs from the one before. */
void samples_tell(struct samples_recorder *recorder, u32 number, u32 part, struct sk_buff *skb);

/* samples_queue.c: the item's interface; NULL: it is not there. Under rcu_read_lock(). */
struct net_device *samples_find_device(struct samples_item *item);
/* Appends what is told of the item at `now`; whether it is there. */
bool samples_read_queue(struct samples_item *item, u64 now, struct sk_buff *skb);
/* When a queue changes though nothing else happens; ~0: never. Under rcu_read_lock(). */
u64 samples_next_change(struct samples_item *item);

/* samples_interface.c: as above. */
bool samples_read_interface(struct samples_item *item, struct sk_buff *skb);

/* samples_switch.c: a port, its queues and its priority groups. */
#define SAMPLES_SWITCH_QUEUES 8
#define SAMPLES_SWITCH_PARTS (1 + 2 * SAMPLES_SWITCH_QUEUES)
void samples_take_switch_port(struct samples_recorder *recorder, u32 number, u64 now,
			      struct sk_buff *skb);

/* samples_tcp.c */
void samples_take_connections(struct samples_recorder *recorder, u32 number, struct sk_buff *skb);

#endif
