// SPDX-License-Identifier: Apache-2.0
/*
 * Makes Hadoop's processes wait for disks and processors, which take no virtual
 * time in the machine: each byte that a JVM reads from a disk, writes to it, or
 * receives as a task's input costs what the lab says.
 *
 * A node has one disk. It serves reads one after the other, and writes in what
 * reads leave it, as Linux's mq-deadline prefers reads. Writes go to the page
 * cache first: a writer waits only while more than a DIRTY_SHARE of that waits
 * for the disk. What was written lately is read from the cache. A file that is
 * opened, and each extent of it, costs a seek, where another file had the disk
 * in between.
 *
 * A container has one processor, whatever its threads do: what they compute is
 * in proportion to bytes. A map computes for what it reads from HDFS, for what it
 * spills, and for spills that it merges; a reducer for what it fetches or finds
 * on its own disk, and for what it writes to HDFS (the phases of Herodotou,
 * Hadoop Performance Models, 2011). Each JVM of a container computes for a while
 * before it does anything.
 *
 * A node's disk and page cache are known to all of its processes by a file that
 * they share. Nothing costs anything before that file says so: clusters are made
 * and filled before the traffic begins.
 *
 * FABRICLAB_COSTS has the numbers, in the order of `struct costs`, separated by
 * commas. What was charged goes to FABRICLAB_COSTS_LOG/NODE.PROCESS.csv, where a
 * process is a container by its number, or what FABRICLAB_COSTS_NAME calls it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "program.h"

#define NS_PER_S	1000000000ULL
#define NS_PER_MS	1000000ULL
#define BYTES_PER_MB	1000000ULL

/* Whose disk is that of the lab: HDFS's blocks, and YARN's local directories. */
#ifndef DISK
#define DISK		"/data/"
#endif
#define SHARED		DISK "costs"
/* A fifth: Linux, vm.dirty_ratio. */
#define DIRTY_SHARE	5
/* Waits that are shorter are made up for with the next one. */
#define LEAST_WAIT_NS	(NS_PER_MS / 2)
#define MOST_FDS	4096
#define MOST_FILES	8192
/* attempt_CLUSTER_JOB_DAG_VERTEX_TASK_ATTEMPT_OUTPUT */
#define UNDERSCORES_OF_TEZ	7
#define LOG_BYTES	8192
#define MOST_TRIES	1000
#define DATA_PORT	9866
#define SHUFFLE_PORT	13562

enum kind { OTHER, FROM_DISK, TO_DATANODE, TO_SHUFFLE };
enum work { READ, WRITE, MAP, SPILL, MERGE, REDUCE, START };

static const char *const work_names[] = {
	"disk-read", "disk-write", "map", "spill", "merge", "reduce", "start",
};

/* What the lab says; 0 costs nothing. */
struct costs {
	uint64_t disk_bytes_per_s, seek_ns, extent_bytes, cache_bytes;
	uint64_t map_ns_per_mb, spill_ns_per_mb, merge_ns_per_mb, reduce_ns_per_mb;
	uint64_t start_ns;
};

struct cached_file {
	uint64_t inode;
	/* How much the node had written when this file was begun. */
	uint64_t begun_bytes;
};

/* Of all processes of a node. The last step before the traffic writes `is_on`. */
struct shared {
	char is_on;
	atomic_char is_locked;
	uint64_t reads_until_ns, writes_until_ns;
	uint64_t written_bytes;
	uint64_t stream;
	struct cached_file files[MOST_FILES];
};

struct stream {
	enum kind kind;
	uint64_t inode;
	uint64_t left_of_extent;
	int is_spill;
};

static struct costs costs;
static struct shared *shared;
static enum { NO_TASK, TASK, MASTER } role;
static struct stream streams[MOST_FDS];
/* Of this process: its processor, and its log. */
static pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t computing_until_ns;
static char log_text[LOG_BYTES];
static size_t log_length;
static int log_fd = -1;
static struct { uint64_t start_ns, end_ns, bytes; } last[START + 1];

static uint64_t now_ns(void)
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

static uint64_t later(uint64_t a, uint64_t b)
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
	snprintf(path, sizeof(path), "%s/%s.%s.csv", directory, node, container ? container : name ? name : "other");
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
	if (log_length > LOG_BYTES - 128)
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

static void compute(enum work work, uint64_t ns, uint64_t bytes)
{
	uint64_t now = now_ns(), start_ns, end_ns;

	if (!ns)
		return;
	pthread_mutex_lock(&own_lock);
	start_ns = later(now, computing_until_ns);
	end_ns = computing_until_ns = start_ns + ns;
	note(work, start_ns, end_ns, bytes);
	pthread_mutex_unlock(&own_lock);
	wait_until(end_ns, now);
}

static void compute_bytes(enum work work, uint64_t ns_per_mb, uint64_t bytes)
{
	compute(work, ns_per_mb * bytes / BYTES_PER_MB, bytes);
}

/*
 * The lock of what a node's processes share. Whoever has it makes no system
 * call, so it is free when another process has its turn, unless the machine's
 * timer came between: then others wait. One that was killed then never gives it
 * back: after MOST_TRIES it is taken.
 */
static void lock_shared(void)
{
	struct timespec wait = { 0, 1000 };
	char is_free = 0;

	for (int tries = 0; tries < MOST_TRIES; tries++) {
		if (atomic_compare_exchange_strong(&shared->is_locked, &is_free, 1))
			return;
		is_free = 0;
		nanosleep(&wait, NULL);
	}
}

static void unlock_shared(void)
{
	atomic_store(&shared->is_locked, 0);
}

static struct cached_file *place_of(uint64_t inode)
{
	return &shared->files[inode % MOST_FILES];
}

static int is_cached(uint64_t inode)
{
	const struct cached_file *file = place_of(inode);

	return file->inode == inode && shared->written_bytes - file->begun_bytes <= costs.cache_bytes;
}

/* How long the disk takes for so much of a file. */
static uint64_t disk_ns(struct stream *stream, uint64_t id, uint64_t bytes)
{
	uint64_t ns = bytes * NS_PER_S / costs.disk_bytes_per_s;

	if (stream->left_of_extent < bytes) {
		stream->left_of_extent = costs.extent_bytes;
		if (shared->stream != id)
			ns += costs.seek_ns;
	}
	stream->left_of_extent -= bytes < stream->left_of_extent ? bytes : stream->left_of_extent;
	shared->stream = id;
	return ns;
}

static void read_disk(struct stream *stream, int fd, uint64_t bytes)
{
	uint64_t now = now_ns(), start_ns = 0, end_ns = 0;

	lock_shared();
	if (!is_cached(stream->inode)) {
		start_ns = later(now, shared->reads_until_ns);
		end_ns = start_ns + disk_ns(stream, (uint64_t)getpid() << 32 | fd, bytes);
		shared->reads_until_ns = end_ns;
		shared->writes_until_ns = later(shared->writes_until_ns, now) + end_ns - start_ns;
	}
	unlock_shared();
	if (!end_ns)
		return;
	pthread_mutex_lock(&own_lock);
	note(READ, start_ns, end_ns, bytes);
	pthread_mutex_unlock(&own_lock);
	wait_until(end_ns, now);
}

static void write_disk(struct stream *stream, int fd, uint64_t bytes)
{
	uint64_t now = now_ns(), dirty_ns, end_ns;

	dirty_ns = costs.cache_bytes / DIRTY_SHARE * NS_PER_S / costs.disk_bytes_per_s;
	lock_shared();
	if (place_of(stream->inode)->inode != stream->inode)
		*place_of(stream->inode) = (struct cached_file){ stream->inode, shared->written_bytes };
	shared->written_bytes += bytes;
	shared->writes_until_ns = later(now, shared->writes_until_ns) + disk_ns(stream, (uint64_t)getpid() << 32 | fd, bytes);
	end_ns = shared->writes_until_ns > dirty_ns ? shared->writes_until_ns - dirty_ns : 0;
	unlock_shared();
	if (end_ns <= now)
		return;
	pthread_mutex_lock(&own_lock);
	note(WRITE, now, end_ns, bytes);
	pthread_mutex_unlock(&own_lock);
	wait_until(end_ns, now);
}

/* Charges for what was read from a descriptor or written to it. */
static void charge(int fd, int is_read, ssize_t bytes)
{
	struct stream *stream;

	if (!shared || !shared->is_on || bytes <= 0 || fd < 0 || fd >= MOST_FDS)
		return;
	stream = &streams[fd];
	if (stream->kind == FROM_DISK && costs.disk_bytes_per_s)
		(is_read ? read_disk : write_disk)(stream, fd, bytes);
	if (role != TASK)
		return;
	if (is_read && stream->kind == TO_DATANODE)
		compute_bytes(MAP, costs.map_ns_per_mb, bytes);
	else if (is_read && (stream->kind == TO_SHUFFLE || stream->is_spill))
		compute_bytes(MERGE, costs.merge_ns_per_mb, bytes);
	else if (!is_read && stream->kind == TO_DATANODE)
		compute_bytes(REDUCE, costs.reduce_ns_per_mb, bytes);
	else if (!is_read && stream->is_spill)
		compute_bytes(SPILL, costs.spill_ns_per_mb, bytes);
}

/*
 * Whether a file is a spill of a map's sorted output: ATTEMPT_spill_N.out of
 * MapReduce (YarnOutputFiles), ATTEMPT_OUTPUT_N/file.out of Tez
 * (TezTaskOutputFiles), whose merged output is ATTEMPT_OUTPUT/file.out. Merging
 * costs what is read for it.
 */
static int is_spill(const char *path)
{
	const char *name = strrchr(path, '/');
	int underscores = 0;

	if (!name)
		return 0;
	if (strcmp(name, "/file.out"))
		return strstr(name, "_spill_") && !strstr(name, "_src_");
	while (name > path && *--name != '/')
		underscores += *name == '_';
	return underscores > UNDERSCORES_OF_TEZ;
}

void costs_opened(int fd, const char *path)
{
	struct stat status;

	if (fd < 0 || fd >= MOST_FDS)
		return;
	streams[fd] = (struct stream){ .kind = OTHER };
	if (shared && !strncmp(path, DISK, strlen(DISK)) && strcmp(path, SHARED) && !fstat(fd, &status) &&
	    S_ISREG(status.st_mode))
		streams[fd] = (struct stream){ FROM_DISK, status.st_ino, 0, is_spill(path) };
}

void costs_connected(int fd, unsigned int port)
{
	if (fd >= 0 && fd < MOST_FDS)
		streams[fd] = (struct stream){
			.kind = port == DATA_PORT ? TO_DATANODE : port == SHUFFLE_PORT ? TO_SHUFFLE : OTHER,
		};
}

void costs_closed(int fd)
{
	if (fd >= 0 && fd < MOST_FDS)
		streams[fd] = (struct stream){ .kind = OTHER };
}

void costs_read(int fd, ssize_t bytes)
{
	charge(fd, 1, bytes);
}

void costs_wrote(int fd, ssize_t bytes)
{
	charge(fd, 0, bytes);
}

static void read_role(void)
{
	char line[8192];
	ssize_t length;
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);

	length = fd < 0 ? 0 : read(fd, line, sizeof(line) - 1);
	if (fd >= 0)
		close(fd);
	for (ssize_t at = 0; at < length; at += strlen(line + at) + 1) {
		line[length] = 0;
		if (strstr(line + at, "YarnChild") || strstr(line + at, "TezChild"))
			role = TASK;
		else if (strstr(line + at, "MRAppMaster") || strstr(line + at, "DAGAppMaster"))
			role = MASTER;
	}
}

static int read_costs(void)
{
	const char *text = getenv("FABRICLAB_COSTS");
	uint64_t *number = (uint64_t *)&costs;
	char *end;

	for (size_t index = 0; text && index < sizeof(costs) / sizeof(*number); index++) {
		number[index] = strtoull(text, &end, 10);
		text = *end ? end + 1 : end;
	}
	return text != NULL;
}

__attribute__((constructor)) static void begin(void)
{
	int fd;

	/* Shells and what they start compute nothing. */
	if (strcmp(program_invocation_short_name, "java") || !read_costs())
		return;
	mkdir(DISK, 0755);
	fd = open(SHARED, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || ftruncate(fd, sizeof(*shared)))
		return;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (shared == MAP_FAILED) {
		shared = NULL;
		return;
	}
	read_role();
	if (shared->is_on && role != NO_TASK) {
		compute(START, costs.start_ns, 0);
		/* An application master may be killed when its job has ended. */
		log_last(START);
		flush_log();
	}
}

__attribute__((destructor)) static void finish(void)
{
	if (!shared)
		return;
	for (enum work work = READ; work <= START; work++)
		log_last(work);
	flush_log();
}
