// SPDX-License-Identifier: GPL-2.0
/*
 * What the tests of the switch port run inside the machine (linked statically).
 *
 *	port-tool add|change DEVICE FILE	RTM_NEWQDISC with FILE as its TCA_OPTIONS
 *	port-tool del DEVICE
 *	port-tool show DEVICE [NS]		the qdisc's and its classes' messages, in hex, one a line; at NS since the epoch
 *	port-tool events NS			congestion events for so long, in hex, one a line
 *	port-tool send ADDRESS PORT DSCP BYTES COUNT INTERVAL_NS START_NS
 *						UDP datagrams of BYTES payload from START, since the epoch, on; INTERVAL 0: all at once
 *	port-tool receive PORT NS		for so long; a line for each datagram: time in ns, bytes, ECN bits, number
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "uapi/switch_port.h"

#define HANDLE 0x10000U

static void die(const char *what)
{
	fprintf(stderr, "port-tool: %s: %s\n", what, strerror(errno));
	exit(1);
}

struct request {
	struct nlmsghdr header;
	struct tcmsg tc;
	char attributes[16384];
};

static void put(struct nlmsghdr *header, int type, const void *data, size_t length)
{
	struct rtattr *attribute = (void *)((char *)header + NLMSG_ALIGN(header->nlmsg_len));

	attribute->rta_type = type;
	attribute->rta_len = RTA_LENGTH(length);
	memcpy(RTA_DATA(attribute), data, length);
	header->nlmsg_len = NLMSG_ALIGN(header->nlmsg_len) + RTA_ALIGN(attribute->rta_len);
}

static int open_netlink(int protocol)
{
	int one = 1, fd = socket(AF_NETLINK, SOCK_RAW, protocol);

	if (fd < 0)
		die("socket");
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	return fd;
}

static struct request new_request(int type, int flags, const char *device)
{
	struct request request = {
		.header = { NLMSG_LENGTH(sizeof(struct tcmsg)), type, NLM_F_REQUEST | flags, 1, 0 },
		.tc = { .tcm_ifindex = if_nametoindex(device), .tcm_parent = TC_H_ROOT, .tcm_handle = HANDLE },
	};

	if (!request.tc.tcm_ifindex)
		die(device);
	return request;
}

/* The kernel's answer to a request; its words and exit code 1 for an error. */
static void acknowledge(int fd)
{
	char answer[16384] = {};
	struct nlmsghdr *header = (void *)answer;
	struct nlmsgerr *error = NLMSG_DATA(header);
	struct rtattr *attribute = (void *)((char *)error + sizeof(*error));

	if (recv(fd, answer, sizeof(answer), 0) < 0)
		die("recv");
	if (!error->error)
		return;
	if (!(header->nlmsg_flags & NLM_F_CAPPED))
		attribute = (void *)((char *)attribute + error->msg.nlmsg_len - sizeof(struct nlmsghdr));
	if (header->nlmsg_flags & NLM_F_ACK_TLVS && attribute->rta_type == NLMSGERR_ATTR_MSG)
		fprintf(stderr, "%s\n", (char *)RTA_DATA(attribute));
	errno = -error->error;
	die("request");
}

static void set_qdisc(const char *device, const char *file, int flags)
{
	struct request request = new_request(RTM_NEWQDISC, NLM_F_ACK | flags, device);
	FILE *stream = fopen(file, "rb");
	char options[12288];
	size_t length;
	int fd = open_netlink(NETLINK_ROUTE);

	if (!stream)
		die(file);
	length = fread(options, 1, sizeof(options), stream);
	put(&request.header, TCA_KIND, "switch_port", sizeof("switch_port"));
	put(&request.header, TCA_OPTIONS | NLA_F_NESTED, options, length);
	if (send(fd, &request, request.header.nlmsg_len, 0) < 0)
		die("send");
	acknowledge(fd);
}

static void delete_qdisc(const char *device)
{
	struct request request = new_request(RTM_DELQDISC, NLM_F_ACK, device);
	int fd = open_netlink(NETLINK_ROUTE);

	if (send(fd, &request, request.header.nlmsg_len, 0) < 0)
		die("send");
	acknowledge(fd);
}

static void print_hex(const void *data, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		printf("%02x", ((const unsigned char *)data)[i]);
	printf("\n");
}

/* Prints the messages of a dump that are about the device. */
static void dump(int type, const char *device)
{
	struct request request = new_request(type, NLM_F_DUMP, device);
	static char answer[65536];
	int fd = open_netlink(NETLINK_ROUTE);

	request.tc.tcm_parent = 0;
	if (send(fd, &request, request.header.nlmsg_len, 0) < 0)
		die("send");
	for (;;) {
		ssize_t length = recv(fd, answer, sizeof(answer), 0);
		struct nlmsghdr *header = (void *)answer;

		for (; NLMSG_OK(header, length); header = NLMSG_NEXT(header, length)) {
			struct tcmsg *tc = NLMSG_DATA(header);

			if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR) {
				close(fd);
				return;
			}
			if (tc->tcm_ifindex == request.tc.tcm_ifindex)
				print_hex(header, header->nlmsg_len);
		}
	}
}

/* The number of the multicast group of congestion events. */
static int events_group(int fd)
{
	struct {
		struct nlmsghdr header;
		struct genlmsghdr generic;
		char attributes[256];
	} request = { .header = { NLMSG_LENGTH(GENL_HDRLEN), GENL_ID_CTRL, NLM_F_REQUEST, 1, 0 },
		      .generic = { .cmd = CTRL_CMD_GETFAMILY, .version = 1 } };
	char answer[4096];
	ssize_t length;
	char *at;

	put(&request.header, CTRL_ATTR_FAMILY_NAME, SWITCH_PORT_GENL_NAME, sizeof(SWITCH_PORT_GENL_NAME));
	if (send(fd, &request, request.header.nlmsg_len, 0) < 0)
		die("send");
	length = recv(fd, answer, sizeof(answer), 0);
	if (length < 0)
		die("recv");
	/* The group's nest holds its number, then its name. */
	at = memmem(answer, length, SWITCH_PORT_GENL_EVENTS, sizeof(SWITCH_PORT_GENL_EVENTS));
	if (!at)
		die("no group " SWITCH_PORT_GENL_EVENTS);
	at = memmem(answer, length, (uint16_t[]){ 8, CTRL_ATTR_MCAST_GRP_ID }, 4);
	return *(uint32_t *)(at + 4);
}

static int64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Waits for input until `end`; false: it is over. */
static int wait_until(int fd, int64_t end)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	int64_t left = end - clock_ns();
	struct timespec timeout = { left / 1000000000, left % 1000000000 };

	return left > 0 && ppoll(&wait, 1, &timeout, NULL) > 0;
}

static void listen_for_events(int64_t duration)
{
	int fd = open_netlink(NETLINK_GENERIC), group = events_group(fd);
	int64_t end = clock_ns() + duration;
	static char message[65536];

	if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)))
		die("join");
	while (wait_until(fd, end)) {
		ssize_t length = recv(fd, message, sizeof(message), 0);

		if (length < 0)
			die("recv");
		print_hex(message, length);
	}
}

static void sleep_until(int64_t when)
{
	struct timespec until = { when / 1000000000, when % 1000000000 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static int64_t epoch(void)
{
	const char *epoch = getenv("FABRICLAB_EPOCH_NS");

	return epoch ? atoll(epoch) : clock_ns();
}

/* A process that ends takes time in the machine, and what is due meanwhile is late. */
static void linger(int64_t since)
{
	sleep_until(since + 250000000);
}

static void show(const char *device, int64_t when)
{
	sleep_until(when);
	dump(RTM_GETQDISC, device);
	dump(RTM_GETTCLASS, device);
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

	memcpy(payload, &sender->sent, sizeof(sender->sent));
	sender->sent++;
	if (sendto(sender->fd, payload, sender->length, 0, (void *)&sender->to, sizeof(sender->to)) < 0 && errno != ENOBUFS)
		die("sendto");
}

static void send_datagrams(char **arguments)
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

static void send_bursts(char **arguments)
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

static void send_pauses(char **arguments)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_ifindex = if_nametoindex(arguments[0]) };
	unsigned char frame[60] = { 0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x88, 0x08, 0x01, 0x01 };
	int fd = socket(AF_PACKET, SOCK_RAW, 0), quanta = atoi(arguments[2]), number, count = atoi(arguments[3]);
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
	struct msghdr message = {
		.msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
	};
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
	printf("%lld %zd %d %d\n", time.tv_sec * 1000000000LL + time.tv_nsec, length, tos & 3, number);
}

static void receive_datagrams(int port, int64_t duration)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), one = 1, room = 1 << 26;
	struct itimerval end = { .it_value = { duration / 1000000000, duration / 1000 % 1000000 } };

	setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &one, sizeof(one));
	if (bind(fd, (void *)&here, sizeof(here)))
		die("bind");
	/* Not a look at the clock while datagrams come: in the machine that takes time, and what is due meanwhile is late. */
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = time_is_over }, NULL);
	setitimer(ITIMER_REAL, &end, NULL);
	while (!is_over)
		print_datagram(fd);
}

int main(int count, char **arguments)
{
	const char *verb = count > 1 ? arguments[1] : "";

	/* Sleep exactly. */
	prctl(PR_SET_TIMERSLACK, 1);
	if (!strcmp(verb, "add") && count == 4)
		set_qdisc(arguments[2], arguments[3], NLM_F_CREATE | NLM_F_REPLACE);
	else if (!strcmp(verb, "change") && count == 4)
		set_qdisc(arguments[2], arguments[3], 0);
	else if (!strcmp(verb, "del") && count == 3)
		delete_qdisc(arguments[2]);
	else if (!strcmp(verb, "show") && (count == 3 || count == 4))
		show(arguments[2], count == 4 ? epoch() + atoll(arguments[3]) : 0);
	else if (!strcmp(verb, "events") && count == 3)
		listen_for_events(atoll(arguments[2]));
	else if (!strcmp(verb, "send") && count == 9)
		send_datagrams(arguments + 2);
	else if (!strcmp(verb, "bursts") && count == 7)
		send_bursts(arguments + 2);
	else if (!strcmp(verb, "pause") && count == 8)
		send_pauses(arguments + 2);
	else if (!strcmp(verb, "receive") && count == 4)
		receive_datagrams(atoi(arguments[2]), atoll(arguments[3]));
	else
		return 2;
	return 0;
}
