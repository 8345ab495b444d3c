/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Quantised congestion notification (QCN): a congestion point in a switch's queue that
 * samples frames and tells their sources, and a reaction point in the source's NIC, a
 * rate limiter a flow.
 *
 * IEEE 802.1Qau-2010, clauses 30 to 32; R. Pan, "QCN Pseudo Code", version 2.3 (January
 * 2009), whose names stand in brackets.
 *
 * Congestion point: at each sample, with q the queue's bytes and q' those at the sample
 * before,
 *
 *	Fb = -((q - Qeq) + w (q - q')),	a frame to the source if Fb < 0
 *
 * |Fb| is sent as 6 bits, 63 standing for (2 w + 1) Qeq and more; what would be 0 is not
 * sent. The next sample comes after 150 KB, or sooner the larger |Fb| was, give or take
 * 15 %.
 *
 * Reaction point: a frame cuts the rate by |Fb| / 128, so at most to a half; the rate
 * before becomes the target, unless not even the first 150 KB have gone since the last
 * cut. Then, each 150 KB sent and each timer's end, a cycle: five of recovery, where the
 * rate halves its distance to the target; after that the target grows, too (5 Mbps when
 * one of the two counters has passed five, 50 Mbps times the cycles beyond when both
 * have), and cycles are half as long.
 */
#ifndef SWITCH_QCN_H
#define SWITCH_QCN_H

#include "shim.h"

#define SWITCH_QCN_QUANTA 63
#define SWITCH_QCN_RECOVERY_CYCLES 5	/* FAST_RECOVERY_TH; ieee8021CnRpgThreshold */
#define SWITCH_QCN_GAIN_LOG 7		/* Gd = 2^-7; ieee8021CnRpgGd */
#define SWITCH_QCN_FAR 10		/* a target so many times the rate is cut to an eighth */
#define SWITCH_QCN_JITTER_PERCENT 15

/* 85 to 115 % of `mean`, which is below 2^40; `random` is evenly any of 32 bits. */
static inline u64 switch_qcn_jitter(u64 mean, u32 random)
{
	u64 least = mean * (100 - SWITCH_QCN_JITTER_PERCENT);

	return div64_u64(least + mul_u64_u32_shr(mean * 2 * SWITCH_QCN_JITTER_PERCENT, random, 32),
			 100);
}

/* -- Congestion point -------------------------------------------------------------------------- */

struct switch_qcn_point_config {
	u64 set_point;		/* Qeq, bytes; 0: no congestion point */
	u64 sample_bytes;	/* from one sample to the next, on average, where |Fb| is small */
	u32 weight;		/* w */
};

struct switch_qcn_point {
	u64 before;		/* q' */
	s64 until_sample;	/* bytes */
};

/* -Fb, 0 where there is nothing to tell. */
static inline u64 switch_qcn_feedback(const struct switch_qcn_point_config *config, u64 queue,
				      u64 before)
{
	s64 offset = (s64)queue - (s64)config->set_point;
	s64 change = (s64)queue - (s64)before;
	s64 feedback = offset + (s64)config->weight * change;

	return feedback > 0 ? feedback : 0;
}

/* As it is sent, 0 to 63. */
static inline u8 switch_qcn_quantise(const struct switch_qcn_point_config *config, u64 feedback)
{
	u64 most = config->set_point * (2 * config->weight + 1);

	if (feedback >= most)
		return SWITCH_QCN_QUANTA;
	return div64_u64(feedback * SWITCH_QCN_QUANTA, most);
}

/* Mean bytes to the next sample (mark_table, for 150,000). */
static inline u64 switch_qcn_sample_bytes(const struct switch_qcn_point_config *config,
					  u8 quantised)
{
	static const u32 of_150000[] = { 150000, 75000, 50000, 37500, 30000, 25000, 21500, 18500 };

	return div64_u64(config->sample_bytes * of_150000[quantised >> 3], of_150000[0]);
}

/* A frame has come; whether it is the one that is sampled. */
static inline bool switch_qcn_samples(struct switch_qcn_point *point, u32 bytes)
{
	point->until_sample -= bytes;
	return point->until_sample < 0;
}

/* The sample, with the queue at `queue` bytes: what to tell, 0 for nothing. */
static inline u8 switch_qcn_sample(const struct switch_qcn_point_config *config,
				   struct switch_qcn_point *point, u64 queue, u32 random)
{
	u64 feedback = switch_qcn_feedback(config, queue, point->before);
	u8 quantised = switch_qcn_quantise(config, feedback);

	point->before = queue;
	point->until_sample = switch_qcn_jitter(switch_qcn_sample_bytes(config, quantised), random);
	return quantised;
}

/* -- Reaction point ---------------------------------------------------------------------------- */

struct switch_qcn_limiter_config {
	u64 least_bps;		/* 0: no reaction point; ieee8021CnRpgMinRate */
	u64 active_bps;		/* R_AI; ieee8021CnRpgAiRate */
	u64 hyper_bps;		/* R_HAI; ieee8021CnRpgHaiRate */
	u64 cycle_bytes;	/* BC_LIMIT; ieee8021CnRpgByteReset */
	u64 cycle_ns;		/* of the timer; ieee8021CnRpgTimeReset */
};

struct switch_qcn_limiter {
	u64 rate_bps;		/* crate */
	u64 target_bps;		/* trate */
	u32 byte_cycles;	/* si_count */
	u32 timer_cycles;	/* timer_scount */
	s64 until_cycle;	/* tx_bcount: bytes to the end of the byte counter's cycle */
	u64 timer_ns;		/* when the timer's cycle ends */
};

static inline u64 switch_qcn_cycle_bytes(const struct switch_qcn_limiter_config *config,
					 const struct switch_qcn_limiter *limiter, u32 random)
{
	bool recovers = limiter->byte_cycles < SWITCH_QCN_RECOVERY_CYCLES;

	return switch_qcn_jitter(recovers ? config->cycle_bytes : config->cycle_bytes / 2, random);
}

static inline u64 switch_qcn_cycle_ns(const struct switch_qcn_limiter_config *config,
				      const struct switch_qcn_limiter *limiter, u32 random)
{
	bool recovers = limiter->timer_cycles < SWITCH_QCN_RECOVERY_CYCLES;

	return switch_qcn_jitter(recovers ? config->cycle_ns : config->cycle_ns / 2, random);
}

/* The first notification of a flow is about to come. */
static inline void switch_qcn_begin(const struct switch_qcn_limiter_config *config,
				    struct switch_qcn_limiter *limiter, u64 line_bps)
{
	*limiter = (struct switch_qcn_limiter) {
		.rate_bps = line_bps,
		.target_bps = line_bps,
		.until_cycle = config->cycle_bytes,
	};
}

/* A notification has come. */
static inline void switch_qcn_notify(const struct switch_qcn_limiter_config *config,
				     struct switch_qcn_limiter *limiter, u8 quantised, u64 now,
				     u32 random)
{
	u64 cut = mul_u64_u32_shr(limiter->rate_bps, quantised, SWITCH_QCN_GAIN_LOG);

	if (limiter->byte_cycles) {
		limiter->target_bps = limiter->rate_bps;
		limiter->until_cycle = config->cycle_bytes;
	}
	limiter->byte_cycles = 0;
	limiter->timer_cycles = 0;
	limiter->rate_bps = switch_max(limiter->rate_bps - cut, config->least_bps);
	limiter->timer_ns = now + switch_qcn_cycle_ns(config, limiter, random);
}

/* What a cycle adds to the target. */
static inline u64 switch_qcn_increase(const struct switch_qcn_limiter_config *config,
				      const struct switch_qcn_limiter *limiter)
{
	u64 both = switch_min(limiter->byte_cycles, limiter->timer_cycles);

	if (both > SWITCH_QCN_RECOVERY_CYCLES)
		return config->hyper_bps * (both - SWITCH_QCN_RECOVERY_CYCLES);
	if (switch_max(limiter->byte_cycles, limiter->timer_cycles) > SWITCH_QCN_RECOVERY_CYCLES)
		return config->active_bps;
	return 0;
}

/* A cycle of bytes or of the timer has ended, and is counted already (self_increase). */
static inline void switch_qcn_cycle(const struct switch_qcn_limiter_config *config,
				    struct switch_qcn_limiter *limiter, u64 line_bps)
{
	if ((limiter->byte_cycles == 1 || limiter->timer_cycles == 1) &&
	    limiter->target_bps > SWITCH_QCN_FAR * limiter->rate_bps)
		limiter->target_bps >>= 3;
	else
		limiter->target_bps += switch_qcn_increase(config, limiter);
	limiter->target_bps = switch_min(limiter->target_bps, line_bps);
	limiter->rate_bps = (limiter->rate_bps + limiter->target_bps) / 2;
}

/* A frame of the flow is sent; whether a cycle of the byte counter has ended with it. */
static inline bool switch_qcn_sends(struct switch_qcn_limiter *limiter, u32 bytes)
{
	limiter->until_cycle -= bytes;
	return limiter->until_cycle < 0;
}

static inline void switch_qcn_end_byte_cycle(const struct switch_qcn_limiter_config *config,
					     struct switch_qcn_limiter *limiter, u64 line_bps,
					     u32 random)
{
	limiter->byte_cycles++;
	limiter->until_cycle = switch_qcn_cycle_bytes(config, limiter, random);
	switch_qcn_cycle(config, limiter, line_bps);
}

static inline void switch_qcn_end_timer_cycle(const struct switch_qcn_limiter_config *config,
					      struct switch_qcn_limiter *limiter, u64 line_bps,
					      u32 random)
{
	limiter->timer_cycles++;
	limiter->timer_ns += switch_qcn_cycle_ns(config, limiter, random);
	switch_qcn_cycle(config, limiter, line_bps);
}

/*
 * Whether the flow is as fast as the line again, but for a thousandth (each cycle halves the
 * rest), and needs no limiter.
 */
static inline bool switch_qcn_ends(const struct switch_qcn_limiter *limiter, u64 line_bps)
{
	return limiter->rate_bps >= line_bps - (line_bps >> 10);
}

#endif
