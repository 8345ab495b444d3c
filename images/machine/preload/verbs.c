// SPDX-License-Identifier: Apache-2.0
/*
 * Programs that poll a completion queue (ibv_poll_cq(3)) without sleeping.
 *
 * In the machine work takes no time, and a look at memory is none of the kernel's
 * business: a program that looks until something has come would stop the clock,
 * and nothing would ever come. So a look at an empty queue takes time here, as it
 * does on a processor: the shortest nap at first, and from then on a hundredth of
 * what the looks before it took. What came is so found at most a hundredth later
 * than by a program that never sleeps. A nap is a system call, and its length
 * follows from the looks alone: the same in each run, in a replay, and while
 * somebody looks on. So does a look at descriptors that asks not to wait, and
 * sched_yield(2), as a progress loop of MPI makes them between looks at its queues;
 * and a reading of the time by a program that does nothing else: perftest finds the
 * rate of the processor's counter by reading both clocks for 200 ms, a million times.
 *
 * Loaded into all programs of a host with `rdma: on` (/etc/ld.so.preload). The
 * structures are rdma-core's public ones (libibverbs/verbs.h), whose places
 * programs are compiled with.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* About what a look takes. */
#define SHORTEST_NS	250
#define LONGEST_NS	10000
#define PARTS		100
/* So many readings in a row cost nothing: no program that works makes them. */
#define FREE_READINGS	1000

typedef int poll_call(void *queue, int entries, void *completions);

/* struct ibv_context up to the call, and the number of calls in ibv_context_ops before it. */
#define CALLS_BEFORE_POLL	11
struct context {
	void *device;
	void *calls_before[CALLS_BEFORE_POLL];
	poll_call *poll;
};


/* Of all that are open: devices of one driver have one call. */
static poll_call *driver_poll;
/* What the looks took since something came. */
static __thread long waited_ns;
static __thread long readings;

static void nap(void)
{
	long length = waited_ns / PARTS;
	struct timespec time = { 0 };

	if (length < SHORTEST_NS)
		length = SHORTEST_NS;
	if (length > LONGEST_NS)
		length = LONGEST_NS;
	time.tv_nsec = length;
	/* A signal ends it, as it ends nothing for a program that looks again and again. */
	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
	waited_ns += length;
}

/* What a look found, or an error: both end a wait. */
static int looked(int found)
{
	if (found)
		waited_ns = readings = 0;
	else
		nap();
	return found;
}

static int poll_or_nap(void *queue, int entries, void *completions)
{
	return looked(driver_poll(queue, entries, completions));
}

int epoll_wait(int epoll, struct epoll_event *events, int count, int timeout)
{
	int found = syscall(SYS_epoll_wait, epoll, events, count, timeout);

	return timeout == 0 ? looked(found) : found;
}

int poll(struct pollfd *descriptors, nfds_t count, int timeout)
{
	int found = syscall(SYS_poll, descriptors, count, timeout);

	return timeout == 0 ? looked(found) : found;
}

int sched_yield(void)
{
	nap();
	return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	if (++readings > FREE_READINGS)
		nap();
	clock_gettime(CLOCK_REALTIME, &now);
	time->tv_sec = now.tv_sec;
	time->tv_usec = now.tv_nsec / 1000;
	return 0;
}

/* UCX loads the library for a module of its own, where RTLD_NEXT does not find it. */
static struct context *open_device(void *device)
{
	static struct context *(*real)(void *device);
	void *library;

	if (!real) {
		library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_NOLOAD);
		real = library ? dlsym(library, "ibv_open_device") : NULL;
	}
	return real ? real(device) : NULL;
}

struct context *ibv_open_device(void *device)
{
	struct context *context = open_device(device);

	if (!context || context->poll == poll_or_nap)
		return context;
	if (!driver_poll || driver_poll == context->poll) {
		driver_poll = context->poll;
		context->poll = poll_or_nap;
	}
	return context;
}
