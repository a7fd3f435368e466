// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "EmitArena.h"

using namespace ds;

static void addBuffer(plan::PlanT &plan, BufferOp op, llvm::ArrayRef<InstructionRange> instructions) {
  auto buffer = std::make_unique<plan::BufferT>();
  buffer->name = op.getName().str();
  buffer->offset = op.getOffset();
  buffer->bytes = op.getBytes();
  buffer->first = instructions[op.getFirst()].begin;
  // An op without instructions ends where it begins.
  buffer->last = std::max(buffer->first + 1, instructions[op.getLast()].end) - 1;
  plan.buffers.push_back(std::move(buffer));
}

static void addPeak(plan::PlanT &plan, const AssignedStorage &storage, uint32_t instruction) {
  ArenaOp arena = storage.arena();
  auto report = std::make_unique<plan::PeakReportT>();
  report->peak_bytes = arena.getBytes();
  report->lower_bound_bytes = arena.getLowerBound();
  report->instruction = arena.getPeakOp().str() + " (instruction " + std::to_string(instruction) + ")";
  for (int64_t number : arena.getLargest()) {
    BufferOp buffer = storage.buffers()[number];
    auto tensor = std::make_unique<plan::LiveTensorT>();
    tensor->name = buffer.getName().str();
    tensor->bytes = buffer.getBytes();
    report->largest.push_back(std::move(tensor));
  }
  plan.peaks.push_back(std::move(report));
}

void ds::emitArena(plan::PlanT &plan, const AssignedStorage &storage, llvm::ArrayRef<InstructionRange> instructions) {
  auto arena = std::make_unique<plan::ArenaT>();
  arena->name = "device";
  arena->bytes = storage.arena().getBytes();
  plan.arenas.push_back(std::move(arena));
  for (BufferOp buffer : storage.buffers())
    addBuffer(plan, buffer, instructions);
  addPeak(plan, storage, instructions[storage.arena().getPeak()].begin);
}
