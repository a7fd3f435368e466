// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ConvolutionSetup.h"
#include "LibraryTask.h"

#include "../OneDnn.h"

#include "ds/Runtime/Device/ParallelFor.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

#include <cstring>

using namespace ds;
using namespace ds::runtime;

namespace {
struct PrimitiveTask : Task {
  explicit PrimitiveTask(BoundPrimitive primitive) : primitive(std::move(primitive)) {}
  absl::Status run(const TaskContext &) override { return primitive.run(); }

  BoundPrimitive primitive;
};

/// A convolution of which some size is 0: its results are zeros, the bias, or a sum of the output's gradient.
struct EmptyConvolutionTask : Task {
  absl::Status run(const TaskContext &) override {
    std::fill_n(zeros, zeroCount, 0.0f);
    for (int64_t image = 0; output && bias && image < batch; ++image)
      for (int64_t channel = 0; channel < channels; ++channel)
        std::fill_n(output + (image * channels + channel) * space, space, bias[channel]);
    for (int64_t channel = 0; gradBias && channel < channels; ++channel)
      gradBias[channel] = sumOfChannel(channel);
    return absl::OkStatus();
  }

  float sumOfChannel(int64_t channel) const {
    double sum = 0;
    for (int64_t image = 0; image < batch; ++image)
      for (int64_t i = 0; i < space; ++i)
        sum += gradOutput[(image * channels + channel) * space + i];
    return static_cast<float>(sum);
  }

  float *zeros = nullptr; ///< [zeroCount], the result other than the bias' gradient
  int64_t zeroCount = 0;
  int64_t batch = 0, channels = 0, space = 0; ///< of the output
  float *output = nullptr;
  const float *bias = nullptr, *gradOutput = nullptr;
  float *gradBias = nullptr;
};

/// What oneDNN's descriptors take.
struct ConvolutionDescriptors {
  dnnl_memory_desc_t input, weight, output, bias;
  std::vector<int64_t> strides, dilations, padsBegin, padsEnd;
};
} // namespace

static absl::StatusOr<ConvolutionDescriptors> describe(const ConvolutionSetup &setup) {
  ConvolutionDescriptors result;
  DS_ASSIGN_OR_RETURN(result.input, describeDense(setup.inputSizes(), plan::DataType::F32));
  DS_ASSIGN_OR_RETURN(result.weight, describeDense(setup.groupedWeightSizes(), plan::DataType::F32));
  DS_ASSIGN_OR_RETURN(result.output, describeDense(setup.outputSizes(), plan::DataType::F32));
  DS_ASSIGN_OR_RETURN(result.bias, describeDense({setup.outputs}, plan::DataType::F32));
  result.strides = setup.spatial(&WindowDim::stride);
  result.padsBegin = setup.spatial(&WindowDim::padBegin);
  result.padsEnd = setup.spatial(&WindowDim::padEnd);
  for (const WindowDim &dim : setup.window)
    result.dilations.push_back(dim.dilation - 1);
  return result;
}

static absl::Status initForward(const ConvolutionDescriptors &d, bool hasBias, dnnl_convolution_desc_t &operation) {
  return dnnlStatus(
      dnnl_dilated_convolution_forward_desc_init(&operation, dnnl_forward_training, dnnl_convolution_direct, &d.input,
                                                 &d.weight, hasBias ? &d.bias : nullptr, &d.output, d.strides.data(),
                                                 d.dilations.data(), d.padsBegin.data(), d.padsEnd.data()),
      "describe a convolution");
}

static absl::Status initGradInput(const ConvolutionDescriptors &d, dnnl_convolution_desc_t &operation) {
  return dnnlStatus(dnnl_dilated_convolution_backward_data_desc_init(
                        &operation, dnnl_convolution_direct, &d.input, &d.weight, &d.output, d.strides.data(),
                        d.dilations.data(), d.padsBegin.data(), d.padsEnd.data()),
                    "describe a convolution's gradient");
}

static absl::Status initGradWeight(const ConvolutionDescriptors &d, bool hasBias, dnnl_convolution_desc_t &operation) {
  return dnnlStatus(dnnl_dilated_convolution_backward_weights_desc_init(
                        &operation, dnnl_convolution_direct, &d.input, &d.weight, hasBias ? &d.bias : nullptr,
                        &d.output, d.strides.data(), d.dilations.data(), d.padsBegin.data(), d.padsEnd.data()),
                    "describe a convolution's gradient");
}

static absl::StatusOr<BoundPrimitive> createPrimitive(const dnnl_convolution_desc_t &operation,
                                                      const_dnnl_primitive_desc_t hint, ScratchSpace &scratch) {
  DS_ASSIGN_OR_RETURN(const DnnlAttributes attributes, makeAttributes());
  DnnlPrimitiveDesc chosen;
  DS_RETURN_IF_ERROR(dnnlStatus(dnnl_primitive_desc_create(chosen.out(), &operation, attributes.get(), dnnlCpu(), hint),
                                "create a convolution"));
  return BoundPrimitive::create(chosen.get(), scratch);
}

static TaskOr makeForward(const ConvolutionSetup &setup, const ConvolutionDescriptors &d, ScratchSpace &scratch) {
  dnnl_convolution_desc_t operation;
  DS_RETURN_IF_ERROR(initForward(d, setup.bias, operation));
  DS_ASSIGN_OR_RETURN(BoundPrimitive primitive, createPrimitive(operation, nullptr, scratch));
  DS_RETURN_IF_ERROR(primitive.bind(DNNL_ARG_SRC, d.input, setup.input));
  DS_RETURN_IF_ERROR(primitive.bind(DNNL_ARG_WEIGHTS, d.weight, setup.weight));
  DS_RETURN_IF_ERROR(primitive.bind(DNNL_ARG_DST, d.output, setup.output));
  if (setup.bias)
    DS_RETURN_IF_ERROR(primitive.bind(DNNL_ARG_BIAS, d.bias, setup.bias));
  return std::make_unique<PrimitiveTask>(std::move(primitive));
}

/// oneDNN asks for the forward convolution with each gradient.
static absl::StatusOr<DnnlPrimitiveDesc> makeHint(const ConvolutionDescriptors &d) {
  dnnl_convolution_desc_t operation;
  DS_RETURN_IF_ERROR(initForward(d, false, operation));
  DnnlPrimitiveDesc hint;
  DS_RETURN_IF_ERROR(dnnlStatus(dnnl_primitive_desc_create(hint.out(), &operation, nullptr, dnnlCpu(), nullptr),
                                "create a convolution"));
  return hint;
}

static TaskOr makeGradInput(const ConvolutionSetup &setup, const ConvolutionDescriptors &d, ScratchSpace &scratch) {
  dnnl_convolution_desc_t operation;
  DS_RETURN_IF_ERROR(initGradInput(d, operation));
  DS_ASSIGN_OR_RETURN(const DnnlPrimitiveDesc hint, makeHint(d));
  DS_ASSIGN_OR_RETURN(BoundPrimitive primitive, createPrimitive(operation, hint.get(), scratch));
  DS_RETURN_IF_ERROR(primitive.bind(DNNL_ARG_DIFF_SRC, d.input, setup.input));
  DS_RETURN_IF_ERROR(primitive.bind(DNNL_ARG_WEIGHTS, d.weight, setup.weight));
  DS_RETURN_IF_ERROR(primitive.bind(DNNL_ARG_DIFF_DST, d.output, setup.output));
  return std::make_unique<PrimitiveTask>(std::move(primitive));
}

static TaskOr makeGradWeight(const ConvolutionSetup &setup, const ConvolutionDescriptors &d, ScratchSpace &scratch) {
  dnnl_convolution_desc_t operation;
  DS_RETURN_IF_ERROR(initGradWeight(d, setup.bias, operation));
  DS_ASSIGN_OR_RETURN(const DnnlPrimitiveDesc hint, makeHint(d));
  DS_ASSIGN_OR_RETURN(BoundPrimitive primitive, createPrimitive(operation, hint.get(), scratch));
  DS_RETURN_IF_ERROR(primitive.bind(DNNL_ARG_SRC, d.input, setup.input));
  DS_RETURN_IF_ERROR(primitive.bind(DNNL_ARG_DIFF_WEIGHTS, d.weight, setup.weight));
  DS_RETURN_IF_ERROR(primitive.bind(DNNL_ARG_DIFF_DST, d.output, setup.output));
  if (setup.bias)
    DS_RETURN_IF_ERROR(primitive.bind(DNNL_ARG_DIFF_BIAS, d.bias, setup.bias));
  return std::make_unique<PrimitiveTask>(std::move(primitive));
}

static bool isEmpty(const ConvolutionSetup &setup) {
  return productOf(setup.inputSizes()) == 0 || productOf(setup.outputSizes()) == 0 ||
         productOf(setup.weightSizes()) == 0;
}

static TaskOr makeEmpty(const ConvolutionSetup &setup, plan::LibraryFunction function) {
  auto task = std::make_unique<EmptyConvolutionTask>();
  task->batch = setup.batch;
  task->channels = setup.outputs;
  task->space = productOf(setup.spatial(&WindowDim::out));
  if (function == plan::LibraryFunction::Convolution) {
    task->zeros = task->output = static_cast<float *>(setup.output);
    task->zeroCount = productOf(setup.outputSizes());
    task->bias = static_cast<const float *>(setup.bias);
  } else if (function == plan::LibraryFunction::ConvolutionGradInput) {
    task->zeros = static_cast<float *>(setup.input);
    task->zeroCount = productOf(setup.inputSizes());
  } else {
    task->zeros = static_cast<float *>(setup.weight);
    task->zeroCount = productOf(setup.weightSizes());
    task->gradOutput = static_cast<const float *>(setup.output);
    task->gradBias = static_cast<float *>(setup.bias);
  }
  return task;
}

/// Each function names the three tensors by what they are to it.
static absl::Status bindBuffers(const LibraryOperands &operands, ConvolutionSetup &setup) {
  const bool isForward = operands.function() == plan::LibraryFunction::Convolution;
  const bool isGradInput = operands.function() == plan::LibraryFunction::ConvolutionGradInput;
  DS_ASSIGN_OR_RETURN(setup.input, operands.buffer<char>(isGradInput ? "gradInput" : "input"));
  DS_ASSIGN_OR_RETURN(setup.weight, operands.buffer<char>(isForward || isGradInput ? "weight" : "gradWeight"));
  DS_ASSIGN_OR_RETURN(setup.output, operands.buffer<char>(isForward ? "output" : "gradOutput"));
  if (!isGradInput) {
    DS_ASSIGN_OR_RETURN(setup.bias, operands.buffer<char>(isForward ? "bias" : "gradBias"));
  }
  return absl::OkStatus();
}

TaskOr ds::runtime::buildConvolution(const LibraryOperands &operands) {
  if (operands.type() != plan::DataType::F32 && operands.type() != plan::DataType::F64)
    return unsupportedType(operands);
  ConvolutionSetup setup;
  setup.batch = operands.length("N");
  setup.inputs = operands.length("Ci");
  setup.outputs = operands.length("Co");
  setup.groups = operands.length("groups");
  if (setup.groups != 0 && (setup.inputs % setup.groups != 0 || setup.outputs % setup.groups != 0))
    return absl::InvalidArgumentError(absl::StrCat("invalid plan: groups must divide the channels ", setup.inputs,
                                                   " and ", setup.outputs, ", got ", setup.groups));
  DS_ASSIGN_OR_RETURN(setup.window, resolveWindow(operands));
  DS_RETURN_IF_ERROR(bindBuffers(operands, setup));
  if (operands.type() == plan::DataType::F64) // oneDNN has no doubles
    return makeDoubleConvolution(setup, operands.function());
  if (isEmpty(setup))
    return makeEmpty(setup, operands.function());
  DS_ASSIGN_OR_RETURN(const ConvolutionDescriptors descriptors, describe(setup));
  switch (operands.function()) {
  case plan::LibraryFunction::Convolution:
    return makeForward(setup, descriptors, *operands.scratch());
  case plan::LibraryFunction::ConvolutionGradInput:
    return makeGradInput(setup, descriptors, *operands.scratch());
  default:
    return makeGradWeight(setup, descriptors, *operands.scratch());
  }
}
