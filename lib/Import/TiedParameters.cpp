// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Exporters that fold constants write the transpose of a tied weight as a weight of its own. Training would then move
// the two apart.

#include "ds/Import/TiedParameters.h"

#include "ds/Dialect/DsDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace ds;

namespace {

/// Parameters smaller than this, or of one value, may be equal by chance.
constexpr int64_t kLeastElements = 256;

/// The bit pattern of an f32 in a file, where it need not be aligned.
using Bits = llvm::support::ulittle32_t;

/// A matrix parameter and its bytes, which stay in the mapped file.
struct Matrix {
  VariableOp variable;
  ArrayRef<Bits> values; ///< row-major
  int64_t rows = 0, columns = 0;

  bool isSplat() const {
    return llvm::all_of(values, [&](Bits value) { return value == values.front(); });
  }
  bool isTransposeOf(const Matrix &other) const {
    if (rows != other.columns || columns != other.rows)
      return false;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        if (values[row * columns + column] != other.values[column * rows + row])
          return false;
    return true;
  }
};

/// The files that initial values are in, mapped once.
class Files {
public:
  explicit Files(StringRef folder) : folder(folder) {}

  std::optional<ArrayRef<Bits>> find(FileRangeAttr range) {
    std::unique_ptr<llvm::MemoryBuffer> &file = files[range.getPath()];
    if (!file) {
      SmallString<128> path(folder);
      llvm::sys::path::append(path, range.getPath());
      if (auto opened = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false))
        file = std::move(*opened);
    }
    if (!file || range.getOffset() > file->getBufferSize() ||
        range.getLength() > file->getBufferSize() - range.getOffset())
      return std::nullopt;
    const char *begin = file->getBufferStart() + range.getOffset();
    return ArrayRef(reinterpret_cast<const Bits *>(begin), range.getLength() / sizeof(Bits));
  }

private:
  StringRef folder;
  llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> files;
};

std::vector<Matrix> findMatrices(ModuleOp module, Files &files) {
  std::vector<Matrix> matrices;
  for (VariableOp variable : module.getOps<VariableOp>()) {
    RankedTensorType type = variable.getTensorType();
    auto range = dyn_cast_or_null<FileRangeAttr>(variable.getInitial().value_or(Attribute()));
    if (!range || variable.getRole() != VariableRole::Parameter || type.getRank() != 2 ||
        !type.getElementType().isF32() || type.getNumElements() < kLeastElements)
      continue;
    if (std::optional<ArrayRef<Bits>> values = files.find(range))
      matrices.push_back({variable, *values, type.getDimSize(0), type.getDimSize(1)});
  }
  return matrices;
}

/// Reads `kept` wherever `copy`, its transpose, was read.
void replaceByTranspose(ModuleOp module, VariableOp copy, VariableOp kept) {
  SmallVector<ReadOp> reads;
  module.walk([&](ReadOp read) {
    if (read.getVariable() == copy.getSymName())
      reads.push_back(read);
  });
  for (ReadOp read : reads) {
    ReadOp whole;
    for (ReadOp other : read->getBlock()->getOps<ReadOp>())
      if (other.getVariable() == kept.getSymName())
        whole = other;
    OpBuilder builder(read);
    if (!whole)
      whole = ReadOp::create(builder, read.getLoc(), kept.getTensorType(), kept.getSymName());
    // Behind all reads, which come first in a step.
    Operation *last = read;
    for (ReadOp other : read->getBlock()->getOps<ReadOp>())
      last = other;
    builder.setInsertionPointAfter(last);
    read.replaceAllUsesWith(
        TransposeOp::create(builder, read.getLoc(), read.getType(), whole, ArrayRef<int64_t>{1, 0}).getResult());
    read.erase();
  }
  copy.erase();
}

} // namespace

std::vector<TiedParameter> ds::tieParameters(ModuleOp module, StringRef modelFolder) {
  Files files(modelFolder);
  std::vector<Matrix> matrices = findMatrices(module, files);
  std::vector<TiedParameter> tied;
  llvm::DenseSet<Operation *> copies;
  for (size_t i = 0; i < matrices.size(); ++i)
    for (size_t j = i + 1; j < matrices.size() && !copies.contains(matrices[i].variable); ++j) {
      Matrix &kept = matrices[i], &copy = matrices[j];
      if (copies.contains(copy.variable) || !copy.isTransposeOf(kept) || copy.isSplat())
        continue;
      tied.push_back({kept.variable.getSymName().str(), copy.variable.getSymName().str()});
      copies.insert(copy.variable);
    }
  SymbolTable symbols(module);
  for (const TiedParameter &pair : tied)
    replaceByTranspose(module, symbols.lookup<VariableOp>(pair.copy), symbols.lookup<VariableOp>(pair.kept));
  return tied;
}
