/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A look at a switch's port (net/sched/switch_port) while the machine is idle: nothing
 * that happens later depends on it.
 */
#ifndef NET_SWITCH_PORT_H
#define NET_SWITCH_PORT_H

#include <linux/fabriclab_live.h>
#include <linux/types.h>

struct Qdisc;
struct gnet_dump;
struct sk_buff;

/* Who looks. */
struct switch_look {
	/* What was due until then has happened. */
	u64 until;
	bool frames;
	/* Takes a record: two structures, one after the other. */
	void (*tell)(enum live_record_kind kind, u32 number, const void *head, size_t head_bytes,
		     const void *tail, size_t tail_bytes);
	void (*tell_frame)(u32 queue, const struct sk_buff *skb, u64 waited_ns);
};

/* Whether the qdisc is a switch's port; then it has been told. */
bool switch_port_look(struct Qdisc *sch, const struct switch_look *look);

/*
 * Whether the qdisc is a switch's port: then it has put its own statistics into the dump,
 * and brought up to date what all qdiscs tell.
 */
bool switch_port_dump_stats(struct Qdisc *sch, u64 until, struct gnet_dump *dump);

/* What has happened at a port so far, as far as anybody looked. */
struct switch_counts {
	u64 drops, marks, pauses;
};

bool switch_port_count(struct Qdisc *sch, struct switch_counts *counts);

/*
 * Whether the qdisc is a switch's port: from now on `changed` is called whenever what stands
 * in a queue has changed, in the order of time. What was due until then has happened.
 */
bool switch_port_watch(struct Qdisc *sch, void (*changed)(struct Qdisc *sch), u64 until);
/* What stands in a queue (LIVE_ANY: all of them) of a port that is watched. */
u64 switch_port_standing(struct Qdisc *sch, u32 queue, bool in_packets);

/*
 * Whether the qdisc is a switch's port: then `bytes` is what it has to send, now: what waits,
 * and what the line lacks of the frame that it sends, as it counts on the line.
 */
bool switch_port_load(struct Qdisc *sch, u64 *bytes);

/* When its switch next does something by itself; ~0: never, or the qdisc is no switch's port. */
u64 switch_port_next_event(struct Qdisc *sch);

#endif
