"""Counts the ops of a program on standard input: one line per op, in alphabetical order."""

import collections
import re
import sys

counts = collections.Counter()
for line in sys.stdin:
    found = re.match(r"\s*(?:%\S+(?:, %\S+)* = )?((?:ds|arith|math)\.[a-z_0-9]+)", line)
    if found:
        counts[found.group(1)] += 1
for name in sorted(counts):
    print(name, counts[name])
