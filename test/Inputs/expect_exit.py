"""Runs a command and succeeds if it ends with the given exit code: expect_exit.py CODE COMMAND..."""

import subprocess
import sys

code = subprocess.run(sys.argv[2:]).returncode
if code != int(sys.argv[1]):
    print("expected exit code %s, got %d" % (sys.argv[1], code), file=sys.stderr)
    sys.exit(1)
