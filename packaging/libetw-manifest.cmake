# SPDX-License-Identifier: MIT
#
# etw_add_manifest(TARGET MANIFEST [NAME base] [PREFIX prefix] [STRIP prefix] [KERNEL] [CALLOUT]
#                  [SCOPE PUBLIC|PRIVATE|INTERFACE] [OPTIONS option...])
#
# Compiles an instrumentation manifest with etw-mc whenever it changes, before TARGET is compiled, and lets TARGET
# include what comes of it: base.h. Beside it are the resources of a Windows module; their folder is the property
# ETW_MANIFEST_FOLDER of TARGET. A target may have several manifests.
#
#   NAME     base of the files' names; by default the name of the manifest without its extension
#   PREFIX   what the macros that write events begin with (-p); by default EventWrite
#   STRIP    what is taken off the start of event symbols in their names (-P)
#   KERNEL   the macros begin with an activity (-km)
#   CALLOUT  the macros call MCGEN_CALLOUT (-co)
#   SCOPE    of the header's folder; PRIVATE by default, INTERFACE for a library of interfaces. With PUBLIC, targets
#            that link TARGET include the header too.
#   OPTIONS  further ones of etw-mc
#
# A relative MANIFEST is in the current source folder. TARGET may be of any folder; it has to link libetw, of which the
# header calls functions. Where the programs of the target's machine do not run here, the variable ETW_MC names an
# etw-mc that does.

# The generated header and what it is made with: etw_manifest_command_(BASE SOURCE FOLDER OPTIONS)
function(etw_manifest_command_ base source folder options)
  set(compiler libetw::mc)
  if(ETW_MC)
    set(compiler "${ETW_MC}")
  endif()
  file(MAKE_DIRECTORY "${folder}")
  add_custom_command(
    OUTPUT "${folder}/${base}.h"
    BYPRODUCTS "${folder}/${base}.rc" "${folder}/${base}TEMP.BIN" "${folder}/${base}_MSG00001.bin"
    COMMAND ${compiler} ${options} -b -z "${base}" -h "${folder}" -r "${folder}" "${source}"
    DEPENDS "${source}" ${compiler}
    COMMENT "Compiling the manifest ${base}"
    VERBATIM)
endfunction()

function(etw_add_manifest target manifest)
  cmake_parse_arguments(PARSE_ARGV 2 arg "KERNEL;CALLOUT" "NAME;PREFIX;STRIP;SCOPE" "OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "etw_add_manifest: \"${arg_UNPARSED_ARGUMENTS}\" is none of its arguments")
  endif()
  if(arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "etw_add_manifest: ${arg_KEYWORDS_MISSING_VALUES} wants a value")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "etw_add_manifest: there is no target ${target}")
  endif()
  if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR AND NOT ETW_MC)
    message(FATAL_ERROR "etw_add_manifest: programs of the target's machine do not run here: set ETW_MC to an etw-mc "
                        "of this machine")
  endif()
  get_filename_component(source "${manifest}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  get_filename_component(base "${manifest}" NAME_WLE)
  if(arg_NAME)
    set(base "${arg_NAME}")
  endif()
  set(options -um)
  if(arg_KERNEL)
    set(options -km)
  endif()
  if(arg_CALLOUT)
    list(APPEND options -co)
  endif()
  if(arg_PREFIX)
    list(APPEND options -p "${arg_PREFIX}")
  endif()
  if(arg_STRIP)
    list(APPEND options -P "${arg_STRIP}")
  endif()
  get_target_property(type ${target} TYPE)
  if(NOT arg_SCOPE)
    set(arg_SCOPE PRIVATE)
    if(type STREQUAL "INTERFACE_LIBRARY")
      set(arg_SCOPE INTERFACE)
    endif()
  endif()

  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}_manifests")
  etw_manifest_command_("${base}" "${source}" "${folder}" "${options};${arg_OPTIONS}")
  # A target of its own, so that the header is there before the first source, wherever TARGET was made.
  string(MAKE_C_IDENTIFIER "${base}" word)
  add_custom_target(${target}_manifest_${word} DEPENDS "${folder}/${base}.h")
  add_dependencies(${target} ${target}_manifest_${word})
  target_include_directories(${target} ${arg_SCOPE} "$<BUILD_INTERFACE:${folder}>")
  set_target_properties(${target} PROPERTIES ETW_MANIFEST_FOLDER "${folder}")
endfunction()
