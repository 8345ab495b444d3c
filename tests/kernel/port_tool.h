/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of port_tool.c. Errors end the program. */
#ifndef PORT_TOOL_H
#define PORT_TOOL_H

#include <stdint.h>

/* port_tool.c: time, in ns of CLOCK_MONOTONIC. */
void die(const char *what);
int64_t clock_ns(void);
int64_t epoch(void);
void sleep_until(int64_t when);

/* port_netlink.c */
void set_qdisc(const char *device, const char *file, int flags);
void delete_qdisc(const char *device);
void show(const char *device, int64_t when);
void listen_for_events(int64_t duration);

/* port_traffic.c */
void send_datagrams(char **arguments);
void send_bursts(char **arguments);
void send_pauses(char **arguments);
void receive_datagrams(int port, int64_t duration);

/* port_segments.c */
void send_segments(char **arguments);
void receive_segments(int port, int64_t duration);

/* port_roce.c */
void exchange_messages(char **arguments);

#endif
