/* SPDX-License-Identifier: MIT */
/*
 * C++ with wchar_t of two bytes: strings, streams in both directions, regular expressions, conversions, paths and
 * facets. What is expected is what the C++ standard says, with UTF-8 outside.
 *
 * Reads what run_wide_cxx writes to its standard input. Exit status 0: all hold.
 */
#include <codecvt>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <locale>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>

namespace {

int failures;

#define CHECK(condition)                                                                     \
	do {                                                                                 \
		if (!(condition)) {                                                          \
			std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			failures++;                                                          \
		}                                                                            \
	} while (0)

#define EURO_AND_FACE      L"\x20ac\xd83d\xde00"
#define EURO_AND_FACE_UTF8 "\xe2\x82\xac\xf0\x9f\x98\x80"

void check_strings()
{
	std::wstring text = L"hello";
	std::map<std::wstring, int> ordered;
	std::unordered_map<std::wstring, int> hashed;

	CHECK(text.size() == 5);
	text += L" world";
	CHECK(text == L"hello world" && text.find(L"wor") == 6 && text.substr(6) == L"world");
	ordered[L"a"] = 1;
	ordered[L"b"] = 2;
	hashed[L"x"] = 4;
	CHECK(ordered[L"b"] == 2 && hashed.at(L"x") == 4);
	CHECK(std::hash<std::wstring>()(L"a") != std::hash<std::wstring>()(L"b"));
	CHECK(std::to_wstring(-12) == L"-12");
	CHECK(std::to_wstring(1.5) == L"1.500000");
	CHECK(std::to_wstring(18446744073709551615ULL) == L"18446744073709551615");
	CHECK(std::stoi(L"77") == 77 && std::stod(L"2.5") == 2.5);
	CHECK(std::stoull(L"ff", nullptr, 16) == 255);
}

void check_output()
{
	std::wostringstream out, copy, address;
	std::wistringstream source(L"copied");
	std::tm day = {};

	out << L"n=" << 42 << L' ' << std::hex << std::showbase << 255 << std::dec << L' ' << 1.5
	    << L' ' << std::boolalpha << true << L' ' << std::setw(8) << std::setfill(L'*') << -3
	    << L' ' << "narrow" << L' ' << std::internal << std::setw(6) << -7;
	CHECK(out.str() == L"n=42 0xff 1.5 true ******-3 narrow -****7");
	copy << source.rdbuf();
	CHECK(copy.str() == L"copied");
	address << reinterpret_cast<void *>(0x10);
	CHECK(address.str() == L"0x10");
	day.tm_year = 120;
	day.tm_mon = 1;
	day.tm_mday = 29;
	out.str(L"");
	out << std::put_time(&day, L"%Y-%m-%d %B");
	CHECK(out.str() == L"2020-02-29 February");
}

void check_input()
{
	std::wistringstream in(L"12 0x1f 3.25 word -9 true 70000");
	std::wistringstream lines(L"one\ntwo\n\nfour"), parts(L"abc;def"), quoted(L"\"a b\"");
	std::wistringstream date(L"2021-03-04");
	std::wstring text;
	std::tm day = {};
	wchar_t room[3];
	unsigned hexadecimal = 0;
	double real = 0;
	short small = 0, too_small;
	bool truth = false;
	int whole = 0, count = 0;

	in >> whole >> std::hex >> hexadecimal >> std::dec >> real >> text >> small >>
		std::boolalpha >> truth;
	CHECK(whole == 12 && hexadecimal == 31 && real == 3.25 && text == L"word" && small == -9 &&
	      truth);
	in >> too_small;
	CHECK(in.fail());
	while (std::getline(lines, text))
		count++;
	CHECK(count == 4 && text == L"four");
	parts.ignore(100, L';');
	parts.getline(room, 3);
	CHECK(std::wstring(room) == L"de" && parts.fail());
	quoted >> std::quoted(text);
	CHECK(text == L"a b");
	date >> std::get_time(&day, L"%Y-%m-%d");
	CHECK(day.tm_year == 121 && day.tm_mon == 2 && day.tm_mday == 4);
}

class apostrophes : public std::numpunct<wchar_t> {
      protected:
	wchar_t do_thousands_sep() const override
	{
		return L'\'';
	}

	std::string do_grouping() const override
	{
		return "\3";
	}
};

void check_locales()
{
	const std::locale grouping(std::locale::classic(), new apostrophes);
	std::wostringstream out, named;
	std::wistringstream in(L"1'234'567");
	long number = 0;

	out.imbue(grouping);
	out << 1234567 << L' ' << 12.5 << L' ' << std::boolalpha << false;
	CHECK(out.str() == L"1'234'567 12.5 false");
	in.imbue(grouping);
	in >> number;
	CHECK(number == 1234567);
	named.imbue(std::locale("C"));
	named << 99 << L' ' << 1.5;
	CHECK(named.str() == L"99 1.5");
	CHECK(std::toupper(L'\xe4', std::locale()) == L'\xc4');
}

void check_regular_expressions()
{
	const std::wstring text = L"xx ABC-123 yy";
	std::wsmatch match;

	CHECK(std::regex_search(text, match,
				std::wregex(L"([a-z]+)-(\\d+)", std::regex_constants::icase)));
	CHECK(match[1] == L"ABC" && match[2] == L"123");
	CHECK(std::regex_replace(text, std::wregex(L"[[:space:]]+"), L"_") == L"xx_ABC-123_yy");
	CHECK(std::regex_match(L"\xe9t\xe9", std::wregex(L"\\w+")));
}

void check_conversions(const std::filesystem::path &folder)
{
	std::wstring_convert<std::codecvt_utf8_utf16<wchar_t>> utf16;
	std::wstring_convert<std::codecvt_utf8<wchar_t>> ucs2;
	const std::filesystem::path path(L"/tmp/" EURO_AND_FACE L".txt");
	const std::filesystem::path file = folder / L"wide.txt";
	std::wstring text;
	int number = 0;

	CHECK(utf16.to_bytes(EURO_AND_FACE) == EURO_AND_FACE_UTF8);
	CHECK(utf16.from_bytes(EURO_AND_FACE_UTF8) == EURO_AND_FACE);
	CHECK(ucs2.to_bytes(L"\x20ac") == "\xe2\x82\xac");
	CHECK(path.string() == "/tmp/" EURO_AND_FACE_UTF8 ".txt");
	CHECK(path.wstring() == L"/tmp/" EURO_AND_FACE L".txt");
	CHECK(path.extension().wstring() == L".txt");
	{
		std::wofstream out(file);

		out << EURO_AND_FACE L" line\n" << 5;
	}
	{
		std::ifstream in(file);
		const std::string bytes((std::istreambuf_iterator<char>(in)),
					std::istreambuf_iterator<char>());

		CHECK(bytes == EURO_AND_FACE_UTF8 " line\n5");
	}
	std::wifstream in(file);

	std::getline(in, text);
	in >> number;
	CHECK(text == EURO_AND_FACE L" line" && number == 5);
}

/* What run_wide_cxx holds against the bytes that it expects. */
void talk()
{
	std::wstring text;
	int number = 0;

	std::wcout << L"wide " EURO_AND_FACE L" " << 12 << L' ' << 0.25 << std::endl;
	std::printf("narrow %d\n", 1);
	std::wcout << L"again" << std::endl;
	std::wcin >> number >> text;
	CHECK(number == 31 && text == L"z\xe9");
	std::getline(std::wcin, text);
	std::getline(std::wcin, text);
	CHECK(text == L"last \xd83d\xde00");
	CHECK(!std::getline(std::wcin, text));
}

} /* namespace */

int main(int argc, char **argv)
{
	check_strings();
	check_output();
	check_input();
	check_locales();
	check_regular_expressions();
	check_conversions(argc > 1 ? argv[1] : "/tmp");
	talk();
	return failures ? 1 : 0;
}
