/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A chip (packet memory and clock of one network namespace) and its ports, root qdiscs.
 *
 * Nothing runs by itself: whoever looks at the chip takes its lock, and with it brings
 * all ports up to the present, event by event in the order of their times
 * (switch_chip_lock()). What looks must change nothing outside: what a port does then
 * ends no wait of a socket and draws no random number of others. A frame leaves its
 * queue, and frees its memory, at the exact time at which the line is free for it that
 * way, without a timer. A timer runs only where the outside would see that nobody
 * looked: for the frame that arrives next at a cable's end (each port's qdisc watchdog),
 * and for ports that wait and neighbours that are paused (the chip's).
 *
 * Locks: a qdisc's root lock, then the chip's.
 */
#ifndef SWITCH_H
#define SWITCH_H

#include <linux/hrtimer.h>
#include <linux/prandom.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/timerqueue.h>
#include <linux/version.h>
#include <linux/xarray.h>
#include <net/pkt_sched.h>

#include "dwrr.h"
#include "line.h"
#include "pacer.h"
#include "pause_watchdog.h"
#include "pfc.h"
#include "phantom_queue.h"
#include "qcn.h"
#include "roce/roce.h"
#include "shared_buffer.h"
#include "sharing.h"
#include "token_bucket.h"
#include "uapi/switch_port.h"
#include "wred.h"

#define SWITCH_SLOTS (TC_SWITCH_PORTS + 1)
#define SWITCH_CPU_SLOT 0	/* frames that the switch sends itself */
#define SWITCH_PACER_CHAINS 64

struct switch_change;
struct switch_port;

/* -- Configuration: what netlink sets, checked ------------------------------------------------- */

struct switch_memory {
	u8 pool;			/* TC_SWITCH_NO_POOL: none */
	struct switch_account_config account;
};

struct switch_queue_config {
	bool configured;
	struct switch_memory memory;
	struct switch_bucket_config cir;
	struct switch_bucket_config pir;
	struct switch_wred_curve wred;
	u8 wred_flags;
	bool has_wred;
	struct switch_phantom_config phantom;
	u64 voq_limit;			/* bytes; SWITCH_UNLIMITED */
	u64 event_threshold;		/* bytes; SWITCH_UNLIMITED */
	struct switch_qcn_point_config qcn;
	struct switch_sharing sharing;
	bool trims;			/* what there is no room for, if the port has `trimming` */
};

struct switch_group_config {
	bool configured;
	struct switch_memory memory;
	struct switch_pfc_config pfc;
};

struct switch_maps {
	u8 dscp_to_tc[64];
	u8 tc_to_queue[SWITCH_QUEUES];
	u8 tc_to_group[SWITCH_QUEUES];
	u8 priority_to_queue[SWITCH_QUEUES];
	u8 priority_to_group[SWITCH_QUEUES];
};

struct switch_port_config {
	u64 rate_bps;
	u64 delay_ns;
	u32 overhead;
	u32 mpu;
	u32 loss;
	struct switch_maps maps;
	struct tc_switch_pfc pfc;
	struct switch_watchdog_config watchdog;
	struct switch_queue_share share[SWITCH_QUEUES];
	struct switch_queue_config queue[SWITCH_QUEUES];
	struct switch_group_config group[SWITCH_QUEUES];
	bool shaped;			/* some queue has a bucket */
	u64 ring_bytes;			/* that a queue takes of the qdisc in front of it */
	u8 tx_queues;			/* to which a host's flows are spread; else by class */
	struct switch_pacer_config pacer;
	struct switch_qcn_limiter_config qcn;
	struct roce_config roce;
	struct tc_switch_slice slice;
	struct tc_switch_trimming trimming;
	bool telemetry;			/* it writes into packets that ask for it */
	u8 telemetry_code;		/* of its rate */
};

/* -- State ------------------------------------------------------------------------------------- */

/* What a frame in the switch carries along. */
struct switch_frame {
	u64 time_ns;			/* of arrival: queue, or wire's end; of a pause's effect */
	u32 cells;
	u16 slot;			/* of the ingress port */
	u8 group : 4;
	u8 slice : 4;			/* of the memory */
	u8 queue : 4;
	u8 class : 4;			/* traffic class */
};

static inline struct switch_frame *switch_frame(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct switch_frame));
	return (struct switch_frame *)qdisc_skb_cb(skb)->data;
}

/* What the qdisc core keeps of a frame and its length, for a frame that it has not seen. */
static inline void switch_set_frame_length(struct sk_buff *skb)
{
	qdisc_skb_cb(skb)->pkt_len = skb->len;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
	qdisc_skb_cb(skb)->pkt_segs = 1;
	tcf_set_qdisc_drop_reason(skb, QDISC_DROP_GENERIC);
#endif
}

/* A priority group of an ingress port. */
struct switch_group {
	struct switch_memory memory;
	struct switch_pfc_config pfc;
	struct switch_account account[TC_SWITCH_SLICES];
	u64 watermark;			/* cells, of all slices together */
	bool xoff;			/* the neighbour is to pause */
	u64 xoff_since;
	struct tc_switch_group_xstats stats;
};

/* What comes in by a port; lives on while frames of a port that is gone are in the switch. */
struct switch_ingress {
	struct switch_port *port;	/* NULL: gone, or the switch itself */
	u32 ifindex;
	u16 slot;
	struct switch_group group[SWITCH_QUEUES];
};

/* A congestion event that is under way. */
struct switch_event {
	bool open;
	u64 start_ns;
	u64 peak_bytes;
	u64 *ingress_bytes;		/* by slot; allocated while the queue has a threshold */
};

struct switch_queue {
	struct qdisc_skb_head frames;	/* that wait */
	u64 bytes;
	u64 packets;
	struct switch_account account[TC_SWITCH_SLICES];
	u64 average;			/* of WRED */
	struct switch_drain drain;	/* of queues with a policy, like the next */
	u32 congested[TC_SWITCH_SLICES];	/* how far it is, in parts (abm.h) */
	struct switch_line cir, pir, phantom;
	bool paused;
	u64 paused_since;
	u64 paused_until;
	struct switch_watchdog watchdog;
	struct switch_event event;
	struct switch_qcn_point qcn;
	u64 *ingress_bytes;		/* by slot; allocated while the port counts by ingress */
	struct tc_switch_queue_xstats stats;
};

struct switch_port {
	struct Qdisc *sch;
	struct switch_chip *chip;
	struct switch_ingress *ingress;
	struct switch_port_config config;

	struct switch_line line;
	bool waiting;			/* it will send, or end a pause or a storm, unasked */
	u8 guaranteed_turn;
	u32 backlogged;			/* bit mask: queues with frames that wait */
	u32 stopped;			/* bit mask: queues that are paused or in a storm */
	struct switch_round round;
	struct rnd_state random;	/* its own: drawn from when somebody looks */
	struct switch_queue queue[SWITCH_QUEUES];

	struct qdisc_skb_head control;	/* pauses and notifications to send */
	struct qdisc_skb_head received;	/* pauses to take effect */
	u64 refresh_ns;			/* when to repeat pauses of groups in XOFF; 0: none is */
	struct qdisc_skb_head wire;
	struct qdisc_watchdog watchdog;	/* at the wire's end */
	struct timerqueue_node event;	/* when the port's state changes by itself */

	bool has_front;
	struct Qdisc *front[SWITCH_QUEUES];	/* of a host's port; NULL: none */
	struct qdisc_watchdog refill;	/* when half of a ring has left */

	struct switch_pacer *pacer;	/* NULL: never had one */
	struct list_head limiters;	/* of the flows that QCN limits */
	struct roce_nic *roce;		/* NULL: never was one */

	u64 sent_wire_bytes;		/* while it has telemetry to write */

	u64 bytes, packets;		/* of all queues, the pacer and the limiters */
	void (*changed)(struct Qdisc *sch);	/* tells of each change of them; NULL: nobody watches */
	struct tc_switch_port_xstats stats;
};

struct switch_chip {
	spinlock_t lock;
	struct net *net;
	u32 cell_bytes;
	u32 slices;
	struct switch_pool pool[TC_SWITCH_SLICES][TC_SWITCH_POOLS];
	u32 congested[TC_SWITCH_SLICES][TC_SWITCH_POOLS][SWITCH_QUEUES];	/* sums of those */
	struct timerqueue_head events;	/* of ports */
	struct hrtimer timer;
	u64 now;			/* while it is locked */
	bool kicked;			/* a port has something to do now */
	unsigned int urgent;		/* ports that wait and groups in XOFF: be on time */
	unsigned int ports;
	struct xarray slots;		/* ifindex to slot */
	struct switch_ingress *ingress[SWITCH_SLOTS];
	struct rcu_head rcu;
};

static inline struct switch_pool *switch_memory_pool(struct switch_chip *chip,
						     const struct switch_memory *memory, u32 slice)
{
	return memory->pool == TC_SWITCH_NO_POOL ? NULL : &chip->pool[slice][memory->pool];
}

/* A connection as its host's own frames name it. */
struct switch_flow_key {
	__be32 source, destination;
	__be16 source_port, destination_port;
};

/* The frames of marked flows that wait in a NIC's pacer, and who they are (pacer.c). */
struct switch_pacer {
	bool active;			/* a flow is taken in */
	struct switch_pacer_bucket bucket;
	struct qdisc_skb_head frames;
	u64 bits;			/* of them, on the wire */
	u64 last_ns;			/* when the last frame of such a flow came */
	struct hlist_head flows[SWITCH_PACER_CHAINS];
	struct tc_switch_pacer_xstats stats;
};

static inline bool switch_pacer_waits(const struct switch_port *port)
{
	return port->pacer && port->pacer->frames.head;
}

static inline u32 switch_frame_wire_bytes(const struct switch_port *port, const struct sk_buff *skb)
{
	return switch_wire_bytes(qdisc_pkt_len(skb), port->config.overhead, port->config.mpu);
}

/* A frame is on its way to the line. */
static inline bool switch_port_busy(const struct switch_port *port, u64 now)
{
	return port->line.free_ns > now;
}

/* chip.c */
struct switch_chip *switch_chip_join(struct switch_port *port, struct netlink_ext_ack *extack);
void switch_chip_leave(struct switch_port *port);
void switch_chip_advance_to(struct switch_chip *chip, u64 now);
u64 switch_chip_lock(struct switch_chip *chip);
void switch_chip_unlock(struct switch_chip *chip);
int switch_chips_register(void);

/* admit.c */
int switch_egress_queue(const struct switch_port *port, struct sk_buff *skb);
int switch_port_enqueue(struct switch_port *port, struct sk_buff *skb, u64 now);
int switch_port_enqueue_at(struct switch_port *port, struct sk_buff *skb, int queue, u64 now);
void switch_port_enqueue_paced(struct switch_port *port, struct sk_buff *skb, u64 now);
void switch_port_enqueue_staged(struct switch_port *port, struct sk_buff *skb, int queue, u64 now);
void switch_unaccount_frame(struct switch_port *port, const struct switch_frame *frame, u32 bytes,
			    u64 now);
void switch_count_drop(struct switch_port *port, int queue, enum tc_switch_drop cause);

/* aqm.c */
bool switch_aqm_arrival(struct switch_port *port, int number, struct sk_buff *skb);
bool switch_aqm_departure(struct switch_port *port, int number, struct sk_buff *skb, u64 now,
			  u32 wire_bytes);

/* port.c */
struct sk_buff *switch_port_arrive(struct switch_port *port, u64 now);
void switch_port_run(struct switch_port *port, u64 now);
void switch_port_kick(struct switch_port *port, u64 now);
void switch_port_reset(struct switch_port *port, u64 now);
void switch_port_drop_queue(struct switch_port *port, int queue, u64 now);

/* slice.c */
u64 switch_held(const struct switch_chip *chip, const struct switch_account *account);
u32 switch_fullest_slice(const struct switch_chip *chip, const struct switch_account *account);
int switch_parse_slices(struct switch_change *change, const struct nlattr *attribute, bool first);
int switch_parse_slice(struct switch_change *change, const struct nlattr *attribute);

/* pause.c */
void switch_group_xoff(struct switch_ingress *ingress, int group, u64 now);
void switch_group_check_xon(struct switch_chip *chip, struct switch_ingress *ingress, int group,
			    u64 now);
void switch_pause_run(struct switch_port *port, u64 now);
u64 switch_pause_next(const struct switch_port *port);
u32 switch_pause_held(const struct switch_port *port);
void switch_pause_reset(struct switch_port *port, u64 now);
void switch_pause_register(void);

/* pacer.c */
int switch_pacer_parse(struct switch_change *change, const struct nlattr *attribute);
int switch_pacer_dump(const struct switch_port *port, struct sk_buff *skb);
int switch_pacer_prepare(struct switch_port *port, const struct switch_pacer_config *config,
			 struct netlink_ext_ack *extack);
bool switch_pacer_holds(struct switch_port *port, struct sk_buff *skb, u64 now);
void switch_pacer_run(struct switch_port *port, u64 now);
u64 switch_pacer_next(const struct switch_port *port);
void switch_pacer_read_stats(const struct switch_port *port, struct tc_switch_pacer_xstats *stats);
void switch_pacer_reset(struct switch_port *port);
void switch_pacer_destroy(struct switch_port *port);

/* qcn_point.c */
int switch_qcn_parse_point(struct switch_change *change, const struct nlattr *attribute, int queue);
int switch_qcn_dump_point(const struct switch_queue_config *queue, struct sk_buff *skb);
void switch_qcn_arrival(struct switch_port *port, struct sk_buff *skb, u64 now);
void switch_qcn_register(void);

/* qcn_limiter.c */
int switch_qcn_parse_limiter(struct switch_change *change, const struct nlattr *attribute);
int switch_qcn_dump_limiter(const struct switch_port *port, struct sk_buff *skb);
void switch_qcn_hear(struct switch_port *port, const struct switch_flow_key *key, u8 quantised,
		     u64 now);
bool switch_qcn_holds(struct switch_port *port, struct sk_buff *skb, u64 now);
void switch_qcn_run(struct switch_port *port, u64 now);
u64 switch_qcn_next(const struct switch_port *port);
bool switch_qcn_waits(const struct switch_port *port);
void switch_qcn_read_stats(const struct switch_port *port, struct tc_switch_qcn_xstats *stats);
void switch_qcn_reset(struct switch_port *port);

/* parse.c */
int switch_parse(struct switch_change *change, struct nlattr *options, bool first);

/* config.c */
void switch_default_queue(struct switch_port_config *config, int queue);
void switch_default_group(struct switch_port_config *config, int group);
int switch_port_configure(struct switch_port *port, struct nlattr *options, bool first,
			  struct netlink_ext_ack *extack);
void switch_port_unconfigure(struct switch_port *port);
void switch_port_set_defaults(struct switch_port *port);
void switch_memory_move(struct switch_chip *chip, const struct switch_account *account,
			struct switch_memory *from, const struct switch_memory *to);

/* dump.c */
int switch_port_dump_config(struct switch_port *port, struct sk_buff *skb);
int switch_queue_dump_config(struct switch_port *port, int queue, struct sk_buff *skb);
int switch_group_dump_config(struct switch_port *port, int group, struct sk_buff *skb);
void switch_port_sync_stats(struct switch_port *port);
void switch_port_read_stats(struct switch_port *port, struct tc_switch_port_xstats *stats);
void switch_queue_read_stats(struct switch_port *port, int queue, u64 now,
			     struct tc_switch_queue_xstats *stats);
void switch_group_read_stats(struct switch_port *port, int group, u64 now,
			     struct tc_switch_group_xstats *stats);

/* nic.c */
int switch_nic_enqueue(struct switch_port *port, struct sk_buff *skb, struct sk_buff **to_free);
void switch_nic_fill(struct switch_port *port);
void switch_nic_waiting(const struct switch_port *port, u64 *packets, u64 *bytes);
u64 switch_nic_dropped(const struct switch_port *port);
void switch_nic_graft(struct switch_port *port, int queue, struct Qdisc *front, struct Qdisc **old);
void switch_nic_reset(struct switch_port *port);
void switch_nic_destroy(struct switch_port *port);

/* event.c */
void switch_event_arrival(struct switch_port *port, int queue, u16 slot, u32 bytes, u64 now);
void switch_event_departure(struct switch_port *port, int queue, u64 now);
int switch_events_register(void);

/* sch_switch_port.c */
struct switch_port *switch_port_of_qdisc(struct Qdisc *sch);
struct switch_port *switch_port_of_device(struct net_device *dev);
bool switch_queue_in_use(const struct switch_port *port, int queue);
bool switch_group_in_use(const struct switch_port *port, int group);

#endif
