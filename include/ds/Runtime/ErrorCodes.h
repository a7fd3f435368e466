// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The status codes whose meaning here cannot be guessed. ResourceExhausted is storage that fails or is full, and
/// nothing else; tools turn codes into exit codes.

#ifndef DS_RUNTIME_ERRORCODES_H
#define DS_RUNTIME_ERRORCODES_H

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ds::runtime {

/// Numbers that are NaN or infinite and end a training. absl has no code for it, and this one is used for nothing else.
inline constexpr absl::StatusCode kNumericStop = absl::StatusCode::kUnknown;

/// Too little memory is a matter of what the machine was asked for: the caller's to change.
inline absl::Status memoryError(const std::string &what) {
  return absl::FailedPreconditionError(absl::StrCat(
      what, "; free memory, or ask for less: a smaller train_batch_size, more gradient_accumulation_steps, "
            "a higher ZeRO stage or more ranks"));
}

} // namespace ds::runtime

#endif // DS_RUNTIME_ERRORCODES_H
