// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Plan/Extents.h"
#include "ds/Runtime/Collective.h"

#include "absl/strings/str_cat.h"

#include <atomic>
#include <cstring>

using namespace ds;
using namespace ds::runtime;

void ds::runtime::copySegments(const CollectiveCall &call) {
  for (const CollectiveSegment &segment : call.segments) {
    const int64_t elements = segment.outer * segment.whole * segment.middle * segment.scatterWhole * segment.inner;
    const size_t bytes = static_cast<size_t>(elements) * plan::sizeOf(call.type);
    if (bytes > 0 && segment.input != segment.output)
      std::memcpy(segment.output, segment.input, bytes);
  }
}

namespace {
class SingleRankCommunicator : public Communicator {
public:
  explicit SingleRankCommunicator(const std::atomic<bool> &isAborted) : isAborted(isAborted) {}

  int64_t size() const override { return 1; }
  int64_t ownMember() const override { return 0; }

  absl::Status run(const CollectiveCall &call) override {
    if (isAborted)
      return absl::AbortedError("the transport was aborted");
    copySegments(call);
    return absl::OkStatus();
  }

  absl::Status exchange(absl::Span<const SendPiece> sends, absl::Span<const ReceivePiece> receives) override {
    if (sends.empty() && receives.empty())
      return absl::OkStatus();
    return absl::InvalidArgumentError("an exchange of one rank must be empty: what a rank keeps needs no exchange");
  }

  absl::Status barrier() override { return absl::OkStatus(); }

private:
  const std::atomic<bool> &isAborted;
};

class SingleRankTransport : public Transport {
public:
  absl::StatusOr<std::unique_ptr<Communicator>> open(uint32_t, uint32_t) override {
    return std::make_unique<SingleRankCommunicator>(isAborted);
  }
  void abort() override { isAborted = true; }

private:
  std::atomic<bool> isAborted{false};
};
} // namespace

std::unique_ptr<Transport> ds::runtime::createSingleRankTransport() { return std::make_unique<SingleRankTransport>(); }
