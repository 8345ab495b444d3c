// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that wait in their own memory, without a system call: for what an RDMA
 * device writes there, or for a lock that another thread holds.
 *
 * In inf-cpu mode work takes no time, so such a program would stop the clock, and
 * nothing would ever come. A tick of the host stops it; then it is run by single
 * instructions. If its registers come back to what they were, twice in the same way,
 * and no instruction in between changes anything but by registers (harmless.h), then
 * nothing will ever change but by somebody else: it waits. Now each look takes time:
 * it sleeps, and is run by single instructions once through its loop, again and again,
 * until something has changed. The length of a sleep is that of images/machine/preload/
 * verbs.c: 250 ns at first, then a hundredth of what it has waited for, 10 us at most.
 *
 * When the host ticks is chance, and so is where in its loop a program is then. It is
 * not seen: a loop has one place at which its program sleeps, the least of its states,
 * and until then no time has passed. So runs, replays and runs at which somebody looks
 * are the same to the last bit.
 */
#include <linux/hrtimer.h>
#include <linux/init.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/processor-flags.h>
#include <asm/ptrace.h>
#include <kern_util.h>
#include <live_ticks.h>
#include <memory_polls.h>
#include "harmless.h"

#define SHORTEST_NS	250
#define LONGEST_NS	10000
#define PARTS		100
/* In so many instructions a loop must come back to where it was; those that wait have some ten. */
#define MOST_STEPS	512
/* Who computes is looked at seldom: not in so many ticks, after several looks. */
#define MOST_SKIPPED	64

static const unsigned int compared[] = {
	HOST_IP, HOST_SP, HOST_AX, HOST_BX, HOST_CX, HOST_DX, HOST_SI, HOST_DI, HOST_BP,
	HOST_R8, HOST_R9, HOST_R10, HOST_R11, HOST_R12, HOST_R13, HOST_R14, HOST_R15,
	HOST_EFLAGS, HOST_FS_BASE, HOST_GS_BASE,
};

struct state {
	unsigned long registers[ARRAY_SIZE(compared)];
};

/* A way through a loop, from a state of it back to this. */
struct loop {
	struct state first;
	unsigned int steps;
};

/* No signal has that number. */
#define IS_NO_LOOP	(-1)

static void take(struct state *state, const struct uml_pt_regs *regs)
{
	unsigned long value;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(compared); i++) {
		value = regs->gp[compared[i]];
		/* By which the host runs single instructions. */
		if (compared[i] == HOST_EFLAGS)
			value &= ~(X86_EFLAGS_TF | X86_EFLAGS_RF);
		state->registers[i] = value;
	}
}

static bool is_same(const struct state *a, const struct state *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* 0, IS_NO_LOOP before an instruction that does more than a loop may, or a signal. */
static int step(struct uml_pt_regs *regs, void *siginfo, struct state *state)
{
	unsigned char code[HARMLESS_BYTES];
	unsigned long left = copy_from_user(code, (void __user *)UPT_IP(regs), sizeof(code));
	int sig;

	if (!is_harmless(code, sizeof(code) - left))
		return IS_NO_LOOP;
	sig = run_instruction(regs, siginfo);
	take(state, regs);
	return sig;
}

/* What all states on a way were, in one number. */
static u64 mix(u64 sum, const struct state *state)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(state->registers); i++) {
		sum = (sum ^ state->registers[i]) * 0x9e3779b97f4a7c15ULL;
		sum ^= sum >> 32;
	}
	return sum;
}

/*
 * Goes once through a loop. IS_NO_LOOP: it did not come back to where it began.
 * `least` becomes the least of its states and `sum` a number of all, unless NULL.
 */
static int go_round(struct uml_pt_regs *regs, void *siginfo, const struct loop *loop,
		    struct state *least, u64 *sum)
{
	struct state state;
	unsigned int i;
	int sig;

	for (i = 0; i < loop->steps; i++) {
		sig = step(regs, siginfo, &state);
		if (sig)
			return sig;
		if (sum)
			*sum = mix(*sum, &state);
		if (least && (!i || memcmp(&state, least, sizeof(state)) < 0))
			*least = state;
	}
	return is_same(&state, &loop->first) ? 0 : IS_NO_LOOP;
}

/* Brent's way to find a cycle: a state is kept, and another one after twice as many steps. */
static int find_return(struct uml_pt_regs *regs, void *siginfo, struct loop *loop)
{
	unsigned int limit = 1, i;
	struct state state;
	int sig;

	take(&loop->first, regs);
	loop->steps = 0;
	for (i = 0; i < MOST_STEPS; i++) {
		sig = step(regs, siginfo, &state);
		if (sig)
			return sig;
		loop->steps++;
		if (is_same(&state, &loop->first))
			return 0;
		if (loop->steps == limit) {
			loop->first = state;
			loop->steps = 0;
			limit *= 2;
		}
	}
	return IS_NO_LOOP;
}

/* Finds the loop that a program is in, and brings it to the least state of that. */
static int find_loop(struct uml_pt_regs *regs, void *siginfo, struct loop *loop)
{
	struct state least, state;
	u64 sums[2] = { 0 };
	int sig;

	sig = find_return(regs, siginfo, loop);
	/* Twice in the same way: then what it writes into memory was there already. */
	if (!sig)
		sig = go_round(regs, siginfo, loop, NULL, &sums[0]);
	if (!sig)
		sig = go_round(regs, siginfo, loop, &least, &sums[1]);
	if (sig)
		return sig;
	if (sums[0] != sums[1])
		return IS_NO_LOOP;
	take(&state, regs);
	while (!is_same(&state, &least)) {
		sig = step(regs, siginfo, &state);
		if (sig)
			return sig;
	}
	loop->first = least;
	return 0;
}

static void nap(u64 *waited)
{
	u64 length = clamp_t(u64, *waited / PARTS, SHORTEST_NS, LONGEST_NS);
	ktime_t timeout = ns_to_ktime(length);

	set_current_state(TASK_INTERRUPTIBLE);
	schedule_hrtimeout(&timeout, HRTIMER_MODE_REL);
	*waited += length;
	if (live_watches)
		live_resumed();
	interrupt_end();
}

/* Who was looked at in vain is left alone for a while, for twice as long each time. */
static bool is_left_alone(bool found)
{
	static unsigned int skipped, patience;

	if (found) {
		skipped = patience = 0;
		return false;
	}
	if (skipped < patience) {
		skipped++;
		return true;
	}
	skipped = 0;
	patience = min(2 * patience + 1, MOST_SKIPPED);
	return false;
}

/*
 * Called when a tick has stopped a program that was in user mode all the time since the
 * one before. Returns when it does not wait, or no more: 0, or a signal of its host
 * process that is to be handled.
 */
int look_for_poll(struct uml_pt_regs *regs, void *siginfo)
{
	struct state state;
	struct loop loop;
	u64 waited = 0;
	int sig;

	if (is_left_alone(false))
		return 0;
	sig = find_loop(regs, siginfo, &loop);
	if (!sig)
		os_poll_ticks_often();
	while (!sig) {
		is_left_alone(true);
		nap(&waited);
		/* A signal may have come, and its handler be next. */
		take(&state, regs);
		if (!is_same(&state, &loop.first))
			return 0;
		sig = go_round(regs, siginfo, &loop, NULL, NULL);
	}
	return sig == IS_NO_LOOP ? 0 : sig;
}

static bool asked __initdata;

static int __init polls_setup(char *unused)
{
	asked = true;
	return 0;
}
early_param("fabriclab.polls", polls_setup);

static int __init polls_init(void)
{
	int status;

	if (!asked)
		return 0;
	status = os_poll_ticks();
	polls_are_watched = !status;
	return status;
}
device_initcall(polls_init);
