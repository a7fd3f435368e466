// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Readers and writers of .npy and .safetensors files. The files are hostile until checked: no size is believed before
/// it agrees with the file's length.

#ifndef DS_RUNTIME_SESSION_TENSORFILES_H
#define DS_RUNTIME_SESSION_TENSORFILES_H

#include "ds/Files/PendingFile.h"
#include "ds/Runtime/Session/ElementType.h"

#include <map>
#include <string>
#include <vector>

namespace ds::runtime {

/// A dense row-major tensor inside a file.
struct StoredTensor {
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;
  int64_t offset = 0; ///< bytes from the beginning of the file

  int64_t elements() const;
  int64_t bytes() const { return elements() * elementBytes(type); }
  /// `F32 [8, 128]`.
  std::string typeAndShape() const;
};

/// Elements of a tensor of `shape`; nothing if a dim is negative or the bytes do not fit an int64_t.
std::optional<int64_t> checkedElements(const std::vector<int64_t> &shape, ElementType type);
/// `[8, 128]`.
std::string shapeName(const std::vector<int64_t> &shape);

//===----------------------------------------------------------------------===//
// .npy
//===----------------------------------------------------------------------===//

/// The tensor of a .npy file (versions 1 to 3), which it must fill exactly. Fortran order, big-endian numbers, strings,
/// structures and pickled objects are refused.
absl::StatusOr<StoredTensor> readNumpyHeader(const File &file);

/// FOLDER/NAME.npy: where the data of an input or output called `name` lie. A name like "net/x" has folders in it.
/// Nothing if the file would be none or not below the folder: if a part of the name is empty, "." or "..".
std::optional<std::string> numpyPathOf(const std::string &folder, const std::string &name);

/// The bytes before the data of a .npy file (version 1), a multiple of 64.
std::string makeNumpyHeader(ElementType type, const std::vector<int64_t> &shape);

//===----------------------------------------------------------------------===//
// .safetensors
//===----------------------------------------------------------------------===//

/// The tensors of a .safetensors file by name. Checked: the header's length (at most 100 MB), its JSON, types, and
/// that the data ranges have the sizes of their shapes and follow each other without overlap or hole to the end.
absl::StatusOr<std::map<std::string, StoredTensor>> readSafetensorsHeader(const File &file);

/// What a new .safetensors file will hold, in the order of its data.
struct NamedTensor {
  std::string name;
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;
};
struct SafetensorsLayout {
  std::string header;                ///< with its length in front
  std::vector<StoredTensor> tensors; ///< with offsets, in the order given
  int64_t fileBytes = 0;
};
/// Lays out a file. The header is padded so that the data begin on a multiple of 8 bytes.
absl::StatusOr<SafetensorsLayout> layOutSafetensors(const std::vector<NamedTensor> &tensors);

} // namespace ds::runtime

#endif // DS_RUNTIME_SESSION_TENSORFILES_H
