// SPDX-License-Identifier: Apache-2.0
/*
 * A node's disk and page cache, which all of its processes share by a file.
 *
 * The disk serves reads one after the other, and writes in what reads leave it,
 * as Linux's mq-deadline prefers reads. Writes go to the page cache first: a
 * writer waits only while more than a share of that waits for the disk. What was
 * written lately is read from the cache. A file that is opened, and each extent
 * of it, costs a seek, where another file had the disk in between.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "costs.h"

/* A fifth of the page cache: Linux, vm.dirty_ratio. */
#define DIRTY_SHARE	5
#define MOST_FILES	8192
#define MOST_TRIES	1000
#define MS_PER_S	1000

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

static const struct costs *costs;
static struct shared *shared;

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

	return file->inode == inode &&
	       shared->written_bytes - file->begun_bytes <= costs->cache_bytes;
}

/* How long the disk takes for so much of a file. */
static uint64_t disk_ns(struct file *file, int fd, uint64_t bytes)
{
	uint64_t id = (uint64_t)getpid() << 32 | fd, ns;

	ns = bytes * NS_PER_S / costs->disk_bytes_per_s;

	if (file->left_of_extent < bytes) {
		file->left_of_extent = costs->extent_bytes;
		if (shared->stream != id)
			ns += costs->seek_ns;
	}
	if (file->left_of_extent > bytes)
		file->left_of_extent -= bytes;
	else
		file->left_of_extent = 0;
	shared->stream = id;
	return ns;
}

/* How long what may wait in the page cache takes the disk. */
static uint64_t dirty_ns(void)
{
	return costs->cache_bytes / DIRTY_SHARE * NS_PER_MS / costs->disk_bytes_per_s * MS_PER_S;
}

void disk_read(struct file *file, int fd, uint64_t bytes)
{
	uint64_t now = now_ns(), start_ns = 0, end_ns = 0;

	if (!costs->disk_bytes_per_s)
		return;
	lock_shared();
	if (!is_cached(file->inode)) {
		start_ns = later(now, shared->reads_until_ns);
		end_ns = start_ns + disk_ns(file, fd, bytes);
		shared->reads_until_ns = end_ns;
		shared->writes_until_ns = later(shared->writes_until_ns, now) + end_ns - start_ns;
	}
	unlock_shared();
	if (end_ns)
		charge_until(READ, start_ns, end_ns, bytes, now);
}

void disk_write(struct file *file, int fd, uint64_t bytes)
{
	struct cached_file *place = place_of(file->inode);
	uint64_t now = now_ns(), until_ns;

	if (!costs->disk_bytes_per_s)
		return;
	lock_shared();
	if (place->inode != file->inode)
		*place = (struct cached_file){ file->inode, shared->written_bytes };
	shared->written_bytes += bytes;
	until_ns = later(now, shared->writes_until_ns) + disk_ns(file, fd, bytes);
	shared->writes_until_ns = until_ns;
	unlock_shared();
	if (until_ns > now + dirty_ns())
		charge_until(WRITE, now, until_ns - dirty_ns(), bytes, now);
}

/* Whether the node's processes are charged: its file says so when the traffic begins. */
int disk_is_on(void)
{
	return shared && shared->is_on;
}

/* Makes the node's disk known to this process; 0 where it can't be. */
int disk_join(const struct costs *own_costs)
{
	int fd;

	costs = own_costs;
	mkdir(DISK, 0755);
	fd = open(SHARED, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || ftruncate(fd, sizeof(*shared)))
		return 0;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (shared == MAP_FAILED)
		shared = NULL;
	return shared != NULL;
}
