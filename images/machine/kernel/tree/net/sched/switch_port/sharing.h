/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How queues with a dynamic limit share their pool, if not by the threshold of Choudhury
 * and Hahne: by a policy (sharing.c).
 */
#ifndef SWITCH_SHARING_H
#define SWITCH_SHARING_H

#include <net/switch_sharing.h>

#include "abm.h"
#include "shared_buffer.h"

struct nlattr;
struct sk_buff;
struct switch_change;
struct switch_frame;
struct switch_port;
struct switch_queue_config;

/* What a queue's configuration says of it. */
struct switch_sharing {
	const struct switch_sharing_ops *ops;	/* NULL: by that */
	u32 interval_ns;		/* in which the drain is measured */
	u32 congested_cells;		/* that a congested queue holds; 0: by its threshold */
	s8 unscheduled_alpha_log;
	u8 unscheduled_classes;		/* bit mask: traffic classes that have that alpha */
};

enum switch_admission switch_sharing_admit(struct switch_port *port,
					   const struct switch_frame *frame);
void switch_sharing_arrived(struct switch_port *port, const struct switch_frame *frame);
void switch_sharing_departed(struct switch_port *port, const struct switch_frame *frame, u64 now);
void switch_sharing_served(struct switch_port *port, int number, u64 now);
void switch_sharing_forget(struct switch_port *port, int number);
int switch_sharing_parse(struct switch_change *change, const struct nlattr *attribute, int number);
int switch_sharing_dump(const struct switch_queue_config *queue, u32 cell_bytes,
			struct sk_buff *skb);
int switch_sharing_register(void);

#endif
