/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What programs ask of their host's RoCE NIC, by /dev/roce: reliable connections (queue
 * pairs) that write, send and read messages of zeros. The NIC is the switch_port of a device
 * with TCA_SWITCH_PORT_ROCE (switch_port.h); the device is the one by which the peer is
 * reached. Both ends know each other's numbers beforehand.
 *
 * read() gives whole struct roce_completion, as many as there are, and waits for the first;
 * poll() tells of them. What closes the file closes its queue pairs.
 */
#ifndef UAPI_ROCE_H
#define UAPI_ROCE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define ROCE_DEVICE_MINOR 241	/* of character device 10: for local use, beside LIVE_DEVICE_MINOR */
#define ROCE_PAIR_MAX ((1 << 24) - 1)
#define ROCE_MESSAGE_MAX (1ULL << 31)	/* bytes (InfiniBand, 9.7.6) */

enum roce_operation {
	ROCE_WRITE,
	ROCE_SEND,
	ROCE_READ,		/* without selective repeat, of 2^22 packets at most */
};

struct roce_connect {
	__be32 peer;		/* IPv4 */
	__u32 pair;		/* this end's number, 1 to ROCE_PAIR_MAX, of which a NIC has one */
	__u32 peer_pair;
	__u16 source_port;	/* of UDP: switches choose paths by it */
	__u16 reserved;
};

struct roce_post {
	__u64 id;
	__u64 bytes;
	__u32 pair;
	__u32 operation;
};

enum roce_completion_kind {
	ROCE_SENT,		/* a message of this end is acknowledged, or read; id is its own */
	ROCE_RECEIVED,		/* a message of the peer is whole; id counts them from 0 */
	/*
	 * All that a READ of the peer asks for has been sent once; id counts them from 0. No NIC
	 * tells its program so: this is for logs.
	 */
	ROCE_ANSWERED,
};

enum roce_completion_status {
	ROCE_DONE,
	ROCE_RETRIES_EXCEEDED,	/* the pair sends nothing any more */
	ROCE_FLUSHED,		/* behind one that failed, or the NIC is gone */
};

struct roce_completion {
	__u64 time_ns;		/* CLOCK_MONOTONIC */
	__u64 first_ns;		/* when its first packet (of data) left, or came; 0: none has */
	__u64 id;
	__u64 bytes;
	__u32 pair;
	__u16 kind;
	__u16 status;
	/* Of the pair, until then. */
	__u32 sent_again;	/* packets of data, and READ requests, that had been sent before */
	__u32 timeouts;
	__u32 notifications;	/* that it received */
	__u32 marks;		/* packets of data that came with CE */
};

#define ROCE_CONNECT _IOW('r', 1, struct roce_connect)
#define ROCE_POST _IOW('r', 2, struct roce_post)

#endif
