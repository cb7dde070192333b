/* SPDX-License-Identifier: MIT */
/* The same checks as C++11 sees the headers; C++ vtables instead of lpVtbl structs. */
#include "layout_test.c"
