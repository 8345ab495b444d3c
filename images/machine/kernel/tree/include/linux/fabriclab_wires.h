/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cables of a lab that is cut into parts, a machine for each (fabriclab.wires=).
 *
 * A frame that leaves at t arrives at t plus the cable's delay. Who has it on its way
 * is the receiving end's machine: drivers/net/wire.c. What machines say to each other,
 * and how far each of them may let its time go: arch/um/kernel/wires.c.
 */
#ifndef FABRICLAB_WIRES_H
#define FABRICLAB_WIRES_H

#include <linux/types.h>

struct net;
struct net_device;
struct sk_buff;

/* A frame on its way. */
struct wire_passage {
	u64 sent;
	u64 arrival;
	u64 stamp;	/* when it was sent, for who measures that */
	u32 wire;	/* the end at which it arrives */
	u16 csum_start;	/* from the frame's first byte; of a checksum that is still to be filled in */
	u16 csum_offset;
	u8 checksum;	/* sk_buff's ip_summed there */
};

#ifdef CONFIG_UML_TIME_TRAVEL_SUPPORT
extern bool wires_are_on;
#else
#define wires_are_on false
#endif

/* -- arch/um/kernel/wires.c ---------------------------------------------------------- */

/*
 * Called before the machine's time goes from `*now` to `next`. Waits until no frame can
 * arrive before; delivers those that arrive first, at their time: then it returns true.
 */
bool wires_gate(unsigned long long *now, unsigned long long next);
/* Gives a frame to the machine of another part. */
void wires_send(unsigned int part, const struct wire_passage *passage, const void *bytes,
		u32 length);
/* Frames that would leave before this instant are lost: the lab has not begun. */
u64 wires_begin(void);
/* What this worker of the kernel does from now on, it does for that node; NULL: for none. */
void wires_work_for(struct net *network);
/* Whether the current context draws random numbers of a node's own; then `key` is drawn. */
bool wires_draw(void *key, size_t length);
bool wires_draws(void);
/* The run's seed. */
u64 wires_seed(void);
/* A secret of the whole kernel, which is the same in all machines. */
bool wires_secret(void *secret, size_t length);

/* -- lib/once.c ---------------------------------------------------------------------- */

/* Whether something is being drawn that the kernel draws once. */
bool draws_once(void);

/* -- drivers/net/wire.c, wire_way.c -------------------------------------------------- */

/* Whether a device is a cable's end, and the lab has not begun. */
bool wire_has_not_begun(const struct net_device *dev);
/* When the next frame arrives, of those that are known. */
u64 wire_next_arrival(void);
/* Room for a frame of that length, in a buffer as cables have it; NULL: there is no memory. */
struct sk_buff *wire_new_frame(u32 length);
/* Delivers what arrives at this instant. */
void wire_deliver(u64 now);
/* A frame of another machine is on its way. */
void wire_take(const struct wire_passage *passage, const void *bytes, u32 length);
/* The network of the node whose frame is being received, or whose timer is run; else NULL. */
struct net *wire_receiving(void);
/* A timer of that node is run from now on; NULL: of none. */
void wire_serve(struct net *network);

#endif
