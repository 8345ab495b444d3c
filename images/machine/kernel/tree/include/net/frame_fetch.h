/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A frame that has waited in a queue or on a line has left the processor's caches, where
 * a fabric is large: others have passed meanwhile. Who takes it up fetches all of it that
 * forwarding reads, side by side, in place of one line after the other.
 */
#ifndef _FRAME_FETCH_H
#define _FRAME_FETCH_H

#include <linux/prefetch.h>
#include <linux/skbuff.h>

static inline void frame_fetch(const struct sk_buff *skb)
{
	prefetch((const char *)skb + L1_CACHE_BYTES);
	prefetch((const char *)skb + 2 * L1_CACHE_BYTES);
	prefetch(skb_shinfo(skb));
	prefetch(skb->data);
}

#endif
