// SPDX-License-Identifier: GPL-2.0
/*
 * The switch's algorithms (the headers of images/machine/kernel/tree/net/sched/switch_port) as a library for the
 * tests: each function runs one of them over arrays, or on a handle.
 */
#include <stdlib.h>
#include <string.h>

#include "dwrr.h"
#include "line.h"
#include "pacer.h"
#include "pause_watchdog.h"
#include "pfc.h"
#include "phantom_queue.h"
#include "qcn.h"
#include "shared_buffer.h"
#include "token_bucket.h"
#include "trimming.h"
#include "wred.h"

/* Frames that are ready at `ready[i]`: when each has left. */
void line_ends(u64 rate_bps, int frames, const u64 *ready, const u32 *bytes, u64 *ends)
{
	struct switch_line line = {};
	int i;

	for (i = 0; i < frames; i++)
		ends[i] = switch_line_send(&line, rate_bps, ready[i], bytes[i]);
}

u64 line_time(u64 rate_bps, u64 bytes)
{
	return switch_line_time(rate_bps, bytes);
}

u32 wire_bytes(u32 frame_bytes, u32 overhead, u32 mpu)
{
	return switch_wire_bytes(frame_bytes, overhead, mpu);
}

/* Frames in order, each as early as the bucket lets it, but not before `ready[i]`. */
void bucket_starts(u64 rate_bps, u64 burst_bytes, int frames, const u64 *ready, const u32 *bytes,
		   u64 *starts)
{
	struct switch_bucket_config config;
	struct switch_line line = {};
	int i;

	switch_bucket_configure(&config, rate_bps, burst_bytes);
	for (i = 0; i < frames; i++) {
		u64 before = i ? starts[i - 1] : 0;

		starts[i] = switch_max(switch_max(ready[i], before),
				       switch_bucket_ready(&config, &line));
		switch_bucket_take(&config, &line, starts[i], bytes[i]);
	}
}

void phantom_marks(u64 rate_bps, u64 threshold_bytes, int frames, const u64 *times,
		   const u32 *bytes, u8 *marks)
{
	struct switch_phantom_config config;
	struct switch_line line = {};
	int i;

	switch_phantom_configure(&config, rate_bps, threshold_bytes);
	for (i = 0; i < frames; i++)
		marks[i] = switch_phantom_send(&config, &line, times[i], bytes[i]);
}

/*
 * Frames of paced flows that come at `times`, from the first on: when each goes. `rates` gets
 * the rate after each of `ticks` intervals.
 */
void pacer_run(const struct switch_pacer_config *config, u64 line_bps, int frames, const u64 *times,
	       const u32 *bytes, int ticks, u64 *starts, u64 *rates)
{
	struct switch_pacer_bucket bucket;
	int come = 0, gone = 0, tick = 0;
	u64 waiting = 0;

	switch_pacer_begin(config, &bucket, line_bps, times[0]);
	while (gone < frames || tick < ticks) {
		u64 ready = gone < come ? switch_pacer_ready(config, &bucket, bytes[gone]) : ~0ULL;
		u64 next = come < frames ? times[come] : ~0ULL;

		if (bucket.tick_ns <= switch_min(ready, next)) {
			switch_pacer_tick(config, &bucket, waiting, line_bps);
			if (tick < ticks)
				rates[tick++] = bucket.rate_bps;
		} else if (ready <= next) {
			starts[gone] = ready;
			switch_pacer_take(config, &bucket, ready, bytes[gone]);
			waiting -= 8ULL * bytes[gone++];
		} else {
			switch_pacer_fill(config, &bucket, next);
			bucket.bits += 8ULL * bytes[come];
			waiting += 8ULL * bytes[come++];
		}
	}
}

u64 pacer_rate(const struct switch_pacer_config *config, u64 rate_bps, u64 bits, u64 waiting,
	       u64 line_bps)
{
	return switch_pacer_rate(config, rate_bps, bits, waiting, line_bps);
}

bool pacer_takes_in(u32 probability, u32 random)
{
	struct switch_pacer_config config = { .probability = probability };

	return switch_pacer_takes_in(&config, random);
}

bool pacer_lets_go(u64 idle_ns, u64 last, u64 now)
{
	struct switch_pacer_config config = { .idle_ns = idle_ns };

	return switch_pacer_lets_go(&config, last, now);
}

/* Frames come to a queue of these lengths: what each tells its source, -1 where it isn't sampled. */
void qcn_point_run(const struct switch_qcn_point_config *config, int frames, const u64 *queue,
		   const u32 *bytes, const u32 *random, int *told)
{
	struct switch_qcn_point point = {};
	int i, drawn = 0;

	for (i = 0; i < frames; i++)
		told[i] = switch_qcn_samples(&point, bytes[i]) ?
				  switch_qcn_sample(config, &point, queue[i], random[drawn++]) :
				  -1;
}

/*
 * What happens to a limiter: 0 to 63 a notification, 64 the end of a cycle of bytes, 65 of the
 * timer. `seen` gets rate, target, bytes to the cycle's end and the timer's time after each.
 */
void qcn_limiter_run(const struct switch_qcn_limiter_config *config, u64 line_bps, int steps,
		     const u32 *step, const u64 *times, const u32 *random, u64 *seen)
{
	struct switch_qcn_limiter limiter;
	int i;

	switch_qcn_begin(config, &limiter, line_bps);
	for (i = 0; i < steps; i++, seen += 4) {
		if (step[i] <= SWITCH_QCN_QUANTA)
			switch_qcn_notify(config, &limiter, step[i], times[i], random[i]);
		else if (step[i] == SWITCH_QCN_QUANTA + 1)
			switch_qcn_end_byte_cycle(config, &limiter, line_bps, random[i]);
		else
			switch_qcn_end_timer_cycle(config, &limiter, line_bps, random[i]);
		seen[0] = limiter.rate_bps;
		seen[1] = limiter.target_bps;
		seen[2] = limiter.until_cycle;
		seen[3] = limiter.timer_ns;
	}
}

bool qcn_ends(u64 rate_bps, u64 line_bps)
{
	struct switch_qcn_limiter limiter = { .rate_bps = rate_bps };

	return switch_qcn_ends(&limiter, line_bps);
}

u64 wred_probability(u64 min, u64 max, u64 probability, u64 length)
{
	struct switch_wred_curve curve = { .min = min, .max = max, .probability = probability };

	return switch_wred_probability(&curve, length);
}

void wred_averages(u8 weight_log, int samples, const u64 *lengths, u64 *averages)
{
	struct switch_wred_curve curve = { .weight_log = weight_log };
	u64 average = 0;
	int i;

	for (i = 0; i < samples; i++)
		averages[i] = switch_wred_sample(&curve, &average, lengths[i]);
}

/*
 * Queue q has counts[q] frames, sizes[q * longest + i], and may be served while step i has its
 * bit in masks[i]. Writes the queue that is served at each of `steps` steps, -1 for none.
 */
void schedule(const u8 *scheduling, const u32 *quantum, int longest, const int *counts,
	      const u32 *sizes, int steps, const u8 *masks, int *served)
{
	struct switch_queue_share shares[SWITCH_QUEUES];
	struct switch_round round = {};
	int next[SWITCH_QUEUES] = {};
	int step, queue;

	for (queue = 0; queue < SWITCH_QUEUES; queue++)
		shares[queue] = (struct switch_queue_share){ scheduling[queue], quantum[queue] };
	for (step = 0; step < steps; step++) {
		u32 heads[SWITCH_QUEUES] = {};
		u32 ready = 0;

		for (queue = 0; queue < SWITCH_QUEUES; queue++) {
			if (next[queue] == counts[queue])
				continue;
			heads[queue] = sizes[queue * longest + next[queue]];
			ready |= masks[step] & BIT(queue);
		}
		served[step] = -1;
		if (!ready)
			continue;
		queue = switch_schedule(&round, shares, ready, heads);
		served[step] = queue;
		if (++next[queue] == counts[queue])
			switch_round_leave(&round, queue);
	}
}

/* A buffer with one pool (none, if its size is 0) and some accounts. */
struct buffer {
	struct switch_pool pool;
	bool has_pool;
	int accounts;
	struct switch_account account[64];
	struct switch_account_config config[64];
};

struct buffer *buffer_new(u64 size, u64 headroom)
{
	struct buffer *buffer = calloc(1, sizeof(*buffer));

	buffer->pool.size = size;
	buffer->pool.headroom_size = headroom;
	buffer->has_pool = size;
	return buffer;
}

void buffer_free(struct buffer *buffer)
{
	free(buffer);
}

int buffer_add_account(struct buffer *buffer, u64 reserved, bool dynamic, s8 alpha_log, u64 limit,
		       u64 headroom)
{
	struct switch_account_config *config = &buffer->config[buffer->accounts];

	config->reserved = reserved;
	config->limit = (struct switch_limit){ dynamic, alpha_log, limit };
	config->headroom = headroom;
	buffer->pool.reserved += reserved;
	return buffer->accounts++;
}

static struct switch_pool *buffer_pool(struct buffer *buffer)
{
	return buffer->has_pool ? &buffer->pool : NULL;
}

int buffer_arrive(struct buffer *buffer, int number, u64 cells)
{
	struct switch_account *account = &buffer->account[number];
	struct switch_account_config *config = &buffer->config[number];
	struct switch_pool *pool = buffer_pool(buffer);
	enum switch_admission admission = switch_admit(account, config, pool, cells);

	if (admission == SWITCH_ADMIT)
		switch_charge(account, config, pool, cells);
	else if (admission == SWITCH_ADMIT_HEADROOM)
		switch_charge_headroom(account, pool, cells);
	return admission;
}

void buffer_leave(struct buffer *buffer, int number, u64 cells)
{
	switch_release(&buffer->account[number], &buffer->config[number], buffer_pool(buffer),
		       cells);
}

bool buffer_may_resume(struct buffer *buffer, int number, u64 xon, u64 xon_offset)
{
	struct switch_pfc_config pfc = { xon, xon_offset };

	return switch_may_resume(&buffer->account[number], &pfc, &buffer->config[number],
				 buffer_pool(buffer));
}

u64 buffer_used(const struct buffer *buffer, int number)
{
	return buffer->account[number].used;
}

u64 buffer_headroom(const struct buffer *buffer, int number)
{
	return buffer->account[number].headroom;
}

u64 buffer_pool_shared(const struct buffer *buffer)
{
	return buffer->pool.shared;
}

u64 buffer_pool_headroom(const struct buffer *buffer)
{
	return buffer->pool.headroom;
}

u64 buffer_pool_free(const struct buffer *buffer)
{
	return switch_pool_free(&buffer->pool);
}

u64 cells(u32 bytes, u32 cell_bytes)
{
	return switch_cells(bytes, cell_bytes);
}

u64 pause_ns(u16 quanta, u64 rate_bps)
{
	return switch_pause_ns(quanta, rate_bps);
}

void pause_encode(u8 priorities, const u16 *quanta, u8 *body)
{
	struct switch_pause pause = { .priorities = priorities };

	memcpy(pause.quanta, quanta, sizeof(pause.quanta));
	switch_pause_encode(&pause, body);
}

/* The bit mask of priorities, or -1: no such frame. */
int pause_decode(const u8 *body, size_t length, u16 *quanta)
{
	struct switch_pause pause;

	if (!switch_pause_decode(&pause, body, length))
		return -1;
	memcpy(quanta, pause.quanta, sizeof(pause.quanta));
	return pause.priorities;
}

/*
 * Feeds changes (time, paused, backlogged) and the deadlines between them to a watchdog
 * until `end`.
 * Writes the times at which a storm begins or ends, in turn, and returns how many.
 */
int watchdog_run(u64 detection_ns, u64 restoration_ns, int changes, const u64 *times,
		 const u8 *paused, const u8 *backlogged, u64 end, u64 *turns)
{
	struct switch_watchdog_config config = { detection_ns, restoration_ns };
	struct switch_watchdog dog = {};
	bool is_paused = false, is_backlogged = false;
	int i, count = 0;

	for (i = 0; i <= changes; i++) {
		u64 until = i < changes ? times[i] : end;
		u64 deadline;

		while ((deadline = switch_watchdog_deadline(&dog, &config)) <= until)
			if (switch_watchdog_update(&dog, &config, deadline, is_paused,
						   is_backlogged))
				turns[count++] = deadline;
		if (i == changes)
			break;
		is_paused = paused[i];
		is_backlogged = backlogged[i];
		switch_watchdog_update(&dog, &config, times[i], is_paused, is_backlogged);
	}
	return count;
}

bool trims_for(u32 cause)
{
	return switch_trims_for(cause);
}

u32 ip_header_bytes(const u8 *ip)
{
	return switch_ip_header_bytes(ip);
}

void trim_header(u8 *ip, u32 left, u32 dscp)
{
	switch_trim_header(ip, left, dscp);
}
