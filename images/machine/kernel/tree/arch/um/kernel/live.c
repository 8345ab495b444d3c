// SPDX-License-Identifier: GPL-2.0
/*
 * The live machine: virtual time at a pace, and inputs at instants of their own.
 *
 * The clock of a machine in inf-cpu mode moves in the idle loop only, from one
 * timer event to the next. Here it waits before it does: for the wall clock, when
 * a pace was asked for; for ever, when time was stopped; and while it waits it
 * listens to the host. An input that comes is taken at the virtual instant that
 * corresponds to the wall clock, which lies between the last event and the next.
 *
 * So an input has a place in the machine's history that does not depend on the
 * host: how many events had happened, and which instant it was. The host writes
 * both down. Given them again, with the input, a machine does again what this one
 * did, at any pace. What only changes the pace changes nothing inside.
 *
 * Programs that never sleep would keep the machine from ever being idle:
 * live_busy.c.
 */
#include <linux/hardirq.h>
#include <linux/init.h>
#include <linux/math64.h>
#include <linux/time-internal.h>
#include <os.h>
#include "live.h"

/* Running late by less is made up for; by more, time has been lost. */
#define LIVE_SLIP_NS	(20 * NSEC_PER_MSEC)
/* How often the host is told the time, and asked for messages at full speed. */
#define LIVE_CLOCK_NS	(20 * NSEC_PER_MSEC)
#define LIVE_LISTEN_NS	NSEC_PER_MSEC

/* The machine's clock; it is the idle loop's, which lends it when it first runs. */
static unsigned long long switched_on;
static unsigned long long *clock = &switched_on;

/* How many timer events have happened in the idle loop. */
static u64 live_events;

/* The pace: at the wall clock's `wall` it was the virtual instant `virtual`. */
static struct {
	bool stopped;
	u64 speed;
	u64 until;
	u64 wall;
	u64 virtual;
} pace = { .until = U64_MAX };

/* The input that waits for its turn, or a recording's nap. */
static struct {
	bool held;
	bool nap;
	/* Of a recording: it is to be taken after so many events, at this instant. */
	bool recorded;
	u64 events;
	u64 instant;
	u32 length;
	u8 bytes[LIVE_PAYLOAD_MAX];
} held;

struct live_input live_input;
DECLARE_WAIT_QUEUE_HEAD(live_input_arrived);
atomic_t live_device_users = ATOMIC_INIT(0);

/* Whether an input has been taken; whether a recording is followed, or was. */
static bool touched;
static bool replaying;
static bool replayed;
static u64 told_clock_at;
static u64 listened_at;

/* -- The pace ---------------------------------------------------------------------- */

/* When the wall clock shows the virtual instant; 0: it has been, or no pace is kept. */
static u64 wall_of(u64 instant)
{
	if (!pace.speed || instant <= pace.virtual)
		return 0;
	return pace.wall + mul_u64_u64_div_u64(instant - pace.virtual,
					       LIVE_REAL_TIME, pace.speed);
}

/* Which virtual instant the wall clock shows, between now and what happens next. */
static u64 instant_of(u64 wall, u64 next)
{
	u64 last = min(next, pace.until);
	u64 instant = *clock;

	if (held.held && held.recorded)
		last = min(last, held.instant);
	if (!pace.stopped && pace.speed && wall > pace.wall)
		instant = pace.virtual +
			  mul_u64_u64_shr(wall - pace.wall, pace.speed, 32);
	return max_t(u64, *clock, min(instant, last));
}

/* It is `instant` now. Who is later than that by too much has lost the time between. */
static void keep_pace(u64 wall, u64 due, u64 instant)
{
	if (due && wall - due > LIVE_SLIP_NS) {
		pace.wall = wall;
		pace.virtual = instant;
	}
}

/* No event is due before `instant`. */
static void advance(u64 instant)
{
	*clock = max_t(u64, *clock, instant);
}

void live_stop(enum live_stop why)
{
	pace.stopped = true;
	live_tell(LIVE_STOPPED, *clock, why);
}

/* A condition has come true. */
void live_stop_at(u32 condition, u64 value)
{
	pace.stopped = true;
	live_answer(LIVE_STOPPED, *clock, LIVE_STOP_BREAK | (u64)condition << 32, &value,
		    sizeof(value));
}

static void tell_clock(u64 wall, u64 next)
{
	if (pace.stopped || wall - told_clock_at < LIVE_CLOCK_NS)
		return;
	told_clock_at = wall;
	live_tell(LIVE_CLOCK, instant_of(wall, next), wall);
}

/* -- Messages ---------------------------------------------------------------------- */

static void hold(const struct live_header *header)
{
	if (held.held || header->length > LIVE_PAYLOAD_MAX)
		panic("fabriclab.live: an input of %u bytes%s\n", header->length,
		      held.held ? " before the last one was taken" : "");
	held.held = true;
	held.nap = header->kind == LIVE_NAP_AT;
	held.recorded = held.nap || header->kind == LIVE_INPUT_AT;
	held.events = header->a;
	held.instant = header->b;
	held.length = header->length;
	live_hear(held.bytes, held.length);
}

static void set_pace(const struct live_header *header, u64 wall)
{
	pace.stopped = false;
	pace.speed = header->a;
	pace.until = header->b;
	pace.wall = wall;
	pace.virtual = *clock;
}

/* What was due until then has happened: that of the next event's time may not have. */
static u64 happened_until(u64 instant, u64 next)
{
	return min(instant, next - 1);
}

/* What the host asks of the machine as it is, and when it wants to; that changes nothing. */
static void inspect(const struct live_header *header, u64 instant, u64 next)
{
	static u8 payload[LIVE_PAYLOAD_MAX];
	u64 until = happened_until(instant, next);

	if (header->length > sizeof(payload))
		panic("fabriclab.live: a question of %u bytes\n", header->length);
	live_hear(payload, header->length);
	if (header->kind == LIVE_BREAK) {
		/* Where it stops time at once, that is not before what the host was told. */
		advance(instant);
		live_break_set(header, payload, until);
	} else {
		live_look(header, payload, instant, until);
	}
}

/* Reads a message and does what it asks for; an input is held until its turn. */
static void obey(u64 next)
{
	struct live_header header;
	u64 wall = os_nsecs();

	live_hear(&header, sizeof(header));
	switch (header.kind) {
	case LIVE_INPUT:
	case LIVE_INPUT_AT:
	case LIVE_NAP_AT:
		hold(&header);
		break;
	case LIVE_PACE:
		advance(instant_of(wall, next));
		set_pace(&header, wall);
		break;
	case LIVE_STOP:
		advance(instant_of(wall, next));
		live_stop(LIVE_STOP_ASKED);
		break;
	case LIVE_REPLAY:
		replaying = header.a;
		replayed = true;
		break;
	case LIVE_LOOK:
	case LIVE_CONNECTIONS:
	case LIVE_BREAK:
		inspect(&header, instant_of(wall, next), next);
		break;
	default:
		panic("fabriclab.live: a message of kind %u\n", header.kind);
	}
}

/* Waits for a message until the wall clock's `until`; whether there was one. */
static bool listen(u64 wall, u64 until, u64 next)
{
	if (until <= wall && wall - listened_at < LIVE_LISTEN_NS)
		return false;
	listened_at = wall;
	if (!live_wait(until))
		return false;
	obey(next);
	return true;
}

/* -- Inputs ------------------------------------------------------------------------ */

static bool can_take(void)
{
	return held.held && !live_input.length && atomic_read(&live_device_users);
}

/* Gives the held input to PID 1. */
static void take(u64 instant)
{
	advance(instant);
	memcpy(live_input.bytes, held.bytes, held.length);
	live_input.length = held.length;
	held.held = false;
	touched = true;
	live_tell(LIVE_TAKEN, live_events, *clock);
	/* The idle loop sleeps for RCU; an interrupt wakes it. */
	irq_enter();
	wake_up_interruptible(&live_input_arrived);
	irq_exit();
}

static void diverge(void)
{
	held.held = false;
	pace.stopped = true;
	live_tell(LIVE_DIVERGED, live_events, *clock);
}

/* Whether the recording's input comes before the event at `next`. */
static bool is_next(u64 next)
{
	if (!held.held || !held.recorded || live_events < held.events)
		return false;
	if (live_events == held.events && !held.nap && can_take() &&
	    held.instant >= *clock && held.instant <= next)
		return true;
	diverge();
	return false;
}

/* -- Programs that never sleep (live_busy.c) ----------------------------------------- */

bool live_is_stopped(void)
{
	return pace.stopped;
}

bool live_is_touched(void)
{
	return touched;
}

bool live_is_asked(void)
{
	return held.held ? !held.recorded : live_wait(0);
}

bool live_may_nap(bool asked)
{
	return !replaying && atomic_read(&live_device_users) &&
	       (asked || (touched && !replayed));
}

/* Less where time goes more slowly than the wall clock. */
u64 live_paced(u64 length)
{
	if (!pace.speed || pace.speed >= LIVE_REAL_TIME)
		return length;
	return max_t(u64, mul_u64_u64_shr(length, pace.speed, 32), 1);
}

bool live_recorded_nap(u64 calls, struct live_nap *found)
{
	while (replaying && !held.held)
		obey(*clock);
	if (!held.held || !held.nap || live_events < held.events)
		return false;
	memcpy(found, held.bytes, sizeof(*found));
	if (live_events == held.events && calls < found->calls)
		return false;
	if (live_events > held.events || calls > found->calls ||
	    held.instant != *clock) {
		diverge();
		return false;
	}
	held.held = false;
	return true;
}

void live_napped(enum live_answer kind, const struct live_nap *nap)
{
	live_answer(kind, live_events, *clock, nap, sizeof(*nap));
}

/* -- The idle loop ----------------------------------------------------------------- */

/* Lets time come to what happens next; whether that is an input, which is taken. */
static bool arrive(u64 next, bool recorded)
{
	if (recorded && held.instant <= pace.until) {
		take(held.instant);
		return true;
	}
	if (pace.until <= next) {
		advance(pace.until);
		pace.until = U64_MAX;
		live_stop(LIVE_STOP_UNTIL);
	}
	return false;
}

/* Waits until an input is taken, or the event at `next` may happen; whether it was an input. */
static bool wait_for_turn(u64 next)
{
	for (;;) {
		u64 wall = os_nsecs();
		bool recorded = is_next(next);
		u64 instant = min(recorded ? held.instant : next, pace.until);
		u64 due = wall_of(instant);

		if (!held.recorded && can_take()) {
			take(instant_of(wall, next));
			return true;
		}
		tell_clock(wall, next);
		if (replaying && !held.held)
			obey(next);
		else if (pace.stopped)
			listen(wall, U64_MAX, next);
		else if (due > wall)
			listen(wall, min(due, told_clock_at + LIVE_CLOCK_NS), next);
		else if (!listen(wall, 0, next)) {
			keep_pace(wall, due, instant);
			if (arrive(next, recorded))
				return true;
			if (!pace.stopped)
				return false;
		}
	}
}

/*
 * Called when the machine is idle at `*now` and its next timer event is due at `next`.
 * Returns whether an input was taken: then whom it woke runs first. Otherwise
 * the event may happen.
 */
bool live_gate(unsigned long long *now, unsigned long long next)
{
	bool took;

	if (!live_is_on())
		return false;

	clock = now;
	live_break_check(happened_until(*now, next));
	took = wait_for_turn(next);
	live_events += !took;
	live_was_idle();
	return took;
}
