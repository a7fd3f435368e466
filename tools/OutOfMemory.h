// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What a process says when it gets no memory at all.

#ifndef DS_TOOLS_OUTOFMEMORY_H
#define DS_TOOLS_OUTOFMEMORY_H

#include <string>

namespace ds {

/// From now on a process that gets no memory or no thread writes `text` to `descriptor` and ends with exit code 2, in
/// place of an abort without a word. Other exceptions that nobody catches are told and abort.
void endWhenOutOfMemory(int descriptor, const std::string &text);

} // namespace ds

#endif // DS_TOOLS_OUTOFMEMORY_H
