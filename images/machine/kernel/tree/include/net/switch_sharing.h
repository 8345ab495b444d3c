/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the queues of a switch share its memory, in a C file of a user's own.
 *
 * A lab says `queues: {default: {sharing: ./share_mine.c}}`. The file has one function,
 * which returns the threshold of a queue in cells of memory: a frame is admitted if the
 * queue holds fewer cells than that, and the pool has room for all of the frame. The
 * function is called for each frame that comes or leaves, under the switch's lock: it
 * must not sleep, and two calls with the same view must return the same.
 */
#ifndef _NET_SWITCH_SHARING_H
#define _NET_SWITCH_SHARING_H

#include <linux/list.h>
#include <linux/types.h>

#define SWITCH_SHARING_NAME_MAX 16

/* What a queue and its pool are like at this moment. Of a memory in slices: in one slice. */
struct switch_sharing_view {
	u64 queue;		/* cells that the queue holds, without its reserved ones */
	u64 pool;		/* cells of the pool that nobody has reserved */
	u64 free;		/* of them: in use by no queue */
	u32 congested;		/* congested queues of this priority, of all ports */
	u32 congested_parts;	/* the same in 1/1024 of a queue, if the lab says `sharing_congested` */
	u8 priority;		/* the queue's number, 0 to 7 */
	s8 alpha_log;		/* the lab's `alpha` is 2^alpha_log; of an unscheduled frame, that one's */
	bool unscheduled;		/* the frame is of a class in `unscheduled_classes` */
	u64 served_ns;		/* in the last interval: time of the queue's frames on the line */
	u64 waiting_ns;		/* in the last interval: time in which frames waited; 0: none did */
	u64 rate_bps;		/* of the port */
	u64 now_ns;
};

struct switch_sharing_ops {
	char name[SWITCH_SHARING_NAME_MAX];
	u64 (*threshold)(const struct switch_sharing_view *view);
	struct list_head list;
};

/* Makes a policy known for good: a module that has one stays. */
int register_switch_sharing(struct switch_sharing_ops *ops);

#endif
