/* SPDX-License-Identifier: MIT */
/*
 * A small program with wide characters, as one writes it for Windows; also compiled as C++. Its first argument is
 * printed in both kinds of printf, and its exit status is 3.
 */
#include <conio.h>
#include <stdio.h>
#include <stdlib.h>
#include <tchar.h>
#include <windows.h>

int _tmain(int argc, _TCHAR *argv[])
{
	_TCHAR buffer[16];
	DWORD number = (DWORD)-1;
	int length = 0;

	if (argc < 2 || wcslen(L"hello") != 5 || _tcsicmp(_T("ABC"), _T("abc")))
		return 1;
	(void)_stprintf_s(buffer, _countof(buffer), _T("%lu"), number);
	wprintf(L"%s %S %I64u\n", argv[1], "narrow", 1ULL << 40);
	printf("%ws %s %d\n", argv[1], (const char *)NULL, argc);
	_putws(buffer);
	while (_getch() != EOF)
		length++;
	printf("%d keys\n", length);
	return 3;
}
