/* SPDX-License-Identifier: MIT */
#include "daemon/images.h"

#include "unit/daemon/fixture.h"
#include "wire/image_symbols.h"

#define PLACE      UINT64_C(0x7f0000000000)
#define PATH_BYTES (ETWD_IMAGE_PATHS * 8)

static struct wire_image body;

static void fill(uint32_t number, uint32_t code, uint64_t base, uint64_t byte_count)
{
	memset(&body, 0, sizeof(body));
	body.image = number;
	body.code = code;
	body.base = base;
	body.byte_count = byte_count;
	strcpy(body.path, "a.plugin");
}

static int ask(struct fake_peer *fake)
{
	struct wire_message head = fake_peer_head(fake, WIRE_IMAGE);

	fake_peer_send(fake, wire_message_encode_image(&head, &body, fake->room));
	fake_peer_expect(fake, WIRE_REPLY);
	assert_int_equal(fake->message.head.request, head.request);
	return fake->message.head.status;
}

static const struct etwd_images *images_of(struct fake_peer *fake)
{
	return &etwd_client_of(fake->peer)->images;
}

static uint64_t used(void)
{
	return etwd_budget_used(&fixture_host->budget, geteuid(), ETWD_IMAGES);
}

static void test_images__are_kept_until_they_are_gone(void **state)
{
	struct fake_peer *fake = fake_peer_join(geteuid(), WIRE_ROLE_PROVIDER);
	static const uint8_t symbols[] = "\x10\0\0\0\0\0\0\0\x08\0\0\0greet";

	(void)state;
	fill(1, WIRE_IMAGE_LOADED, PLACE, 4096);
	body.symbols = (struct etw_bytes){symbols, sizeof(symbols)};
	assert_int_equal(ask(fake), 0);
	assert_int_equal(images_of(fake)->count, 1);
	assert_int_equal(used(), ETWD_IMAGE_BYTES + PATH_BYTES + sizeof(symbols));
	assert_int_equal(ask(fake), -EEXIST);
	body.code = WIRE_IMAGE_MORE;
	assert_int_equal(ask(fake), 0);
	fill(2, WIRE_IMAGE_IS_THERE, PLACE + 8192, 4096);
	assert_int_equal(ask(fake), 0);
	assert_int_equal(images_of(fake)->count, 2);
	fill(1, WIRE_IMAGE_UNLOADED, 0, 0);
	assert_int_equal(ask(fake), 0);
	assert_int_equal(ask(fake), -ENOENT);
	body.code = WIRE_IMAGE_MORE;
	assert_int_equal(ask(fake), -ENOENT);
	assert_int_equal(used(), ETWD_IMAGE_BYTES + PATH_BYTES);
	fake_peer_leave(fake);
	assert_null(fixture_host->images.first);
	assert_int_equal(used(), 0);
}

/* What a session still has of it, in another thread, goes on being paid for by whoever announced it. */
static void test_images__cost_until_nobody_has_them(void **state)
{
	struct fake_peer *fake = fake_peer_join(geteuid(), WIRE_ROLE_PROVIDER);
	static const uint8_t symbols[] = "\x10\0\0\0\0\0\0\0\x08\0\0\0greet";
	const uint64_t first_bytes = ETWD_IMAGE_BYTES + PATH_BYTES + sizeof(symbols);
	const uint64_t more_bytes = ETWD_IMAGE_BYTES + PATH_BYTES + sizeof(symbols);
	struct etw_announced_image *kept, *more;

	(void)state;
	fill(1, WIRE_IMAGE_LOADED, PLACE, 4096);
	body.symbols = (struct etw_bytes){symbols, sizeof(symbols)};
	assert_int_equal(ask(fake), 0);
	body.code = WIRE_IMAGE_MORE;
	assert_int_equal(ask(fake), 0);
	kept = etw_announced_image_ref(images_of(fake)->first->image);
	more = etw_announced_image_ref(images_of(fake)->first->more[0]);
	fill(1, WIRE_IMAGE_UNLOADED, 0, 0);
	assert_int_equal(ask(fake), 0);
	assert_int_equal(used(), first_bytes + more_bytes);
	etw_announced_image_unref(more);
	fill(2, WIRE_IMAGE_LOADED, PLACE, 4096);
	assert_int_equal(ask(fake), 0);
	assert_int_equal(used(), first_bytes + ETWD_IMAGE_BYTES + PATH_BYTES);
	fake_peer_leave(fake);
	assert_int_equal(used(), first_bytes);
	etw_announced_image_unref(kept);
	etwd_images_settle(&fixture_host->images);
	assert_int_equal(used(), 0);
}

static void test_images__a_new_one_takes_the_place_of_others(void **state)
{
	struct fake_peer *fake = fake_peer_join(geteuid(), WIRE_ROLE_PROVIDER);

	(void)state;
	for (uint32_t i = 1; i <= 3; i++) {
		fill(i, WIRE_IMAGE_LOADED, PLACE + i * 4096, 4096);
		assert_int_equal(ask(fake), 0);
	}
	fill(4, WIRE_IMAGE_LOADED, PLACE + 2 * 4096 + 1, 4096);
	assert_int_equal(ask(fake), 0);
	assert_int_equal(images_of(fake)->count, 2);
	fill(5, WIRE_IMAGE_LOADED, PLACE, 10 * 4096);
	assert_int_equal(ask(fake), 0);
	assert_int_equal(images_of(fake)->count, 1);
	fake_peer_free(fake);
}

static void test_images__what_makes_no_sense_is_refused(void **state)
{
	static const struct {
		uint64_t base, byte_count;
	} ranges[] = {{0, 4096},
		      {PLACE, 0},
		      {UINT64_C(0xffffffff81000000), 4096},
		      {UINT64_C(1) << 56, 1},
		      {(UINT64_C(1) << 56) - 1, 2},
		      {PLACE, UINT64_MAX}};
	static const uint8_t outside[] = "\xF0\x0F\0\0\0\0\0\0\x20\0\0\0greet";
	struct fake_peer *fake = fake_peer_join(geteuid(), WIRE_ROLE_PROVIDER);

	(void)state;
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		fill(1, WIRE_IMAGE_LOADED, ranges[i].base, ranges[i].byte_count);
		assert_int_equal(ask(fake), -EINVAL);
	}
	fill(1, WIRE_IMAGE_LOADED, PLACE, 4096);
	body.symbols = (struct etw_bytes){outside, sizeof(outside)};
	assert_int_equal(ask(fake), -EINVAL);
	body.symbols.left = 5;
	assert_int_equal(ask(fake), -EINVAL);
	fill(1, WIRE_IMAGE_LOADED, PLACE, 4096);
	body.path[0] = '\0';
	assert_int_equal(ask(fake), -EINVAL);
	assert_null(fixture_host->images.first);
	fake_peer_free(fake);
}

static void test_images__somebody_without_a_number(void **state)
{
	struct fake_peer *fake = fake_peer_join(geteuid(), WIRE_ROLE_PROVIDER);

	(void)state;
	fill(1, WIRE_IMAGE_LOADED, PLACE, 4096);
	fake->peer->who.pid = 0; /* of a process that this namespace does not see */
	assert_int_equal(ask(fake), -EPERM);
	fake->peer->who.pid = getpid();
	assert_int_equal(ask(fake), 0);
	fake_peer_free(fake);
}

static void test_images__a_uid_has_its_part(void **state)
{
	struct fake_peer *fake = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	static uint8_t symbols[WIRE_IMAGE_SYMBOL_BYTES_MAX];
	const struct etw_image_symbol symbol = {0, 1, 1000,
						(const char *)memset(malloc(1001), 'n', 1000)};
	uint32_t bytes = 0, refused = 0;

	(void)state;
	for (uint32_t at = 0; at + 1013 <= sizeof(symbols); at += bytes)
		(void)etw_image_symbols_pack(&symbol, 1, symbols + at, 1013, &bytes);
	for (uint32_t i = 1; i < 400 && !refused; i++) {
		int r;

		fill(i, WIRE_IMAGE_LOADED, PLACE + i * 4096, 4096);
		body.symbols = (struct etw_bytes){symbols, sizeof(symbols) / 1013 * 1013};
		r = ask(fake);
		if (r == -EPERM)
			break; /* this process cannot pass for a stranger's here */
		assert_true(r == 0 || r == -ETOOMANYREFS);
		refused += r != 0;
	}
	if (images_of(fake)->count)
		assert_int_equal(refused, 1);
	free((void *)(uintptr_t)symbol.name);
	fake_peer_free(fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_images__are_kept_until_they_are_gone,
						fixture_set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_images__cost_until_nobody_has_them,
						fixture_set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_images__a_new_one_takes_the_place_of_others,
						fixture_set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_images__what_makes_no_sense_is_refused,
						fixture_set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_images__somebody_without_a_number,
						fixture_set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_images__a_uid_has_its_part, fixture_set_up,
						fixture_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
