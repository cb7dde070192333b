# SPDX-License-Identifier: MIT
# The index of known providers: made of the table in src/schema/known/table by a program that runs during
# the build. In a cross build that program is built by a compiler of the building machine (ETW_HOST_CC).
set(ETW_DATA_DIR ${CMAKE_INSTALL_DATADIR}/etw)
set(ETW_KNOWN_INDEX ${CMAKE_BINARY_DIR}/share/etw/known-providers.index)

file(GLOB known_index_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/generate/known_index/*.c)
list(APPEND known_index_sources
  ${CMAKE_SOURCE_DIR}/src/schema/types.c ${CMAKE_SOURCE_DIR}/src/schema/manifest/manifest_types.c)
if(CMAKE_CROSSCOMPILING)
  find_program(ETW_HOST_CC NAMES cc gcc clang REQUIRED)
  set(known_index ${CMAKE_BINARY_DIR}/generate/known_index)
  file(GLOB known_index_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/generate/known_index/*.h)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generate)
  add_custom_command(OUTPUT ${known_index}
    COMMAND ${ETW_HOST_CC} -std=gnu17 -O2 -D_GNU_SOURCE -I${CMAKE_SOURCE_DIR}/src
            -I${CMAKE_SOURCE_DIR}/include ${known_index_sources} -o ${known_index}
    DEPENDS ${known_index_sources} ${known_index_headers} ${CMAKE_SOURCE_DIR}/src/wire/known.h
    COMMENT "known_index, for this machine"
    VERBATIM)
else()
  add_executable(known_index ${known_index_sources})
  target_include_directories(known_index PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include
                                                 ${CMAKE_SOURCE_DIR}/generate/known_index)
  set_target_properties(known_index PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/generate)
  set(known_index known_index)
endif()

# A new file of the table makes CMake run again.
file(GLOB known_tables CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/schema/known/table/*.txt)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share/etw)
add_custom_command(OUTPUT ${ETW_KNOWN_INDEX}
  COMMAND ${known_index} ${CMAKE_SOURCE_DIR}/src/schema/known/table ${ETW_KNOWN_INDEX}.new
  COMMAND ${CMAKE_COMMAND} -E rename ${ETW_KNOWN_INDEX}.new ${ETW_KNOWN_INDEX}
  DEPENDS ${known_index} ${known_tables}
  COMMENT "Index of known providers"
  VERBATIM)
add_custom_target(known_providers ALL DEPENDS ${ETW_KNOWN_INDEX})
add_dependencies(etw_schema known_providers) # who builds one program gets what it looks for

# Where the index is from programs and libraries, in a tree that was moved too.
file(RELATIVE_PATH data_by_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_DATADIR}/etw)
file(RELATIVE_PATH data_by_lib ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_FULL_DATADIR}/etw)
target_compile_definitions(etw_schema PRIVATE
  ETW_DATA_FOLDER="${CMAKE_INSTALL_FULL_DATADIR}/etw"
  ETW_DATA_BY_BIN="${data_by_bin}" ETW_DATA_BY_LIB="${data_by_lib}")
install(FILES ${ETW_KNOWN_INDEX} DESTINATION ${ETW_DATA_DIR})
