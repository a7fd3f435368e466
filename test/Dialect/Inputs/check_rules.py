"""Checks that every arith and math op the compiler's stages name has a layout rule and is in a test: check_rules.py SOURCE_DIR TEST"""

import pathlib
import re
import sys

SCALAR_ALONE = {"arith::ConstantIndexOp"}  # never on tensors


def named(*folders):
    names = set()
    for folder in folders:
        for path in pathlib.Path(folder).rglob("*.cpp"):
            names |= set(re.findall(r"\b(?:arith|math)::[A-Z]\w*Op\b", path.read_text()))
    return names


def mnemonic(name):
    """arith::AddFOp -> arith.addf"""
    dialect, name = name.split("::")
    return dialect + "." + name[:-2].lower()


source = pathlib.Path(sys.argv[1])
ruled = set(re.findall(r"\b(?:arith|math)::[A-Z]\w*Op\b", (source / "lib/Dialect/UpstreamRules.cpp").read_text()))
tested = set(re.findall(r"\b(?:arith|math)\.\w+", pathlib.Path(sys.argv[2]).read_text()))
faults = ["%s has no layout rule" % name for name in sorted(named(source / "lib/Import", source / "lib/Passes") - ruled - SCALAR_ALONE)]
faults += ["%s is not tested" % mnemonic(name) for name in sorted(ruled) if mnemonic(name) not in tested]
if not ruled or faults:
    sys.exit("\n".join("error: " + fault for fault in faults or ["no rules found"]))
