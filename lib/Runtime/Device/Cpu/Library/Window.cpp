// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Window.h"

#include "absl/strings/str_cat.h"

using namespace ds::runtime;

/// The last output's window must begin inside the padded input: pads may be larger than the last window needs (as with
/// ceil_mode = 0), and outputs one more than floor gives (ceil_mode = 1), but never beyond.
static absl::Status checkDim(const WindowDim &dim) {
  constexpr int64_t kLimit = int64_t(1) << 31;
  for (int64_t size : {dim.in, dim.out, dim.kernel, dim.stride, dim.dilation, dim.padBegin + 1, dim.padEnd + 1})
    if (size < 0 || size > kLimit)
      return absl::InvalidArgumentError(
          absl::StrCat("invalid plan: sizes of a window must be in [0, 2^31], got ", size));
  if (dim.kernel == 0 || dim.stride == 0 || dim.dilation == 0)
    return absl::InvalidArgumentError("invalid plan: kernel, stride and dilation must be positive, got 0");
  const int64_t reach = dim.in + dim.padBegin + dim.padEnd - (dim.kernel - 1) * dim.dilation - 1;
  const int64_t outputs = reach < 0 ? 0 : reach / dim.stride + 1;
  const int64_t outputsByCeil = reach < 0 ? 0 : (reach + dim.stride - 1) / dim.stride + 1;
  if (dim.out == outputs || dim.out == outputsByCeil)
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("invalid plan: a window over ", dim.in, " elements must give ", outputs, ", got ", dim.out));
}

absl::StatusOr<std::vector<WindowDim>> ds::runtime::resolveWindow(const LibraryOperands &operands) {
  const std::vector<int64_t> in = operands.lengths("in.."), out = operands.lengths("out..");
  const std::vector<int64_t> kernel = operands.numbers("kernel.."), strides = operands.numbers("strides.."),
                             padBegin = operands.numbers("padBegin.."), padEnd = operands.numbers("padEnd.."),
                             dilations = operands.numbers("dilations..");
  std::vector<WindowDim> window;
  for (size_t i = 0; i < in.size(); ++i) {
    window.push_back({in[i], out[i], kernel[i], strides[i], padBegin[i], padEnd[i], dilations[i]});
    DS_RETURN_IF_ERROR(checkDim(window.back()));
  }
  return window;
}
