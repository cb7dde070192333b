# SPDX-License-Identifier: MIT
# The BPF programs of the kernel's source: compiled by clang for the BPF machine and put into the library
# as bytes, so that nothing but libbpf is needed at run time. No vmlinux.h and no bpftool: the programs
# name the few kernel members that they use, and the loader finds their places (CO-RE).
set(ETW_KERNEL AUTO CACHE STRING "Record the live kernel by BPF: ON, OFF, or AUTO, where clang and libbpf allow it")
set_property(CACHE ETW_KERNEL PROPERTY STRINGS AUTO ON OFF)
set(ETW_LIBBPF_LEAST 1.0) # its functions return errors, those of older ones mostly set errno

# find_libbpf(RET) - finds libbpf; RET is why it cannot be used, or empty.
function(find_libbpf ret)
  set(${ret} "" PARENT_SCOPE)
  find_path(LIBBPF_INCLUDE_DIR bpf/libbpf.h)
  find_library(LIBBPF_LIBRARY bpf)
  if(NOT LIBBPF_INCLUDE_DIR OR NOT LIBBPF_LIBRARY)
    set(${ret} "libbpf was not found: install it with its headers (libbpf-dev in Debian) and build again"
      PARENT_SCOPE)
    return()
  endif()
  set(version "")
  if(EXISTS ${LIBBPF_INCLUDE_DIR}/bpf/libbpf_version.h) # since 0.6
    file(STRINGS ${LIBBPF_INCLUDE_DIR}/bpf/libbpf_version.h lines REGEX "define LIBBPF_(MAJOR|MINOR)_VERSION")
    string(REGEX MATCHALL "[0-9]+" version "${lines}")
    string(REPLACE ";" "." version "${version}")
  endif()
  if(NOT version OR version VERSION_LESS ETW_LIBBPF_LEAST)
    set(${ret} "libbpf is older than ${ETW_LIBBPF_LEAST}: install a newer one and build again" PARENT_SCOPE)
  endif()
endfunction()

# names_by_version(RET NAME) - NAME, then as distributions call its versions, the newest first.
function(names_by_version ret name)
  set(names ${name})
  foreach(version RANGE 30 14 -1)
    list(APPEND names ${name}-${version})
  endforeach()
  set(${ret} ${names} PARENT_SCOPE)
endfunction()

# find_bpf_clang(RET) - finds a clang that compiles for BPF; RET is why there is none, or empty.
function(find_bpf_clang ret)
  set(${ret} "" PARENT_SCOPE)
  names_by_version(names clang)
  if(CMAKE_C_COMPILER_ID STREQUAL "Clang") # one clang for all, where it is clang that compiles
    list(PREPEND names ${CMAKE_C_COMPILER})
  endif()
  find_program(ETW_BPF_CLANG NAMES ${names})
  if(NOT ETW_BPF_CLANG)
    set(${ret} "clang, which compiles the BPF programs, was not found: install it and build again" PARENT_SCOPE)
    return()
  endif()
  if(NOT ETW_BPF_CLANG STREQUAL "${ETW_BPF_CLANG_TRIED}")
    file(WRITE ${CMAKE_BINARY_DIR}/kernel_bpf/try.c "int one(void)\n{\n\treturn 1;\n}\n")
    execute_process(COMMAND ${ETW_BPF_CLANG} -target bpf -mcpu=v3 -g -c ${CMAKE_BINARY_DIR}/kernel_bpf/try.c
        -o ${CMAKE_BINARY_DIR}/kernel_bpf/try.o
      RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
    if(result)
      set(${ret} "${ETW_BPF_CLANG} does not compile for BPF: install a clang that does and build again" PARENT_SCOPE)
      unset(ETW_BPF_CLANG CACHE)
      return()
    endif()
    set(ETW_BPF_CLANG_TRIED ${ETW_BPF_CLANG} CACHE INTERNAL "the clang that was seen to compile for BPF")
  endif()
endfunction()

# find_what_kernel_lacks(RET) - RET is the reason to leave the kernel's events out, or empty.
function(find_what_kernel_lacks ret)
  if(NOT ETW_KERNEL)
    set(${ret} "ETW_KERNEL is off: configure with -DETW_KERNEL=ON and build again" PARENT_SCOPE)
    return()
  endif()
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64|aarch64|arm64)$")
    set(${ret} "its BPF programs know the registers of x86-64 and arm64 only" PARENT_SCOPE)
    return()
  endif()
  find_libbpf(reason)
  if(NOT reason)
    find_bpf_clang(reason)
  endif()
  set(${ret} "${reason}" PARENT_SCOPE)
endfunction()

# add_bpf_programs(TARGET) - and lists the objects in the global property ETW_BPF_OBJECTS.
function(add_bpf_programs target)
  names_by_version(names llvm-strip)
  find_program(ETW_BPF_STRIP NAMES ${names})
  set(machine x86)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    set(machine arm64)
  endif()
  set(includes -I${LIBBPF_INCLUDE_DIR})
  if(CMAKE_LIBRARY_ARCHITECTURE)
    list(APPEND includes -idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
  endif()
  set(from ${CMAKE_SOURCE_DIR}/src/source/kernel/bpf)
  set(to ${CMAKE_BINARY_DIR}/kernel_bpf)
  file(MAKE_DIRECTORY ${to})
  set(strip ${CMAKE_COMMAND} -E true)
  if(ETW_BPF_STRIP) # debugging sections alone; CO-RE's BTF stays
    set(strip ${ETW_BPF_STRIP} -g)
  endif()
  set(warnings -Wall -Wextra)
  if(ETW_WERROR)
    list(APPEND warnings -Werror)
  endif()
  file(GLOB headers CONFIGURE_DEPENDS ${from}/*.h)
  set(rows "")
  foreach(name tasks unmaps maps modules threads switches contexts samples ready syscalls interrupts
               priorities owners power disks faults memory network file_calls file_requests
               file_ends mapped_writes)
    add_custom_command(
      OUTPUT ${to}/${name}.c
      COMMAND ${ETW_BPF_CLANG} -target bpf -mcpu=v3 -O2 -g ${warnings}
              -D__TARGET_ARCH_${machine} ${includes} -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.
              -c ${from}/${name}.bpf.c -o ${to}/${name}.o
      COMMAND ${strip} ${to}/${name}.o
      COMMAND ${CMAKE_COMMAND} -DFROM=${to}/${name}.o -DTO=${to}/${name}.c
              -DNAME=etw_kernel_${name}_object -P ${CMAKE_SOURCE_DIR}/cmake/EmbedBytes.cmake
      DEPENDS ${from}/${name}.bpf.c ${headers} ${CMAKE_SOURCE_DIR}/cmake/EmbedBytes.cmake
      COMMENT "BPF program ${name}"
      VERBATIM)
    target_sources(${target} PRIVATE ${to}/${name}.c)
    set_property(GLOBAL APPEND PROPERTY ETW_BPF_OBJECTS ${to}/${name}.o)
    string(APPEND rows "\t{etw_kernel_${name}_object, &etw_kernel_${name}_object_bytes},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${to}/objects.c @ONLY CONTENT [[/* Made by cmake/KernelBpf.cmake. */
#include "source/kernel/programs/all_objects.h"
#include "source/kernel/programs/bpf_objects.h"

const struct etw_kernel_object etw_kernel_objects[] = {
@rows@};
const size_t etw_kernel_object_count = sizeof(etw_kernel_objects) / sizeof(etw_kernel_objects[0]);
]])
  target_sources(${target} PRIVATE ${to}/objects.c)
  target_compile_definitions(${target} PRIVATE ETW_KERNEL_BPF)
  target_include_directories(${target} SYSTEM PRIVATE ${LIBBPF_INCLUDE_DIR})
  target_link_libraries(${target} PRIVATE ${LIBBPF_LIBRARY})
endfunction()

# etw_kernel_bpf(TARGET) - adds the programs to TARGET; or tells it the reason why they are left out.
function(etw_kernel_bpf target)
  find_what_kernel_lacks(reason)
  if(NOT reason)
    add_bpf_programs(${target})
    etw_component("kernel events")
    return()
  endif()
  if(ETW_KERNEL AND NOT ETW_KERNEL STREQUAL "AUTO")
    message(FATAL_ERROR "ETW_KERNEL is ${ETW_KERNEL}, but the kernel's events cannot be built in: ${reason}")
  endif()
  target_compile_definitions(${target} PRIVATE "ETW_KERNEL_LEFT_OUT=\"${reason}\"")
  etw_component("kernel events" "${reason}")
endfunction()
