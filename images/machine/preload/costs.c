// SPDX-License-Identifier: Apache-2.0
/*
 * Makes Hadoop's processes wait for disks and processors, which take no virtual
 * time in the machine: each byte that a JVM reads from a disk, writes to it, or
 * receives as a task's input costs what the lab says.
 *
 * What tasks compute is in proportion to bytes. A map computes for what it reads
 * from HDFS, for what it spills, and for spills that it merges; a reducer for
 * what it fetches or finds on its own disk, and for what it writes to HDFS (the
 * phases of Herodotou, Hadoop Performance Models, 2011). Each JVM of a container
 * computes for a while before it does anything.
 *
 * Nothing costs anything before a node's file says so (disk.c): clusters are made
 * and filled before the traffic begins.
 *
 * FABRICLAB_COSTS has the numbers, in the order of `struct costs`, separated by
 * commas. What was charged goes to FABRICLAB_COSTS_LOG/NODE.PROCESS.csv, where a
 * process is a container by its number, or what FABRICLAB_COSTS_NAME calls it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "costs.h"
#include "program.h"

#define BYTES_PER_MB	1000000ULL
#define MOST_FDS	4096
/* attempt_CLUSTER_JOB_DAG_VERTEX_TASK_ATTEMPT_OUTPUT */
#define UNDERSCORES_OF_TEZ	7
#define DATA_PORT	9866
#define SHUFFLE_PORT	13562

enum kind { OTHER, FROM_DISK, TO_DATANODE, TO_SHUFFLE };

struct stream {
	enum kind kind;
	struct file file;
	int is_spill;
};

static struct costs costs;
static enum { NOBODY, DAEMON, TASK, MASTER } role;
static struct stream streams[MOST_FDS];

static void compute_bytes(enum work work, uint64_t ns_per_mb, uint64_t bytes)
{
	compute(work, ns_per_mb * bytes / BYTES_PER_MB, bytes);
}

/* Charges for what was read from a descriptor or written to it. */
static void charge(int fd, int is_read, ssize_t bytes)
{
	struct stream *stream;

	if (!disk_is_on() || bytes <= 0 || fd < 0 || fd >= MOST_FDS)
		return;
	stream = &streams[fd];
	if (stream->kind == FROM_DISK)
		(is_read ? disk_read : disk_write)(&stream->file, fd, bytes);
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
	if (role != NOBODY && !strncmp(path, DISK, strlen(DISK)) && strcmp(path, SHARED) &&
	    !fstat(fd, &status) && S_ISREG(status.st_mode))
		streams[fd] = (struct stream){ FROM_DISK, { status.st_ino, 0 }, is_spill(path) };
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
	char line[8192] = "";
	ssize_t length;
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);

	role = DAEMON;
	length = fd < 0 ? 0 : read(fd, line, sizeof(line) - 1);
	if (fd >= 0)
		close(fd);
	for (ssize_t at = 0; at < length; at += strlen(line + at) + 1) {
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
	/* Shells and what they start compute nothing. */
	if (strcmp(program_invocation_short_name, "java") || !read_costs() || !disk_join(&costs))
		return;
	read_role();
	if (disk_is_on() && role != DAEMON) {
		compute(START, costs.start_ns, 0);
		/* An application master may be killed when its job has ended. */
		write_charges();
	}
}

__attribute__((destructor)) static void finish(void)
{
	if (role != NOBODY)
		write_charges();
}
