// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Codegen/CompilerIdentity.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <elf.h>
#include <link.h>

using namespace mlir;
using namespace ds;

/// The build id in the notes [begin, end) of a loaded object; empty if there is none.
static StringRef findBuildId(const char *begin, const char *end) {
  while (begin + sizeof(ElfW(Nhdr)) <= end) {
    const auto *note = reinterpret_cast<const ElfW(Nhdr) *>(begin);
    const char *name = begin + sizeof(*note), *content = name + llvm::alignTo(note->n_namesz, 4);
    if (note->n_type == NT_GNU_BUILD_ID && StringRef(name, note->n_namesz) == StringRef("GNU", 4))
      return StringRef(content, note->n_descsz);
    begin = content + llvm::alignTo(note->n_descsz, 4);
  }
  return StringRef();
}

std::string ds::compilerIdentity() {
  struct Found {
    std::string text;
    bool isComplete = true;
  } found;
  dl_iterate_phdr(
      [](dl_phdr_info *object, size_t, void *data) {
        StringRef id;
        for (const ElfW(Phdr) & header : llvm::ArrayRef(object->dlpi_phdr, object->dlpi_phnum))
          if (const char *start = reinterpret_cast<const char *>(object->dlpi_addr + header.p_vaddr);
              header.p_type == PT_NOTE && id.empty())
            id = findBuildId(start, start + header.p_memsz);
        auto *result = static_cast<Found *>(data);
        result->text += llvm::toHex(id, /*LowerCase=*/true);
        result->isComplete &= !id.empty();
        return 0;
      },
      &found);
  return found.isComplete ? found.text : "";
}
