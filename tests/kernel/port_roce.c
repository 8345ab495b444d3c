// SPDX-License-Identifier: GPL-2.0
/* Messages by a host's RoCE NIC. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "port_tool.h"
#include "uapi/roce.h"

static void connect_pair(int fd, char **arguments)
{
	struct roce_connect connect = {
		.pair = atoi(arguments[1]),
		.peer_pair = atoi(arguments[2]),
		.source_port = 49152 + atoi(arguments[1]),
	};

	inet_aton(arguments[0], (struct in_addr *)&connect.peer);
	if (ioctl(fd, ROCE_CONNECT, &connect)) {
		printf("connect: %s\n", strerror(errno));
		exit(0);
	}
}

/* Of the message of a number: "mixed" is READs and WRITEs in turn. */
static int operation_of(const char *word, int number)
{
	if (!strcmp(word, "mixed"))
		return number % 2 ? ROCE_WRITE : ROCE_READ;
	if (!strcmp(word, "send"))
		return ROCE_SEND;
	return strcmp(word, "read") ? ROCE_WRITE : ROCE_READ;
}

static void post_messages(int fd, char **arguments)
{
	struct roce_post post = {
		.pair = atoi(arguments[1]),
		.bytes = atoll(arguments[5]),
	};
	int count = atoi(arguments[4]);

	for (; post.id < (unsigned int)count; post.id++) {
		post.operation = operation_of(arguments[3], post.id);
		if (ioctl(fd, ROCE_POST, &post)) {
			printf("post: %s\n", strerror(errno));
			exit(0);
		}
	}
}

static void print_completions(int fd)
{
	struct roce_completion done[64];
	ssize_t bytes = read(fd, done, sizeof(done));
	size_t i;

	if (bytes < 0)
		die("read");
	for (i = 0; i < bytes / sizeof(done[0]); i++)
		printf("%lld %d %d %d %lld %lld %lld %u %u %u %u\n",
		       (long long)done[i].time_ns - epoch(), done[i].kind, done[i].status,
		       done[i].pair, (long long)done[i].id, (long long)done[i].bytes,
		       done[i].first_ns ? (long long)done[i].first_ns - epoch() : 0,
		       done[i].sent_again, done[i].timeouts, done[i].notifications,
		       done[i].marks);
}

void exchange_messages(char **arguments)
{
	int64_t start = epoch() + atoll(arguments[6]), end = start + atoll(arguments[7]);
	int fd = open("/dev/roce", O_RDWR);
	struct pollfd wanted = { .fd = fd, .events = POLLIN };

	if (fd < 0)
		die("/dev/roce");
	connect_pair(fd, arguments);
	sleep_until(start);
	post_messages(fd, arguments);
	while (clock_ns() < end)
		if (poll(&wanted, 1, (end - clock_ns()) / 1000000 + 1) > 0)
			print_completions(fd);
}
