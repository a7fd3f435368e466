// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// PyTorch's exporters write a tied parameter once, under one of its names. What ties still have to be found are those
// that constant folding has split: it writes the transpose of a weight as a tensor of its own.

#include "ds/Import/TiedParameters.h"

#include "ds/Dialect/Names.h"
#include "ds/Files/File.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace ds;

namespace {

/// Parameters smaller than this, or of one value, may be equal by chance.
constexpr int64_t kLeastElements = 256;

/// The bit pattern of an f32 in a file, where it need not be aligned.
using Bits = llvm::support::ulittle32_t;

/// A parameter and its bytes, which stay in the mapped file. One of other than two dims is a row.
struct Matrix {
  VariableOp variable;
  RankedTensorType type;
  ArrayRef<Bits> values; ///< row-major
  int64_t rows = 0, columns = 0;

  bool isSplat() const {
    return llvm::all_of(values, [&](Bits value) { return value == values.front(); });
  }
  bool isEqualTo(const Matrix &other) const { return type == other.type && values == other.values; }
  bool isTransposeOf(const Matrix &other) const {
    if (type.getRank() != 2 || rows != other.columns || columns != other.rows)
      return false;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        if (values[row * columns + column] != other.values[column * rows + row])
          return false;
    return true;
  }
  bool isRenamed() const { return VariableOp(variable)->hasAttr(kRenamedAttr); }
};

/// The files that initial values are in, mapped once.
class Files {
public:
  explicit Files(StringRef folder) : folder(folder) {}

  std::optional<ArrayRef<Bits>> find(FileRangeAttr range) {
    const StringRef content = contentOf(range.getPath());
    if (range.getOffset() > content.size() || range.getLength() > content.size() - range.getOffset())
      return std::nullopt;
    const char *begin = content.data() + range.getOffset();
    return ArrayRef(reinterpret_cast<const Bits *>(begin), range.getLength() / sizeof(Bits));
  }

private:
  /// Empty if the file cannot be read.
  StringRef contentOf(StringRef name) {
    auto known = files.find(name);
    if (known == files.end()) {
      SmallString<128> path(folder);
      llvm::sys::path::append(path, name);
      absl::StatusOr<MappedFile> opened = MappedFile::open(path.str().str());
      if (!opened.ok())
        return {};
      known = files.try_emplace(name, *std::move(opened)).first;
    }
    return known->second.bytes();
  }

  StringRef folder;
  llvm::StringMap<MappedFile> files;
};

} // namespace

/// The values of an f32 parameter that lie in a file.
static std::optional<Matrix> findMatrix(VariableOp variable, Files &files) {
  RankedTensorType type = variable.getTensorType();
  auto range = dyn_cast_or_null<FileRangeAttr>(variable.getInitial().value_or(Attribute()));
  if (!range || variable.getRole() != VariableRole::Parameter || !type.getElementType().isF32())
    return std::nullopt;
  std::optional<ArrayRef<Bits>> values = files.find(range);
  if (!values || static_cast<int64_t>(values->size()) != type.getNumElements())
    return std::nullopt;
  const bool isMatrix = type.getRank() == 2;
  return Matrix{variable, type, *values, isMatrix ? type.getDimSize(0) : 1,
                isMatrix ? type.getDimSize(1) : type.getNumElements()};
}

//===----------------------------------------------------------------------===//
// Making two variables one
//===----------------------------------------------------------------------===//

/// The one read of `variable` in a block, made before `read` if there is none.
static ReadOp findRead(ReadOp read, VariableOp variable) {
  for (ReadOp other : read->getBlock()->getOps<ReadOp>())
    if (other.getVariable() == variable.getSymName())
      return other;
  OpBuilder builder(read);
  return ReadOp::create(builder, read.getLoc(), variable.getTensorType(), variable.getSymName());
}

/// Reads `kept`, or its transpose, wherever `copy` was read.
static void replaceCopy(ModuleOp module, VariableOp copy, VariableOp kept, bool isTransposed) {
  SmallVector<ReadOp> reads;
  module.walk([&](ReadOp read) {
    if (read.getVariable() == copy.getSymName())
      reads.push_back(read);
  });
  for (ReadOp read : reads) {
    Value value = findRead(read, kept);
    if (isTransposed) {
      Operation *last = read; // reads come first in a step
      for (ReadOp other : read->getBlock()->getOps<ReadOp>())
        last = other;
      OpBuilder builder(read);
      builder.setInsertionPointAfter(last);
      value = TransposeOp::create(builder, read.getLoc(), read.getType(), value, ArrayRef<int64_t>{1, 0}).getResult();
    }
    read.replaceAllUsesWith(value);
    read.erase();
  }
  copy.erase();
}

//===----------------------------------------------------------------------===//
// What the file shows
//===----------------------------------------------------------------------===//

/// Matrices that do not begin equal by chance.
static std::vector<Matrix> findMatrices(ModuleOp module, Files &files) {
  std::vector<Matrix> matrices;
  for (VariableOp variable : module.getOps<VariableOp>()) {
    RankedTensorType type = variable.getTensorType();
    if (type.getRank() != 2 || type.getNumElements() < kLeastElements)
      continue;
    if (std::optional<Matrix> matrix = findMatrix(variable, files); matrix && !matrix->isSplat())
      matrices.push_back(*matrix);
  }
  return matrices;
}

/// Whether `copy` can only be the folded transpose of `kept`: a name of its own would make it another parameter, and a
/// matrix that is its own transpose shows nothing.
static bool isFoldedTranspose(const Matrix &copy, const Matrix &kept) {
  return copy.isRenamed() && !kept.isRenamed() && copy.isTransposeOf(kept) && !kept.isTransposeOf(kept);
}

Ties ds::findTies(ModuleOp module, StringRef modelFolder) {
  Files files(modelFolder);
  std::vector<Matrix> matrices = findMatrices(module, files);
  Ties ties;
  std::vector<bool> isDone(matrices.size());
  std::vector<std::pair<VariableOp, VariableOp>> copies;
  for (size_t i = 0; i < matrices.size(); ++i) {
    std::vector<std::string> apart = {nameOf(matrices[i].variable).str()};
    for (size_t j = i + 1; j < matrices.size() && !isDone[i]; ++j) {
      Matrix &first = matrices[i], &other = matrices[j];
      if (isDone[j] || (!other.isEqualTo(first) && !other.isTransposeOf(first)))
        continue;
      isDone[j] = true;
      if (isFoldedTranspose(other, first))
        copies.push_back({other.variable, first.variable});
      else if (isFoldedTranspose(first, other))
        copies.push_back({first.variable, other.variable});
      else
        apart.push_back(nameOf(other.variable).str());
    }
    if (apart.size() > 1)
      ties.apart.push_back(std::move(apart));
  }
  for (auto [copy, kept] : copies) {
    ties.tied.push_back({nameOf(kept).str(), nameOf(copy).str()});
    replaceCopy(module, copy, kept, /*isTransposed=*/true);
  }
  return ties;
}

//===----------------------------------------------------------------------===//
// What the user says
//===----------------------------------------------------------------------===//

std::string ds::tieGroups(ModuleOp module, StringRef modelFolder, const std::vector<std::vector<std::string>> &groups) {
  Files files(modelFolder);
  llvm::StringMap<VariableOp> byName;
  for (VariableOp variable : module.getOps<VariableOp>())
    byName[nameOf(variable)] = variable;
  for (const std::vector<std::string> &group : groups) {
    std::optional<Matrix> kept;
    for (const std::string &name : group) {
      VariableOp variable = byName.lookup(name);
      std::optional<Matrix> matrix = variable ? findMatrix(variable, files) : std::nullopt;
      if (!matrix)
        return "'" + name + "' must be an f32 parameter that is in no other group";
      byName.erase(name);
      if (!kept) {
        kept = matrix;
        continue;
      }
      const bool isEqual = matrix->isEqualTo(*kept);
      if (!isEqual && !matrix->isTransposeOf(*kept))
        return "'" + name + "' must begin with the values of '" + nameOf(kept->variable).str() +
               "', or their transpose";
      replaceCopy(module, variable, kept->variable, !isEqual);
    }
  }
  return "";
}
