// SPDX-License-Identifier: Apache-2.0
/*
 * Makes FRR's daemons wait for their timers as they do on stock Linux, without
 * spinning towards them.
 *
 * FRR's event loop (lib/event.c, fd_poll) hands ppoll(2) the time to its next
 * timer in whole milliseconds, rounded down: through the last millisecond it
 * polls with a timeout of zero, over and over. On real hardware that costs a
 * little CPU. In virtual time the clock moves only by what its readers are
 * charged, so each timer costs thousands of system calls; zebra alone has a
 * hundred timers a second. After a few polls in a row that asked not to wait
 * and found nothing, the next one waits a little: a timer is late by at most
 * that, a ready descriptor ends the wait at once.
 *
 * Stock Linux lets ppoll(2) return late, by up to a thousandth of its timeout
 * (fs/select.c, select_estimate_accuracy); the machine's kernel does not, for
 * there whoever has a timer would decide how late. Without any of it two
 * switches whose BGP sessions collide (RFC 4271, section 6.8) try again in the
 * same microsecond, and collide again and again. So each wait is lengthened by
 * a share of that slack, drawn from a generator of the process's own, which its
 * start has seeded (AT_RANDOM): nobody else's numbers or timers move it.
 *
 * Nor are they told of qdiscs. zebra subscribes to what happens to them
 * (RTNLGRP_TC) for traffic control of its own, which nobody here gives it; and
 * the kernel tells its subscribers of a qdisc whenever somebody asks for its
 * statistics (net/sched/sch_api.c, qdisc_get_notify): each sample of a queue
 * would wake zebra. That costs several times the sample, and each wake-up draws
 * a number of its generator: who looks would move its timers.
 *
 * Nor do they try over and over to tell somebody who is not there. zebra has a
 * notification for mgmtd of each interface that changes; where no mgmtd runs,
 * FRR 10.3 tries to send it again every 10 ms, for ever, and writes three lines
 * into its log each time (lib/northbound_notif.c, timer_walk_abort): a hundred
 * wake-ups a second of every switch, more than all that routing itself does. A
 * notification that can't be sent counts as sent. It goes to mgmtd's own
 * subscribers; no route depends on it. Nor do they ask for mgmtd itself four times
 * a second, for ever (lib/mgmt_msg.c, 250 ms): each time that it is not there the
 * next time is twice as far away, up to a minute.
 *
 * Loaded before the C library (LD_PRELOAD).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The loop also polls without waiting while it has events to execute. */
#define EMPTY_POLLS	1
#define PATIENCE_NS	500000
/* Of the kernel's signal set, which is not the C library's. */
#define KERNEL_SIGSET_BYTES	8

#define NS_PER_S	1000000000ULL
/* fs/select.c and include/linux/init_task.h */
#define SLACK_SHARE	1000
#define LEAST_SLACK_NS	50000ULL
#define MOST_SLACK_NS	100000000ULL

static _Thread_local unsigned int empty_polls;

/* The next number of this thread's generator: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
static uint64_t draw(void)
{
	static atomic_uint threads;
	static _Thread_local uint64_t state;
	uint64_t mixed;

	if (!state) {
		memcpy(&state, (const void *)getauxval(AT_RANDOM), sizeof(state));
		state += atomic_fetch_add(&threads, 1);
	}
	state += 0x9e3779b97f4a7c15ULL;
	mixed = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9ULL;
	mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
	return mixed ^ (mixed >> 31);
}

/* How much later than asked a wait ends. */
static uint64_t lateness_ns(uint64_t timeout_ns)
{
	uint64_t slack_ns = timeout_ns / SLACK_SHARE;

	if (slack_ns < LEAST_SLACK_NS)
		slack_ns = LEAST_SLACK_NS;
	else if (slack_ns > MOST_SLACK_NS)
		slack_ns = MOST_SLACK_NS;
	return draw() % slack_ns;
}

static struct timespec as_stock_waits(const struct timespec *timeout)
{
	uint64_t ns = timeout->tv_sec * NS_PER_S + timeout->tv_nsec;

	ns += lateness_ns(ns);
	return (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
	  const sigset_t *mask)
{
	struct timespec wait = { 0, 0 };
	int at_once, found;

	at_once = timeout && !timeout->tv_sec && !timeout->tv_nsec;
	if (at_once && empty_polls >= EMPTY_POLLS)
		wait.tv_nsec = PATIENCE_NS;
	else if (timeout && !at_once)
		wait = as_stock_waits(timeout);
	/* The kernel writes the time that is left into its argument. */
	found = syscall(SYS_ppoll, fds, count, timeout ? &wait : NULL, mask,
			KERNEL_SIGSET_BYTES);
	empty_polls = at_once && !found ? empty_polls + 1 : 0;
	return found;
}

int bind(int fd, const struct sockaddr *address, socklen_t length)
{
	struct sockaddr_nl without_qdiscs;

	if (length == sizeof(without_qdiscs) && address->sa_family == AF_NETLINK) {
		memcpy(&without_qdiscs, address, sizeof(without_qdiscs));
		without_qdiscs.nl_groups &= ~RTMGRP_TC;
		return syscall(SYS_bind, fd, &without_qdiscs, length);
	}
	return syscall(SYS_bind, fd, address, length);
}

/* The next function of that name: FRR's own. */
static void *frrs_own(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

typedef int send_notification(const char *path, const void *tree);

/* Sends by FRR's own function of that name, and does not tell whether that went well. */
static int send_once(const char *name, const char *path, const void *tree)
{
	send_notification *send;

	/* POSIX: what dlsym(3) returns is the function's address. */
	*(void **)&send = frrs_own(name);
	if (send)
		send(path, tree);
	return 0;
}

int mgmt_be_send_ds_replace_notification(const char *path, const void *tree)
{
	return send_once(__func__, path, tree);
}

/* FRR's takes one argument: that there is a second one it does not see. */
int mgmt_be_send_ds_delete_notification(const char *path)
{
	return send_once(__func__, path, NULL);
}

#define FIRST_RETRY_MS	250
#define LAST_RETRY_MS	60000

static _Thread_local long retry_ms = FIRST_RETRY_MS;
static _Thread_local int is_refused;

typedef int connect_to(const char *path, size_t send_bytes, size_t receive_bytes, const char *name);

int mgmt_msg_connect(const char *path, size_t send_bytes, size_t receive_bytes,
		     const char *name)
{
	connect_to *own;
	int fd;

	*(void **)&own = frrs_own(__func__);
	fd = own(path, send_bytes, receive_bytes, name);
	is_refused = fd < 0;
	if (!is_refused)
		retry_ms = FIRST_RETRY_MS;
	return fd;
}

typedef void add_timer(const void *caller, void *loop, void *function, void *argument, long ms,
		       void *event);

/* After a refusal the next timer is that of the next attempt (msg_client_sched_connect). */
void _event_add_timer_msec(const void *caller, void *loop, void *function, void *argument,
			   long ms, void *event)
{
	static add_timer *own;

	if (!own)
		*(void **)&own = frrs_own(__func__);
	if (is_refused) {
		is_refused = 0;
		ms = retry_ms;
		retry_ms = retry_ms * 2 < LAST_RETRY_MS ? retry_ms * 2 : LAST_RETRY_MS;
	}
	own(caller, loop, function, argument, ms, event);
}
