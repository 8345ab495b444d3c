// SPDX-License-Identifier: GPL-2.0
/*
 * What the tests of the switch port run inside the machine (linked statically).
 *
 *	port-tool add|change DEVICE FILE	RTM_NEWQDISC with FILE as its TCA_OPTIONS
 *	port-tool del DEVICE
 *	port-tool show DEVICE [NS]		the messages of the qdisc and its classes, in hex, a
 *						line each; at NS
 *	port-tool events NS			congestion events for so long, in hex, one a line
 *	port-tool send ADDRESS PORT DSCP BYTES COUNT INTERVAL_NS START_NS
 *						UDP datagrams of BYTES payload from START on;
 *						INTERVAL 0: all at once
 *	port-tool bursts ADDRESS PORT DSCP BYTES FILE
 *						the same, at the times and in the numbers of FILE:
 *						"NS COUNT" a line
 *	port-tool pause DEVICE PRIORITIES QUANTA COUNT INTERVAL_NS START_NS
 *						PFC frames for a bit mask of priorities
 *	port-tool receive PORT NS		for so long; a line for each datagram: time in ns,
 *						bytes, ECN bits, number
 *	port-tool segments ADDRESS FROM TO FLAGS BYTES COUNT START_NS
 *						TCP segments of no connection, all at once: ports,
 *						flags in hex, BYTES of payload
 *	port-tool capture PORT NS		segments to that port, as with receive; their number is
 *						that of their sequence
 *	port-tool roce ADDRESS PAIR PEER_PAIR write|send COUNT BYTES START_NS NS
 *						COUNT messages of BYTES at START by the host's RoCE NIC;
 *						what is done for so long, a line each: time, kind,
 *						status, pair, number, bytes
 *
 * Times are since the epoch, times of arrival CLOCK_REALTIME.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "port_tool.h"

void die(const char *what)
{
	fprintf(stderr, "port-tool: %s: %s\n", what, strerror(errno));
	exit(1);
}

int64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

void sleep_until(int64_t when)
{
	struct timespec until = { when / 1000000000, when % 1000000000 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

int64_t epoch(void)
{
	const char *epoch = getenv("FABRICLAB_EPOCH_NS");

	return epoch ? atoll(epoch) : clock_ns();
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
	else if (!strcmp(verb, "segments") && count == 9)
		send_segments(arguments + 2);
	else if (!strcmp(verb, "capture") && count == 4)
		receive_segments(atoi(arguments[2]), atoll(arguments[3]));
	else if (!strcmp(verb, "roce") && count == 10)
		exchange_messages(arguments + 2);
	else
		return 2;
	return 0;
}
