/* SPDX-License-Identifier: MIT */
/* The memory of a ring set: made, mapped, refused, retired. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/time.h"
#include "ring/ring_set.h"

static const struct etw_ring_set_config ordinary = {.cpu_count = 3,
						    .buffer_count = 5,
						    .buffer_bytes = 4096,
						    .session_id = 7,
						    .uid = 1000,
						    .clock_type = ETW_CLOCK_QPC,
						    .flags = WIRE_RING_INDEPENDENT};

static const struct etw_ring_set_fds none = {-1, -1};

static struct etw_ring_set_fds make_set(const struct etw_ring_set_config *config)
{
	struct etw_ring_set_fds fds = none;

	assert_int_equal(etw_ring_set_create(config, &fds), 0);
	return fds;
}

static void test_ring_set__is_laid_out_without_overlap(void **state)
{
	struct etw_ring_set set;
	struct etw_ring_set_fds fds = make_set(&ordinary);

	(void)state;
	assert_int_equal(etw_ring_set_map(&fds, &set), 0);
	assert_int_equal(set.cpu_count, 3);
	assert_int_equal(set.buffer_count, 5);
	assert_int_equal(set.slot_count, 8);
	assert_int_equal(set.buffer_bytes, 4096);
	assert_int_equal(set.session_id, 7);
	assert_int_equal(set.uid, 1000);
	assert_int_equal(set.clock_type, ETW_CLOCK_QPC);
	assert_int_equal(set.flags, WIRE_RING_INDEPENDENT);
	assert_true(set.rings_at >= sizeof(struct wire_ring_set));
	assert_true(set.ends_at >= sizeof(struct wire_ring));
	assert_true(set.queue_at >= set.ends_at + 8 * set.slot_count);
	assert_true(set.maps_at >= set.queue_at + 4 * set.slot_count);
	assert_true(set.buffers_at >= set.maps_at + set.buffer_count * set.buffer_bytes / 8);
	assert_true(set.ring_stride >= set.buffers_at + set.buffer_count * set.buffer_bytes);
	assert_int_equal(set.ring_stride % WIRE_RING_PAGE_BYTES, 0);
	assert_true(etw_ring_at(&set, 0) >= set.memory + set.rings_at);
	assert_int_equal((uintptr_t)etw_ring_at(&set, 0) % 64, 0);
	assert_ptr_equal(etw_ring_at(&set, 2), etw_ring_at(&set, 0) + 2 * set.ring_stride);
	assert_true(etw_ring_at(&set, 2) + set.ring_stride <= set.memory + set.total_bytes);
	assert_int_equal(etw_ring_set_page(&set)->magic, WIRE_RING_SET_MAGIC);
	etw_ring_set_unmap(&set);
	assert_null(set.memory);
	etw_ring_set_unmap(&set);
	etw_ring_set_close(&fds);
}

/* So that the words of all of them stay in a processor's cache, which has few lines for the same place of a page. */
static void test_ring_set__sessions_lie_apart_in_their_pages(void **state)
{
	struct etw_ring_set_config config = ordinary;
	bool is_taken[WIRE_RING_PAGE_BYTES / 64] = {false};

	(void)state;
	for (config.session_id = 0x100; config.session_id < 0x100 + 64; config.session_id++) {
		struct etw_ring_set_fds fds = make_set(&config);
		struct etw_ring_set set;
		size_t line;

		assert_int_equal(etw_ring_set_map(&fds, &set), 0);
		line = (uintptr_t)etw_ring_at(&set, 0) % WIRE_RING_PAGE_BYTES / 64;
		assert_false(is_taken[line]);
		is_taken[line] = true;
		etw_ring_set_unmap(&set);
		etw_ring_set_close(&fds);
	}
}

static void check_memory(int fd, uint64_t bytes)
{
	struct stat status;

	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_size, bytes);
	assert_true(status.st_blocks * 512 >= status.st_size);
	assert_int_equal(ftruncate(fd, status.st_size - 4096), -1);
	assert_int_equal(ftruncate(fd, status.st_size + 4096), -1);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

static void test_ring_set__has_memory_from_the_start_and_stays_as_large(void **state)
{
	struct etw_ring_set_fds fds = make_set(&ordinary);
	struct etw_ring_set set;

	(void)state;
	assert_int_equal(etw_ring_set_map(&fds, &set), 0);
	check_memory(fds.page, set.rings_at);
	check_memory(fds.rings, set.total_bytes - set.rings_at);
	assert_int_equal(etw_ring_set_bytes(&ordinary), set.total_bytes);
	etw_ring_set_unmap(&set);
	etw_ring_set_close(&fds);
	assert_int_equal(fds.page, -1);
	assert_int_equal(fds.rings, -1);
	etw_ring_set_close(&fds);
}

static void test_ring_set__numbers_out_of_range_are_refused(void **state)
{
	static const struct {
		size_t field;
		uint32_t value;
	} rows[] = {
		{offsetof(struct etw_ring_set_config, cpu_count), 0},
		{offsetof(struct etw_ring_set_config, cpu_count), WIRE_RING_CPUS_MAX + 1},
		{offsetof(struct etw_ring_set_config, buffer_count), 1},
		{offsetof(struct etw_ring_set_config, buffer_count), WIRE_RING_BUFFERS_MAX + 1},
		{offsetof(struct etw_ring_set_config, buffer_bytes), 0},
		{offsetof(struct etw_ring_set_config, buffer_bytes), 4097},
		{offsetof(struct etw_ring_set_config, buffer_bytes), UINT32_C(1) << 25},
		{offsetof(struct etw_ring_set_config, clock_type), 0},
		{offsetof(struct etw_ring_set_config, clock_type), 4},
		{offsetof(struct etw_ring_set_config, flags), 0x80},
	};
	struct etw_ring_set_fds fds = none;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct etw_ring_set_config config = ordinary;

		memcpy((uint8_t *)&config + rows[i].field, &rows[i].value, sizeof(uint32_t));
		assert_int_equal(etw_ring_set_create(&config, &fds), -EINVAL);
		assert_int_equal(fds.page, -1);
		assert_int_equal(fds.rings, -1);
		assert_int_equal(etw_ring_set_bytes(&config), 0);
	}
}

static void test_ring_set__sets_that_would_be_huge_are_refused(void **state)
{
	struct etw_ring_set_config config = ordinary;
	struct etw_ring_set_fds fds = none;

	(void)state;
	config.cpu_count = WIRE_RING_CPUS_MAX;
	config.buffer_count = WIRE_RING_BUFFERS_MAX;
	config.buffer_bytes = (UINT32_C(1) << 25) - 8;
	assert_int_equal(etw_ring_set_create(&config, &fds), -EINVAL);
	config.buffer_bytes = UINT32_C(1) << 20;
	assert_int_equal(etw_ring_set_create(&config, &fds), -EINVAL);
}

static void test_ring_set__errors_of_the_system_come_through(void **state)
{
	struct etw_ring_set_fds fds = make_set(&ordinary), made = none;
	struct rlimit limit, no_more;
	struct etw_ring_set set = {0};
	int ends[2];

	(void)state;
	assert_int_equal(etw_ring_set_map(&none, &set), -EBADF);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(etw_ring_set_map(&(struct etw_ring_set_fds){ends[0], fds.rings}, &set),
			 -EINVAL);
	assert_int_equal(etw_ring_set_map(&(struct etw_ring_set_fds){fds.page, ends[0]}, &set),
			 -EINVAL);
	(void)close(ends[0]);
	(void)close(ends[1]);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	no_more = limit;
	no_more.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &no_more), 0);
	assert_int_equal(etw_ring_set_create(&ordinary, &made), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(made.page, -1);
	etw_ring_set_close(&fds);
	assert_null(set.memory);
}

/* A memfd with these seals and this size. */
static int forge(int seals, off_t bytes)
{
	int fd = memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

/* A sound set's header with one dword changed, of a control page with these seals and this size. */
static int map_forged(size_t field, uint32_t value, int seals, off_t more_bytes)
{
	struct etw_ring_set_fds fds = make_set(&ordinary), forged = {-1, fds.rings};
	struct wire_ring_set header;
	struct etw_ring_set set = {0};
	struct stat status;
	int result;

	assert_int_equal(pread(fds.page, &header, sizeof(header), 0), sizeof(header));
	assert_int_equal(fstat(fds.page, &status), 0);
	memcpy((uint8_t *)&header + field, &value, sizeof(value));
	forged.page = forge(seals, status.st_size + more_bytes);
	if (status.st_size + more_bytes)
		assert_int_equal(pwrite(forged.page, &header, sizeof(header), 0), sizeof(header));
	result = etw_ring_set_map(&forged, &set);
	etw_ring_set_unmap(&set);
	(void)close(forged.page);
	etw_ring_set_close(&fds);
	return result;
}

/* A sound control page, and rings with these seals and this size. */
static int map_forged_rings(int seals, off_t more_bytes)
{
	struct etw_ring_set_fds fds = make_set(&ordinary), forged = {fds.page, -1};
	struct etw_ring_set set = {0};
	struct stat status;
	int result;

	assert_int_equal(fstat(fds.rings, &status), 0);
	forged.rings = forge(seals, status.st_size + more_bytes);
	result = etw_ring_set_map(&forged, &set);
	etw_ring_set_unmap(&set);
	(void)close(forged.rings);
	etw_ring_set_close(&fds);
	return result;
}

static void test_ring_set__every_number_of_the_header_is_checked(void **state)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW;

	(void)state;
	/* As it is, and with a session id that nobody can check, it is sound. */
	assert_int_equal(map_forged(offsetof(struct wire_ring_set, version), WIRE_RING_SET_VERSION,
				    seals, 0),
			 0);
	assert_int_equal(map_forged(offsetof(struct wire_ring_set, session_id), 9, seals, 0), 0);
	for (size_t i = 0; i < offsetof(struct wire_ring_set, session_id); i += 4) {
		assert_int_equal(map_forged(i, 0x7FFFFFF8, seals, 0), -EPROTO);
		if (i != offsetof(struct wire_ring_set, flags))
			assert_int_equal(map_forged(i, 9, seals, 0), -EPROTO);
	}
	assert_int_equal(map_forged(offsetof(struct wire_ring_set, clock_type), 9, seals, 0),
			 -EPROTO);
}

static void test_ring_set__size_and_seals_are_checked(void **state)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW;

	(void)state;
	assert_int_equal(map_forged(offsetof(struct wire_ring_set, version), WIRE_RING_SET_VERSION,
				    seals, -4096),
			 -EPROTO);
	assert_int_equal(map_forged(offsetof(struct wire_ring_set, version), WIRE_RING_SET_VERSION,
				    seals, 4096),
			 -EPROTO);
	assert_int_equal(map_forged(offsetof(struct wire_ring_set, version), WIRE_RING_SET_VERSION,
				    F_SEAL_SHRINK, 0),
			 -EPROTO);
	assert_int_equal(map_forged(offsetof(struct wire_ring_set, version), WIRE_RING_SET_VERSION,
				    F_SEAL_GROW, 0),
			 -EPROTO);
	assert_int_equal(map_forged_rings(seals, 0), 0);
	assert_int_equal(map_forged_rings(seals, -4096), -EPROTO);
	assert_int_equal(map_forged_rings(seals, 4096), -EPROTO);
	assert_int_equal(map_forged_rings(F_SEAL_SHRINK, 0), -EPROTO);
	assert_int_equal(map_forged_rings(F_SEAL_GROW, 0), -EPROTO);
}

static void test_ring_set__a_file_shorter_than_a_header_is_refused(void **state)
{
	struct etw_ring_set_fds fds = make_set(&ordinary);
	struct etw_ring_set set = {0};
	int page = forge(F_SEAL_SHRINK | F_SEAL_GROW, 100);

	(void)state;
	assert_int_equal(etw_ring_set_map(&(struct etw_ring_set_fds){page, fds.rings}, &set),
			 -EPROTO);
	(void)close(page);
	etw_ring_set_close(&fds);
}

static void test_ring_set__two_mappings_share(void **state)
{
	struct etw_ring_set one, other;
	struct etw_ring_set_fds fds = make_set(&ordinary);

	(void)state;
	assert_int_equal(etw_ring_set_map(&fds, &one), 0);
	assert_int_equal(etw_ring_set_map(&fds, &other), 0);
	store_relaxed(&etw_ring_set_page(&one)->asleep, 1u);
	assert_int_equal(load_relaxed(&etw_ring_set_page(&other)->asleep), 1);
	etw_ring_set_unmap(&one);
	etw_ring_set_unmap(&other);
	etw_ring_set_close(&fds);
}

static void test_ring_set__a_retired_mapping_is_private_and_says_so(void **state)
{
	struct etw_ring_set one, other;
	uint8_t *memory;
	struct etw_ring_set_fds fds = make_set(&ordinary);

	(void)state;
	assert_int_equal(etw_ring_set_map(&fds, &one), 0);
	assert_int_equal(etw_ring_set_map(&fds, &other), 0);
	memory = one.memory;
	memset(etw_ring_at(&one, 1) + one.buffers_at, 0x55, 4096);
	assert_int_equal(etw_ring_set_retire_mapping(&one), 0);
	assert_ptr_equal(one.memory, memory);
	assert_int_equal(load_relaxed(&etw_ring_set_page(&one)->is_retired), 1);
	assert_true(load_relaxed(&etw_ring_set_page(&one)->refused) == WIRE_RING_OVER);
	assert_int_equal(load_relaxed(&etw_ring_set_page(&other)->is_retired), 0);
	assert_int_equal(etw_ring_at(&one, 1)[one.buffers_at], 0);
	memset(etw_ring_at(&one, 0), 0xAA, one.ring_stride);
	assert_int_equal(etw_ring_at(&other, 1)[other.buffers_at], 0x55);
	assert_int_equal(etw_ring_at(&other, 0)[other.buffers_at], 0);
	etw_ring_set_unmap(&one);
	etw_ring_set_unmap(&other);
	etw_ring_set_close(&fds);
}

/* The host lets go of the rings; who still maps them has them alone, and reads the control page as before. */
static void test_ring_set__the_control_page_outlives_the_rings(void **state)
{
	struct etw_ring_set_fds fds = make_set(&ordinary);
	struct etw_ring_set host, late;
	struct wire_ring_set *page;
	struct stat status;

	(void)state;
	assert_int_equal(etw_ring_set_map(&fds, &host), 0);
	assert_int_equal(etw_ring_set_map(&fds, &late), 0);
	assert_int_equal(etw_ring_set_map_page(fds.page, &page), 0);
	memset(etw_ring_at(&late, 0), 0x55, 3 * late.ring_stride);
	assert_int_equal(etw_ring_set_discard(fds.rings), 0);
	assert_int_equal(fstat(fds.rings, &status), 0);
	assert_int_equal(status.st_size, late.total_bytes - late.rings_at);
	assert_int_equal(status.st_blocks, 0);
	assert_int_equal(etw_ring_at(&late, 2)[0], 0);
	assert_int_equal(etw_ring_set_discard(-1), -EBADF);
	(void)close(fds.rings);
	fds.rings = -1;
	etw_ring_set_unmap(&host);
	store_relaxed(&page->is_retired, 1u);
	assert_int_equal(load_relaxed(&etw_ring_set_page(&late)->is_retired), 1);
	(void)add_relaxed(&etw_ring_set_page(&late)->refused, UINT64_C(1));
	memset(etw_ring_at(&late, 0), 0x55, 3 * late.ring_stride);
	assert_int_equal(load_relaxed(&page->refused), 1);
	etw_ring_set_unmap_page(page);
	etw_ring_set_unmap(&late);
	etw_ring_set_close(&fds);
}

/* Whoever has it, by a descriptor, a mapping, or a mapping of the process that it was forked from. */
static void test_ring_set__it_is_known_whether_somebody_has_it(void **state)
{
	struct etw_ring_set_fds fds = make_set(&ordinary), lent, other;
	struct etw_ring_set set, own;
	int told[2], status;
	pid_t child;
	char c;

	(void)state;
	assert_int_equal(etw_ring_set_map(&fds, &own), 0);
	assert_false(etw_ring_set_is_lent(fds.page));
	assert_int_equal(etw_ring_set_lend(&fds, &lent), 0);
	assert_true(fcntl(lent.page, F_GETFD) & FD_CLOEXEC);
	assert_true(etw_ring_set_is_lent(fds.page));
	assert_int_equal(etw_ring_set_lend(&fds, &other), 0);
	assert_int_equal(etw_ring_set_map(&lent, &set), 0);
	etw_ring_set_close(&lent);
	etw_ring_set_close(&other);
	assert_true(etw_ring_set_is_lent(fds.page));
	assert_int_equal(pipe2(told, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) {
		(void)close(told[1]);
		_exit(read(told[0], &c, 1) != 0);
	}
	assert_true(child > 0);
	etw_ring_set_unmap(&set);
	assert_true(etw_ring_set_is_lent(fds.page));
	(void)close(told[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_false(etw_ring_set_is_lent(fds.page));
	(void)close(told[0]);
	assert_int_equal(etw_ring_set_lend(&none, &lent), -ENOENT);
	assert_true(etw_ring_set_is_lent(-1));
	etw_ring_set_unmap(&own);
	etw_ring_set_close(&fds);
}

static void test_ring_set__the_control_page_alone_can_be_mapped(void **state)
{
	struct wire_ring_set *page;
	struct etw_ring_set set;
	struct rlimit limit, no_more;
	struct etw_ring_set_fds fds = make_set(&ordinary);
	int empty = memfd_create("empty", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(etw_ring_set_map(&fds, &set), 0);
	assert_int_equal(etw_ring_set_map_page(fds.page, &page), 0);
	store_release(&etw_ring_set_page(&set)->refused, UINT64_C(7));
	assert_int_equal(load_acquire(&page->refused), 7);
	etw_ring_set_unmap(&set);
	assert_int_equal(page->magic, WIRE_RING_SET_MAGIC);
	etw_ring_set_unmap_page(page);
	etw_ring_set_unmap_page(NULL);
	assert_int_equal(etw_ring_set_map_page(empty, &page), -EPROTO);
	assert_int_equal(etw_ring_set_map_page(-1, &page), -EBADF);
	assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
	no_more = limit;
	no_more.rlim_cur = 4096;
	assert_int_equal(setrlimit(RLIMIT_AS, &no_more), 0);
	assert_int_equal(etw_ring_set_map_page(fds.page, &page), -ENOMEM);
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
	(void)close(empty);
	etw_ring_set_close(&fds);
}

static void test_ring_set__a_mapping_that_cannot_be_retired_stays(void **state)
{
	struct rlimit limit, no_more;
	struct etw_ring_set set;
	struct etw_ring_set_fds fds = make_set(&ordinary);

	(void)state;
	assert_int_equal(etw_ring_set_map(&fds, &set), 0);
	assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
	no_more = limit;
	no_more.rlim_cur = 4096;
	assert_int_equal(setrlimit(RLIMIT_AS, &no_more), 0);
	assert_int_equal(etw_ring_set_retire_mapping(&set), -ENOMEM);
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
	assert_int_equal(etw_ring_set_page(&set)->magic, WIRE_RING_SET_MAGIC);
	etw_ring_set_unmap(&set);
	etw_ring_set_close(&fds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring_set__is_laid_out_without_overlap),
		cmocka_unit_test(test_ring_set__sessions_lie_apart_in_their_pages),
		cmocka_unit_test(test_ring_set__has_memory_from_the_start_and_stays_as_large),
		cmocka_unit_test(test_ring_set__numbers_out_of_range_are_refused),
		cmocka_unit_test(test_ring_set__sets_that_would_be_huge_are_refused),
		cmocka_unit_test(test_ring_set__errors_of_the_system_come_through),
		cmocka_unit_test(test_ring_set__every_number_of_the_header_is_checked),
		cmocka_unit_test(test_ring_set__size_and_seals_are_checked),
		cmocka_unit_test(test_ring_set__a_file_shorter_than_a_header_is_refused),
		cmocka_unit_test(test_ring_set__two_mappings_share),
		cmocka_unit_test(test_ring_set__a_retired_mapping_is_private_and_says_so),
		cmocka_unit_test(test_ring_set__the_control_page_outlives_the_rings),
		cmocka_unit_test(test_ring_set__it_is_known_whether_somebody_has_it),
		cmocka_unit_test(test_ring_set__the_control_page_alone_can_be_mapped),
		cmocka_unit_test(test_ring_set__a_mapping_that_cannot_be_retired_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
