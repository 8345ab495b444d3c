/* SPDX-License-Identifier: Apache-2.0 */
/* What the calls that a program makes (calls.c) tell those who act on them. */
#ifndef FABRICLAB_PROGRAM_H
#define FABRICLAB_PROGRAM_H

#include <sys/types.h>

/* costs.c: disks and processors. `bytes` is what the call returned. */
void costs_opened(int fd, const char *path);
void costs_connected(int fd, unsigned int port);
void costs_closed(int fd);
void costs_read(int fd, ssize_t bytes);
void costs_wrote(int fd, ssize_t bytes);

/* dscp.c: the class of what a program sends. */
void dscp_socket(int fd, int domain);

#endif
