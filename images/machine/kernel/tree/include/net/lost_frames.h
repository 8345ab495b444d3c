/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who frees a frame that has not come to its end counts it here, for the audit of a run
 * (net/core/lost_frames.c).
 */
#ifndef _LOST_FRAMES_H
#define _LOST_FRAMES_H

#include <net/dropreason.h>

struct sk_buff;
struct sock;

void count_lost_frame(const struct sk_buff *skb, enum skb_drop_reason reason,
		      const struct sock *sk);

#endif
