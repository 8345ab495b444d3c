// SPDX-License-Identifier: Apache-2.0
/*
 * Gives what a program sends the DSCP that its lab writes: every socket that it
 * makes, and so every connection that such a socket accepts (Linux,
 * sk_clone_lock: of TCP a listening socket's fields are its connections').
 *
 * FABRICLAB_DSCP has the number.
 */
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "program.h"

/* RFC 2474: the DSCP is the upper six bits. The others are ECN's, which the kernel keeps for TCP. */
#define ECN_BITS	2

void dscp_socket(int fd, int domain)
{
	const char *text = getenv("FABRICLAB_DSCP");
	int class;

	if (fd < 0 || !text || (domain != AF_INET && domain != AF_INET6))
		return;
	class = atoi(text) << ECN_BITS;
	/* A socket of IPv6 speaks IPv4 with those whose addresses are such. */
	setsockopt(fd, IPPROTO_IP, IP_TOS, &class, sizeof(class));
	if (domain == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &class, sizeof(class));
}
