/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Headers that most files include, read once for all of them: that halves the time of a build. Functions in them that
 * name their file in messages (net/flow_offload.h) name the kernel; nobody here calls them.
 */
#define KBUILD_MODNAME "kernel"
#include <linux/kconfig.h>
#include <linux/compiler_types.h>
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/mm.h>
#include <linux/fs.h>
#include <linux/file.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/pagemap.h>
#include <linux/swap.h>
#include <linux/vmalloc.h>
#include <linux/security.h>
#include <linux/syscalls.h>
#include <linux/compat.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/mm.h>
#include <linux/interrupt.h>
#include <linux/random.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/device.h>
#include <linux/poll.h>
#include <linux/seq_file.h>
#include <linux/proc_fs.h>
#include <linux/kthread.h>
#include <linux/skbuff.h>
#include <linux/netdevice.h>
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>
#include <linux/inetdevice.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <net/tcp.h>
#include <net/udp.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/addrconf.h>
#include <net/ip6_route.h>
#include <net/netlink.h>
#include <net/xfrm.h>
#include <net/pkt_sched.h>
#include <net/pkt_cls.h>
#undef KBUILD_MODNAME
/* Kbuild includes that for each file, and only once. */
#undef __LINUX_COMPILER_VERSION_H
