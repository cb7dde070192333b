/* SPDX-License-Identifier: MIT */
/*
 * count_by_event FILE.etl - how often each kind of event comes, in C++ with the same header. Events are kept
 * beyond their callback and counted by another thread. Builds with `pkg-config --cflags --libs etw`.
 */
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <etw/etw.h>

namespace {

struct Release {
	void operator()(libetw_event *event) const
	{
		libetw_event_release(event);
	}
};

using Event = std::unique_ptr<libetw_event, Release>;
using Reader = std::unique_ptr<libetw_reader, decltype(&libetw_reader_free)>;

int keep(void *context, libetw_event *event)
{
	libetw_event *kept = nullptr;
	/* Beyond the limit of what may be pinned, a copy will do. */
	int result = libetw_event_retain(event, &kept);

	if (result)
		result = libetw_event_copy(event, &kept);
	if (!result)
		static_cast<std::vector<Event> *>(context)->emplace_back(kept);
	return result;
}

int fail()
{
	std::fprintf(stderr, "count_by_event: %s\n", libetw_error());
	return 1;
}

} /* namespace */

int main(int argc, char **argv)
{
	std::vector<Event> events;
	std::map<std::string, unsigned> counts;
	libetw_reader *made = nullptr;

	if (argc != 2) {
		std::fprintf(stderr, "usage: count_by_event FILE.etl\n");
		return 2;
	}
	if (libetw_reader_create(nullptr, &made))
		return fail();
	Reader reader(made, libetw_reader_free);
	if (libetw_reader_add_file(reader.get(), argv[1]) ||
	    libetw_reader_on(reader.get(), libetw_any(), keep, &events) ||
	    libetw_reader_run(reader.get()))
		return fail();
	std::thread([&] {
		for (const Event &event : events) {
			const char *title = libetw_event_title(event.get());

			counts[title ? title : "?"]++;
		}
	}).join();
	for (const auto &count : counts)
		std::printf("%8u %s\n", count.second, count.first.c_str());
	return 0;
}
