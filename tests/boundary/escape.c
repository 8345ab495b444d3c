// SPDX-License-Identifier: GPL-2.0
/*
 * Code of a machine's kernel that was taken over: it makes system calls of the host, as the process that the kernel is
 * there, and says of each what came of it. HOST_FILE, HOST_DIRECTORY, HOST_PROCESS are defined before it.
 */
#define AT_CWD		-100
#define IN_SCRATCH	"scratch/logs/"

static long host(long number, long a, long b, long c, long d, long e)
{
	register long r10 asm("r10") = d;
	register long r8 asm("r8") = e;
	register long r9 asm("r9") = 0;
	long result;

	asm volatile("syscall"
		     : "=a"(result)
		     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
		     : "rcx", "r11", "memory");
	return result;
}

#define TRY(what, ...)	pr_warn("escape: %s: %ld\n", what, host(__VA_ARGS__))
#define TEXT(text)	((long)(text))

static void get_out(void)
{
	static char buffer[256];
	static const char * const argv[] = { "/bin/sh", "-c", "echo escaped > " HOST_DIRECTORY "/shell", NULL };
	static const char * const envp[] = { NULL };
	static long address[2] = { 0x0100007f50000002, 0 };	/* AF_INET, port 80, 127.0.0.1 */
	long given = host(2, TEXT("scratch"), 0200000, 0, 0, 0);

	pr_warn("escape: the scratch directory itself: %ld\n", given < 0 ? given : 0);
	/* Files. */
	TRY("read a file", 2, TEXT(HOST_FILE), 0, 0, 0, 0);
	TRY("read /etc/passwd", 257, AT_CWD, TEXT("/etc/passwd"), 0, 0, 0);
	TRY("list a directory", 2, TEXT(HOST_DIRECTORY), 0200000, 0, 0, 0);
	TRY("read it from the scratch directory", 257, given, TEXT("../../../" HOST_FILE), 0, 0, 0);
	TRY("write a file", 2, TEXT(HOST_FILE), 1, 0, 0, 0);
	TRY("write the run's own files", 2, TEXT("scratch/../plan.json"), 1, 0, 0, 0);
	TRY("write an input", 2, TEXT("machine/job.json"), 1, 0, 0, 0);
	TRY("write a tool", 2, TEXT("tools/init"), 1, 0, 0, 0);
	TRY("make a file", 2, TEXT(HOST_DIRECTORY "/made"), 0101, 0644, 0, 0);
	TRY("empty a file", 76, TEXT(HOST_FILE), 0, 0, 0, 0);
	TRY("empty an input", 2, TEXT("machine/job.json"), 01000, 0, 0, 0);
	TRY("see a path", 2, TEXT(HOST_FILE), 010000000, 0, 0, 0);
	TRY("remove a file", 87, TEXT(HOST_FILE), 0, 0, 0, 0);
	TRY("rename a file", 82, TEXT(HOST_FILE), TEXT(IN_SCRATCH "taken"), 0, 0, 0);
	TRY("link a file", 86, TEXT(HOST_FILE), TEXT(IN_SCRATCH "linked"), 0, 0, 0);
	TRY("make a link", 88, TEXT(HOST_FILE), TEXT(IN_SCRATCH "link"), 0, 0, 0);
	TRY("make a pipe", 133, TEXT(IN_SCRATCH "pipe"), 010644, 0, 0, 0);
	TRY("make a setuid file", 2, TEXT(IN_SCRATCH "setuid"), 0102, 04755, 0, 0);
	TRY("change a mode", 90, TEXT(HOST_FILE), 0777, 0, 0, 0);
	TRY("change an owner", 92, TEXT(HOST_FILE), 0, 0, 0, 0);
	TRY("change times", 280, AT_CWD, TEXT(HOST_FILE), 0, 0, 0);
	TRY("set an attribute", 188, TEXT(HOST_FILE), TEXT("user.a"), TEXT("b"), 1, 0);
	TRY("open by handle", 304, AT_CWD, TEXT(buffer), 0, 0, 0);
	TRY("mount", 165, TEXT("none"), TEXT(HOST_DIRECTORY), TEXT("tmpfs"), 0, 0);
	TRY("change the root", 161, TEXT(HOST_DIRECTORY), 0, 0, 0, 0);
	/* Processes. */
	TRY("execute a shell", 59, TEXT(argv[0]), TEXT(argv), TEXT(envp), 0, 0);
	TRY("execute it otherwise", 322, AT_CWD, TEXT(argv[0]), TEXT(argv), TEXT(envp), 0);
	TRY("execute it by descriptor", 322, host(2, TEXT("rootfs/bin/bash"), 0, 0, 0, 0), TEXT(""), TEXT(argv),
	    TEXT(envp), 0x1000);
	TRY("kill a process", 62, HOST_PROCESS, 9, 0, 0, 0);
	TRY("kill a thread", 234, HOST_PROCESS, HOST_PROCESS, 9, 0, 0);
	TRY("queue a signal", 129, HOST_PROCESS, 9, TEXT(buffer), 0, 0);
	TRY("trace a process", 101, 16, HOST_PROCESS, 0, 0, 0);
	TRY("seize a process", 101, 0x4206, HOST_PROCESS, 0, 0, 0);
	TRY("read its memory", 310, HOST_PROCESS, TEXT(buffer), 1, TEXT(buffer), 1);
	TRY("write its memory", 311, HOST_PROCESS, TEXT(buffer), 1, TEXT(buffer), 1);
	TRY("hold a process", 434, HOST_PROCESS, 0, 0, 0, 0);
	TRY("set its limits", 302, HOST_PROCESS, 0, 0, 0, 0);
	TRY("set its processor", 203, HOST_PROCESS, 8, TEXT(buffer), 0, 0);
	TRY("leave the session", 112, 0, 0, 0, 0, 0);
	TRY("leave the group", 109, 0, 0, 0, 0, 0);
	TRY("outlive who started it", 157, 1, 0, 0, 0, 0);
	TRY("own a namespace", 272, 0x10000000, 0, 0, 0, 0);
	TRY("clone into one", 56, 0x10000000, 0, 0, 0, 0);
	/* The network, and the rest of the host. */
	TRY("open a socket", 41, 2, 1, 0, 0, 0);
	TRY("open a raw socket", 41, 2, 3, 1, 0, 0);
	TRY("open a socket of the host's daemons", 41, 1, 1, 0, 0, 0);
	TRY("open one for netlink", 41, 16, 3, 0, 0, 0);
	TRY("open a pair for datagrams", 53, 1, 2, 0, TEXT(buffer), 0);
	TRY("connect what it has", 42, 1, TEXT(address), 16, 0, 0);
	TRY("use io_uring", 425, 1, TEXT(buffer), 0, 0, 0);
	TRY("load a filter", 321, 5, TEXT(buffer), 48, 0, 0);
	TRY("watch the host", 298, TEXT(buffer), 0, -1, -1, 0);
	TRY("take a key", 250, 0, 0, 0, 0, 0);
	TRY("attach memory", 29, 1234, 4096, 01600, 0, 0);
	TRY("type into a terminal", 16, 1, 0x5412, TEXT(buffer), 0, 0);
	TRY("set the clock", 227, 0, TEXT(buffer), 0, 0, 0);
	/* With the other architecture's numbers: openat and execve of 32 bits. */
	TRY("read by x32", 0x40000000 + 2, TEXT(HOST_FILE), 0, 0, 0, 0);
	pr_warn("escape: done\n");
}
