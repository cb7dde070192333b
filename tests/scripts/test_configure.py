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


def configure(*options, ok=True):
    """Configure libraries and tools, without tests; returns (output, compile commands)."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("CMAKE_", "CFLAGS", "CXXFLAGS", "LDFLAGS"))}
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            ["cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, "-DETW_TESTS=OFF",
             "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            check=False)
        if (result.returncode == 0) != ok:
            raise AssertionError(result.stdout)
        commands = pathlib.Path(folder) / "compile_commands.json"
        return result.stdout, commands.read_text(encoding="utf-8") if ok else ""


class Configure(unittest.TestCase):
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
