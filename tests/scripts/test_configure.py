#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `cmake` makes of its options: configures the repository itself, and builds nothing."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


FOLDER = tempfile.TemporaryDirectory() # compilers are looked at once
BUILD = pathlib.Path(FOLDER.name) / "build"


def configure(*options, ok=True):
    """Configure libraries and tools, without tests; returns (output, compile commands)."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("CMAKE_", "CFLAGS", "CXXFLAGS", "LDFLAGS"))}
    result = subprocess.run(
        ["cmake", "-G", "Ninja", "-S", ROOT, "-B", BUILD, "-U", "ETW_*", "-U", "LIBBPF_*",
         "-U", "CMOCKA_*", "-U", "CMAKE_DISABLE_*", "-DETW_TESTS=OFF",
         "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if (result.returncode == 0) != ok:
        raise AssertionError(result.stdout)
    commands = BUILD / "compile_commands.json"
    return result.stdout, commands.read_text(encoding="utf-8") if ok else ""


def joined(output):
    """The output without CMake's line breaks."""
    return " ".join(output.split())


def summary(output):
    """The list of components at the end of a configuration, as {name: state}."""
    lines = output[output.index("-- libetw "):].splitlines()[1:]
    return dict(line[5:].split(": ", 1) for line in lines if line.startswith("--   "))


class Configure(unittest.TestCase):
    def test_summary_says_why_the_kernel_is_left_out(self):
        libbpf = pathlib.Path(FOLDER.name) / "libbpf"
        (libbpf / "bpf").mkdir(parents=True)
        (libbpf / "bpf" / "libbpf_version.h").write_text(
            "#define LIBBPF_MAJOR_VERSION 1\n#define LIBBPF_MINOR_VERSION 0\n")
        # What is not under test is as if it were there.
        there = ("-DLIBBPF_LIBRARY=bpf", f"-DLIBBPF_INCLUDE_DIR={libbpf}",
                 "-DETW_BPF_CLANG=/bin/true")
        for option, reason in (
                ("-DETW_KERNEL=OFF", "ETW_KERNEL is off: configure with"),
                ("-DLIBBPF_LIBRARY=OFF", "libbpf was not found: install it"),
                ("-DLIBBPF_INCLUDE_DIR=/nowhere", "libbpf is older than 1.0: install"),
                ("-DETW_BPF_CLANG=OFF", "clang, which compiles the BPF programs, was not found"),
                ("-DETW_BPF_CLANG=/bin/false", "/bin/false does not compile for BPF: install")):
            output, commands = configure(*there, option)
            self.assertTrue(summary(output)["kernel events"].startswith("left out: " + reason),
                            output)
            self.assertNotIn("-DETW_KERNEL_BPF ", commands)
        # Who asks for it gets no build without.
        output, _ = configure(*there, "-DLIBBPF_LIBRARY=OFF", "-DETW_KERNEL=ON", ok=False)
        self.assertIn("kernel's events cannot be built in: libbpf was not found", joined(output))
        output, commands = configure(*there, "-DETW_KERNEL=ON")
        self.assertEqual(summary(output)["kernel events"], "in")
        self.assertIn("-DETW_KERNEL_BPF ", commands)

    def test_summary_says_why_symbols_are_left_out(self):
        libdw = pathlib.Path(FOLDER.name) / "libdw"
        (libdw / "elfutils").mkdir(parents=True)
        (libdw / "elfutils" / "version.h").write_text(
            "#define _ELFUTILS_VERSION_H\t1\n#define _ELFUTILS_VERSION\t180\n")
        there = ("-DLIBDW_LIBRARY=dw", f"-DLIBDW_INCLUDE_DIR={libdw}",
                 "-DLIBELF_LIBRARY=elf", f"-DLIBELF_INCLUDE_DIR={libdw}")
        for option, reason in (
                ("-DETW_ELF_SYMBOLS=OFF", "ETW_ELF_SYMBOLS is off: configure with"),
                ("-DLIBDW_LIBRARY=OFF", "libdw was not found: install it"),
                ("-DLIBDW_INCLUDE_DIR=/nowhere", "libdw is older than 0.180: install")):
            output, commands = configure(*there, option)
            self.assertTrue(
                summary(output)["symbols of ELF files"].startswith("left out: " + reason), output)
            self.assertNotIn("-DETW_SYMBOL_LIBDW ", commands)
        output, _ = configure(*there, "-DLIBDW_LIBRARY=OFF", "-DETW_ELF_SYMBOLS=ON", ok=False)
        self.assertIn("names from ELF files cannot be built in: libdw was not found",
                      joined(output))
        output, commands = configure(*there, "-DETW_ELF_SYMBOLS=ON")
        self.assertEqual(summary(output)["symbols of ELF files"], "in")
        self.assertIn("-DETW_SYMBOL_LIBDW ", commands)

    def test_summary_lists_what_else_is_left_out(self):
        output, _ = configure("-DETW_INSTALL_SYSTEMD=ON")
        self.assertEqual(summary(output)["systemd units"], "in")
        self.assertEqual(summary(output)["tests"], "left out: ETW_TESTS is off")
        output, _ = configure("-DETW_TESTS=AUTO", "-DCMOCKA_LIBRARY=OFF")
        self.assertEqual(summary(output)["tests"], "left out: cmocka was not found")
        self.assertEqual(summary(output)["systemd units"],
                         "left out: ETW_INSTALL_SYSTEMD is off")
        output, _ = configure("-DETW_TESTS=ON", "-DCMOCKA_LIBRARY=OFF", ok=False)
        self.assertIn("ETW_TESTS is ON, but cmocka was not found", joined(output))

    def test_what_a_build_cannot_do_without_has_a_sentence(self):
        # As if the compiler had said so: each answer of it is kept in a variable.
        for option, sentence in (
                ("CMAKE_DISABLE_FIND_PACKAGE_EXPAT=ON", "libetw needs expat with its headers"),
                ("CMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON",
                 "libetw needs OpenSSL's libcrypto with its headers"),
                ("PLATFORM_LITTLE_ENDIAN=OFF", "libetw needs a little-endian processor: "),
                ("PLATFORM_64_BIT=OFF", "libetw needs a 64-bit processor: "),
                ("PLATFORM_COMPILER=OFF", "libetw needs gcc 12 or clang 14, or newer: "),
                ("PLATFORM_COUNTER=OFF", "libetw needs x86-64 or arm64: "),
                ("PLATFORM_GLIBC=OFF", "libetw needs glibc 2.34 or newer: this C library (musl"),
                ("PLATFORM_LINUX_HEADERS=OFF", "libetw needs the headers of Linux 5.9 or newer")):
            name = option.split("=")[0]
            output, _ = configure("-U", name, f"-D{option}", ok=False)
            self.assertIn(sentence, joined(output))
            self.assertEqual(output.count("CMake Error"), 1, output)
            configure("-U", name)

    def test_other_machines_are_told_apart(self):
        # The sources of those answers, compiled for other processors, without their libraries.
        compiler = shutil.which("gcc")
        if not compiler or os.uname().machine != "x86_64":
            self.skipTest("needs gcc on x86-64")
        text = (ROOT / "cmake" / "Platform.cmake").read_text(encoding="utf-8")
        for name, options, expected in (
                ("64_BIT", ["-m64"], True), ("64_BIT", ["-m32"], False),
                ("COUNTER", ["-m64"], True), ("COUNTER", ["-m32"], False),
                ("LITTLE_ENDIAN", [], True), ("LITTLE_ENDIAN", [
                    "-U__BYTE_ORDER__", "-D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__"], False)):
            source = text.split(f"refuse_without(PLATFORM_{name} \"")[1].split('}"')[0] + "}\n"
            result = subprocess.run(
                [compiler, *options, "-w", "-fsyntax-only", "-x", "c", "-"],
                input=source.replace('\\"', '"'), capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode == 0, expected, (name, options, result.stderr))

    def test_warnings_are_errors_only_on_request(self):
        for options, expected in ((), False), (("-DETW_WERROR=ON",), True):
            _, commands = configure(*options)
            self.assertEqual(" -Werror " in commands, expected, options)
            self.assertIn(" -Wconversion ", commands)

    def test_presets_for_developers_request_it(self):
        presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
        strict = {preset["name"]: preset["cacheVariables"].get("ETW_WERROR", "OFF")
                  for preset in presets["configurePresets"]}
        self.assertEqual(strict.pop("base"), "OFF") # from which all of them inherit
        self.assertEqual(strict.pop("release"), "OFF")
        self.assertEqual(set(strict.values()), {"ON"}, strict)
        self.assertIn("-DETW_WERROR=ON", (ROOT / "check").read_text(encoding="utf-8"))


if __name__ == "__main__":
    if not all(map(shutil.which, ("cmake", "ninja"))):
        print("SKIP: needs cmake and ninja")
        sys.exit(77)
    unittest.main()
