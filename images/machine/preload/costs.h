/* SPDX-License-Identifier: Apache-2.0 */
/* What a process of Hadoop's is charged: costs.c decides, disk.c and charges.c know how long and note it. */
#ifndef FABRICLAB_COSTS_H
#define FABRICLAB_COSTS_H

#include <stdint.h>

#define NS_PER_S	1000000000ULL
#define NS_PER_MS	1000000ULL

/* Whose disk is that of the lab: HDFS's blocks, and YARN's local directories. */
#ifndef DISK
#define DISK		"/data/"
#endif
/* What the processes of a node know of its disk. */
#define SHARED		DISK "costs"

enum work { READ, WRITE, MAP, SPILL, MERGE, REDUCE, START };

/* What the lab says; 0 costs nothing. */
struct costs {
	uint64_t disk_bytes_per_s, seek_ns, extent_bytes, cache_bytes;
	uint64_t map_ns_per_mb, spill_ns_per_mb, merge_ns_per_mb, reduce_ns_per_mb;
	uint64_t start_ns;
};

/* A file of the disk that is open. */
struct file {
	uint64_t inode;
	uint64_t left_of_extent;
};

/* charges.c */
uint64_t now_ns(void);
uint64_t later(uint64_t a, uint64_t b);
void charge_until(enum work work, uint64_t start_ns, uint64_t end_ns, uint64_t bytes, uint64_t now);
void compute(enum work work, uint64_t ns, uint64_t bytes);
void write_charges(void);

/* disk.c */
int disk_join(const struct costs *costs);
int disk_is_on(void);
void disk_read(struct file *file, int fd, uint64_t bytes);
void disk_write(struct file *file, int fd, uint64_t bytes);

#endif
