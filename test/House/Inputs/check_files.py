#!/usr/bin/env python3
# SPDX-FileCopyrightText: The ds-mlir authors
# SPDX-License-Identifier: Apache-2.0
"""check_files.py SOURCE_DIR: checks how lib/ and tools/ use files. Prints each fault, exit code 1 if there is one.

- What a user names is opened by lib/Files, which refuses named pipes and devices: any other way to open would wait for
  them. Where the files of the system itself (/proc, /sys) are read, other means are fine.
- std::filesystem throws where it is not given an error code, and our programs have no handler: calls that ask the disk must
  be given one, and folders are listed by increment(error), as ++ throws.
"""

import pathlib
import re
import sys

SYSTEM = re.compile(r'"/(?:proc|sys)/')
OPENS = re.compile(r"std::[io]?fstream\b|\bfopen\(|\bMemoryBuffer::getFile\(|(?<![\w>.])::open\(|\bopenInputFile\(|"
                   r"\bopenNativeFile|\braw_fd_ostream\s+\w+\(\w*[pP]ath|createUniqueDirectory|TempFile::create")
ASKS = ("absolute|canonical|weakly_canonical|relative|proximate|copy|copy_file|create_directory|create_directories|current_path|"
        "equivalent|exists|file_size|is_block_file|is_character_file|is_directory|is_empty|is_fifo|is_other|is_regular_file|"
        "is_socket|is_symlink|last_write_time|permissions|read_symlink|remove|remove_all|rename|resize_file|space|status|"
        "symlink_status|temp_directory_path|directory_iterator|recursive_directory_iterator")
# The call and its arguments up to the closing parenthesis, one level of parentheses inside.
CALL = re.compile(r"(?<!sys::)\b(?:std::filesystem|fs)::(" + ASKS + r")\s*(?:\w+\s*)?\(((?:[^()]|\([^()]*\))*)\)")
LOOP = re.compile(r"for \([^;()]*:\s*(?:std::filesystem|fs)::(?:recursive_)?directory_iterator")


def sources(root):
    for folder in ("lib", "include", "tools"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                yield path


def faults_of(path, text):
    for number, line in enumerate([] if SYSTEM.search(text) else text.splitlines(), 1):
        if OPENS.search(line.split("//")[0]):
            yield f"{path}:{number}: must be opened by lib/Files: {line.strip()}"
    if "namespace fs = llvm::sys::fs" in text:
        return
    for match in CALL.finditer(text):
        if not re.search(r"\berror\b|\bcode\b", match.group(2)):
            yield f"{path}: must be given an error code: {match.group(0)}"
    for match in LOOP.finditer(text):
        yield f"{path}: must step by increment(error): {match.group(0)}"


def main(root):
    faults, files = [], 0
    for path in sources(root):
        files += 1
        # ds-opt is MLIR's own driver, which reads standard input as well.
        if path.parent not in (root / "lib/Files", root / "tools/ds-opt"):
            faults += faults_of(path.relative_to(root), path.read_text())
    print("\n".join(faults or [f"{files} files open nothing by themselves"]))
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
