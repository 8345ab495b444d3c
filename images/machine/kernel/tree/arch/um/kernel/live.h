/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between the idle loop of a live machine (live.c), its socket (live_socket.c), the
 * device by which PID 1 takes part in it (live_device.c), and what becomes of
 * programs that never sleep (live_busy.c).
 */
#ifndef UM_LIVE_H
#define UM_LIVE_H

#include <linux/atomic.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/fabriclab_live.h>

/* An input that PID 1 has not read yet; none: its length is 0. */
struct live_input {
	u32 length;
	u8 bytes[LIVE_PAYLOAD_MAX];
};

extern struct live_input live_input;
extern wait_queue_head_t live_input_arrived;
/* Whether PID 1 has the device open. */
extern atomic_t live_device_users;

/* live_socket.c */
bool live_is_on(void);
void live_hear(void *data, size_t length);
bool live_wait(u64 until);
void live_tell(enum live_answer kind, u64 a, u64 b);
void live_answer(enum live_answer kind, u64 a, u64 b, const void *bytes, size_t length);
void live_output(const void *bytes, size_t length);

/* live_look.c: an answer to the host, of the instant; what is due until then has happened. */
void live_look(const struct live_header *asked, const void *payload, u64 instant, u64 until);
int live_look_name_node(pid_t pid);

void live_stop(enum live_stop why);
void live_stop_at(u32 condition, u64 value);

/* live_break.c: what is due until then has happened. */
void live_break_set(const struct live_header *asked, const void *payload, u64 until);
void live_break_check(u64 until);

/* live_busy.c has: the machine is no longer idle. */
void live_was_idle(void);
/* And it asks: does time stand still? Has an input been taken? Does the host want something? */
bool live_is_stopped(void);
bool live_is_touched(void);
bool live_is_asked(void);
/* Whether a program may be made to sleep that no recording names. */
bool live_may_nap(bool asked);
u64 live_paced(u64 length);
/* Whether a program must sleep at this place by the recording. */
bool live_recorded_nap(u64 calls, struct live_nap *found);
void live_napped(enum live_answer kind, const struct live_nap *nap);

#endif
