/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Credit of receivers (credit.c): a NIC gives the senders of packets that have come leave to
 * send as many, one after the other at a rate of its own.
 */
#ifndef ROCE_CREDIT_H
#define ROCE_CREDIT_H

#include <linux/list.h>

#include "../line.h"

struct roce_nic;
struct roce_pair;

/* Of a pair. */
struct roce_credit {
	struct list_head owing;	/* in the NIC's list while it owes its peer some */
	u32 owed;		/* packets */
	u32 given;		/* in all, modulo 2^24 */
	u32 heard;		/* likewise, of the peer */
};

/* Of a NIC. */
struct roce_credits {
	struct list_head owing;	/* pairs, in turn */
	u64 since_ns;		/* when the first of them came to the list that was empty */
	struct switch_line line;	/* the next goes when it is free */
};

/* A packet of data has come, whole or without its payload. Under the chip's lock, like all here. */
void roce_credit_owe(struct roce_pair *pair, u64 now);
/* When the next is to go; SWITCH_NEVER. */
u64 roce_credit_next(const struct roce_nic *nic, u64 now);
/* Puts what is due into its queue. */
void roce_credits_give(struct roce_nic *nic, u64 now);
/* The peer has given `given` in all. */
void roce_credit_hear(struct roce_pair *pair, u32 given, u64 now);
/* The pair ends. */
void roce_credit_drop(struct roce_pair *pair);

#endif
