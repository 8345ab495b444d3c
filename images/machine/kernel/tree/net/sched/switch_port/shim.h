/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the algorithms need of their surroundings: the kernel's integer types
 * and 64-bit division, in the kernel and in a test program of the host.
 */
#ifndef SWITCH_SHIM_H
#define SWITCH_SHIM_H

#ifdef __KERNEL__

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/types.h>

#else

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int64_t s64;

#define BIT(n) (1UL << (n))

static inline u64 div64_u64_rem(u64 dividend, u64 divisor, u64 *remainder)
{
	*remainder = dividend % divisor;
	return dividend / divisor;
}

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

static inline u64 mul_u64_u64_div_u64(u64 a, u64 mul, u64 div)
{
	return (u64)((__uint128_t)a * mul / div);
}

static inline u64 mul_u64_u32_shr(u64 a, u32 mul, unsigned int shift)
{
	return (u64)(((__uint128_t)a * mul) >> shift);
}

#endif

#define SWITCH_QUEUES 8		/* IEEE 802.1Q: eight traffic classes */
#define SWITCH_NS_PER_SEC 1000000000ULL

static inline u64 switch_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

static inline u64 switch_min(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* a b / divisor, rounded down, whose product has 128 bits. */
static inline u64 switch_mul_div(u64 a, u64 b, u64 divisor)
{
	return mul_u64_u64_div_u64(a, b, divisor);
}

/* a - b, and 0 where that would be negative. */
static inline u64 switch_excess(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

#endif
