/* SPDX-License-Identifier: MIT */
/*
 * Takes and gives back memory and views of a file, in two threads at once, and in a child; and says what is mapped then.
 *
 *     make_views FILE ROUNDS SEED
 *
 * FILE is written anew. Each moment is a line "at TIME PID", /proc/self/maps of that moment, and a line "done": nothing is
 * mapped or unmapped meanwhile. TIME is CLOCK_MONOTONIC in ns.
 * Exit status: 0; 1 where something failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE    4096
#define PAGES   64 /* of the file, and of what a thread maps at most */
#define PLACES  8  /* of a thread */
#define CALLS   60 /* of a thread in a round */
#define THREADS 2

struct place {
	char *at; /* NULL: nothing */
	size_t pages;
};

struct thread {
	struct place places[PLACES];
	unsigned seed;
	int fd;
};

static void check(int condition, const char *what)
{
	if (condition)
		return;
	perror(what);
	exit(1);
}

static unsigned draw(struct thread *thread, unsigned count)
{
	return (unsigned)rand_r(&thread->seed) % count;
}

static void map_some(struct thread *thread, struct place *place, int kind)
{
	static const int flags[] = {MAP_PRIVATE | MAP_ANONYMOUS, MAP_SHARED | MAP_ANONYMOUS,
				    MAP_PRIVATE, MAP_SHARED};
	size_t first = draw(thread, PAGES / 2);
	int is_file = !(flags[kind] & MAP_ANONYMOUS);

	place->pages = 2 + draw(thread, PAGES / 2 - 2);
	place->at = mmap(NULL, place->pages * PAGE, kind ? PROT_READ : PROT_READ | PROT_WRITE,
			 flags[kind], is_file ? thread->fd : -1,
			 is_file ? (off_t)(first * PAGE) : 0);
	check(place->at != MAP_FAILED, "mmap");
}

static void move(struct thread *thread, struct place *place)
{
	size_t pages = 2 + draw(thread, PAGES / 2 - 2);
	char *at = mremap(place->at, place->pages * PAGE, pages * PAGE, MREMAP_MAYMOVE);

	/* What is of two mappings by now is none that can be moved. */
	if (at == MAP_FAILED)
		return;
	place->at = at;
	place->pages = pages;
}

/* Page @page of a view of the file, over what is there. */
static void replace(struct thread *thread, struct place *place)
{
	size_t page = draw(thread, (unsigned)place->pages);

	check(mmap(place->at + page * PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, thread->fd,
		   (off_t)(page * PAGE)) != MAP_FAILED,
	      "mmap over another");
}

/* Leaves a gap. */
static void unmap_middle(struct thread *thread, struct place *place)
{
	size_t page = draw(thread, (unsigned)place->pages);

	check(!munmap(place->at + page * PAGE, PAGE), "munmap of a part");
	check(!munmap(place->at, place->pages * PAGE), "munmap with a gap");
	place->at = NULL;
}

static void call(struct thread *thread)
{
	struct place *place = &thread->places[draw(thread, PLACES)];

	if (!place->at) {
		map_some(thread, place, (int)draw(thread, 4));
		return;
	}
	switch (draw(thread, 5)) {
	case 0:
		check(!munmap(place->at, place->pages * PAGE), "munmap");
		place->at = NULL;
		break;
	case 1:
		move(thread, place);
		break;
	case 2:
		replace(thread, place);
		break;
	case 3:
		unmap_middle(thread, place);
		break;
	default:
		/* Refused, and nothing changes. */
		check(munmap(place->at + 1, PAGE) < 0 && errno == EINVAL, "munmap of no page");
		break;
	}
}

static void *run(void *context)
{
	struct thread *thread = context;

	for (int i = 0; i < CALLS; i++)
		call(thread);
	return NULL;
}

static void tell(void)
{
	static char text[1 << 20];
	struct timespec now;
	size_t bytes = 0;
	ssize_t more;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	check(fd >= 0, "/proc/self/maps");
	while ((more = read(fd, text + bytes, sizeof(text) - 1 - bytes)) > 0)
		bytes += (size_t)more;
	close(fd);
	text[bytes] = '\0';
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("at %" PRId64 " %d\n%sdone\n",
	       (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec, (int)getpid(), text);
	(void)fflush(stdout);
}

static void use_break(void)
{
	char *at = sbrk(5 * PAGE);

	check(at != (char *)-1, "sbrk"); /* NOLINT(performance-no-int-to-ptr) */
	tell();
	check(!brk(at + PAGE), "brk");
}

static void use_shared_memory(void)
{
	int id = shmget(IPC_PRIVATE, (size_t)3 * PAGE, IPC_CREAT | 0600);
	char *at, *second;

	if (id < 0)
		return;
	at = shmat(id, NULL, 0);
	second = shmat(id, NULL, SHM_RDONLY);
	(void)shmctl(id, IPC_RMID, NULL);
	/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	check(at != (char *)-1 && second != (char *)-1, "shmat");
	tell();
	check(!shmdt(at), "shmdt");
}

/* What a child has of its own after that, its parent has not. */
static void use_child(struct thread *thread)
{
	pid_t child = fork();
	int status;

	check(child >= 0, "fork");
	if (!child) {
		tell();
		for (int i = 0; i < CALLS; i++)
			call(thread);
		tell();
		_exit(0);
	}
	check(waitpid(child, &status, 0) == child && !status, "the child");
}

/* Memory that gets its first rights later, and gives back what it has. */
static void commit(void)
{
	char *at = mmap(NULL, (size_t)16 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(at != MAP_FAILED, "mmap");
	check(!mprotect(at + PAGE, (size_t)2 * PAGE, PROT_READ | PROT_WRITE), "mprotect");
	check(!madvise(at + PAGE, PAGE, MADV_DONTNEED), "madvise");
	printf("committed %d %lx %d\ndecommitted %d %lx %d\n", (int)getpid(),
	       (unsigned long)(at + PAGE), 2, (int)getpid(), (unsigned long)(at + PAGE), 1);
}

int main(int count, char **arguments)
{
	struct thread threads[THREADS] = {0};
	pthread_t ids[THREADS];
	int fd;

	if (count != 4)
		return 1;
	fd = open(arguments[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	check(fd >= 0, arguments[1]);
	check(!ftruncate(fd, (off_t)PAGES * PAGE), "ftruncate");
	tell();
	for (unsigned i = 0; i < THREADS; i++) {
		threads[i].seed = (unsigned)atoi(arguments[3]) + i;
		threads[i].fd = fd;
	}
	for (int round = 0; round < atoi(arguments[2]); round++) {
		for (int i = 0; i < THREADS; i++)
			check(!pthread_create(&ids[i], NULL, run, &threads[i]), "pthread_create");
		for (int i = 0; i < THREADS; i++)
			check(!pthread_join(ids[i], NULL), "pthread_join");
		tell();
	}
	use_break();
	use_shared_memory();
	commit();
	use_child(&threads[0]);
	tell();
	return 0;
}
