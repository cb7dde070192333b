/* SPDX-License-Identifier: MIT */
/*
 * Threads that get other priorities, by themselves, by others and by lending, and a log of what they got.
 *
 *     set_priorities ROUNDS [SEED]
 *
 * Each change is one system call. A thread that changes its own gives up its processor behind it; one that others change
 * sleeps meanwhile and runs behind it, and some of its changes are overwritten before it does.
 * Lines, in the order of what was done:
 *     thread TID POLICY NICE PRIORITY             as it began
 *     own TID POLICY NICE PRIORITY FROM_NS TO_NS  it did this, between these moments
 *     other TID POLICY NICE PRIORITY              another did
 *     over TID POLICY NICE PRIORITY               another did, and something else before it ran
 *     lent TID PRIORITY, back TID                 a mutex gave it this real-time priority, and took it back
 * POLICY, NICE and PRIORITY are those that /proc has of the thread then (overwritten ones: that were asked for).
 * Exit status: 0; 77 where real-time priorities are not allowed; 1.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SKIPPED  77
#define THREADS  4
#define RT_LENT  20 /* of the one that lends */
#define RT_COUNT 90
#define FIFTH    5 /* one change in so many is overwritten, one round in so many lends */

enum what {
	RUN,
	SET_NICE,
	SET_POLICY,
	LOCK,
	UNLOCK,
	LOCK_AND_UNLOCK,
	LEAVE
};

struct order {
	enum what what;
	int policy, number;
};

struct worker {
	pthread_t thread;
	pid_t tid;
	int orders[2], answers[2];
	uint64_t from_ns, to_ns;
};

static pthread_mutex_t mutex;
static uint64_t seed = 1;

static unsigned choose(unsigned count)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed % count);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void must(int failed, const char *what)
{
	if (!failed)
		return;
	perror(what);
	exit(errno == EPERM ? SKIPPED : 1);
}

static void set(pid_t tid, const struct order *order)
{
	struct sched_param param = {.sched_priority = order->number};

	if (order->what == SET_NICE)
		must(setpriority(PRIO_PROCESS, (id_t)tid, order->number), "setpriority");
	else
		must(sched_setscheduler(tid, order->policy, &param), "sched_setscheduler");
}

static void *work(void *context)
{
	struct worker *self = context;
	struct order order;

	self->tid = (pid_t)syscall(SYS_gettid);
	for (;;) {
		char done = 1;

		must(write(self->answers[1], &done, 1) != 1, "write");
		must(read(self->orders[0], &order, sizeof(order)) != sizeof(order), "read");
		if (order.what == LEAVE)
			return NULL;
		self->from_ns = now_ns();
		if (order.what == SET_NICE || order.what == SET_POLICY)
			set(0, &order);
		self->to_ns = now_ns();
		if (order.what == LOCK || order.what == LOCK_AND_UNLOCK)
			pthread_mutex_lock(&mutex);
		if (order.what == UNLOCK || order.what == LOCK_AND_UNLOCK)
			pthread_mutex_unlock(&mutex);
		usleep(1);
	}
}

static void wait_answer(struct worker *worker)
{
	char done;

	must(read(worker->answers[0], &done, 1) != 1, "read");
}

static void give(struct worker *worker, struct order order)
{
	must(write(worker->orders[1], &order, sizeof(order)) != sizeof(order), "write");
}

/* What /proc says. Returns the state. */
static char look(pid_t tid, int *ret_policy, int *ret_nice, int *ret_priority)
{
	char path[64], text[1024], state = '?', *at;
	size_t count;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	must(!file, path);
	count = fread(text, 1, sizeof(text) - 1, file);
	(void)fclose(file);
	text[count] = '\0';
	at = strrchr(text, ')');
	state = at[2];
	for (int field = 2; at && field < 41; field++) {
		at = strchr(at + 1, ' ');
		if (field + 1 == 19)
			*ret_nice = atoi(at);
		else if (field + 1 == 40)
			*ret_priority = atoi(at);
		else if (field + 1 == 41)
			*ret_policy = atoi(at);
	}
	return state;
}

static void tell(const char *what, const struct worker *worker)
{
	int policy = 0, nice_value = 0, priority = 0;

	(void)look(worker->tid, &policy, &nice_value, &priority);
	printf("%s %d %d %d %d", what, worker->tid, policy, nice_value, priority);
	if (strcmp(what, "own") == 0)
		printf(" %" PRIu64 " %" PRIu64, worker->from_ns, worker->to_ns);
	putchar('\n');
}

static void wait_asleep(const struct worker *worker)
{
	int ignored;

	while (look(worker->tid, &ignored, &ignored, &ignored) != 'S')
		usleep(100);
}

static struct order choose_order(void)
{
	static const int policies[] = {SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO, SCHED_RR};
	struct order order = {.what = choose(2) ? SET_NICE : SET_POLICY};

	if (order.what == SET_NICE) {
		order.number = (int)choose(40) - 20;
		return order;
	}
	order.policy = policies[choose(5)];
	if (order.policy == SCHED_FIFO || order.policy == SCHED_RR)
		order.number = 1 + (int)choose(RT_COUNT);
	return order;
}

static void change_own(struct worker *worker)
{
	give(worker, choose_order());
	wait_answer(worker);
	tell("own", worker);
}

static void change_other(struct worker *worker)
{
	struct order order = choose_order();

	wait_asleep(worker);
	set(worker->tid, &order);
	if (choose(FIFTH) == 0) {
		tell("over", worker);
		order = choose_order();
		set(worker->tid, &order);
	}
	tell("other", worker);
	give(worker, (struct order){.what = RUN});
	wait_answer(worker);
}

static void make(struct worker *worker, const char *what, struct order order)
{
	give(worker, order);
	wait_answer(worker);
	tell(what, worker);
}

static void lend(struct worker *low, struct worker *high)
{
	make(low, "own", (struct order){.what = SET_POLICY, .policy = SCHED_OTHER});
	make(high, "own",
	     (struct order){.what = SET_POLICY, .policy = SCHED_FIFO, .number = RT_LENT});
	give(low, (struct order){.what = LOCK});
	wait_answer(low);
	wait_asleep(low);
	wait_asleep(high); /* for its orders */
	give(high, (struct order){.what = LOCK_AND_UNLOCK});
	/* It may sleep for an order still: the lender is known by what /proc says of the other. */
	for (;;) {
		char path[64], text[512] = "";
		FILE *file;
		long prio = 0;

		(void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", low->tid);
		file = fopen(path, "r");
		must(!file, path);
		must(!fgets(text, sizeof(text), file), path);
		(void)fclose(file);
		(void)sscanf(strrchr(text, ')') + 2,
			     "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %ld",
			     &prio);
		if (prio == -1 - RT_LENT)
			break;
		usleep(100);
	}
	printf("lent %d %d\n", low->tid, RT_LENT);
	give(low, (struct order){.what = UNLOCK});
	wait_answer(low);
	wait_answer(high);
	printf("back %d\n", low->tid);
}

int main(int argument_count, char **arguments)
{
	static struct worker workers[THREADS];
	pthread_mutexattr_t attributes;
	long rounds = argument_count > 1 ? atol(arguments[1]) : 100;

	if (argument_count > 2)
		seed = strtoull(arguments[2], NULL, 10) | 1;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&mutex, &attributes);
	for (int i = 0; i < THREADS; i++) {
		must(pipe(workers[i].orders) || pipe(workers[i].answers), "pipe");
		must(pthread_create(&workers[i].thread, NULL, work, &workers[i]), "pthread_create");
		wait_answer(&workers[i]);
		tell("thread", &workers[i]);
	}
	for (long i = 0; i < rounds; i++) {
		unsigned one = choose(THREADS);

		if (choose(FIFTH) == 0)
			lend(&workers[one], &workers[(one + 1) % THREADS]);
		else if (choose(2))
			change_own(&workers[one]);
		else
			change_other(&workers[one]);
	}
	for (int i = 0; i < THREADS; i++) {
		give(&workers[i], (struct order){.what = LEAVE});
		pthread_join(workers[i].thread, NULL);
	}
	return 0;
}
