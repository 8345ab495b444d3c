/* SPDX-License-Identifier: GPL-2.0 */
/* What a cable's end asks of Linux, where Linux 6.12 and newer series say it differently. */
#ifndef WIRE_SERIES_H
#define WIRE_SERIES_H

#include <linux/dim.h>
#include <linux/hrtimer.h>
#include <linux/version.h>
#include <net/gro.h>

static inline void wire_setup_timer(struct hrtimer *timer,
				    enum hrtimer_restart (*function)(struct hrtimer *timer))
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	timer->function = function;
#endif
}

/* Passes on what has been merged. */
static inline void wire_pass_merged(struct napi_struct *napi)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	gro_normal_list(&napi->gro);
#else
	gro_normal_list(napi);
#endif
}

static inline void wire_dim_take(struct dim *dim, const struct dim_sample *sample)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	net_dim(dim, sample);
#else
	net_dim(dim, *sample);
#endif
}

#endif
