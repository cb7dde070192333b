/* SPDX-License-Identifier: MIT */
/* Sources that own providers: in an ordinary session, beside no kernel's source, and over the deaths of hosts. */
#include <errno.h>

#include <evntcons.h>

#include "base/macros.h"
#include "fake_source.h"
#include "recovery_host.h"
#include "trace_reading.h"

#define EVENTS 200

static struct etw_session_provider_change change_to(uint32_t code)
{
	return (struct etw_session_provider_change){
		.code = code,
		.wanted = {.guid = fake_source_guid,
			   .level = 4,
			   .match_any = 0x30,
			   .match_all = 0x10,
			   .property = EVENT_ENABLE_PROPERTY_STACK_TRACE},
	};
}

static void attach(struct fixture *fixture)
{
	fixture_open(fixture);
	fake_source_attach(fixture);
	fixture->host.kernel = NULL;
	fixture->host.sources[1] = &fake_source_provider_ops;
}

static void produce(const struct fixture *fixture, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		fake_source_produce(&fixture->clock, 0);
}

static void expect_read(const struct fixture *fixture, uint64_t events)
{
	struct reading reading;

	read_trace(fixture->path, &reading);
	assert_int_equal(reading.kernel_events, events);
	assert_int_equal(reading.kernel_disorder, 0);
	assert_int_equal(reading.findings, 0);
	reading_done(&reading);
}

/* Opened by the first enable; level, keywords and properties arrive; a capture too; what it recorded is in the file. */
static void test_sources__own_providers(void **state)
{
	static struct fixture fixture;
	static struct wire_session_info info;
	struct etw_session_provider_change change = change_to(EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	struct wire_session_config config;
	struct etw_fault fault = {0};
	struct etw_session *session;

	(void)state;
	attach(&fixture);
	assert_true(etw_session_has_provider(&fixture.host, &fake_source_guid));
	assert_false(etw_session_has_provider(&fixture.host, &fixture_provider));
	config = fixture_config(&fixture);
	session = fixture_start(&fixture, &config);
	assert_int_equal(fake_source_memory->opened, 0);
	assert_false(etw_session_wants_sources(session));
	assert_int_equal(etw_session_check_provider(session, &change.wanted, &fault), 0);
	assert_int_equal(etw_session_change_provider(session, &change), 0);
	assert_int_equal(fake_source_memory->opened, 1);
	assert_int_equal(fake_source_memory->rundowns[0], 1);
	assert_int_equal(fake_source_memory->request.provider_count, 1);
	assert_memory_equal(&fake_source_memory->provider, &change.wanted, sizeof(change.wanted));
	assert_true(etw_session_wants_sources(session));
	produce(&fixture, EVENTS);
	/* Again, with other numbers: set anew, and opened no more. */
	change.wanted.level = 2;
	assert_int_equal(etw_session_change_provider(session, &change), 0);
	assert_int_equal(fake_source_memory->opened, 1);
	assert_int_equal(fake_source_memory->request.provider_count, 1);
	assert_int_equal(fake_source_memory->provider.level, 2);
	change.code = EVENT_CONTROL_CODE_CAPTURE_STATE;
	assert_int_equal(etw_session_change_provider(session, &change), 0);
	assert_int_equal(fake_source_memory->captures, 1);
	assert_int_equal(fake_source_memory->captured.match_any, 0x30);
	store_relaxed(&fake_source_memory->lost, UINT64_C(5));
	change.code = EVENT_CONTROL_CODE_DISABLE_PROVIDER;
	assert_int_equal(etw_session_change_provider(session, &change), 0);
	assert_int_equal(fake_source_memory->request.provider_count, 0);
	etw_session_stop(session, &info);
	etw_session_free(session);
	assert_int_equal(info.loss.source, 5);
	assert_string_equal(info.complaint, "");
	expect_read(&fixture, EVENTS);
	fake_source_detach();
	fixture_close(&fixture);
}

/* What a source cannot serve is said; what it does not own is nobody's. */
static void test_sources__refuse(void **state)
{
	static struct fixture fixture;
	static struct wire_session_info info;
	struct etw_session_provider_change change = change_to(EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	struct wire_session_config config;
	struct etw_fault fault = {0};
	struct etw_session *session;

	(void)state;
	attach(&fixture);
	config = fixture_config(&fixture);
	session = fixture_start(&fixture, &config);
	change.wanted.filter_bytes = 8;
	assert_int_equal(etw_session_check_provider(session, &change.wanted, &fault), -EOPNOTSUPP);
	assert_string_equal(fault.sentence, "the fake has none");
	change.wanted.guid = fixture_provider;
	assert_int_equal(etw_session_change_provider(session, &change), -ENOENT);
	assert_int_equal(fake_source_memory->opened, 0);
	etw_session_stop(session, &info);
	etw_session_free(session);
	assert_non_null(strstr(info.complaint, "the fake has none"));
	fake_source_detach();
	fixture_close(&fixture);
}

static unsigned free_descriptors;

static int keep_room(void *context, unsigned count)
{
	(void)context;
	return count <= free_descriptors ? 0 : -EMFILE;
}

/* A source asks for room when it is opened, and no more: what it keeps is kept already. */
static void test_sources__ask_for_room_once(void **state)
{
	static struct fixture fixture;
	static struct wire_session_info info;
	struct etw_source_ops keeper = fake_source_provider_ops;
	struct etw_session_provider_change change = change_to(EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	struct wire_session_config config;
	struct etw_session *session;

	(void)state;
	attach(&fixture);
	keeper.kept_fds = 50;
	fixture.host.sources[1] = &keeper;
	fixture.host.keep_room = keep_room;
	config = fixture_config(&fixture);
	free_descriptors = 49;
	session = fixture_start(&fixture, &config);
	assert_int_equal(etw_session_change_provider(session, &change), -EMFILE);
	assert_int_equal(fake_source_memory->opened, 0);
	assert_false(etw_session_wants_sources(session));
	free_descriptors = 50;
	assert_int_equal(etw_session_change_provider(session, &change), 0);
	assert_int_equal(fake_source_memory->opened, 1);
	free_descriptors = 0;
	change.wanted.level = 2;
	assert_int_equal(etw_session_change_provider(session, &change), 0);
	assert_int_equal(fake_source_memory->provider.level, 2);
	etw_session_stop(session, &info);
	etw_session_free(session);
	fake_source_detach();
	fixture_close(&fixture);
}

static bool has_any(const GUID *provider)
{
	return provider->Data2 == fake_source_guid.Data2;
}

/* As many of all sources as a session may have enabled. One that is can be set anew; another one takes the place of one that is not. */
static void test_sources__have_so_many_providers(void **state)
{
	static struct fixture fixture;
	static struct wire_session_info info;
	struct etw_source_ops owner = fake_source_provider_ops;
	struct etw_session_provider_change change = change_to(EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	struct wire_session_config config;
	struct etw_session *session;

	(void)state;
	attach(&fixture);
	owner.has_provider = has_any;
	fixture.host.sources[1] = &owner;
	config = fixture_config(&fixture);
	session = fixture_start(&fixture, &config);
	for (uint32_t i = 0; i < ETW_SOURCE_PROVIDERS_MAX; i++) {
		change.wanted.guid.Data1 = i;
		assert_int_equal(etw_session_change_provider(session, &change), 0);
		assert_int_equal(fake_source_memory->request.provider_count, i + 1);
	}
	change.wanted.level = 2;
	assert_int_equal(etw_session_change_provider(session, &change), 0);
	change.wanted.guid.Data1 = ETW_SOURCE_PROVIDERS_MAX;
	assert_int_equal(etw_session_change_provider(session, &change), -ENOSPC);
	assert_int_equal(fake_source_memory->request.provider_count, ETW_SOURCE_PROVIDERS_MAX);
	change.wanted.guid.Data1 = 0;
	change.code = EVENT_CONTROL_CODE_DISABLE_PROVIDER;
	assert_int_equal(etw_session_change_provider(session, &change), 0);
	change.wanted.guid.Data1 = ETW_SOURCE_PROVIDERS_MAX;
	change.code = EVENT_CONTROL_CODE_ENABLE_PROVIDER;
	assert_int_equal(etw_session_change_provider(session, &change), 0);
	assert_int_equal(fake_source_memory->request.provider_count, ETW_SOURCE_PROVIDERS_MAX);
	etw_session_stop(session, &info);
	etw_session_free(session);
	assert_string_equal(info.complaint, "");
	fake_source_detach();
	fixture_close(&fixture);
}

/* A source that cannot be opened is a complaint; the session goes on. */
static void test_sources__complain(void **state)
{
	static struct fixture fixture;
	static struct wire_session_info info;
	const struct etw_session_provider_change change =
		change_to(EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	struct wire_session_config config;
	struct etw_session *session;

	(void)state;
	attach(&fixture);
	fake_source_memory->open_error = -EACCES;
	config = fixture_config(&fixture);
	session = fixture_start(&fixture, &config);
	assert_int_equal(etw_session_change_provider(session, &change), 0);
	etw_session_stop(session, &info);
	etw_session_free(session);
	assert_non_null(strstr(info.complaint, "the test events are not collected"));
	assert_non_null(strstr(info.complaint, "the fake is told to fail"));
	fake_source_detach();
	fixture_close(&fixture);
}

static void enable_once(struct recovery *recovery, struct etw_session *session)
{
	const struct etw_session_provider_change change =
		change_to(EVENT_CONTROL_CODE_ENABLE_PROVIDER);

	if (!etw_session_wants_sources(session))
		recovery->shared->failure = etw_session_change_provider(session, &change);
}

/* The next hosts go on with what was enabled, from the marks of this source. */
static void test_sources__outlive_hosts(void **state)
{
	static struct fixture fixture;
	static struct recovery recovery;
	struct wire_session_config config;
	uint64_t written = 0;

	(void)state;
	attach(&fixture);
	config = fixture_config(&fixture);
	recovery_open(&fixture, &config, &recovery);
	recovery.on_session = enable_once;
	recovery_fork(&recovery, NULL);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(recovery.shared->failure, 0);
		produce(&fixture, EVENTS);
		written += EVENTS;
		(void)usleep(10000 * (i % 3));
		recovery_kill(&recovery);
		produce(&fixture, EVENTS);
		written += EVENTS;
		fake_source_memory->request = (struct etw_source_request){0};
		recovery_fork(&recovery, NULL);
		assert_int_equal(fake_source_memory->request.provider_count, 1);
		assert_int_equal(fake_source_memory->provider.match_any, 0x30);
	}
	recovery_stop(&recovery);
	assert_int_equal(fake_source_memory->opened, 6);
	assert_int_equal(fake_source_memory->rundowns[0], 1);
	assert_int_equal(recovery.shared->info.loss.source, 0);
	expect_read(&fixture, written);
	recovery_close(&recovery);
	fake_source_detach();
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sources__own_providers),
		cmocka_unit_test(test_sources__refuse),
		cmocka_unit_test(test_sources__ask_for_room_once),
		cmocka_unit_test(test_sources__have_so_many_providers),
		cmocka_unit_test(test_sources__complain),
		cmocka_unit_test(test_sources__outlive_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
