// SPDX-License-Identifier: GPL-2.0
/*
 * What hostfs may mount: hostfs.allow= on the command line.
 *
 * Whoever is root inside the machine acts as its user outside. The list says
 * which directories they may reach at all, and which they may change. What
 * binds a machine whose kernel was taken over is images/machine/confine.
 */

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>
#include <sys/vfs.h>
#include <init.h>
#include <os.h>
#include "hostfs.h"

#define MAX_ALLOWED 32

static struct {
	char path[PATH_MAX];
	size_t len;
	bool writable;
} allowed[MAX_ALLOWED];

static int allowed_count = -1;	/* no list: everything, as ever */

static void __init bad_entry(const char *entry, const char *why)
{
	os_warn("hostfs.allow: \"%s\": %s\n", entry, why);
	exit(1);
}

static void __init add_entry(const char *entry)
{
	bool writable = strncmp(entry, "rw:", 3) == 0;

	if (!writable && strncmp(entry, "ro:", 3) != 0)
		bad_entry(entry, "expected ro:DIRECTORY or rw:DIRECTORY");
	if (allowed_count == MAX_ALLOWED)
		bad_entry(entry, "more than 32 entries");
	if (realpath(entry + 3, allowed[allowed_count].path) == NULL)
		bad_entry(entry, strerror(errno));

	allowed[allowed_count].len = strlen(allowed[allowed_count].path);
	allowed[allowed_count].writable = writable;
	allowed_count++;
}

static int __init allow_param(char *list, int *add)
{
	char *copy = strdup(list), *rest = copy, *entry;

	if (copy == NULL)
		exit(1);
	if (allowed_count < 0)
		allowed_count = 0;
	while ((entry = strsep(&rest, ",")) != NULL)
		add_entry(entry);
	free(copy);
	return 1;
}

__uml_setup("hostfs.allow=", allow_param,
"hostfs.allow=ro:<dir>,rw:<dir>,...\n"
"    hostfs mounts these directories and what is below them, nothing else,\n"
"    those with ro: only for reading. Of nested entries the innermost counts.\n\n"
);

static bool is_below(const char *path, const char *dir, size_t len)
{
	/* "/" is the one directory whose path ends with a slash */
	return strncmp(path, dir, len) == 0 &&
	       (path[len] == '/' || path[len] == '\0' || len == 1);
}

/*
 * Without a buffer of ours (PATH_MAX) realpath allocates with the library's malloc().
 * Where the kernel is linked dynamically, as it is with KASAN, free() in UML's user
 * code is not the library's, and gave such memory to kfree().
 */
int hostfs_resolve(const char *path, char *resolved)
{
	return realpath(path, resolved) ? 0 : -errno;
}

int hostfs_is_confined(void)
{
	return allowed_count >= 0;
}

int hostfs_paths_overlap(const char *one, const char *other)
{
	return is_below(one, other, strlen(other)) ||
	       is_below(other, one, strlen(one));
}

int hostfs_check_allowed(const char *resolved, int write)
{
	int i, best = -1;

	if (allowed_count < 0)
		return 0;

	for (i = 0; i < allowed_count; i++) {
		if (is_below(resolved, allowed[i].path, allowed[i].len) &&
		    (best < 0 || allowed[i].len >= allowed[best].len))
			best = i;
	}
	if (best < 0)
		return -EACCES;
	return write && !allowed[best].writable ? -EROFS : 0;
}

/*
 * Of all that a file has besides its contents, the host keeps only its size. The
 * rest is true inside, for as long as the inode is remembered.
 */
int hostfs_set_size(const char *file, struct hostfs_iattr *attrs, int fd)
{
	int err = 0, opened = fd;

	if (!(attrs->ia_valid & HOSTFS_ATTR_SIZE))
		return 0;

	if (fd < 0)
		opened = open64(file, O_WRONLY | O_CLOEXEC);
	if (opened < 0 || ftruncate64(opened, attrs->ia_size))
		err = -errno;
	if (fd < 0 && opened >= 0)
		close(opened);
	return err;
}

#define DISK_BLOCK 4096
#define DISK_BLOCKS (1ULL << 28)
#define DISK_FILES (1ULL << 26)

/* How full the host's disk is would decide what a program does (Hadoop's do ask). */
void hostfs_disguise_size(struct statfs64 *disk)
{
	disk->f_bsize = DISK_BLOCK;
	disk->f_blocks = disk->f_bfree = disk->f_bavail = DISK_BLOCKS;
	disk->f_files = disk->f_ffree = DISK_FILES;
	memset(&disk->f_fsid, 0, sizeof(disk->f_fsid));
}
