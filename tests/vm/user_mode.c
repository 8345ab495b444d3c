// SPDX-License-Identifier: GPL-2.0
/*
 * What a program sees of its own faults, signals and registers, and of the clock, one
 * line each: the same however the machine runs programs.
 */
#include <emmintrin.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE 4096
#define ROUNDS 500
#define STACK_SIZE 65536

static sigjmp_buf back;
static volatile char *volatile place;
static volatile int zero, one = 1;

/* The signal, and of a page fault where it was and what was tried. */
static void tell(int signal, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	printf(" signal %d code %d", signal, info->si_code);
	if (signal == SIGSEGV)
		printf(" trap %lld", (long long)registers[REG_TRAPNO]);
	if (signal == SIGSEGV && registers[REG_TRAPNO] == 14)
		printf(" at %p error %llx", info->si_addr, (long long)registers[REG_ERR]);
	siglongjmp(back, 1);
}

static void reads(void)
{
	(void)*place;
}

static void writes(void)
{
	*place = 1;
}

static void jumps(void)
{
	((void (*)(void))place)();
}

static void divides(void)
{
	zero = one / zero;
}

static void is_undefined(void)
{
	asm volatile("ud2");
}

static void is_privileged(void)
{
	asm volatile("hlt");
}

static void breaks(void)
{
	asm volatile("int3");
}

static void try(const char *what, void (*how)(void), void *where)
{
	place = where;
	printf("%s:", what);
	if (sigsetjmp(back, 1) == 0) {
		how();
		printf(" nothing");
	}
	printf("\n");
}

static void faults(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, 0 };
	struct sigaction action = { .sa_sigaction = tell, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	stack_t stack = { .ss_sp = malloc(STACK_SIZE), .ss_size = STACK_SIZE };
	char *page = mmap((void *)0x200000000, 2 * PAGE, PROT_READ,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	char *file = mmap((void *)0x300000000, PAGE, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_FIXED, fileno(tmpfile()), 0);

	sigaltstack(&stack, NULL);
	for (const int *signal = signals; *signal; signal++)
		sigaction(*signal, &action, NULL);

	try("null is read", reads, NULL);
	try("null is written", writes, (void *)8);
	try("null is jumped to", jumps, NULL);
	try("the kernel is read", reads, (void *)0xffffffff81000000);
	try("no address is read", reads, (void *)(1UL << 63));
	try("what may be read only is written", writes, page + 5);
	try("it is read", reads, page);
	try("it is written again", writes, page + 6);
	mprotect(page, 2 * PAGE, PROT_NONE);
	try("what may not be read is read", reads, page + 1);
	mprotect(page, 2 * PAGE, PROT_READ | PROT_WRITE);
	try("it may be written", writes, page + 1);
	mprotect(page, 2 * PAGE, PROT_READ);
	try("it may no more", writes, page + 1);
	try("a file is written beyond its end", writes, file);
	try("division by zero", divides, NULL);
	try("an undefined instruction", is_undefined, NULL);
	try("a privileged instruction", is_privileged, NULL);
	try("a breakpoint", breaks, NULL);
}

/* Writes a value to a register that the C library does not touch, calls, and reads it. */
static int keeps(double value, long call, long first, long second)
{
	register __m128d held asm("xmm12") = _mm_set1_pd(value);
	double seen[2];
	long result;

	asm volatile("" : "+x"(held));
	asm volatile("syscall" : "=a"(result)
		     : "0"(call), "D"(first), "S"(second), "x"(held) : "rcx", "r11", "memory");
	asm volatile("" : "+x"(held));
	_mm_storeu_pd(seen, held);
	return seen[0] == value && seen[1] == value;
}

static void *yields(void *number)
{
	long kept = 0;

	for (int i = 0; i < ROUNDS; i++)
		kept += keeps((long)number * ROUNDS + i, 24 /* sched_yield */, 0, 0);
	return (void *)kept;
}

static volatile int handled;

static void spoils(int signal)
{
	(void)signal;
	asm volatile("pxor %%xmm12, %%xmm12" ::: "xmm12");
	handled++;
}

static void registers(void)
{
	pthread_t threads[4];
	long kept = 0, by_handler = 0;
	void *result;

	for (long i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, yields, (void *)(i + 1));
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &result);
		kept += (long)result;
	}
	printf("threads keep their registers: %ld times\n", kept);

	signal(SIGUSR1, spoils);
	for (int i = 0; i < ROUNDS; i++)
		by_handler += keeps(i + 1, 62 /* kill */, getpid(), SIGUSR1);
	printf("handlers give them back: %ld times of %d\n", by_handler, handled);

	_mm_setcsr(_mm_getcsr() | 0x8000);
	fflush(stdout);
	if (fork() == 0) {
		printf("a child inherits them: %x\n", _mm_getcsr() & 0x8000);
		exit(0);
	}
	wait(NULL);
}

/* How another program follows this one: by instructions, by system calls. */
static void traced(void)
{
	struct user_regs_struct seen;
	int status, steps = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		for (zero = 0; zero < 20; zero++)
			;
		getppid();
		_exit(7);
	}
	waitpid(child, &status, 0);
	for (; steps < 60; steps++) {
		ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
		waitpid(child, &status, 0);
		if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
			break;
	}
	printf("single steps: %d\n", steps);
	while (1) {
		ptrace(PTRACE_SYSCALL, child, NULL, NULL);
		waitpid(child, &status, 0);
		if (!WIFSTOPPED(status))
			break;
		ptrace(PTRACE_GETREGS, child, NULL, &seen);
		printf("system call %lld\n", (long long)seen.orig_rax);
	}
	printf("it ended with %d\n", WEXITSTATUS(status));
}

static long read_clock(clockid_t clock, int by_call)
{
	struct timespec now;

	if (by_call)
		syscall(SYS_clock_gettime, clock, &now);
	else
		clock_gettime(clock, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The C library reads the clock without a system call, but that is not to be seen. */
static void time_stands(void)
{
	static const char *const ways[] = { "by the library", "in both ways" };
	struct timeval time;
	long began, now, readings;

	now = read_clock(CLOCK_REALTIME, 0);
	gettimeofday(&time, NULL);
	printf("two clocks agree: %d %d\n", now == read_clock(CLOCK_REALTIME, 1),
	       now / 1000 == time.tv_sec * 1000000 + time.tv_usec);
	for (int way = 0; way < 2; way++) {
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		began = read_clock(CLOCK_MONOTONIC, 0);
		for (readings = 1;; readings++) {
			now = read_clock(CLOCK_MONOTONIC, way && readings % 2);
			if (now != began)
				break;
		}
		printf("read %s, it stands %ld times and moves by %ld ns\n", ways[way], readings, now - began);
	}
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	faults();
	registers();
	traced();
	time_stands();
	return 0;
}
