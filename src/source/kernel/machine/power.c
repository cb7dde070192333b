/* SPDX-License-Identifier: MIT */
#include "source/kernel/machine/power.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "source/kernel/machine/facts.h"

#define CPUS           "sys/devices/system/cpu"
#define STATES_MAX     10 /* CPUIDLE_STATE_MAX */
#define PROCESSORS_MAX 8192

struct table {
	uint32_t first_processor, last_processor, count;
	struct wire_idle_state states[STATES_MAX];
};

struct walk {
	const char *root;
	etw_kernel_idle_state_told *told_state;
	etw_kernel_frequency_told *told_frequency;
	void *context;
	char driver[WIRE_POWER_TEXT_BYTES];
	struct table table; /* that was not told yet; no states: none */
};

/* "cpu12". Returns false for another name. */
static bool is_processor(const char *name, uint32_t *ret)
{
	unsigned long number;
	char *end;

	if (strncmp(name, "cpu", 3) != 0 || !isdigit((unsigned char)name[3]))
		return false;
	number = strtoul(name + 3, &end, 10);
	if (*end || number >= PROCESSORS_MAX)
		return false;
	*ret = (uint32_t)number;
	return true;
}

static void tell_table(struct walk *walk)
{
	for (uint32_t i = 0; i < walk->table.count; i++) {
		walk->table.states[i].first_processor = walk->table.first_processor;
		walk->table.states[i].last_processor = walk->table.last_processor;
		walk->told_state(walk->context, &walk->table.states[i]);
	}
	walk->table.count = 0;
}

static bool read_state(const struct walk *walk, uint32_t processor, uint32_t number,
		       struct wire_idle_state *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (!etw_kernel_fact_text(walk->root, ret->name, sizeof(ret->name),
				  CPUS "/cpu%u/cpuidle/state%u/name", processor, number))
		return false;
	ret->state = number;
	(void)etw_kernel_fact_text(walk->root, ret->description, sizeof(ret->description),
				   CPUS "/cpu%u/cpuidle/state%u/desc", processor, number);
	ret->latency_us = (uint32_t)etw_kernel_fact_number(
		walk->root, 0, CPUS "/cpu%u/cpuidle/state%u/latency", processor, number);
	ret->residency_us = (uint32_t)etw_kernel_fact_number(
		walk->root, 0, CPUS "/cpu%u/cpuidle/state%u/residency", processor, number);
	memcpy(ret->driver, walk->driver, sizeof(ret->driver));
	return true;
}

static bool add_states(void *context, const char *name)
{
	struct walk *walk = context;
	struct table table = {0};

	if (!is_processor(name, &table.first_processor))
		return true;
	table.last_processor = table.first_processor;
	while (table.count < STATES_MAX &&
	       read_state(walk, table.first_processor, table.count, &table.states[table.count]))
		table.count++;
	if (table.count && table.count == walk->table.count &&
	    table.first_processor == walk->table.last_processor + 1 &&
	    memcmp(table.states, walk->table.states, sizeof(table.states)) == 0) {
		walk->table.last_processor = table.last_processor;
		return true;
	}
	tell_table(walk);
	walk->table = table;
	return true;
}

void etw_kernel_idle_states_tell(const char *root, etw_kernel_idle_state_told *told, void *context)
{
	struct walk walk = {.root = root, .told_state = told, .context = context};

	if (!etw_kernel_fact_text(root, walk.driver, sizeof(walk.driver),
				  CPUS "/cpuidle/current_driver"))
		return;
	etw_kernel_fact_list(root, CPUS, add_states, &walk);
	tell_table(&walk);
}

static uint32_t read_khz(const struct walk *walk, uint32_t processor, const char *name)
{
	return (uint32_t)etw_kernel_fact_number(walk->root, 0, CPUS "/cpu%u/cpufreq/%s", processor,
						name);
}

static bool tell_frequency(void *context, const char *name)
{
	struct walk *walk = context;
	struct wire_processor_frequency frequency = {0};

	if (!is_processor(name, &frequency.processor) ||
	    !etw_kernel_fact_text(walk->root, frequency.driver, sizeof(frequency.driver),
				  CPUS "/%s/cpufreq/scaling_driver", name))
		return true;
	(void)etw_kernel_fact_text(walk->root, frequency.governor, sizeof(frequency.governor),
				   CPUS "/%s/cpufreq/scaling_governor", name);
	frequency.current_khz = read_khz(walk, frequency.processor, "scaling_cur_freq");
	frequency.least_khz = read_khz(walk, frequency.processor, "cpuinfo_min_freq");
	frequency.most_khz = read_khz(walk, frequency.processor, "cpuinfo_max_freq");
	walk->told_frequency(walk->context, &frequency);
	return true;
}

void etw_kernel_frequencies_tell(const char *root, etw_kernel_frequency_told *told, void *context)
{
	struct walk walk = {.root = root, .told_frequency = told, .context = context};

	etw_kernel_fact_list(root, CPUS, tell_frequency, &walk);
}
