/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What Kbuild calls a file. The compiler does not take headers that it has read before if the command line defines a
 * name that they mention, so it is given these by other names.
 */
#define KBUILD_BASENAME FABRICLAB_BASENAME
#define KBUILD_MODNAME FABRICLAB_MODNAME
#define __KBUILD_MODNAME FABRICLAB_MODTOKEN
#define KBUILD_MODFILE FABRICLAB_MODFILE

/* A file that has its own defines it before it includes anything. */
#ifdef FABRICLAB_PR_FMT
#undef pr_fmt
#endif
