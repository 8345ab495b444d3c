// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that never sleep, in a live machine.
 *
 * Work takes no time in inf-cpu mode, and the machine takes inputs when it is
 * idle. A program that works for ever would stop the clock and keep every input
 * out. Here such a program is made to sleep, as if it had a processor of its own
 * and that were no faster than others: then the machine is idle, its clock goes
 * on, inputs are taken, and other programs have their turn.
 *
 * Who makes very many system calls sleeps after so many: counted, so that it is
 * the same in a replay. Who makes few or none is found by the wall clock's ticks.
 * The place of such a nap in the machine's history is how many events had happened
 * and how often a program had gone on in user mode since the machine was last
 * idle; the host writes it down, and a replay lets the program sleep there again.
 * A program that was interrupted in user mode computes there in a replay, too, for
 * longer than it had, or until it leaves: how far it got is not the same to the
 * instruction, and is not seen unless it shares memory with others or tells.
 *
 * Nothing of it happens before the first input: a lab that nobody touches does what
 * an ordinary run does.
 */
#include <linux/hrtimer.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/utsname.h>
#include <kern_util.h>
#include <live_ticks.h>
#include "live.h"

/*
 * So many system calls and page faults at one instant cost a task nothing: more
 * than starting a program or configuring a node takes (some thousands), and half
 * of TIME_TRAVEL_FREE, so that who is charged here never is there.
 */
#define LIVE_FREE_CALLS		(1 << 16)
/*
 * Then each costs about what it takes of wall time, so that one such program leaves
 * the lab its pace; so many are paid at once.
 */
#define LIVE_CALL_NS		5000
#define LIVE_CALLS_AT_ONCE	10
/* A call of a child, in what is counted for its parents. */
#define LIVE_OF_CHILDREN	(1ULL << 32)

/*
 * For how many ticks a task, or four times as many the machine, may be busy at one
 * instant: while the host has something to say, the same while time is stopped
 * (who sleeps then, does so until it goes on), and while the host has not.
 */
#define LIVE_PATIENCE_ASKED	5
#define LIVE_PATIENCE_STOPPED	10
#define LIVE_PATIENCE		50
/* How long a program then sleeps, as it does again after each tick: half the time. */
#define LIVE_NAP_NS		LIVE_TICK_NS

/* How often the machine was idle: what it does from one such moment to the next is done at one instant. */
static u64 instant;
/* How often a program went on in user mode since then. */
static u64 calls;
/* The ticks that there had been then, and those that were looked at. */
static unsigned int idle_at;
static unsigned int seen;

void live_was_idle(void)
{
	instant++;
	calls = 0;
	idle_at = live_ticks;
	seen = live_ticks;
}

/* The program in user mode: since which tick, and whether a nap ended then. */
static unsigned int entered_at;
static bool resumed;
/* A replay's nap, which it owes after so many ticks there, or when it leaves. */
static struct {
	u64 length;
	u64 ticks;
} owed;

/* What is known of a task: nothing any more if it slept by itself. */
static struct live_task *fresh(struct task_struct *task)
{
	struct live_task *live = &task->thread.live;

	if (live->instant != instant)
		*live = (struct live_task){ .instant = instant };
	return live;
}

/* NULL: what started the task is a node, the machine, or the kernel. */
static struct task_struct *parent_of(struct task_struct *task)
{
	struct task_struct *parent = rcu_dereference(task->real_parent);

	return is_child_reaper(task_pid(parent)) || parent->flags & PF_KTHREAD ? NULL : parent;
}

static void enter(bool from_nap)
{
	calls++;
	live_entries++;
	entered_at = live_ticks;
	resumed = from_nap;
}

/*
 * That is no sleep of its own, nor is it one for those who wait for it; unless a
 * signal ends it: who is to handle that, and to end by it, begins anew.
 */
static void sleep(u64 length)
{
	ktime_t timeout = ns_to_ktime(length);
	u64 began = instant;
	struct task_struct *task;

	set_current_state(TASK_INTERRUPTIBLE);
	if (schedule_hrtimeout(&timeout, HRTIMER_MODE_REL))
		return;
	rcu_read_lock();
	for (task = current; task; task = parent_of(task)) {
		struct live_task *live = &task->thread.live;

		if (live->instant != began)
			continue;
		live->instant = instant;
		live->ticks = 0;
	}
	rcu_read_unlock();
}

static struct live_nap nap_of(u64 length, u64 ticks)
{
	struct live_nap nap = { .calls = calls, .length_ns = length, .ticks = ticks };

	strscpy(nap.program, current->comm);
	strscpy(nap.node, utsname()->nodename);
	return nap;
}

static void nap(u64 length, u64 ticks)
{
	struct live_nap nap = nap_of(length, ticks);

	live_napped(LIVE_NAPPED, &nap);
	fresh(current)->is_known = true;
	sleep(length);
	enter(true);
}

/* Once a second of wall time. */
static void tell_charge(u64 length)
{
	static unsigned int told;

	if (live_ticks - told >= NSEC_PER_SEC / LIVE_TICK_NS) {
		struct live_nap nap = nap_of(length, 0);

		told = live_ticks;
		live_napped(LIVE_CHARGED, &nap);
	}
}

/* A child goes on counting where its parent is, with all that came before it. */
void live_fork(struct task_struct *child)
{
	struct live_task *live = &current->thread.live;

	child->thread.live.instant = live->instant;
	child->thread.live.calls = (u32)live->calls + live->calls / LIVE_OF_CHILDREN;
}

/*
 * Counts a call, and lets who has made too many sleep for as long as they take. It
 * counts for the parents, too, but is not theirs to pay: it is for their next child.
 */
static void charge(void)
{
	struct live_task *live = fresh(current);
	struct task_struct *task = current;

	live->calls++;
	rcu_read_lock();
	while ((task = parent_of(task)) != NULL)
		fresh(task)->calls += LIVE_OF_CHILDREN;
	rcu_read_unlock();
	if ((u32)live->calls < LIVE_FREE_CALLS + LIVE_CALLS_AT_ONCE || !live_is_touched())
		return;
	live->calls += LIVE_FREE_CALLS - (u32)live->calls;
	live->is_known = false;
	tell_charge(LIVE_CALLS_AT_ONCE * LIVE_CALL_NS);
	sleep(LIVE_CALLS_AT_ONCE * LIVE_CALL_NS);
	interrupt_end();
}

/* Does what the recording says of this place. */
static void follow(void)
{
	struct live_nap recorded;

	while (live_recorded_nap(calls, &recorded)) {
		if (recorded.ticks && !resumed) {
			/* Twice: this host may be the slower one, or busy. */
			owed.length = recorded.length_ns;
			owed.ticks = 2 * recorded.ticks;
			return;
		}
		nap(recorded.length_ns, recorded.ticks);
	}
}

static void pay(void)
{
	u64 length = owed.length;

	owed.length = 0;
	nap(length, owed.ticks / 2);
	follow();
}

/* Whether the host has something to say, or PID 1 is kept from what it was told. */
static bool is_asked(void)
{
	return live_is_asked() || task_is_running(init_pid_ns.child_reaper);
}

/* A tick has come since a program last was here: the current one may be the cause. */
static void look(bool interrupted)
{
	struct live_task *live = fresh(current);
	bool asked = is_asked();
	unsigned int patience = LIVE_PATIENCE;

	live->ticks++;
	if (is_global_init(current) || !live_may_nap(asked))
		return;
	if (live->is_known)
		patience = 1;
	else if (asked && live_is_touched())
		patience = live_is_stopped() ? LIVE_PATIENCE_STOPPED : LIVE_PATIENCE_ASKED;
	if (live->ticks < patience && live_ticks - idle_at < 4 * patience)
		return;
	nap(live_paced(LIVE_NAP_NS), interrupted && !resumed ? live_ticks - entered_at : 0);
	interrupt_end();
}

/*
 * Called when a program is about to go on in user mode; `interrupted`: it was there
 * already, and a tick has stopped it.
 */
void live_user_mode(bool interrupted)
{
	if (!interrupted) {
		if (owed.length)
			pay();
		charge();
		enter(false);
		follow();
		interrupt_end();
	} else if (owed.length && live_ticks - entered_at >= owed.ticks) {
		pay();
		interrupt_end();
	}
	if (seen != live_ticks) {
		seen = live_ticks;
		look(interrupted);
	}
}

/* Called when a program makes a system call; signals wait until it has been made. */
void live_system_call(void)
{
	if (owed.length)
		pay();
}

/* Called when a program goes on that has slept because it waits in its memory (memory_polls.c). */
void live_resumed(void)
{
	enter(true);
}
