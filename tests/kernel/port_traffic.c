// SPDX-License-Identifier: GPL-2.0
/* Sends and receives datagrams, sends pauses. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#include "port_tool.h"

/* A process that ends takes time in the machine, and what is due meanwhile is late. */
static void linger(int64_t since)
{
	sleep_until(since + 250000000);
}

struct sender {
	int fd;
	struct sockaddr_in to;
	size_t length;
	int sent;
};

static struct sender new_sender(char **arguments)
{
	struct sender sender = {
		.fd = socket(AF_INET, SOCK_DGRAM, 0),
		.to = { .sin_family = AF_INET, .sin_port = htons(atoi(arguments[1])) },
		.length = atoi(arguments[3]),
	};
	int tos = atoi(arguments[2]) << 2 | 2, room = 1 << 24;

	inet_aton(arguments[0], &sender.to.sin_addr);
	setsockopt(sender.fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
	setsockopt(sender.fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	return sender;
}

static void send_one(struct sender *sender)
{
	char payload[65536] = {};
	ssize_t sent;

	memcpy(payload, &sender->sent, sizeof(sender->sent));
	sender->sent++;
	sent = sendto(sender->fd, payload, sender->length, 0, (void *)&sender->to,
		      sizeof(sender->to));
	if (sent < 0 && errno != ENOBUFS)
		die("sendto");
}

void send_datagrams(char **arguments)
{
	struct sender sender = new_sender(arguments);
	int64_t interval = atoll(arguments[5]), start = epoch() + atoll(arguments[6]);
	int count = atoi(arguments[4]);

	while (sender.sent < count) {
		if (!sender.sent || interval)
			sleep_until(start + sender.sent * interval);
		send_one(&sender);
	}
	linger(start + count * interval);
}

void send_bursts(char **arguments)
{
	struct sender sender = new_sender(arguments);
	FILE *stream = fopen(arguments[4], "r");
	long long start = 0;
	int count;

	if (!stream)
		die(arguments[4]);
	while (fscanf(stream, "%lld %d", &start, &count) == 2) {
		sleep_until(epoch() + start);
		while (count--)
			send_one(&sender);
	}
	linger(epoch() + start);
}

void send_pauses(char **arguments)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET,
				  .sll_ifindex = if_nametoindex(arguments[0]) };
	unsigned char frame[60] = { 0x01, 0x80, 0xc2, 0, 0,    1,    2,	   0,
				    0,	  0,	0,    9, 0x88, 0x08, 0x01, 0x01 };
	int fd = socket(AF_PACKET, SOCK_RAW, 0), quanta = atoi(arguments[2]), number,
	    count = atoi(arguments[3]);
	int64_t interval = atoll(arguments[4]), start = epoch() + atoll(arguments[5]);

	frame[17] = atoi(arguments[1]);
	for (number = 0; number < 8; number++) {
		frame[18 + 2 * number] = quanta >> 8;
		frame[19 + 2 * number] = quanta;
	}
	for (number = 0; number < count; number++) {
		sleep_until(start + number * interval);
		if (sendto(fd, frame, sizeof(frame), 0, (void *)&to, sizeof(to)) < 0)
			die("sendto");
	}
	linger(start + count * interval);
}

static volatile sig_atomic_t is_over;

static void time_is_over(int number)
{
	(void)number;
	is_over = 1;
}

/* Prints a datagram with the time at which the kernel got it. */
static void print_datagram(int fd)
{
	char payload[65536], control[256];
	struct iovec vector = { payload, sizeof(payload) };
	struct msghdr message = { .msg_iov = &vector,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	ssize_t length = recvmsg(fd, &message, 0);
	struct timespec time = {};
	struct cmsghdr *part;
	int tos = 0, number;

	if (length < 0)
		return;
	for (part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
		if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SO_TIMESTAMPNS)
			memcpy(&time, CMSG_DATA(part), sizeof(time));
		if (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_TOS)
			tos = *CMSG_DATA(part);
	}
	memcpy(&number, payload, sizeof(number));
	printf("%lld %zd %d %d\n", time.tv_sec * 1000000000LL + time.tv_nsec, length, tos & 3,
	       number);
}

void receive_datagrams(int port, int64_t duration)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), one = 1, room = 1 << 26;
	struct itimerval end = { .it_value = { duration / 1000000000, duration / 1000 % 1000000 } };

	setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &one, sizeof(one));
	if (bind(fd, (void *)&here, sizeof(here)))
		die("bind");
	/*
	 * Not a look at the clock while datagrams come: in the machine that takes time, and
	 * what is due meanwhile is late.
	 */
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = time_is_over }, NULL);
	setitimer(ITIMER_REAL, &end, NULL);
	while (!is_over)
		print_datagram(fd);
}
