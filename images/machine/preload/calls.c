// SPDX-License-Identifier: Apache-2.0
/*
 * The calls of a program's that costs.c and dscp.c want to know of. Each does
 * what the C library's does, by the kernel's call, and tells them.
 *
 * Loaded before the C library (LD_PRELOAD).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "program.h"

static int opened(int directory, const char *path, int flags, mode_t mode)
{
	int fd = syscall(SYS_openat, directory, path, flags, mode);
	int error = errno;

	costs_opened(fd, path);
	errno = error;
	return fd;
}

/* open(2): the mode is there where a file may be made. */
static mode_t mode_of(int flags, va_list arguments)
{
	return __OPEN_NEEDS_MODE(flags) ? va_arg(arguments, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = mode_of(flags, arguments);
	va_end(arguments);
	return opened(AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = mode_of(flags, arguments);
	va_end(arguments);
	return opened(directory, path, flags, mode);
}

/* The C library's names for programs whose files may be large are the same on 64 bits. */
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int openat64(int directory, const char *path, int flags, ...) __attribute__((alias("openat")));

int close(int fd)
{
	costs_closed(fd);
	return syscall(SYS_close, fd);
}

int socket(int domain, int type, int protocol)
{
	int fd = syscall(SYS_socket, domain, type, protocol);
	int error = errno;

	dscp_socket(fd, domain);
	errno = error;
	return fd;
}

int connect(int fd, const struct sockaddr *address, socklen_t length)
{
	/* The port of both families is at one place. */
	if (length >= sizeof(struct sockaddr_in) &&
	    (address->sa_family == AF_INET || address->sa_family == AF_INET6))
		costs_connected(fd, ntohs(((const struct sockaddr_in *)address)->sin_port));
	return syscall(SYS_connect, fd, address, length);
}

static ssize_t has_read(int fd, ssize_t bytes)
{
	int error = errno;

	costs_read(fd, bytes);
	errno = error;
	return bytes;
}

static ssize_t has_written(int fd, ssize_t bytes)
{
	int error = errno;

	costs_wrote(fd, bytes);
	errno = error;
	return bytes;
}

ssize_t read(int fd, void *buffer, size_t count)
{
	return has_read(fd, syscall(SYS_read, fd, buffer, count));
}

ssize_t readv(int fd, const struct iovec *parts, int count)
{
	return has_read(fd, syscall(SYS_readv, fd, parts, count));
}

ssize_t pread64(int fd, void *buffer, size_t count, off64_t offset)
{
	return has_read(fd, syscall(SYS_pread64, fd, buffer, count, offset));
}

ssize_t recv(int fd, void *buffer, size_t count, int flags)
{
	return has_read(fd, syscall(SYS_recvfrom, fd, buffer, count, flags, NULL, NULL));
}

ssize_t write(int fd, const void *buffer, size_t count)
{
	return has_written(fd, syscall(SYS_write, fd, buffer, count));
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
	return has_written(fd, syscall(SYS_writev, fd, parts, count));
}

ssize_t pwrite64(int fd, const void *buffer, size_t count, off64_t offset)
{
	return has_written(fd, syscall(SYS_pwrite64, fd, buffer, count, offset));
}

ssize_t send(int fd, const void *buffer, size_t count, int flags)
{
	return has_written(fd, syscall(SYS_sendto, fd, buffer, count, flags, NULL, 0));
}

ssize_t sendfile64(int to, int from, off64_t *offset, size_t count)
{
	ssize_t bytes = syscall(SYS_sendfile, to, from, offset, count);

	has_read(from, bytes);
	return has_written(to, bytes);
}
