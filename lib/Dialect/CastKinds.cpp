// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Which casts are collectives.

#include "ds/Dialect/DsDialect.h"

using namespace ds;

std::optional<CollectiveKind> ds::findCollectiveKind(CastKind kind) {
  switch (kind) {
  case CastKind::AllGather:
    return CollectiveKind::AllGather;
  case CastKind::ReduceScatter:
    return CollectiveKind::ReduceScatter;
  case CastKind::AllReduce:
    return CollectiveKind::AllReduce;
  case CastKind::AllToAll:
    return CollectiveKind::AllToAll;
  case CastKind::TakeShard:
  case CastKind::ToPartial:
  case CastKind::Remap:
  case CastKind::Copy:
  case CastKind::Transfer:
    return std::nullopt;
  }
  llvm_unreachable("every kind of cast is a collective or not");
}

CastKind ds::castKindOf(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllGather:
    return CastKind::AllGather;
  case CollectiveKind::ReduceScatter:
    return CastKind::ReduceScatter;
  case CollectiveKind::AllReduce:
    return CastKind::AllReduce;
  case CollectiveKind::AllToAll:
    return CastKind::AllToAll;
  }
  llvm_unreachable("every collective is a cast");
}
