// SPDX-License-Identifier: Apache-2.0
/*
 * What a process was charged: it waits, and a log has it. A container has one
 * processor, whatever its threads do.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "costs.h"

/* Waits that are shorter are made up for with the next one. */
#define LEAST_WAIT_NS	(NS_PER_MS / 2)
#define LOG_BYTES	8192
#define LINE_BYTES	128

static const char *const work_names[] = {
	"disk-read", "disk-write", "map", "spill", "merge", "reduce", "start",
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t computing_until_ns;
static char log_text[LOG_BYTES];
static size_t log_length;
static int log_fd = -1;
static struct { uint64_t start_ns, end_ns, bytes; } last[START + 1];

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void wait_until(uint64_t ns, uint64_t now)
{
	struct timespec until = { ns / NS_PER_S, ns % NS_PER_S };

	if (ns >= now + LEAST_WAIT_NS)
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
			;
}

uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void open_log(void)
{
	static const char head[] = "# fabriclab-costs-1\nwhat,start_ns,end_ns,bytes\n";
	const char *directory = getenv("FABRICLAB_COSTS_LOG");
	const char *container = getenv("CONTAINER_ID"), *name = getenv("FABRICLAB_COSTS_NAME");
	char path[512], node[128] = "";

	if (!directory)
		return;
	gethostname(node, sizeof(node) - 1);
	snprintf(path, sizeof(path), "%s/%s.%s.csv", directory, node,
		 container ? container : name ? name : "other");
	log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	/* A container's JVM is one process, and the file is new. */
	if (log_fd >= 0 && write(log_fd, head, sizeof(head) - 1) < 0)
		log_fd = -1;
}

static void flush_log(void)
{
	if (!log_length)
		return;
	if (log_fd < 0)
		open_log();
	if (log_fd >= 0 && write(log_fd, log_text, log_length) < 0)
		log_fd = -1;
	log_length = 0;
}

static void log_last(enum work work)
{
	if (!last[work].end_ns)
		return;
	if (log_length > LOG_BYTES - LINE_BYTES)
		flush_log();
	log_length += snprintf(log_text + log_length, LOG_BYTES - log_length, "%s,%llu,%llu,%llu\n",
			       work_names[work], (unsigned long long)last[work].start_ns,
			       (unsigned long long)last[work].end_ns, (unsigned long long)last[work].bytes);
	last[work].end_ns = 0;
}

/* Notes a charge; those that follow each other at once are one line. */
static void note(enum work work, uint64_t start_ns, uint64_t end_ns, uint64_t bytes)
{
	if (last[work].end_ns && start_ns > last[work].end_ns + LEAST_WAIT_NS)
		log_last(work);
	if (!last[work].end_ns) {
		last[work].start_ns = start_ns;
		last[work].bytes = 0;
	}
	last[work].end_ns = end_ns;
	last[work].bytes += bytes;
}

/* Makes the process wait until `end_ns`, of which the log says that its work began at `start_ns`. */
void charge_until(enum work work, uint64_t start_ns, uint64_t end_ns, uint64_t bytes, uint64_t now)
{
	pthread_mutex_lock(&lock);
	note(work, start_ns, end_ns, bytes);
	pthread_mutex_unlock(&lock);
	wait_until(end_ns, now);
}

void compute(enum work work, uint64_t ns, uint64_t bytes)
{
	uint64_t now = now_ns(), start_ns, end_ns;

	if (!ns)
		return;
	pthread_mutex_lock(&lock);
	start_ns = later(now, computing_until_ns);
	end_ns = start_ns + ns;
	computing_until_ns = end_ns;
	note(work, start_ns, end_ns, bytes);
	pthread_mutex_unlock(&lock);
	wait_until(end_ns, now);
}

/* Writes what was charged so far. */
void write_charges(void)
{
	pthread_mutex_lock(&lock);
	for (enum work work = READ; work <= START; work++)
		log_last(work);
	flush_log();
	pthread_mutex_unlock(&lock);
}
