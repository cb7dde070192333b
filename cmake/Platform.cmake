# SPDX-License-Identifier: MIT
# The machines, compilers and C libraries that libetw is written for. Any other is refused here, by one sentence: it would
# fail later, in a place that does not tell why, or work until somebody's trace is wrong.
include(CheckCSourceCompiles)

# refuse_without(VARIABLE SOURCE SENTENCE) - ends the configuration unless SOURCE can be built.
function(refuse_without variable source sentence)
  set(CMAKE_REQUIRED_DEFINITIONS -D_GNU_SOURCE)
  set(CMAKE_REQUIRED_QUIET ON)
  check_c_source_compiles("${source}" ${variable})
  if(NOT ${variable})
    message(FATAL_ERROR "${sentence}")
  endif()
endfunction()

if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  message(FATAL_ERROR "libetw needs Linux: it records by its system calls, futexes and BPF")
endif()
refuse_without(PLATFORM_LITTLE_ENDIAN "
  _Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, \"\");
  int main(void) { return 0; }"
  "libetw needs a little-endian processor: traces and the rings in shared memory are little-endian, and are used in place")
refuse_without(PLATFORM_64_BIT "
  _Static_assert(sizeof(void *) == 8, \"\");
  int main(void) { __int128 product = 1; return (int)product; }"
  "libetw needs a 64-bit processor: it calculates times in integers of 128 bits, and maps traces and rings whole")
refuse_without(PLATFORM_COMPILER "
  typedef unsigned char bytes4 __attribute__((vector_size(4)));
  int main(void) {
    bytes4 bytes = {0};
    return __builtin_shufflevector(bytes, bytes, 3, 2, 1, 0)[0] + !__builtin_thread_pointer();
  }"
  "libetw needs gcc 12 or clang 14, or newer: this compiler lacks __builtin_shufflevector or __builtin_thread_pointer")
refuse_without(PLATFORM_COUNTER "
  int main(void) {
  #if defined(__x86_64__) || defined(__aarch64__)
    return 0;
  #else
    return no_counter;
  #endif
  }"
  "libetw needs x86-64 or arm64: it reads the time counters of these processors only (src/ring/clock.h)")
refuse_without(PLATFORM_GLIBC "
  #include <pthread.h>
  #include <string.h>
  #include <unistd.h>
  int main(void) {
    return !(&pthread_mutex_clocklock && &pthread_cond_clockwait && &close_range && &strerrordesc_np);
  }"
  "libetw needs glibc 2.34 or newer: this C library (musl, or an older glibc) lacks one of pthread_mutex_clocklock, pthread_cond_clockwait, close_range and strerrordesc_np")
refuse_without(PLATFORM_LINUX_HEADERS "
  #include <linux/capability.h>
  #include <linux/close_range.h>
  #include <linux/futex.h>
  #include <linux/openat2.h>
  #include <sys/syscall.h>
  int main(void) { return SYS_openat2 + CAP_BPF + CAP_PERFMON; }"
  "libetw needs the headers of Linux 5.9 or newer (linux-libc-dev in Debian, kernel-headers in Fedora)")
