// SPDX-License-Identifier: GPL-2.0
/* Sends and receives TCP segments of no connection: flags as wanted, no state behind them. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#include "port_tool.h"

static int raw_socket(void)
{
	int fd = socket(AF_INET, SOCK_RAW, IPPROTO_TCP), room = 1 << 26;

	if (fd < 0)
		die("socket");
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	return fd;
}

void send_segments(char **arguments)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	unsigned char segment[65536] = {};
	struct tcphdr *header = (void *)segment;
	int fd = raw_socket(), size = atoi(arguments[4]), count = atoi(arguments[5]), number;

	inet_aton(arguments[0], &to.sin_addr);
	header->source = htons(atoi(arguments[1]));
	header->dest = htons(atoi(arguments[2]));
	header->doff = sizeof(*header) / 4;
	header->th_flags = strtol(arguments[3], NULL, 16);
	sleep_until(epoch() + atoll(arguments[6]));
	for (number = 0; number < count; number++) {
		header->seq = htonl(number);
		if (sendto(fd, segment, sizeof(*header) + size, 0, (void *)&to, sizeof(to)) < 0)
			die("sendto");
	}
	/* A process that ends takes time in the machine, and what is due meanwhile is late. */
	sleep_until(epoch() + atoll(arguments[6]) + 250000000);
}

static volatile sig_atomic_t is_over;

static void time_is_over(int number)
{
	(void)number;
	is_over = 1;
}

static void print_segment(int fd, int port)
{
	unsigned char packet[65536];
	char control[256];
	struct iovec vector = { packet, sizeof(packet) };
	struct msghdr message = { .msg_iov = &vector,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	ssize_t length = recvmsg(fd, &message, 0);
	struct tcphdr *header = (void *)(packet + (packet[0] & 15) * 4);
	struct timespec time = {};
	struct cmsghdr *part;

	if (length < 0 || header->dest != htons(port))
		return;
	for (part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part))
		if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SO_TIMESTAMPNS)
			memcpy(&time, CMSG_DATA(part), sizeof(time));
	printf("%lld %zd 0 %u\n", time.tv_sec * 1000000000LL + time.tv_nsec, length,
	       ntohl(header->seq));
}

void receive_segments(int port, int64_t duration)
{
	struct itimerval end = { .it_value = { duration / 1000000000, duration / 1000 % 1000000 } };
	int fd = raw_socket(), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one));
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = time_is_over }, NULL);
	setitimer(ITIMER_REAL, &end, NULL);
	while (!is_over)
		print_segment(fd, port);
}
