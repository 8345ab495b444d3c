// SPDX-License-Identifier: GPL-2.0
/* Sets, shows and listens to the qdisc switch_port. */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "port_tool.h"
#include "uapi/switch_port.h"

#define HANDLE 0x10000U

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
		.tc = { .tcm_ifindex = if_nametoindex(device),
			.tcm_parent = TC_H_ROOT,
			.tcm_handle = HANDLE },
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
		attribute = (void *)((char *)attribute + error->msg.nlmsg_len -
				     sizeof(struct nlmsghdr));
	if (header->nlmsg_flags & NLM_F_ACK_TLVS && attribute->rta_type == NLMSGERR_ATTR_MSG)
		fprintf(stderr, "%s\n", (char *)RTA_DATA(attribute));
	errno = -error->error;
	die("request");
}

void set_qdisc(const char *device, const char *file, int flags)
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

void delete_qdisc(const char *device)
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

	put(&request.header, CTRL_ATTR_FAMILY_NAME, SWITCH_PORT_GENL_NAME,
	    sizeof(SWITCH_PORT_GENL_NAME));
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

/* Waits for input until `end`; false: it is over. */
static int wait_until(int fd, int64_t end)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	int64_t left = end - clock_ns();
	struct timespec timeout = { left / 1000000000, left % 1000000000 };

	return left > 0 && ppoll(&wait, 1, &timeout, NULL) > 0;
}

void listen_for_events(int64_t duration)
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

void show(const char *device, int64_t when)
{
	sleep_until(when);
	dump(RTM_GETQDISC, device);
	dump(RTM_GETTCLASS, device);
}
