# SPDX-License-Identifier: MIT
# The BPF programs of the kernel's source: compiled by clang for the BPF machine and put into the library
# as bytes, so that nothing but libbpf is needed at run time. No vmlinux.h and no bpftool: the programs
# name the few kernel members that they use, and the loader finds their places (CO-RE).
option(ETW_KERNEL_BPF "Record the live kernel by BPF (needs clang and libbpf)" ON)

# etw_kernel_bpf(TARGET) - adds the programs to TARGET, or says why the kernel cannot be recorded.
function(etw_kernel_bpf target)
  if(NOT ETW_KERNEL_BPF)
    return()
  endif()
  find_program(ETW_BPF_CLANG NAMES clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14)
  find_program(ETW_BPF_STRIP NAMES llvm-strip llvm-strip-14)
  find_path(LIBBPF_INCLUDE_DIR bpf/libbpf.h)
  find_library(LIBBPF_LIBRARY bpf)
  if(NOT ETW_BPF_CLANG OR NOT LIBBPF_INCLUDE_DIR OR NOT LIBBPF_LIBRARY)
    message(STATUS "No clang or no libbpf: built without the kernel's events")
    return()
  endif()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
    set(machine x86)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    set(machine arm64)
  else()
    message(STATUS "No BPF programs for ${CMAKE_SYSTEM_PROCESSOR}: built without the kernel's events")
    return()
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
  foreach(name tasks unmaps)
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
  endforeach()
  target_compile_definitions(${target} PRIVATE ETW_KERNEL_BPF)
  target_include_directories(${target} SYSTEM PRIVATE ${LIBBPF_INCLUDE_DIR})
  target_link_libraries(${target} PRIVATE ${LIBBPF_LIBRARY})
endfunction()
