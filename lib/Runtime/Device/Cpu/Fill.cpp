// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Fill, and the two casts that move nothing between ranks: TakeShard and ToPartial.

#include "ds/Runtime/Device/ParallelFor.h"
#include "ds/Runtime/Device/Task.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

#include <cstring>
#include <limits>

using namespace ds;
using namespace ds::runtime;

/// Elements per piece of work: small enough for the caches, large enough to be worth waking a thread.
static constexpr int64_t kGrain = 16 * 1024;

namespace {
struct FillTask : Task {
  absl::Status run(const TaskContext &) override {
    parallelRanges(count, kGrain, [this](int64_t begin, int64_t end) {
      switch (width) {
      case 1:
        return fill<uint8_t>(begin, end);
      case 2:
        return fill<uint16_t>(begin, end);
      case 4:
        return fill<uint32_t>(begin, end);
      default:
        return fill<uint64_t>(begin, end);
      }
    });
    return absl::OkStatus();
  }

  template <typename T> void fill(int64_t begin, int64_t end) const {
    T *target = reinterpret_cast<T *>(data);
    std::fill(target + begin, target + end, static_cast<T>(bits));
  }

  char *data = nullptr;
  int64_t count = 0;
  uint64_t width = 0, bits = 0;
};

/// Copies `rows` rows of `rowBytes` from rows `sourceStride` apart to dense ones.
struct RowsTask : Task {
  absl::Status run(const TaskContext &) override {
    if (rowBytes == 0 || rows == 0 || source == target)
      return absl::OkStatus();
    parallelRanges(rows, kGrain * 4 / rowBytes, [this](int64_t begin, int64_t end) {
      if (sourceStride == rowBytes)
        std::memcpy(target + begin * rowBytes, source + begin * rowBytes,
                    static_cast<size_t>((end - begin) * rowBytes));
      else
        copyRows(begin, end);
    });
    return absl::OkStatus();
  }

  void copyRows(int64_t begin, int64_t end) const {
    for (int64_t row = begin; row < end; ++row)
      std::memcpy(target + row * rowBytes, source + row * sourceStride, static_cast<size_t>(rowBytes));
  }

  const char *source = nullptr;
  char *target = nullptr;
  int64_t rows = 0, rowBytes = 0, sourceStride = 0;
};
} // namespace

static std::unique_ptr<FillTask> makeFill(char *data, int64_t count, plan::DataType type, uint64_t bits) {
  auto task = std::make_unique<FillTask>();
  task->data = data;
  task->count = count;
  task->width = plan::sizeOf(type);
  task->bits = bits;
  return task;
}

TaskOr ds::runtime::buildFill(const plan::FillT &fill, const Bindings &bindings) {
  DS_ASSIGN_OR_RETURN(const plan::ExtentValue count, bindings.extent(fill.count));
  DS_ASSIGN_OR_RETURN(char *data, bindings.elements(fill.buffer, count.length, fill.type));
  return makeFill(data, count.length, fill.type, fill.bits);
}

TaskOr ds::runtime::buildTakeShard(const plan::TakeShardT &shard, const Bindings &bindings) {
  if (shard.axis >= bindings.mesh().axes().size())
    return absl::InvalidArgumentError(absl::StrCat("invalid plan: axis must be on the mesh, got ", shard.axis));
  DS_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, bindings.lengths({shard.outer, shard.whole, shard.inner}));
  const MeshAxis &axis = bindings.mesh().axes()[shard.axis];
  const Interval own = split({0, sizes[1]}, axis, bindings.mesh().coordinate(bindings.rank(), axis.name));
  DS_ASSIGN_OR_RETURN(char *source, bindings.elements(shard.input, productOf(sizes), shard.type));
  DS_ASSIGN_OR_RETURN(char *target,
                      bindings.elements(shard.output, productOf({sizes[0], own.length(), sizes[2]}), shard.type));
  const int64_t unit = sizes[2] * static_cast<int64_t>(plan::sizeOf(shard.type));
  auto task = std::make_unique<RowsTask>();
  task->source = source + own.begin * unit;
  task->target = target;
  task->rows = sizes[0];
  task->rowBytes = own.length() * unit;
  task->sourceStride = sizes[1] * unit;
  return task;
}

template <typename T> static uint64_t bitsOf(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(value));
  return bits;
}

/// The bits of the value that changes no maximum (`lowest`) or no minimum.
static uint64_t extremeBits(plan::DataType type, bool lowest) {
  const double infinity = lowest ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  switch (type) {
  case plan::DataType::F32:
    return bitsOf(static_cast<float>(infinity));
  case plan::DataType::F64:
    return bitsOf(infinity);
  case plan::DataType::F16:
    return lowest ? 0xFC00 : 0x7C00;
  case plan::DataType::BF16:
    return lowest ? 0xFF80 : 0x7F80;
  case plan::DataType::I64:
    return bitsOf(lowest ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max());
  case plan::DataType::I32:
    return bitsOf(lowest ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int32_t>::max());
  case plan::DataType::I8:
    return bitsOf(lowest ? std::numeric_limits<int8_t>::min() : std::numeric_limits<int8_t>::max());
  case plan::DataType::Bool:
    return lowest ? 0 : 1;
  }
  return 0;
}

/// The bits of the neutral element. And is taken of truth values: 1, in integers of any width.
static uint64_t neutralBits(plan::ReduceKind reduce, plan::DataType type) {
  switch (reduce) {
  case plan::ReduceKind::Sum:
  case plan::ReduceKind::Or:
    return 0;
  case plan::ReduceKind::Max:
    return extremeBits(type, true);
  case plan::ReduceKind::Min:
    return extremeBits(type, false);
  case plan::ReduceKind::And:
    return type == plan::DataType::Bool ? 1 : ~uint64_t(0);
  }
  return 0;
}

TaskOr ds::runtime::buildToPartial(const plan::ToPartialT &cast, const Bindings &bindings) {
  if (cast.axis >= bindings.mesh().axes().size())
    return absl::InvalidArgumentError(absl::StrCat("invalid plan: axis must be on the mesh, got ", cast.axis));
  DS_ASSIGN_OR_RETURN(const plan::ExtentValue count, bindings.extent(cast.count));
  DS_ASSIGN_OR_RETURN(char *source, bindings.elements(cast.input, count.length, cast.type));
  DS_ASSIGN_OR_RETURN(char *target, bindings.elements(cast.output, count.length, cast.type));
  const std::string &axis = bindings.mesh().axes()[cast.axis].name;
  if (bindings.mesh().coordinate(bindings.rank(), axis) != 0)
    return makeFill(target, count.length, cast.type, neutralBits(cast.reduce, cast.type));
  auto task = std::make_unique<RowsTask>();
  task->source = source;
  task->target = target;
  task->rows = count.length;
  task->rowBytes = task->sourceStride = static_cast<int64_t>(plan::sizeOf(cast.type));
  return task;
}
