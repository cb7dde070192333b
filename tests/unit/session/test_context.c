/* SPDX-License-Identifier: MIT */
/* What the parts of a session share: names, the keeper's store, complaints, the notes that wait. No thread runs here. */
#include "session/common/context.h"

#include "parts.h"

struct scene {
	struct fixture fixture;
	struct parts parts;
	uint32_t told;
	char last[ETW_CONTEXT_COMPLAINT_BYTES];
};

static void tell(void *context, uint32_t session_id, const char *sentence)
{
	/* The host's context is its fixture, which is the scene's first member. */
	struct scene *scene = context;

	assert_int_equal(session_id, 7);
	(void)snprintf(scene->last, sizeof(scene->last), "%s", sentence);
	scene->told++;
}

static void begin(struct scene *scene)
{
	const struct wire_session_config config = parts_realtime();

	*scene = (struct scene){0};
	fixture_open(&scene->fixture);
	scene->fixture.host.tell = tell;
	parts_open(&scene->parts, &scene->fixture, &config, 1);
}

static void end(struct scene *scene)
{
	parts_close(&scene->parts);
	fixture_close(&scene->fixture);
}

static void test_context__complaints_add_up(void **state)
{
	static struct scene scene;
	struct etw_session_context *context = &scene.parts.context;
	const struct etw_fault fault = {.field = "a field", .sentence = "is wrong"};
	char text[ETW_CONTEXT_COMPLAINT_BYTES];

	(void)state;
	begin(&scene);
	etw_context_complaint(context, text, sizeof(text));
	assert_string_equal(text, "");
	etw_context_complain(context, "one", 0, NULL);
	etw_context_complain(context, "two", -ENOMEM, NULL);
	etw_context_complain(context, "three", -ENOMEM, &fault);
	etw_context_complaint(context, text, sizeof(text));
	assert_string_equal(text, "one; two: Cannot allocate memory; three: a field: is wrong");
	/* The log has each sentence by itself. */
	assert_int_equal(scene.told, 3);
	assert_string_equal(scene.last, "three: a field: is wrong");
	for (int i = 0; i < 200; i++) /* more than there is room for */
		etw_context_complain(context, "again", 0, NULL);
	etw_context_complaint(context, text, sizeof(text));
	assert_int_equal(strlen(text), sizeof(text) - 1);
	assert_int_equal(scene.told, 203);
	end(&scene);
}

static void test_context__the_keeper_has_names(void **state)
{
	static struct scene scene;
	struct etw_session_context *context = &scene.parts.context;
	char name[ETW_CONTEXT_NAME_BYTES];
	int fd;

	(void)state;
	begin(&scene);
	etw_context_name(context, name, "ring-%u", 12u);
	assert_string_equal(name, "session-7/ring-12");
	assert_int_equal(etw_context_keep(context, STDERR_FILENO, "ring-%u", 12u), 0);
	assert_int_equal(fixture_kept_count(&scene.fixture, name), 1);
	fd = etw_context_kept(context, "ring-%u", 12u);
	assert_true(fd >= 0);
	close(fd);
	etw_context_forget(context, "ring-%u", 12u);
	assert_int_equal(etw_context_kept(context, "ring-%u", 12u), -ENOENT);
	/* A host without a keeper keeps nothing, and that is no error. */
	context->host.keep_fd = NULL;
	context->host.kept_fd = NULL;
	context->host.forget_fd = NULL;
	assert_int_equal(etw_context_keep(context, STDERR_FILENO, "file"), 0);
	assert_int_equal(etw_context_kept(context, "file"), -ENOENT);
	etw_context_forget(context, "file");
	end(&scene);
}

static void test_context__who_is_trusted(void **state)
{
	static struct scene scene;
	struct etw_session_context *context = &scene.parts.context;

	(void)state;
	begin(&scene);
	context->host_uid = 300;
	context->state.head->uid = 301;
	assert_true(etw_context_is_trusted(context, 0));
	assert_true(etw_context_is_trusted(context, 300));
	assert_true(etw_context_is_trusted(context, 301));
	assert_false(etw_context_is_trusted(context, 302));
	end(&scene);
}

/* 2 us, rounded up to a tick of the session's clock. */
static void test_context__slack_is_in_the_sessions_clock(void **state)
{
	static struct scene scene;
	struct etw_session_context *context = &scene.parts.context;
	struct etw_session_plan plan;

	(void)state;
	begin(&scene);
	assert_int_equal(context->slack_raw, 2001);
	plan = context->plan;
	plan.clock_type = ETW_CLOCK_SYSTEM;
	etw_context_set_plan(context, &plan);
	assert_int_equal(context->slack_raw, 21);
	end(&scene);
}

static void test_context__a_kick_changes_the_word(void **state)
{
	static struct scene scene;
	uint32_t before;

	(void)state;
	begin(&scene);
	before = scene.parts.context.wake;
	etw_context_kick(&scene.parts.context);
	assert_int_equal(scene.parts.context.wake, before + 1);
	end(&scene);
}

/* As many as there is room for wait, in their order; what is beyond is a complaint. */
static void test_context__notes_wait_in_order(void **state)
{
	static struct scene scene;
	struct etw_session_notes *notes = &scene.parts.notes;
	struct wire_session_note note;
	uint32_t before;

	(void)state;
	begin(&scene);
	assert_false(etw_notes_take(notes, &note));
	before = scene.parts.context.wake;
	for (uint64_t i = 0; i <= ETW_SESSION_NOTES; i++) {
		etw_note_make(&note, WIRE_NOTE_CLAIMED_LOSS, (const uint64_t[]){i, 2, 3, 0, 0},
			      "number %u", (unsigned)i);
		etw_notes_put(notes, &note);
	}
	assert_int_equal(scene.parts.context.wake, before + ETW_SESSION_NOTES);
	assert_int_equal(scene.told, 1);
	assert_string_equal(scene.last, "number 16");
	for (uint64_t i = 0; i < ETW_SESSION_NOTES; i++) {
		assert_true(etw_notes_take(notes, &note));
		assert_int_equal(note.numbers[0], i);
		assert_int_equal(note.numbers[2], 3);
	}
	assert_false(etw_notes_take(notes, &note));
	etw_note_make(&note, WIRE_NOTE_CLAIMED_LOSS, NULL, "no numbers");
	assert_int_equal(note.numbers[0] | note.numbers[1] | note.numbers[2], 0);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_context__complaints_add_up),
		cmocka_unit_test(test_context__the_keeper_has_names),
		cmocka_unit_test(test_context__who_is_trusted),
		cmocka_unit_test(test_context__slack_is_in_the_sessions_clock),
		cmocka_unit_test(test_context__a_kick_changes_the_word),
		cmocka_unit_test(test_context__notes_wait_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
