/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which queue a port serves next: strict priorities first, highest number first,
 * then the others in turn by deficit (weighted) round robin.
 *
 * Shreedhar and Varghese, "Efficient Fair Queuing Using Deficit Round Robin",
 * ToN 4(3), 1996: on its turn a queue's deficit grows by its quantum; it sends
 * while the deficit covers the head of the queue; one that runs empty loses what
 * is left. DWRR counts bytes; WRR is the same with a cost of 1 for each frame.
 *
 * A queue that must not send for now (paused or shaped) is passed over and keeps
 * its deficit: it is not the queue that had nothing to send.
 */
#ifndef SWITCH_DWRR_H
#define SWITCH_DWRR_H

#include "shim.h"

enum switch_scheduling {
	SWITCH_STRICT,
	SWITCH_DWRR,
	SWITCH_WRR,
};

struct switch_queue_share {
	u8 scheduling;
	u32 quantum;		/* a round's share: bytes (DWRR) or frames (WRR), at least 1 */
};

struct switch_round {
	u8 turn;		/* the queue whose turn it is */
	bool topped_up;		/* it has had its quantum */
	u64 deficit[SWITCH_QUEUES];
};

/* Of the queues in the bit mask `ready` those with strict priority. */
static inline u32 switch_strict_ready(const struct switch_queue_share *shares, u32 ready)
{
	u32 strict = 0;
	int queue;

	for (queue = 0; queue < SWITCH_QUEUES; queue++)
		if (ready & BIT(queue) && shares[queue].scheduling == SWITCH_STRICT)
			strict |= BIT(queue);
	return strict;
}

static inline int switch_highest(u32 queues)
{
	int queue = SWITCH_QUEUES - 1;

	while (!(queues & BIT(queue)))
		queue--;
	return queue;
}

static inline u64 switch_round_cost(const struct switch_queue_share *share, u32 bytes)
{
	return share->scheduling == SWITCH_WRR ? 1 : bytes;
}

/*
 * How many rounds pass before some queue can send: no loop for each where quanta are
 * small against frames.
 */
static inline u64 switch_rounds_to_wait(const struct switch_round *round,
					const struct switch_queue_share *shares, u32 ready,
					const u32 *head_bytes)
{
	u64 least = ~0ULL;
	int queue;

	for (queue = 0; queue < SWITCH_QUEUES; queue++) {
		u64 lacking;

		if (!(ready & BIT(queue)))
			continue;
		lacking = switch_excess(switch_round_cost(&shares[queue], head_bytes[queue]),
					round->deficit[queue]);
		least = switch_min(least, div64_u64(lacking + shares[queue].quantum - 1,
						    shares[queue].quantum));
	}
	return least;
}

static inline void switch_round_top_up(struct switch_round *round,
				       const struct switch_queue_share *shares, u32 ready,
				       u64 rounds)
{
	int queue;

	for (queue = 0; queue < SWITCH_QUEUES; queue++)
		if (ready & BIT(queue))
			round->deficit[queue] += rounds * shares[queue].quantum;
}

static inline void switch_round_next_turn(struct switch_round *round)
{
	round->turn = (round->turn + 1) % SWITCH_QUEUES;
	round->topped_up = false;
}

/*
 * The round robin among `ready` (not empty, none of them strict); `head_bytes` are the
 * sizes of their first frames.
 */
static inline int switch_round_pick(struct switch_round *round,
				    const struct switch_queue_share *shares, u32 ready,
				    const u32 *head_bytes)
{
	u64 rounds;
	int tries;

	for (tries = 0;; tries++) {
		int queue = round->turn;
		u64 cost = switch_round_cost(&shares[queue], head_bytes[queue]);

		if (ready & BIT(queue)) {
			if (!round->topped_up)
				round->deficit[queue] += shares[queue].quantum;
			round->topped_up = true;
			if (round->deficit[queue] >= cost) {
				round->deficit[queue] -= cost;
				return queue;
			}
		}
		switch_round_next_turn(round);
		if (tries != SWITCH_QUEUES)
			continue;
		/* A whole round and nobody could send: on to the round in which somebody can. */
		rounds = switch_rounds_to_wait(round, shares, ready, head_bytes);
		if (rounds > 1)
			switch_round_top_up(round, shares, ready, rounds - 1);
	}
}

/* The queue to serve; `ready` is not 0. */
static inline int switch_schedule(struct switch_round *round,
				  const struct switch_queue_share *shares, u32 ready,
				  const u32 *head_bytes)
{
	u32 strict = switch_strict_ready(shares, ready);

	if (strict)
		return switch_highest(strict);
	return switch_round_pick(round, shares, ready, head_bytes);
}

/* A queue has run empty. */
static inline void switch_round_leave(struct switch_round *round, int queue)
{
	round->deficit[queue] = 0;
	if (round->turn == queue)
		switch_round_next_turn(round);
}

#endif
