/* SPDX-License-Identifier: MIT */
/* Which elements and attributes a manifest may have, as the published schema says it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/number.h"
#include "compile/read_internal.h"

/*
 * An element under a parent. Attributes are words of the form name, `!` when it is required, and what
 * its value must be after a colon: u8, u16, u32, u64, max16, guid, symbol, flag, ref, or values with `|` between.
 * The attribute `text` is what stands between the tags.
 */
struct element_rule {
	const char *parent;
	const char *name;
	const char *attributes; /* NULL: anything, and what is inside is not looked at */
};

static const struct element_rule rules[] = {
	{"", "instrumentationManifest", ""},
	{"instrumentationManifest", "instrumentation", ""},
	{"instrumentationManifest", "localization", "fallbackCulture"},
	{"instrumentationManifest", "metadata", NULL},
	{"instrumentation", "events", ""},
	{"instrumentation", "counters", NULL},
	{"instrumentation", "perftrack", NULL},
	{"instrumentation", "metadata", NULL},
	{"events", "provider",
	 "name! guid!:guid symbol!:symbol resourceFileName messageFileName parameterFileName "
	 "helpLink message:ref source:Xml|Wbem|None warnOnApplicationCompatibilityError:flag "
	 "controlGuid:guid namespace"},
	{"events", "messageTable", ""},
	{"messageTable", "message", "value!:u32 mid message!:ref symbol:symbol"},
	{"provider", "channels", ""},
	{"provider", "levels", ""},
	{"provider", "tasks", ""},
	{"provider", "opcodes", ""},
	{"provider", "keywords", ""},
	{"provider", "maps", ""},
	{"provider", "namedQueries", ""},
	{"provider", "templates", ""},
	{"provider", "events", ""},
	{"provider", "filters", ""},
	{"provider", "traits", "groupGuid:guid includeName:flag"},
	{"channels", "channel",
	 "name! chid type!:Admin|Operational|Analytic|Debug symbol:symbol access "
	 "isolation:Application|System|Custom enabled:flag value:u8 message:ref"},
	{"channels", "importChannel", "name! chid symbol:symbol"},
	{"channel", "logging", ""},
	{"logging", "autoBackup", "text!:flag"},
	{"logging", "retention", "text!:flag"},
	{"logging", "maxSize", "text!:u64"},
	{"channel", "publishing", ""},
	{"publishing", "level", "text!:u8"},
	{"publishing", "keywords", "text!:u64"},
	{"publishing", "controlGuid", "text!:guid"},
	{"publishing", "bufferSize", "text!:u32"},
	{"publishing", "minBuffers", "text!:u32"},
	{"publishing", "maxBuffers", "text!:u32"},
	{"publishing", "fileMax", "text!:max16"},
	{"publishing", "latency", "text!:u32"},
	{"publishing", "clockType", "text!:SystemTime|QPC"},
	{"publishing", "sidType", "text!:None|Publishing"},
	{"levels", "level", "name! value!:u8 symbol:symbol message:ref"},
	{"tasks", "task", "name! value!:u16 symbol:symbol eventGUID:guid message:ref"},
	{"task", "opcodes", ""},
	{"opcodes", "opcode", "name! value!:u8 symbol:symbol mofValue:u8 message:ref"},
	{"keywords", "keyword", "name! mask!:u64 symbol:symbol message:ref"},
	{"maps", "valueMap", "name! symbol:symbol"},
	{"maps", "bitMap", "name! symbol:symbol"},
	{"provider", "valueMap", "name! symbol:symbol"},
	{"provider", "bitMap", "name! symbol:symbol"},
	{"valueMap", "map", "value!:u32 message!:ref symbol:symbol"},
	{"bitMap", "map", "value!:u32 message!:ref symbol:symbol"},
	{"namedQueries", "patternMaps", ""},
	{"patternMaps", "patternMap", "name! format! symbol:symbol"},
	{"patternMap", "map", "name! value!"},
	{"templates", "template", "tid! name"},
	{"template", "data", "name! inType! outType map length count"},
	{"template", "struct", "name! length count"},
	{"template", "binary", NULL},
	{"template", "UserData", NULL},
	{"struct", "data", "name! inType! outType map length count"},
	{"events", "event",
	 "value!:u16 version:u8 symbol:symbol level task opcode channel keywords template "
	 "message:ref notLogged:flag name attributes suppressProjection:flag"},
	{"filters", "filter", "name! value!:u8 version:u8 symbol:symbol message:ref tid"},
	{"localization", "resources", "culture! lang"},
	{"resources", "stringTable", ""},
	{"stringTable", "string", "id! value! stringType symbol"},
};

static const struct element_rule *find_rule(const char *parent, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (strcmp(rules[i].parent, parent) == 0 && strcmp(rules[i].name, name) == 0)
			return &rules[i];
	}
	return NULL;
}

/* One word of a rule. */
struct attribute_rule {
	const char *name;
	int name_bytes;
	bool is_required;
	const char *type; /* up to the blank; "" when anything goes */
	int type_bytes;
};

static bool next_attribute(const char **at, struct attribute_rule *ret)
{
	const char *word = *at + strspn(*at, " ");

	if (!*word)
		return false;
	ret->name = word;
	ret->name_bytes = (int)strcspn(word, "!: ");
	word += ret->name_bytes;
	ret->is_required = *word == '!';
	word += ret->is_required;
	ret->type = *word == ':' ? word + 1 : "";
	ret->type_bytes = *word == ':' ? (int)strcspn(ret->type, " ") : 0;
	*at = word + strcspn(word, " ");
	return true;
}

static bool is_type(const struct attribute_rule *rule, const char *type)
{
	return strlen(type) == (size_t)rule->type_bytes &&
	       strncmp(rule->type, type, (size_t)rule->type_bytes) == 0;
}

static bool is_one_of(const struct attribute_rule *rule, const char *value)
{
	const char *at = rule->type, *end = rule->type + rule->type_bytes;

	while (at < end) {
		size_t bytes = strcspn(at, "| ");

		if (strlen(value) == bytes && strncmp(at, value, bytes) == 0)
			return true;
		at += bytes + 1;
	}
	return false;
}

static bool is_c_name(const char *text)
{
	static const char accepted[] =
		"0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	return !(*text >= '0' && *text <= '9') && !text[strspn(text, accepted)];
}

static bool is_reference(const char *text)
{
	size_t bytes = strlen(text);

	return bytes > 4 && text[bytes - 1] == ')' &&
	       (strncasecmp(text, "$(string.", 9) == 0 || strncasecmp(text, "$(mc.", 5) == 0);
}

static int check_number(struct mc_reader *reader, const struct etw_xml_element *element,
			const struct attribute_rule *rule, const char *value)
{
	unsigned bits = is_type(rule, "u8")    ? 8
			: is_type(rule, "u16") ? 16
			: is_type(rule, "u32") ? 32
					       : 64;
	uint64_t max = is_type(rule, "max16") ? 16 : UINT64_MAX >> (64 - bits);
	uint64_t number;

	if (etw_number_parse(value, max, &number))
		return 0;
	return etw_compile_complain(
		reader, element, "%.*s=\"%s\" of <%s> is not a number from 0 to %llu",
		rule->name_bytes, rule->name, value, element->name, (unsigned long long)max);
}

static bool is_flag(const char *value)
{
	return strcmp(value, "true") == 0 || strcmp(value, "false") == 0 ||
	       strcmp(value, "1") == 0 || strcmp(value, "0") == 0;
}

static int check_value(struct mc_reader *reader, const struct etw_xml_element *element,
		       const struct attribute_rule *rule, const char *value)
{
	const char *what;
	GUID guid;

	if (!rule->type_bytes)
		return 0;
	if ((rule->type[0] == 'u' && rule->type[1] >= '0' && rule->type[1] <= '9') ||
	    is_type(rule, "max16"))
		return check_number(reader, element, rule, value);
	if (is_type(rule, "guid"))
		what = value[0] == '{' && etw_guid_parse(value, &guid) == 0
			       ? NULL
			       : "is not a GUID in braces";
	else if (is_type(rule, "symbol"))
		what = is_c_name(value) ? NULL : "is not a name of C";
	else if (is_type(rule, "flag"))
		what = is_flag(value) ? NULL : "is neither true nor false";
	else if (is_type(rule, "ref"))
		return is_reference(value) ? 0
					   : etw_compile_warn(reader, element,
							      "%.*s=\"%s\" of <%s> is not of the "
							      "form $(string.id) and is left out",
							      rule->name_bytes, rule->name, value,
							      element->name);
	else
		what = is_one_of(rule, value) ? NULL : "is none of the values that it may have";
	if (!what)
		return 0;
	return etw_compile_complain(reader, element, "%.*s=\"%s\" of <%s> %s", rule->name_bytes,
				    rule->name, value, element->name, what);
}

/* Attributes with a prefix are of other namespaces: xmlns:win, xsi:schemaLocation, trace:... */
static bool is_known_attribute(const char *spec, const char *name)
{
	struct attribute_rule rule;

	if (strchr(name, ':') || strcmp(name, "xmlns") == 0)
		return true;
	while (next_attribute(&spec, &rule)) {
		if (strlen(name) == (size_t)rule.name_bytes &&
		    strncmp(rule.name, name, (size_t)rule.name_bytes) == 0)
			return true;
	}
	return false;
}

/* What stands between the tags, without the blanks around it; NULL: nothing. */
static const char *text_of(struct mc_reader *reader, const struct etw_xml_element *element)
{
	const char *text = element->text;
	size_t bytes;

	if (!text)
		return NULL;
	text += strspn(text, " \t\r\n");
	bytes = strlen(text);
	while (bytes && strchr(" \t\r\n", text[bytes - 1]))
		bytes--;
	return etw_arena_strndup(&reader->manifest->arena, text, bytes);
}

static int check_attributes(struct mc_reader *reader, const struct etw_xml_element *element,
			    const char *spec)
{
	struct attribute_rule rule;

	for (size_t i = 0; i < element->attribute_count; i++) {
		if (!is_known_attribute(spec, element->attributes[i].name))
			TRY(etw_compile_complain(reader, element, "<%s> has no attribute %s",
						 element->name, element->attributes[i].name));
	}
	while (next_attribute(&spec, &rule)) {
		char name[64];
		const char *value;

		(void)snprintf(name, sizeof(name), "%.*s", rule.name_bytes, rule.name);
		value = strcmp(name, "text") == 0 ? text_of(reader, element)
						  : etw_xml_attribute(element, name);
		if (value)
			TRY(check_value(reader, element, &rule, value));
		else if (rule.is_required)
			TRY(etw_compile_complain(reader, element,
						 strcmp(name, "text") == 0
							 ? "<%s> lacks its %s"
							 : "<%s> lacks its attribute %s",
						 element->name, name));
	}
	return 0;
}

static int check_element(struct mc_reader *reader, const struct etw_xml_element *element,
			 const char *parent)
{
	const struct element_rule *rule = find_rule(parent, element->name);

	if (!rule && strcmp(parent, "events") == 0 && strcmp(element->name, "task") == 0)
		return etw_compile_complain(reader, element,
					    "events within a <task> are no longer accepted");
	if (!rule)
		return etw_compile_complain(reader, element, "<%s> is not expected in <%s>",
					    element->name, parent);
	if (!rule->attributes)
		return 0;
	TRY(check_attributes(reader, element, rule->attributes));
	for (const struct etw_xml_element *child = element->first_child; child; child = child->next)
		TRY(check_element(reader, child, element->name));
	return 0;
}

int etw_compile_check_rules(struct mc_reader *reader, const struct etw_xml_element *root)
{
	/* Windows' component manifests hold one among things that are no concern of events. */
	if (strcmp(root->name, "assembly") == 0) {
		for (const struct etw_xml_element *child = root->first_child; child;
		     child = child->next) {
			if (find_rule("instrumentationManifest", child->name))
				TRY(check_element(reader, child, "instrumentationManifest"));
		}
		return 0;
	}
	if (strcmp(root->name, "instrumentationManifest") != 0)
		return etw_compile_complain(
			reader, root, "the document is a <%s>, not an <instrumentationManifest>",
			root->name);
	return check_element(reader, root, "");
}
