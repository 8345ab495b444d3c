/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records for the host, which live_look.c collects and sends.
 */
#ifndef UM_LIVE_LOOK_H
#define UM_LIVE_LOOK_H

#include <linux/types.h>
#include <linux/fabriclab_live.h>

struct Qdisc;
struct net;
struct net_device;

/* The nodes' namespaces, in the order in which PID 1 named them; NULL: there are no more. */
struct net *live_look_node(u32 number);

/* The qdisc that holds a port's queue, below what makes its line; `root` where it is that. */
struct Qdisc *live_look_queue(struct net_device *dev, struct Qdisc *root);
/* What a qdisc counts beside what all do, until it is asked again; its length. */
size_t live_look_statistics(struct Qdisc *sch, const u8 **statistics);

/* A record of two structures, one after the other; the second may be none. */
void live_look_tell(enum live_record_kind kind, u32 number, const void *head,
		    size_t head_bytes, const void *tail, size_t tail_bytes);

/* live_connections.c */
void live_look_connections(u32 node, struct net *net, bool briefly);

#endif
