/* SPDX-License-Identifier: GPL-2.0 */
/* Waits between machines that share memory, by the host's futexes. */
#ifndef UM_WIRES_USER_H
#define UM_WIRES_USER_H

/* Until somebody wakes who waits at `word`, at most `ns`; at once if it isn't `value`. */
void os_wires_sleep(unsigned int *word, unsigned int value, unsigned long ns);
void os_wires_wake(unsigned int *word);

#endif
