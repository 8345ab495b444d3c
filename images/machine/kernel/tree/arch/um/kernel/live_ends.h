/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ends of a flow's TCP connection, of which a condition wants to know whether they
 * are open (live_break.c).
 */
#ifndef UM_LIVE_ENDS_H
#define UM_LIVE_ENDS_H

#include <linux/types.h>
#include <net/sock.h>

/* The ends of a flow's connection: their buckets in the table of connections. */
struct live_ends {
	u32 buckets[16];
	u32 count;
	/* What the one that was not found yet will have. */
	__addrpair other_addresses;
	u16 other_local;
	__be16 other_remote;
	/* How many sockets there were when they were looked for. */
	s64 sockets;
};

/* Looks for them where there are other sockets than there were; `anew`: forgets what it knew. */
void live_ends_find(struct live_ends *ends, u32 mark, bool anew);
/* How many are open, and how many close. */
void live_ends_count(const struct live_ends *ends, u32 mark, unsigned int *open,
		     unsigned int *closing);

#endif
