#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/gen_abi_checks: every row becomes one check, stale files are named."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "gen_abi_checks"
LAYOUT = ("header,struct,field,offset,size\n"
          "a.h,THING,(sizeof),,48\n"
          "a.h,THING,(alignof),,8\n"
          "a.h,THING,Class.Type,4,1\n"
          "a.h,THING,Bits,bitfield,\n"
          "b.h,long,(sizeof),,4\n"
          "b.h,wchar_t,(sizeof),,2\n")
CONSTANTS = ("header,kind,group,name,value_dec,value_hex\n"
             "a.h,define,,MINUS,-1,0xffffffffffffffff\n"
             "a.h,enum,E,Member,10,0xa\n"
             'a.h,string,,NAMEW,"L""x""",\n'
             "a.h,guid,,Id,{01020304-0506-0708-090a-0b0c0d0e0f10},\n")
VTABLES = "interface,slot,byte_offset,method\nIThing,1,8,AddRef\n"
TABLES = {"layout.csv": LAYOUT, "constants.csv": CONSTANTS, "vtables.csv": VTABLES}


class GenAbiChecks(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)
        (self.root / "abi").mkdir()
        for name, text in TABLES.items():
            (self.root / "abi" / name).write_text(text, encoding="utf-8")

    def run_script(self, *flags):
        return subprocess.run([sys.executable, SCRIPT, *flags, self.root], capture_output=True,
                              text=True, check=False)

    def text(self, name):
        return (self.root / "abi" / name).read_text(encoding="utf-8")

    def test_every_kind_of_row(self):
        self.assertEqual(self.run_script().returncode, 0)
        layout = self.text("layout_checks.inc")
        self.assertIn("ROW_SIZE(THING, 48)\nROW_ALIGN(THING, 8)\n"
                      "ROW_FIELD(THING, Class.Type, 4, 1)\nROW_BITFIELD(THING, Bits)\n", layout)
        self.assertIn('ROW_NOT_HELD("long (sizeof)"', layout)
        self.assertIn("ROW_WCHAR_T_SIZE(2)", layout)
        constants = self.text("constant_checks.inc")
        self.assertIn("ROW_DEFINE(MINUS, 0xffffffffffffffffULL)", constants)
        self.assertIn("ROW_ENUM(Member, 0xaULL)", constants)
        self.assertIn('ROW_STRINGW(NAMEW, "x")', constants)
        self.assertIn("ROW_GUID(Id, 0x01020304, 0x0506, 0x0708, 0x09,", constants)
        self.assertIn("ROW_SLOT(IThing, AddRef, 1, 8)", self.text("vtable_checks.inc"))

    def test_check_names_what_is_stale(self):
        self.assertEqual(self.run_script("--check").returncode, 1)
        self.run_script()
        self.assertEqual(self.run_script("--check").returncode, 0)
        (self.root / "abi/vtables.csv").write_text(VTABLES + "IThing,2,16,Release\n",
                                                   encoding="utf-8")
        result = self.run_script("--check")
        self.assertEqual(result.returncode, 1)
        self.assertIn("vtable_checks.inc: stale", result.stderr)

    def test_an_unknown_kind_is_refused(self):
        (self.root / "abi/constants.csv").write_text(CONSTANTS + "a.h,colour,,X,1,0x1\n",
                                                     encoding="utf-8")
        result = self.run_script()
        self.assertEqual(result.returncode, 1)
        self.assertIn("unknown kind 'colour'", result.stderr)


if __name__ == "__main__":
    unittest.main()
