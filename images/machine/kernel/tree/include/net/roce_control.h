/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The congestion control of a RoCE NIC's queue pairs. One is a struct roce_control, as one
 * of TCP is a struct tcp_congestion_ops: fabriclab's own are net/sched/switch_port/roce/
 * control_*.c, and a lab may bring one in a C file of its own,
 *
 *	hosts: {default: {nic: {roce: {congestion_control: ./mine.c, options: step 40000}}}}
 *
 * All functions run under a lock of the NIC's switch chip, at exact times. They may not
 * sleep, and whatever they remember of a pair stands in the pair's state.
 */
#ifndef _NET_ROCE_CONTROL_H
#define _NET_ROCE_CONTROL_H

#include <linux/build_bug.h>
#include <linux/list.h>
#include <linux/types.h>

#define ROCE_CONTROL_NAME_MAX 16
#define ROCE_CONTROL_STATE_WORDS 32
#define ROCE_CONTROL_OPTIONS 12
#define ROCE_CONTROL_HOPS 5
#define ROCE_NO_WINDOW (~0ULL)
#define ROCE_ANY_CREDIT (~0ULL)
#define ROCE_NEVER (~0ULL)

/* What the congestion control sees of a queue pair, and what it decides. */
struct roce_flow {
	/* The values of the control's options, in their order. */
	const u64 *options;
	u64 line_bps;
	u32 mtu;		/* bytes of data in a full packet */

	/* Decided: how fast packets follow each other, by their bytes on the wire, */
	u64 rate_bps;
	/* and how many bytes of data may be unacknowledged. One packet always may. */
	u64 window_bytes;
	/* and how many packets may be sent now, new or again. Each that is takes one off. */
	u64 credit;

	u64 state[ROCE_CONTROL_STATE_WORDS];
};

/* What a switch has told of itself when the packet left it (telemetry.h has the units on the wire). */
struct roce_hop {
	u64 rate_bps;
	u64 queue_bytes;
	u32 time_ns;		/* modulo 2^24 */
	u32 sent;		/* units of 128 bytes that the port has sent, modulo 2^20 */
};

struct roce_acknowledgement {
	u64 now;
	u64 rtt_ns;		/* of the packet that asked for it; 0: sent again, or not known */
	u64 packet;		/* all up to this number have arrived; the first is 0 */
	u64 next;		/* the packet that is sent next */
	u32 packets;		/* that this acknowledgement is the first to acknowledge */
	u32 routers;		/* that it passed */
	u32 hop_count;
	struct roce_hop hop[ROCE_CONTROL_HOPS];
};

/* A word that the lab may write, and its value where it writes none. */
struct roce_control_option {
	const char *word;
	u64 value;
	u64 least, most;
};

struct roce_control {
	struct list_head list;
	char name[ROCE_CONTROL_NAME_MAX];
	/* The last one's word is NULL. At most ROCE_CONTROL_OPTIONS. */
	const struct roce_control_option *options;

	/* Receivers answer packets with CE with notifications (CNPs). */
	bool wants_notifications;
	/* Switches write into packets what roce_hop holds, and receivers send it back. */
	bool wants_telemetry;
	/* It sets window_bytes: each packet is acknowledged. */
	bool has_window;

	/* A pair comes. Until then rate_bps is the line's, and window and credit have no end. Required. */
	void (*begin)(struct roce_flow *flow);
	/* These may be NULL. */
	void (*acknowledged)(struct roce_flow *flow, const struct roce_acknowledgement *ack);
	void (*notified)(struct roce_flow *flow, u64 now);
	/* A packet was lost: the receiver said so, or (`timed_out`) no answer came. */
	void (*lost)(struct roce_flow *flow, u64 now, bool timed_out);
	/* The receiver's NIC gives credit for so many packets more. */
	void (*credited)(struct roce_flow *flow, u32 packets);
	/*
	 * As a receiver: the rate of the packets that it gives credit for, one for each packet
	 * that has come, at most the line's. NULL: it gives none.
	 */
	u64 (*credit_bps)(const u64 *options, u64 line_bps);
	/* A packet of data has gone; bytes on the wire. */
	void (*sent)(struct roce_flow *flow, u32 bytes);
	/* When what was decided changes by itself; ROCE_NEVER. Both or none. */
	u64 (*next)(const struct roce_flow *flow);
	/* Does what is due until now, in the order of its times. */
	void (*advance)(struct roce_flow *flow, u64 now);
	/* For probes: an estimate of what part of the traffic is marked, of 2^32 - 1. */
	u32 (*alpha)(const struct roce_flow *flow);
};

/* -EEXIST: there is one of that name; -EINVAL: it is not complete. */
int roce_control_register(struct roce_control *control);
void roce_control_unregister(struct roce_control *control);

/* The state of a pair as a structure of the control's own. */
#define roce_control_state(flow, type)							\
({											\
	BUILD_BUG_ON(sizeof(type) > sizeof((flow)->state));				\
	(type *)(flow)->state;								\
})

#endif
