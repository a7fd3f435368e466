# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a command under limits of its address space, from those that stop the loader to those that suffice:

    little_memory.py COMMAND...

Wherever memory ends, the command must say so with exit code 2: that is no defect of ours, and no crash."""

import resource
import subprocess
import sys

STEP, LOADER_FAILED = 8 << 20, 127


def main(command):
    ended = 0
    for limit in range(64 << 20, 4 << 30, STEP):
        answer = subprocess.run(command, capture_output=True, text=True,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        if answer.returncode == 0:
            break
        if answer.returncode != LOADER_FAILED:
            ended += 1
            if answer.returncode != 2 or "memory" not in answer.stderr:
                sys.exit("with %d bytes: exit code %d: %s" % (limit, answer.returncode, answer.stderr))
    else:
        sys.exit("never had enough memory")
    print("%s of memory" % ("ended for want" if ended else "never ran short"))


main(sys.argv[1:])
