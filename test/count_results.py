#!/usr/bin/env python3
# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Adds up JUnit files (of lit and ctest): names what failed, counts the reasons of what was skipped, and closes with
one line "N passed, N failed". Exit code 1 if a test failed, or a file is missing or holds no test."""

import collections
import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    """"passed", "failed" or "skipped", and the reason of a skip."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed", ""
    skipped = case.find("skipped")
    if skipped is None:
        return "passed", ""
    reason = skipped.get("message") or skipped.text or "no reason given"
    # ctest calls a test "skipped" that it could not start.
    if case.get("status") == "notrun" and not reason.startswith("SKIP_"):
        return "failed", reason
    return "skipped", "skipped by the test itself" if reason.startswith("SKIP_") else reason


def main(paths):
    counts = collections.Counter()
    failures, reasons = [], collections.Counter()
    for path in paths:
        try:
            cases = list(ElementTree.parse(path).iter("testcase"))
        except (OSError, ElementTree.ParseError) as error:
            cases = []
            failures.append(f"{path}: {error}")
        if not cases:
            failures.append(f"{path}: no test ran")
            counts["failed"] += 1
        for case in cases:
            what, reason = outcome(case)
            counts[what] += 1
            if what == "failed":
                failures.append(f"{case.get('classname', '')} {case.get('name', '')} {reason}".strip())
            if what == "skipped":
                reasons[reason] += 1
    for failure in failures:
        print("failed:", failure)
    for reason, count in sorted(reasons.items()):
        print(f"skipped: {count} tests: {reason}")
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    print(f"{counts['passed']} passed, {counts['failed']} failed{skipped}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
