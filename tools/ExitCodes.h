// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What our programs tell their callers.

#ifndef DS_TOOLS_EXITCODES_H
#define DS_TOOLS_EXITCODES_H

#include "ds/Runtime/ErrorCodes.h"

namespace ds {

enum ExitCode : int {
  kExitOk = 0,
  kExitBadInput = 2,
  kExitUnsupported = 3,
  kExitPeerLost = 4,
  kExitTimeout = 5,
  kExitStorage = 6,
  kExitNumericStop = 7,
  kExitIntegrity = 8,
  kExitDefect = 9, ///< of this project
  kExitInterrupted = 130,
};

/// The exit code for an error of the libraries.
inline ExitCode exitCodeOf(absl::StatusCode code) {
  switch (code) {
  case absl::StatusCode::kOk:
    return kExitOk;
  case absl::StatusCode::kInvalidArgument:
  case absl::StatusCode::kNotFound:
  case absl::StatusCode::kOutOfRange:
  case absl::StatusCode::kAlreadyExists:
  case absl::StatusCode::kPermissionDenied:
  case absl::StatusCode::kFailedPrecondition:
    return kExitBadInput;
  case absl::StatusCode::kUnimplemented:
    return kExitUnsupported;
  case absl::StatusCode::kUnavailable:
  case absl::StatusCode::kAborted:
    return kExitPeerLost;
  case absl::StatusCode::kDeadlineExceeded:
    return kExitTimeout;
  case absl::StatusCode::kResourceExhausted:
    return kExitStorage;
  case absl::StatusCode::kDataLoss:
    return kExitIntegrity;
  case runtime::kNumericStop:
    return kExitNumericStop;
  case absl::StatusCode::kCancelled:
    return kExitInterrupted;
  default:
    return kExitDefect;
  }
}

} // namespace ds

#endif // DS_TOOLS_EXITCODES_H
