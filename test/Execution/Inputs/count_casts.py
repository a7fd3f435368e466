"""Counts the casts of a placed program on standard input by op, axis, and whether they move scalars or tensors."""

import collections
import re
import sys

counts = collections.Counter()
for name, axis, shape in re.findall(r"ds\.(\w+) %\S+ over \"(\w+)\" : tensor<([\dx]*)", sys.stdin.read()):
    counts[name, axis, "tensors" if shape else "scalars"] += 1
for key in sorted(counts):
    print(*key, counts[key])
