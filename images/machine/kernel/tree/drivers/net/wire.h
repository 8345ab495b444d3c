/* SPDX-License-Identifier: GPL-2.0 */
/* A cable's end, which wire.c and wire_nic.c share. */
#ifndef WIRE_H
#define WIRE_H

#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/prandom.h>
#include <linux/workqueue.h>

struct wire_lane;
struct wire_passage;
struct wire_rx;

struct wire {
	struct net_device *dev;
	u64 delay_ns;
	u32 number;
	u32 part;	/* of the other end; U32_MAX: this one */
	u32 place;	/* of the next frame that comes in */
	struct wire_lane *lane;	/* of what comes in */
	u64 up_since;	/* what was sent before is lost */
	u64 last_arrival;	/* of what this end has sent: nothing overtakes it */
	u32 longest;	/* frame that it receives */
	u32 loss_ppm;	/* of what this end sends */
	bool open;
	struct work_struct carrier;	/* comes and goes with both ends */
	bool draws;
	struct rnd_state random;
	u32 rx_usecs;	/* from a frame to the interrupt that tells of it */
	bool adaptive;	/* DIM chooses that */
	u32 rx_queues;
	struct wire_rx *rx;	/* NULL: the end is no NIC's, or down */
};

/* -- drivers/net/wire.c -------------------------------------------------------------- */

/* NULL: there is none of that number. */
struct wire *wire_end(u32 number);

/* -- drivers/net/wire_way.c ---------------------------------------------------------- */

void wire_put_under_way(struct wire *to, struct sk_buff *skb, u64 sent, u64 arrival);
/* The frame in a buffer of its own; NULL: there is no memory. */
struct sk_buff *wire_own_buffer(struct sk_buff *skb);
/* What whoever sent the frame said of its checksum. */
void wire_know_checksum(struct sk_buff *skb, const struct wire_passage *passage);
/* What comes in by this wire has that delay from now on. */
void wire_join_lane(struct wire *wire, u64 delay_ns);
void wire_leave_lane(struct wire *wire);

/* -- drivers/net/wire_nic.c ---------------------------------------------------------- */

extern const struct ethtool_ops wire_ethtool;
void wire_nic_init(struct wire *wire);
int wire_nic_start(struct wire *wire);
void wire_nic_stop(struct wire *wire);
/* What the NIC obeys itself, and no interrupt tells of. */
bool wire_nic_is_for_itself(const struct sk_buff *skb);
/* A frame for the host has arrived. */
void wire_nic_take(struct wire *wire, struct sk_buff *skb);

#endif
