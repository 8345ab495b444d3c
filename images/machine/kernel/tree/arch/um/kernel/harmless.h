/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instructions of x86-64 whose effect repeats if the registers that are compared do:
 * they read memory into such a register, or write such a register, a constant or an
 * address into memory, and nothing else. So none of them changes memory by what was in
 * it (`inc` of a counter, `xchg`, whatever is locked), copies memory to memory, touches
 * a register of floating point or vectors, or asks the processor for time or chance.
 *
 * Source: Intel's manual, volume 2, appendix A (opcode maps). What is not known here is
 * taken to be harmful; programs that wait are small loops of what is.
 */
#ifndef UM_HARMLESS_H
#define UM_HARMLESS_H

#define HARMLESS_BYTES	15	/* the longest instruction */

/* What of an instruction decides: its bytes from the opcode on. */
struct instruction {
	const unsigned char *code;
	unsigned int left;
	bool is_repeated;	/* prefix F3 */
	bool is_sized;		/* prefix 66 */
};

/* ModRM's fields; `reg` may be a part of the opcode. */
static inline bool is_register(const struct instruction *one, unsigned int at)
{
	return one->left > at && one->code[at] >> 6 == 3;
}

static inline int reg_of(const struct instruction *one, unsigned int at)
{
	return one->left > at ? one->code[at] >> 3 & 7 : -1;
}

/* 0F and what follows. */
static inline bool is_harmless_0f(const struct instruction *one)
{
	if (one->left < 2)
		return false;
	switch (one->code[1]) {
	case 0x1e:			/* endbr64 */
		return one->is_repeated && one->left > 2 && one->code[2] == 0xfa;
	case 0x0d: case 0x18: case 0x1f:	/* prefetch, nop */
	case 0x40 ... 0x4f:		/* cmov */
	case 0x80 ... 0x9f:		/* jcc, setcc */
	case 0xa3:			/* bt */
	case 0xaf:			/* imul */
	case 0xb6: case 0xb7: case 0xbe: case 0xbf:	/* movzx, movsx */
	case 0xb8: case 0xbc: case 0xbd:	/* popcnt, bsf, bsr */
	case 0xc8 ... 0xcf:		/* bswap */
		return true;
	case 0xae:			/* lfence, mfence, sfence */
		return !one->is_repeated && !one->is_sized &&
		       is_register(one, 2) && reg_of(one, 2) >= 5;
	case 0xba:			/* bt and its kin, which write */
		return reg_of(one, 2) == 4 || is_register(one, 2);
	case 0xa4: case 0xa5: case 0xab: case 0xac: case 0xad: case 0xb3: case 0xbb:
		return is_register(one, 2);
	default:
		return false;
	}
}

/* add, or, adc, sbb, and, sub, xor, cmp: 00 to 3F. */
static inline bool is_harmless_sum(const struct instruction *one)
{
	unsigned int form = one->code[0] & 7;

	if (form >= 6)
		return false;
	return form >= 2 || one->code[0] >= 0x38 || is_register(one, 1);
}

static inline bool is_harmless_opcode(const struct instruction *one)
{
	switch (one->code[0]) {
	case 0x0f:
		return is_harmless_0f(one);
	case 0x00 ... 0x0e: case 0x10 ... 0x3f:
		return is_harmless_sum(one);
	case 0x50 ... 0x5f:		/* push, pop */
	case 0x63: case 0x68: case 0x69: case 0x6a: case 0x6b:	/* movsxd, push, imul */
	case 0x70 ... 0x7f:		/* jcc */
	case 0x84: case 0x85:		/* test */
	case 0x88 ... 0x8b: case 0x8d:	/* mov, lea */
	case 0x90 ... 0x99:		/* nop, xchg of registers, cwde, cdq */
	case 0xa8: case 0xa9:		/* test */
	case 0xb0 ... 0xbf:		/* mov */
	case 0xc2: case 0xc3: case 0xc9:	/* ret, leave */
	case 0xe0 ... 0xe3: case 0xe8: case 0xe9: case 0xeb:	/* loop, call, jmp */
		return true;
	case 0x80: case 0x81: case 0x83:	/* as 00 to 3F, with a constant */
		return reg_of(one, 1) == 7 || is_register(one, 1);
	case 0xc6: case 0xc7:		/* mov; others begin a transaction */
		return reg_of(one, 1) == 0;
	case 0xf6: case 0xf7:		/* test; not, neg, mul, div */
		return reg_of(one, 1) == 0 || reg_of(one, 1) == 1 || is_register(one, 1);
	case 0xff:			/* call, jmp; inc, dec */
		return reg_of(one, 1) == 2 || reg_of(one, 1) == 4 ||
		       (reg_of(one, 1) < 2 && is_register(one, 1));
	case 0xfe:			/* inc, dec */
	case 0x86: case 0x87: case 0x8f:	/* xchg, pop */
	case 0xc0: case 0xc1: case 0xd0 ... 0xd3:	/* shifts */
		return is_register(one, 1);
	default:
		return false;
	}
}

/* Of `length` bytes at an instruction's place, which may be fewer than it has. */
static inline bool is_harmless(const unsigned char *code, unsigned int length)
{
	struct instruction one = { .code = code, .left = length };

	for (; one.left; one.code++, one.left--) {
		switch (*one.code) {
		case 0xf3:
			one.is_repeated = true;
			continue;
		case 0x66:
			one.is_sized = true;
			continue;
		case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65: case 0x67:
		case 0x40 ... 0x4f:
			continue;
		}
		return is_harmless_opcode(&one);
	}
	return false;
}

#endif
