/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A switch's packet memory: cells that all its queues share.
 *
 * Each frame is counted twice, in the account of the priority group that it came
 * in by and in that of the queue that it leaves by. An account has cells that
 * are reserved for it; what it uses beyond is the pool's, up to a limit:
 * a fixed one, or the dynamic threshold
 *
 *	T(t) = alpha * (free cells of the pool), alpha = 2^n
 *
 * of Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory
 * Packet Switches", ToN 6(2), 1998: a frame is admitted iff the account is below
 * T. N saturated accounts then hold alpha * B / (1 + alpha * N) each. Meaning of
 * pools, reserved sizes and n: SAI, inc/saibuffer.h.
 *
 * A lossless priority group has headroom behind its limit for what is still on
 * its way when it pauses its neighbour: cells of its own or of the pool's
 * headroom. Headroom drains first.
 */
#ifndef SWITCH_SHARED_BUFFER_H
#define SWITCH_SHARED_BUFFER_H

#include "shim.h"

#define SWITCH_ALPHA_LOG_MIN (-8)
#define SWITCH_ALPHA_LOG_MAX 7
#define SWITCH_UNLIMITED (~0ULL)

struct switch_pool {
	u64 size;		/* cells: reserved and shared */
	u64 reserved;		/* the sum of the accounts' reserved cells */
	u64 shared;		/* in use beyond what is reserved */
	u64 headroom_size; /* headroom that its priority groups share; 0: they have their own */
	u64 headroom;		/* in use of it */
	u64 watermark;		/* the most of `shared` */
	u64 headroom_watermark;
};

struct switch_limit {
	bool dynamic;
	s8 alpha_log;		/* dynamic: n of alpha = 2^n */
	u64 cells;		/* static; SWITCH_UNLIMITED: the pool is the limit */
};

struct switch_account_config {
	u64 reserved;
	struct switch_limit limit;	/* of what is beyond `reserved` */
	u64 headroom;		/* 0: lossy */
};

struct switch_account {
	u64 used;		/* cells without headroom */
	u64 headroom;		/* cells in headroom */
	u64 watermark;		/* the most of both together */
};

enum switch_admission {
	SWITCH_ADMIT,
	SWITCH_ADMIT_HEADROOM,	/* in headroom: the neighbour must pause */
	SWITCH_REFUSE_LIMIT,	/* the account is at its limit (and its headroom is full) */
	SWITCH_REFUSE_POOL,	/* the pool is full */
};

static inline u64 switch_cells(u32 bytes, u32 cell_bytes)
{
	return (bytes + cell_bytes - 1) / cell_bytes;
}

static inline u64 switch_pool_free(const struct switch_pool *pool)
{
	return switch_excess(pool->size, pool->reserved + pool->shared);
}

/* The limit as it is now, in cells beyond the reserved ones. */
static inline u64 switch_limit_now(const struct switch_limit *limit, const struct switch_pool *pool)
{
	u64 free;

	if (!limit->dynamic)
		return limit->cells;
	free = switch_pool_free(pool);
	return limit->alpha_log < 0 ? free >> -limit->alpha_log : free << limit->alpha_log;
}

static inline u64 switch_account_shared(const struct switch_account *account,
					const struct switch_account_config *config)
{
	return switch_excess(account->used, config->reserved);
}

/*
 * Whether `shared` cells are below the limit: a dynamic one looks at the account without
 * the frame, a static one never is exceeded.
 */
static inline bool switch_below_limit(const struct switch_limit *limit,
				      const struct switch_pool *pool, u64 shared, u64 cells)
{
	u64 now = switch_limit_now(limit, pool);

	return limit->dynamic ? shared < now : now >= cells && shared <= now - cells;
}

static inline bool switch_headroom_fits(const struct switch_account *account,
					const struct switch_account_config *config,
					const struct switch_pool *pool, u64 cells)
{
	if (account->headroom + cells > config->headroom)
		return false;
	return !pool || !pool->headroom_size || pool->headroom + cells <= pool->headroom_size;
}

/*
 * What happens to a frame of `cells`; nothing is counted yet. Without a pool (NULL) the
 * memory is the account's own.
 */
static inline enum switch_admission switch_admit(const struct switch_account *account,
						 const struct switch_account_config *config,
						 const struct switch_pool *pool, u64 cells)
{
	u64 shared = switch_account_shared(account, config);
	u64 more = switch_excess(account->used + cells, config->reserved) - shared;
	enum switch_admission refusal;

	if (!more)
		return SWITCH_ADMIT;
	if (pool && more > switch_pool_free(pool))
		refusal = SWITCH_REFUSE_POOL;
	else if (!switch_below_limit(&config->limit, pool, shared, more))
		refusal = SWITCH_REFUSE_LIMIT;
	else
		return SWITCH_ADMIT;
	return switch_headroom_fits(account, config, pool, cells) ? SWITCH_ADMIT_HEADROOM : refusal;
}

/* Moves the account's part of the pool from `before` cells to what it is now. */
static inline void switch_pool_follow(struct switch_pool *pool, u64 before, u64 now)
{
	pool->shared = pool->shared + now - before;
	pool->watermark = switch_max(pool->watermark, pool->shared);
}

static inline void switch_charge(struct switch_account *account,
				 const struct switch_account_config *config,
				 struct switch_pool *pool, u64 cells)
{
	u64 before = switch_account_shared(account, config);

	account->used += cells;
	account->watermark = switch_max(account->watermark, account->used + account->headroom);
	if (pool)
		switch_pool_follow(pool, before, switch_account_shared(account, config));
}

static inline void switch_charge_headroom(struct switch_account *account, struct switch_pool *pool,
					  u64 cells)
{
	account->headroom += cells;
	account->watermark = switch_max(account->watermark, account->used + account->headroom);
	if (!pool)
		return;
	pool->headroom += cells;
	pool->headroom_watermark = switch_max(pool->headroom_watermark, pool->headroom);
}

/* A frame of `cells` has left. */
static inline void switch_release(struct switch_account *account,
				  const struct switch_account_config *config,
				  struct switch_pool *pool, u64 cells)
{
	u64 before = switch_account_shared(account, config);
	u64 headroom = switch_min(account->headroom, cells);

	account->headroom -= headroom;
	account->used -= cells - headroom;
	if (!pool)
		return;
	pool->headroom -= headroom;
	switch_pool_follow(pool, before, switch_account_shared(account, config));
}

#endif
