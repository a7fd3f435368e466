// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Device/FlushDenormals.h"

#include "ds/Runtime/Device/ParallelFor.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

using namespace ds::runtime;

#if defined(__x86_64__)
static constexpr uint64_t kFlush = 1 << 15 | 1 << 6; // flush to zero, denormals are zeros
static uint64_t readControl() { return _mm_getcsr(); }
static void writeControl(uint64_t value) { _mm_setcsr(static_cast<unsigned>(value)); }
#elif defined(__aarch64__)
static constexpr uint64_t kFlush = 1 << 24; // FZ
static uint64_t readControl() {
  uint64_t value;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
static void writeControl(uint64_t value) { asm volatile("msr fpcr, %0" ::"r"(value)); }
#else
static constexpr uint64_t kFlush = 0;
static uint64_t readControl() { return 0; }
static void writeControl(uint64_t) {}
#endif

FlushDenormals::FlushDenormals() : before(readControl()) {
  onEachThread([] { writeControl(readControl() | kFlush); });
}

FlushDenormals::~FlushDenormals() { writeControl(before); }
