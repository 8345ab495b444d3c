/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Priority flow control (IEEE 802.1Qbb, now 802.1Q clause 36): when a priority
 * group tells its neighbour to pause and to go on, and the frames that say so.
 *
 * A group pauses its neighbour (XOFF) when a frame had to go to its headroom. It
 * lets it go on (XON) when its headroom is empty and its cells have fallen to
 *
 *	max(xon, limit - xon_offset)
 *
 * (SAI, saibuffer.h: SAI_BUFFER_PROFILE_ATTR_XON_TH and _XON_OFFSET_TH); the
 * limit counts with the reserved cells, and moves where it is dynamic.
 */
#ifndef SWITCH_PFC_H
#define SWITCH_PFC_H

#include "line.h"
#include "shared_buffer.h"

#define SWITCH_PAUSE_QUANTUM_BITS 512
#define SWITCH_PAUSE_OPCODE 0x0101
#define SWITCH_PAUSE_BODY_BYTES 20	/* opcode, class enable vector, eight times */

struct switch_pfc_config {
	u64 xon;		/* cells */
	u64 xon_offset;		/* cells below the limit; 0: xon alone counts */
};

/* The cells at which a paused group lets its neighbour go on. */
static inline u64 switch_xon_threshold(const struct switch_pfc_config *pfc,
				       const struct switch_account_config *config,
				       const struct switch_pool *pool)
{
	u64 limit;

	if (!pfc->xon_offset)
		return pfc->xon;
	limit = switch_limit_now(&config->limit, pool);
	if (limit == SWITCH_UNLIMITED)
		limit = pool ? pool->size : 0;
	return switch_max(pfc->xon, switch_excess(limit + config->reserved, pfc->xon_offset));
}

static inline bool switch_may_resume(const struct switch_account *account,
				     const struct switch_pfc_config *pfc,
				     const struct switch_account_config *config,
				     const struct switch_pool *pool)
{
	return !account->headroom && account->used <= switch_xon_threshold(pfc, config, pool);
}

/* How long `quanta` last on a line of `rate_bps`, in ns. */
static inline u64 switch_pause_ns(u16 quanta, u64 rate_bps)
{
	return div64_u64(quanta * (u64)SWITCH_PAUSE_QUANTUM_BITS * SWITCH_NS_PER_SEC, rate_bps);
}

struct switch_pause {
	u8 priorities;		/* bit mask: those that the frame speaks of */
	u16 quanta[SWITCH_QUEUES];	/* 0: go on */
};

static inline void switch_put_be16(u8 *to, u16 value)
{
	to[0] = value >> 8;
	to[1] = value;
}

static inline u16 switch_get_be16(const u8 *from)
{
	return from[0] << 8 | from[1];
}

/* Writes the frame's body, SWITCH_PAUSE_BODY_BYTES. */
static inline void switch_pause_encode(const struct switch_pause *pause, u8 *body)
{
	int priority;

	switch_put_be16(body, SWITCH_PAUSE_OPCODE);
	switch_put_be16(body + 2, pause->priorities);
	for (priority = 0; priority < SWITCH_QUEUES; priority++)
		switch_put_be16(body + 4 + 2 * priority, pause->quanta[priority]);
}

/* Reads a frame's body of `length` bytes; false: it is no priority flow control frame. */
static inline bool switch_pause_decode(struct switch_pause *pause, const u8 *body, size_t length)
{
	int priority;

	if (length < SWITCH_PAUSE_BODY_BYTES || switch_get_be16(body) != SWITCH_PAUSE_OPCODE)
		return false;
	pause->priorities = switch_get_be16(body + 2);
	for (priority = 0; priority < SWITCH_QUEUES; priority++)
		pause->quanta[priority] = switch_get_be16(body + 4 + 2 * priority);
	return true;
}

#endif
