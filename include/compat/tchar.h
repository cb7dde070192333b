/* SPDX-License-Identifier: MIT */
/* Names that are wide with _UNICODE and narrow without. */
#ifndef _TCHAR_H_
#define _TCHAR_H_

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include <etw_compat_crt.h>

#ifdef _UNICODE

typedef wchar_t _TCHAR, _TXCHAR, _TSCHAR, _TUCHAR;
typedef wint_t _TINT;
#define __T(text)     L##text
#define _TEOF         WEOF
#define _tmain        wmain
#define _tprintf      wprintf
#define _ftprintf     fwprintf
#define _stprintf     swprintf
#define _vtprintf     vwprintf
#define _vftprintf    vfwprintf
#define _vstprintf    vswprintf
#define _tprintf_s    wprintf_s
#define _ftprintf_s   fwprintf_s
#define _stprintf_s   swprintf_s
#define _vtprintf_s   vwprintf_s
#define _vftprintf_s  vfwprintf_s
#define _vstprintf_s  vswprintf_s
#define _sntprintf    _snwprintf
#define _vsntprintf   _vsnwprintf
#define _sntprintf_s  _snwprintf_s
#define _vsntprintf_s _vsnwprintf_s
#define _sctprintf    _scwprintf
#define _vsctprintf   _vscwprintf
#define _tscanf       wscanf
#define _ftscanf      fwscanf
#define _stscanf      swscanf
#define _fgettc       fgetwc
#define _fputtc       fputwc
#define _gettchar     getwchar
#define _puttchar     putwchar
#define _fgetts       fgetws
#define _fputts       fputws
#define _getts_s      _getws_s
#define _putts        _putws
#define _gettc        getwc
#define _puttc        putwc
#define _ungettc      ungetwc
#define _tcslen       wcslen
#define _tcsnlen      wcsnlen
#define _tcscpy       wcscpy
#define _tcscpy_s     wcscpy_s
#define _tcsncpy      wcsncpy
#define _tcsncpy_s    wcsncpy_s
#define _tcscat       wcscat
#define _tcscat_s     wcscat_s
#define _tcsncat      wcsncat
#define _tcsncat_s    wcsncat_s
#define _tcscmp       wcscmp
#define _tcsncmp      wcsncmp
#define _tcsicmp      _wcsicmp
#define _tcsnicmp     _wcsnicmp
#define _tcscoll      wcscoll
#define _tcsicoll     _wcsicoll
#define _tcschr       wcschr
#define _tcsrchr      wcsrchr
#define _tcsstr       wcsstr
#define _tcspbrk      wcspbrk
#define _tcsspn       wcsspn
#define _tcscspn      wcscspn
#define _tcstok       wcstok
#define _tcstok_s     wcstok_s
#define _tcsdup       _wcsdup
#define _tcslwr       _wcslwr
#define _tcsupr       _wcsupr
#define _tcslwr_s     _wcslwr_s
#define _tcsupr_s     _wcsupr_s
#define _tcsrev       _wcsrev
#define _tcsset       _wcsset
#define _tcsnset      _wcsnset
#define _tcstol       wcstol
#define _tcstoul      wcstoul
#define _tcstoll      wcstoll
#define _tcstoull     wcstoull
#define _tcstoi64     _wcstoi64
#define _tcstoui64    _wcstoui64
#define _tcstod       wcstod
#define _ttoi         _wtoi
#define _tstoi        _wtoi
#define _ttol         _wtol
#define _tstol        _wtol
#define _ttoi64       _wtoi64
#define _tstoi64      _wtoi64
#define _tstof        _wtof
#define _ttof         _wtof
#define _itot         _itow
#define _itot_s       _itow_s
#define _ltot         _ltow
#define _ltot_s       _ltow_s
#define _ultot        _ultow
#define _ultot_s      _ultow_s
#define _i64tot       _i64tow
#define _i64tot_s     _i64tow_s
#define _ui64tot      _ui64tow
#define _ui64tot_s    _ui64tow_s
#define _istalnum     iswalnum
#define _istalpha     iswalpha
#define _istcntrl     iswcntrl
#define _istdigit     iswdigit
#define _istgraph     iswgraph
#define _istlower     iswlower
#define _istprint     iswprint
#define _istpunct     iswpunct
#define _istspace     iswspace
#define _istupper     iswupper
#define _istxdigit    iswxdigit
#define _totlower     towlower
#define _totupper     towupper
#define _gettch       _getwch
#define _gettche      _getwche
#define _puttch       _putwch
#define _cputts       _cputws
#define __targv       __wargv
#define _tenviron     _wenviron
#define _tcsftime     wcsftime

#else

typedef char _TCHAR, _TXCHAR;
typedef signed char _TSCHAR;
typedef unsigned char _TUCHAR;
typedef int _TINT;
#define __T(text)     text
#define _TEOF         EOF
#define _tmain        main
#define _tprintf      printf
#define _ftprintf     fprintf
#define _stprintf     sprintf
#define _vtprintf     vprintf
#define _vftprintf    vfprintf
#define _vstprintf    vsprintf
#define _tprintf_s    printf_s
#define _ftprintf_s   fprintf_s
#define _stprintf_s   sprintf_s
#define _vtprintf_s   vprintf_s
#define _vftprintf_s  vfprintf_s
#define _vstprintf_s  vsprintf_s
#define _sntprintf    _snprintf
#define _vsntprintf   _vsnprintf
#define _sntprintf_s  _snprintf_s
#define _vsntprintf_s _vsnprintf_s
#define _sctprintf    _scprintf
#define _vsctprintf   _vscprintf
#define _tscanf       scanf
#define _ftscanf      fscanf
#define _stscanf      sscanf
#define _fgettc       fgetc
#define _fputtc       fputc
#define _gettchar     getchar
#define _puttchar     putchar
#define _fgetts       fgets
#define _fputts       fputs
#define _getts_s      gets_s
#define _putts        puts
#define _gettc        getc
#define _puttc        putc
#define _ungettc      ungetc
#define _tcslen       strlen
#define _tcsnlen      strnlen
#define _tcscpy       strcpy
#define _tcscpy_s     strcpy_s
#define _tcsncpy      strncpy
#define _tcsncpy_s    strncpy_s
#define _tcscat       strcat
#define _tcscat_s     strcat_s
#define _tcsncat      strncat
#define _tcsncat_s    strncat_s
#define _tcscmp       strcmp
#define _tcsncmp      strncmp
#define _tcsicmp      _stricmp
#define _tcsnicmp     _strnicmp
#define _tcscoll      strcoll
#define _tcsicoll     _stricoll
#define _tcschr       strchr
#define _tcsrchr      strrchr
#define _tcsstr       strstr
#define _tcspbrk      strpbrk
#define _tcsspn       strspn
#define _tcscspn      strcspn
#define _tcstok       strtok
#define _tcstok_s     strtok_s
#define _tcsdup       _strdup
#define _tcslwr       _strlwr
#define _tcsupr       _strupr
#define _tcslwr_s     _strlwr_s
#define _tcsupr_s     _strupr_s
#define _tcsrev       _strrev
#define _tcsset       _strset
#define _tcsnset      _strnset
#define _tcstol       strtol
#define _tcstoul      strtoul
#define _tcstoll      strtoll
#define _tcstoull     strtoull
#define _tcstoi64     strtoll
#define _tcstoui64    strtoull
#define _tcstod       strtod
#define _ttoi         atoi
#define _tstoi        atoi
#define _ttol         atol
#define _tstol        atol
#define _ttoi64       atoll
#define _tstoi64      atoll
#define _tstof        atof
#define _ttof         atof
#define _itot         _itoa
#define _itot_s       _itoa_s
#define _ltot         _ltoa
#define _ltot_s       _ltoa_s
#define _ultot        _ultoa
#define _ultot_s      _ultoa_s
#define _i64tot       _i64toa
#define _i64tot_s     _i64toa_s
#define _ui64tot      _ui64toa
#define _ui64tot_s    _ui64toa_s
#define _istalnum     isalnum
#define _istalpha     isalpha
#define _istcntrl     iscntrl
#define _istdigit     isdigit
#define _istgraph     isgraph
#define _istlower     islower
#define _istprint     isprint
#define _istpunct     ispunct
#define _istspace     isspace
#define _istupper     isupper
#define _istxdigit    isxdigit
#define _totlower     tolower
#define _totupper     toupper
#define _gettch       _getch
#define _gettche      _getche
#define _puttch       _putch
#define _cputts       _cputs
#define __targv       __argv
#define _tenviron     environ
#define _tcsftime     strftime

#endif

#define _T(text)    __T(text)
#define _TEXT(text) __T(text)

#ifndef ETW_WINTYPES_H /* which has it by UNICODE, as windows.h */
#include <etw/wintypes.h>
#endif

#define _tclen(at)             1
#define _tcsinc(at)            ((at) + 1)
#define _tcsdec(from, at)      ((at) > (from) ? (at)-1 : NULL)
#define _tcsnextc(at)          (*(at))
#define _tcsclen               _tcslen
#define _tcsnccnt(text, count) _tcsnlen((text), (count))
#define _tcsncicmp             _tcsnicmp
#define _tcsnccmp              _tcsncmp

#endif
