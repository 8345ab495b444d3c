// SPDX-License-Identifier: GPL-2.0
/*
 * How far a machine may let its time go, where a lab runs in several of them.
 *
 * Each promises a time before which no frame of it arrives, but for those that are in the
 * rings already: its own next instant, plus the least delay of the cables between machines
 * (Chandy and Misra 1979, Bryant 1977: null messages, here a word in shared memory). A
 * machine goes to an instant only when all others have promised more. What arrives at an
 * instant comes before all timers of that instant, in the order of the cables' numbers, so
 * that nothing depends on which nodes are in which machine.
 *
 * Where all wait, they would raise their promises by turns, a cable's delay each time, until
 * one of them reaches what comes next. So each says what that is for it, and all of them go as
 * far at once.
 *
 * Who must wait looks for some time, then sleeps; a promise wakes those who sleep.
 */
#include <linux/fabriclab_wires.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <net/net_namespace.h>
#include <os.h>
#include <wires_user.h>
#include "wires.h"

/* Some 50 us of the host's time. */
#define WIRES_LOOKS 1000
/* No wait is longer: whoever waits may be asked to read its rings. */
#define WIRES_SLEEP_NS 1000000
/* A promise is told when it has grown by this part of the least delay, or when its machine waits. */
#define WIRES_GRAINS 8

bool wires_are_on;
struct wires wires = { .count = 1 };

static struct wires_line alone;
/* The least promise of the others when they were last looked at. */
static u64 safe = U64_MAX;
static u64 promised;
static int shared_fd = -1;

/* fabriclab.wires=INDEX/COUNT:BEGIN_NS[:DESCRIPTOR:RING_BYTES:LEAST_NS]; the rest for a COUNT above 1 */
static int __init wires_setup(char *text)
{
	int found = sscanf(text, "%u/%u:%llu:%d:%u:%llu", &wires.index, &wires.count, &wires.begin,
			   &shared_fd, &wires.ring_bytes, &wires.least);

	if (found != 3 && found != 6)
		panic("fabriclab.wires=%s: expected INDEX/COUNT:BEGIN[:DESCRIPTOR:RING:LEAST]\n",
		      text);
	if (wires.index >= wires.count || wires.count > WIRES_PARTS_MAX ||
	    (wires.count > 1 && (found != 6 || !wires.least || !is_power_of_2(wires.ring_bytes))))
		panic("fabriclab.wires=%s: no machine can be that\n", text);
	wires_are_on = true;
	wires.lines = &alone;
	return 0;
}
early_param("fabriclab.wires", wires_setup);

static int __init wires_map(void)
{
	size_t ring = WIRES_RING_HEADER_BYTES + wires.ring_bytes;
	void *shared;

	if (!wires_are_on || wires.count == 1)
		return 0;
	shared = os_mmap_rw_shared(shared_fd,
				   WIRES_RINGS_AT + wires.count * wires.count * ring);
	if (!shared)
		panic("fabriclab.wires: can't map descriptor %d\n", shared_fd);
	wires.lines = shared;
	wires.rings = shared + WIRES_RINGS_AT;
	promised = wires.lines[wires.index].promise;
	safe = 0;
	return 0;
}
early_initcall(wires_map);

u64 wires_begin(void)
{
	return wires.begin;
}

/* -- Promises ------------------------------------------------------------------------ */

/* Whoever sleeps until this machine promises more looks again. */
void wires_wake(void)
{
	struct wires_line *own = &wires.lines[wires.index];

	WRITE_ONCE(own->version, own->version + 1);
	os_wires_wake(&own->version);
}

void wires_publish(u64 promise)
{
	struct wires_line *own = &wires.lines[wires.index];

	if (promise <= promised)
		return;
	promised = promise;
	barrier();
	WRITE_ONCE(own->promise, promise);
	wires_fence();
	if (unlikely(READ_ONCE(own->sleepers)))
		wires_wake();
}

/* This machine is at `instant` now, and sends nothing earlier. */
static void commit(u64 instant)
{
	if (wires.count > 1 &&
	    instant + wires.least >= promised + wires.least / WIRES_GRAINS)
		wires_publish(instant + wires.least);
}

/* Whose promise is the least. */
static unsigned int slowest(u64 *promise)
{
	unsigned int part, found = wires.index;

	*promise = U64_MAX;
	for (part = 0; part < wires.count; part++) {
		u64 one = READ_ONCE(wires.lines[part].promise);

		if (part != wires.index && one < *promise) {
			*promise = one;
			found = part;
		}
	}
	return found;
}

struct said {
	u64 next;	/* the first thing that comes next in any machine */
	u64 times;	/* the sum of all that comes next, */
	u64 frames;	/* and of all that was sent or taken */
};

/* What all machines say once; false: one does not wait, or a frame is between two. */
static bool ask_all(struct said *said)
{
	u64 between = 0;
	unsigned int part;

	*said = (struct said){ .next = U64_MAX };
	for (part = 0; part < wires.count; part++) {
		struct wires_line *line = &wires.lines[part];
		u64 idle = READ_ONCE(line->idle), sent = READ_ONCE(line->sent);
		u64 took = READ_ONCE(line->took);

		if (!idle)
			return false;
		between += sent - took;
		said->next = min(said->next, idle);
		said->times += idle;
		said->frames += sent + took;
	}
	return !between;
}

/*
 * Whether all machines wait and no frame is between two: then no frame is sent before `next`.
 * Frames only grow, and times do where no frame is taken. So who says the same twice says what
 * was so in between, all at one moment (a double collect: Afek and others 1993; global virtual
 * time: Mattern 1993).
 */
static bool all_wait(u64 *next)
{
	struct said said, again;

	if (!ask_all(&said))
		return false;
	barrier();
	*next = said.next;
	return ask_all(&again) && said.times == again.times && said.frames == again.frames;
}

/* What has been taken is counted when it is among what comes next. */
static void say_idle(u64 next)
{
	struct wires_line *own = &wires.lines[wires.index];

	WRITE_ONCE(own->idle, next);
	barrier();
	WRITE_ONCE(own->took, wires.took);
}

static void sleep_until_more(unsigned int part, u64 promise)
{
	struct wires_line *other = &wires.lines[part];
	u32 version = READ_ONCE(other->version);

	__atomic_fetch_add(&other->sleepers, 1, __ATOMIC_SEQ_CST);
	if (READ_ONCE(other->promise) == promise)
		os_wires_sleep(&other->version, version, WIRES_SLEEP_NS);
	__atomic_fetch_sub(&other->sleepers, 1, __ATOMIC_SEQ_CST);
}

/* Until no frame can arrive that would come before what is next: a frame, or `next`. */
static void wait_for_promises(u64 next)
{
	unsigned int looks = 0;
	u64 since = 0;

	for (;;) {
		u64 promise, target, first;
		unsigned int part = slowest(&promise);

		safe = promise;
		/* What was promised is in the rings: they are read after the promises. */
		barrier();
		wires_drain();
		target = min(next, wire_next_arrival());
		if (target < safe)
			break;
		say_idle(target);
		if (all_wait(&first))
			safe = max(safe, first + wires.least);
		if (target < safe)
			break;
		wires_publish(min(target, safe) + wires.least);
		if (!looks)
			since = os_nsecs();
		if (++looks % WIRES_LOOKS)
			wires_pause();
		else
			sleep_until_more(part, promise);
	}
	WRITE_ONCE(wires.lines[wires.index].idle, 0);
	if (looks) {
		wires.waits++;
		wires.waited_ns += os_nsecs() - since;
	}
}

bool wires_gate(unsigned long long *now, unsigned long long next)
{
	u64 arrival;

	if (!wires_are_on)
		return false;
	if (min(next, wire_next_arrival()) >= safe)
		wait_for_promises(next);
	arrival = wire_next_arrival();
	if (arrival > next) {
		commit(next);
		return false;
	}
	if (arrival < *now)
		panic("fabriclab.wires: a frame arrives at %llu, and it is %llu\n", arrival, *now);
	*now = arrival;
	commit(arrival);
	wire_deliver(arrival);
	return true;
}

/* -- Randomness ---------------------------------------------------------------------- */

/* SplitMix64 (Steele, Lea, Flood 2014). */
static u64 next_of(u64 *stream)
{
	u64 z = (*stream += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static void fill(u64 *stream, void *buffer, size_t length)
{
	while (length) {
		u64 word = next_of(stream);
		size_t n = min(length, sizeof(word));

		memcpy(buffer, &word, n);
		buffer += n;
		length -= n;
	}
}

/* One of the kernel's workers does something for a node. */
void wires_work_for(struct net *network)
{
	current->thread.works_for = network;
}

/*
 * The node for which something is done now, as far as that is known: a program's own, the
 * one that a worker works for, the one that receives a frame, or whose TCP times out. Other
 * timers draw from what the whole machine has.
 */
static struct net *node_network(void)
{
	struct net *network = wire_receiving();

	if (in_task() && current->thread.works_for)
		network = current->thread.works_for;
	else if (in_task() && current->nsproxy)
		network = current->nsproxy->net_ns;
	return network && network->wire_stream ? network : NULL;
}

bool wires_draws(void)
{
	return wires_are_on && node_network();
}

bool wires_draw(void *key, size_t length)
{
	struct net *network = wires_are_on ? node_network() : NULL;

	if (!network)
		return false;
	fill(&network->wire_stream, key, length);
	return true;
}

/* All machines of a lab have the same. */
static u64 seed;

static int __init seed_setup(char *text)
{
	return kstrtoull(text, 10, &seed);
}
early_param("fabriclab.seed", seed_setup);

u64 wires_seed(void)
{
	return seed;
}

/*
 * What the kernel draws once, for all (DO_ONCE): who comes first is not the same in all
 * machines. So each secret is the beginning of the same stream. Nothing here is secret; and
 * nothing tells one variable from another but its address, which is another one in each
 * kernel that was built.
 */
bool wires_secret(void *secret, size_t length)
{
	u64 stream = seed;

	if (!wires_are_on || !draws_once())
		return false;
	fill(&stream, secret, length);
	return true;
}
