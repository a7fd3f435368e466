// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Tables, operations and memory. The schedule is in CheckScheduleTest.cpp.

#include "SmallPlan.h"

#include "ds/Plan/Check.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace ds;
using namespace ds::plan;
using testing::HasSubstr;
using testing::StartsWith;

/// The message of check(), which must fail.
static std::string faultOf(const TestPlan &builder) {
  absl::Status status = check(builder.plan);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), StartsWith("invalid plan: "));
  return std::string(status.message());
}

template <typename OperationT> static OperationT &operation(TestPlan &builder, size_t queue, size_t index) {
  return *static_cast<OperationT *>(builder.plan.queues[queue]->instructions[index]->operation.value);
}

TEST(Check, smallPlanIsValid) { EXPECT_EQ(check(smallPlan().plan), absl::OkStatus()); }
TEST(Check, emptyPlanIsValid) { EXPECT_EQ(check(PlanT()), absl::OkStatus()); }

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

TEST(CheckTables, meshMustBeAGrid) {
  TestPlan builder = smallPlan();
  builder.plan.mesh[0]->size = 0;
  EXPECT_THAT(faultOf(builder), HasSubstr("axis \"dp\" must have a size in [1, 65536], got 0"));
  builder.plan.mesh[0]->size = 2;
  builder.plan.mesh[0]->weights = {1, 0};
  EXPECT_THAT(faultOf(builder), HasSubstr("must have weights in [1, 65536], got 0"));
  builder.plan.mesh[0]->weights = {1};
  EXPECT_THAT(faultOf(builder), HasSubstr("must have 2 weights, got 1"));
}

TEST(CheckTables, extentsMustUseKnownAxesOnce) {
  TestPlan builder = smallPlan();
  builder.plan.extents[0]->factors[0]->axes = {7};
  EXPECT_THAT(faultOf(builder), HasSubstr("extent 0 refers to unknown axis 7"));
  builder.plan.extents[0]->factors[0]->axes = {0, 0};
  EXPECT_THAT(faultOf(builder), HasSubstr("extent 0 uses axis \"dp\" twice"));
}

TEST(CheckTables, extentsMustStayInsideTheLimit) {
  TestPlan builder = smallPlan();
  builder.plan.extents[1]->factors[0]->size = kMaxElements + 1;
  EXPECT_THAT(faultOf(builder), HasSubstr("extent 1 must be at most"));
  builder.plan.extents[1]->factors[0]->size = -1;
  EXPECT_THAT(faultOf(builder), HasSubstr("extent 1 must have factors >= 0, got -1"));
}

TEST(CheckTables, buffersMustLieAlignedInsideTheirArena) {
  TestPlan builder = smallPlan();
  builder.plan.buffers[2]->offset = 520;
  EXPECT_THAT(faultOf(builder), HasSubstr("buffer 2 \"result\" must start at a multiple of 256 bytes, got 520"));
  builder.plan.buffers[2]->offset = 1024;
  EXPECT_THAT(faultOf(builder), HasSubstr("buffer 2 \"result\" must lie inside the 1024 bytes of its arena"));
  builder.plan.buffers[2]->offset = UINT64_MAX - 255;
  EXPECT_THAT(faultOf(builder), HasSubstr("must lie inside the 1024 bytes of its arena"));
  builder.plan.buffers[2]->arena = 3;
  EXPECT_THAT(faultOf(builder), HasSubstr("refers to unknown arena 3"));
}

//===----------------------------------------------------------------------===//
// Variables and ports
//===----------------------------------------------------------------------===//

/// smallPlan with a variable of 10 elements on buffer 3, flat over dp.
static TestPlan planWithVariable() {
  TestPlan builder = smallPlan();
  builder.buffer("weight", 768, 256, {0, 2});
  auto variable = std::make_unique<VariableT>();
  variable->name = "weight";
  variable->shape = {10};
  ds::Layout layout = ds::Layout::replicated(1);
  layout.flat = {"dp"};
  variable->layout = toPlanLayout(layout, {10}, meshOf(builder.plan));
  variable->buffer = 3;
  builder.plan.variables.push_back(std::move(variable));
  return builder;
}

TEST(CheckVariables, variableIsAccepted) { EXPECT_EQ(check(planWithVariable().plan), absl::OkStatus()); }

TEST(CheckVariables, layoutMustFitTheShape) {
  TestPlan builder = planWithVariable();
  builder.plan.variables[0]->layout->dims[0]->factors[0]->size = 11;
  EXPECT_THAT(faultOf(builder), HasSubstr("variable \"weight\" must have a factor of 10 in dim 0, got 11"));
  builder.plan.variables[0]->layout->dims[0]->factors[0]->size = 10;
  builder.plan.variables[0]->shape = {10, 1};
  EXPECT_THAT(faultOf(builder), HasSubstr("variable \"weight\" has no valid layout: "));
  builder.plan.variables[0]->layout = nullptr;
  EXPECT_THAT(faultOf(builder), HasSubstr("variable \"weight\" has no layout"));
}

TEST(CheckVariables, bufferMustHoldTheVariable) {
  TestPlan builder = planWithVariable();
  builder.plan.buffers[3]->bytes = 19;
  EXPECT_THAT(faultOf(builder), HasSubstr("buffer 3 \"weight\" must hold the 20 bytes of variable \"weight\", got 19"));
}

TEST(CheckVariables, variableMustLiveThroughout) {
  TestPlan builder = planWithVariable();
  builder.plan.buffers[3]->last = 1;
  EXPECT_THAT(faultOf(builder), HasSubstr("must live from 0 to 2, got 0 to 1"));
}

TEST(CheckVariables, initialDataMustHaveTheSizeOfTheVariable) {
  TestPlan builder = planWithVariable();
  VariableT &variable = *builder.plan.variables[0];
  variable.inline_data.resize(39);
  EXPECT_THAT(faultOf(builder), HasSubstr("variable \"weight\" must have 40 bytes of data, got 39"));
  variable.source = std::make_unique<FileRangeT>();
  variable.source->path = "model.onnx";
  variable.source->length = 20;
  EXPECT_THAT(faultOf(builder), HasSubstr("must have a source of 40 bytes, got 20"));
}

TEST(CheckVariables, sourceMustStayInTheModelsFolder) {
  TestPlan builder = planWithVariable();
  VariableT &variable = *builder.plan.variables[0];
  variable.source = std::make_unique<FileRangeT>();
  variable.source->length = 40;
  for (std::string path : {"/etc/passwd", "../model.onnx", "a/../../b", "..", ""}) {
    variable.source->path = path;
    EXPECT_THAT(faultOf(builder), HasSubstr("must have a source inside the model's folder"));
  }
  variable.source->path = "weights/a..b.bin";
  builder.addModelFile("weights/a..b.bin", 40);
  EXPECT_EQ(check(builder.plan), absl::OkStatus());
}

TEST(CheckVariables, sourceMustLieInAFileThatThePlanKnows) {
  TestPlan builder = planWithVariable();
  VariableT &variable = *builder.plan.variables[0];
  variable.source = std::make_unique<FileRangeT>();
  variable.source->path = "model.onnx";
  variable.source->length = 40;
  EXPECT_THAT(faultOf(builder), HasSubstr("must have a source in one of the model's files, got \"model.onnx\""));
  builder.addModelFile("model.onnx", 48);
  EXPECT_EQ(check(builder.plan), absl::OkStatus());
  for (const uint64_t offset : {uint64_t(9), UINT64_MAX - 20}) {
    variable.source->offset = offset;
    EXPECT_THAT(faultOf(builder), HasSubstr("must have a source in the 48 bytes of \"model.onnx\", got 40 from "));
  }
}

TEST(CheckVariables, variableMustNotBePartial) {
  TestPlan builder = planWithVariable();
  LayoutT &layout = *builder.plan.variables[0]->layout;
  layout.flat.clear();
  layout.partial.push_back(std::make_unique<PartialAxisT>());
  EXPECT_THAT(faultOf(builder), HasSubstr("variable \"weight\" must not be partial"));
}

TEST(CheckVariables, inputsMustBeDenseAndLiveFromTheStart) {
  TestPlan builder = smallPlan();
  auto port = std::make_unique<PortT>();
  port->name = "ids";
  port->shape = {10};
  port->layout = toPlanLayout(ds::Layout::replicated(1), {10}, meshOf(builder.plan));
  port->buffer = 2;
  builder.plan.inputs.push_back(std::move(port));
  EXPECT_THAT(faultOf(builder), HasSubstr("buffer 2 \"result\" of input \"ids\" must live from 0, got 2"));
  builder.plan.inputs[0]->layout->flat = {0};
  EXPECT_THAT(faultOf(builder), HasSubstr("input \"ids\" must be neither partial nor flat"));
  builder.plan.inputs[0]->layout->flat.clear();
  builder.plan.inputs[0]->allowed = std::make_unique<IntSetT>();
  builder.plan.inputs[0]->allowed->high = 5;
  EXPECT_THAT(faultOf(builder), HasSubstr("input \"ids\" must allow a range of integers, got [0, 5) of f32"));
  builder.plan.inputs[0]->name = "ds.learning_rate";
  EXPECT_THAT(faultOf(builder), HasSubstr("input \"ds.learning_rate\" must be a scalar of f32 or f64"));
}

TEST(CheckVariables, outputsMustBeWrittenAndLiveToTheEnd) {
  TestPlan builder = smallPlan();
  auto port = std::make_unique<PortT>();
  port->name = "logits";
  port->shape = {10};
  port->layout = toPlanLayout(ds::Layout::replicated(1), {10}, meshOf(builder.plan));
  port->buffer = 1;
  builder.plan.outputs.push_back(std::move(port));
  EXPECT_EQ(check(builder.plan), absl::OkStatus());
  builder.plan.buffers[1]->last = 1;
  EXPECT_THAT(faultOf(builder), HasSubstr("of output \"logits\" must live to 2, got 1"));
  builder.plan.outputs[0]->buffer = builder.buffer("other", 768, 256, {0, 2});
  builder.plan.buffers[1]->last = 2;
  EXPECT_THAT(faultOf(builder), HasSubstr("output \"logits\" is never written"));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

TEST(CheckOperations, idsMustExist) {
  TestPlan builder = smallPlan();
  operation<FillT>(builder, 0, 0).buffer = 9;
  EXPECT_THAT(faultOf(builder), HasSubstr("instruction \"op0\" (0 on queue \"compute\") refers to unknown buffer 9"));
  operation<FillT>(builder, 0, 0).buffer = 0;
  operation<FillT>(builder, 0, 0).count = 9;
  EXPECT_THAT(faultOf(builder), HasSubstr("refers to unknown extent 9"));
  operation<FillT>(builder, 0, 0).count = 0;
  operation<CollectiveT>(builder, 1, 0).axis = 1;
  EXPECT_THAT(faultOf(builder), HasSubstr("refers to unknown axis 1"));
}

TEST(CheckOperations, everyInstructionNeedsAnOperation) {
  TestPlan builder = smallPlan();
  builder.plan.queues[0]->instructions[0]->operation.Reset();
  EXPECT_THAT(faultOf(builder), HasSubstr("has no operation"));
  builder.plan.queues[0]->instructions[0]->operation.type = static_cast<Operation>(99);
  EXPECT_THAT(faultOf(builder), HasSubstr("has no operation"));
  builder.plan.queues[0]->instructions[0]->operation.type = Operation::NONE;
}

TEST(CheckOperations, enumsMustBeKnown) {
  TestPlan builder = smallPlan();
  operation<FillT>(builder, 0, 0).type = static_cast<DataType>(77);
  EXPECT_THAT(faultOf(builder), HasSubstr("has unknown type 77"));
}

TEST(CheckOperations, copyNeedsViews) {
  TestPlan builder = smallPlan();
  builder.add(0, CopyT());
  EXPECT_THAT(faultOf(builder), HasSubstr("must have a source and a target"));
}

TEST(CheckOperations, kernelCallsMustBeComplete) {
  TestPlan builder = smallPlan();
  KernelCallT call;
  call.buffers = {2};
  call.rows = 1;
  builder.add(0, call);
  builder.plan.buffers[2]->last = 3;
  EXPECT_THAT(faultOf(builder), HasSubstr("refers to unknown kernel 0"));
  builder.plan.kernels.push_back(std::make_unique<KernelT>());
  EXPECT_THAT(faultOf(builder), HasSubstr("must have a symbol"));
  builder.plan.kernels[0]->symbol = "k";
  EXPECT_THAT(faultOf(builder), HasSubstr("must have at least 1 chunk, got 0"));
  operation<KernelCallT>(builder, 0, 2).chunks = 4;
  EXPECT_EQ(check(builder.plan), absl::OkStatus());
  operation<KernelCallT>(builder, 0, 2).first_output = 2;
  EXPECT_THAT(faultOf(builder), HasSubstr("must have first_output in [0, 1], got 2"));
}

TEST(CheckOperations, kernelResultsMustFitTheirBuffers) {
  TestPlan builder = smallPlan();
  builder.plan.kernels.push_back(std::make_unique<KernelT>());
  builder.plan.kernels[0]->symbol = "k";
  KernelCallT call;
  call.buffers = {2};
  call.rows = 1;
  call.chunks = 1;
  call.results.push_back(std::make_unique<KernelResultT>());
  call.results[0]->count = builder.extent(constantExtent(static_cast<int64_t>(builder.plan.buffers[2]->bytes / 4)));
  builder.add(0, call);
  builder.plan.buffers[2]->last = 3;
  EXPECT_EQ(check(builder.plan), absl::OkStatus());
  KernelResultT &result = *operation<KernelCallT>(builder, 0, 2).results[0];
  result.type = DataType::F64;
  EXPECT_THAT(faultOf(builder), HasSubstr("must hold the"));
  result.count = 1000;
  EXPECT_THAT(faultOf(builder), HasSubstr("refers to unknown extent 1000"));
  operation<KernelCallT>(builder, 0, 2).first_output = 1;
  EXPECT_THAT(faultOf(builder), HasSubstr("must have at most 0 results, got 1"));
}

/// smallPlan and C = A * B of 10 x 10 on buffers 2, 2 -> 3.
static TestPlan planWithMatmul() {
  TestPlan builder = smallPlan();
  builder.plan.buffers[2]->last = 3;
  MatmulT matmul;
  matmul.a = matmul.b = 2;
  matmul.c = builder.buffer("product", 768, 256, {3, 3});
  matmul.extents = {2, 2, 1}; // 1, 1, 10
  matmul.a_dims = {0, 2};
  matmul.b_dims = {2, 1};
  matmul.c_dims = {0, 1};
  builder.add(0, matmul);
  return builder;
}

TEST(CheckOperations, matmulIndicesMustBeUsedTwice) {
  TestPlan builder = planWithMatmul();
  ASSERT_EQ(check(builder.plan), absl::OkStatus());
  operation<MatmulT>(builder, 0, 2).b_dims = {2};
  EXPECT_THAT(faultOf(builder), HasSubstr("must have index 1 in at least two of A, B and C, got 1"));
  operation<MatmulT>(builder, 0, 2).b_dims = {2, 1};
  operation<MatmulT>(builder, 0, 2).bias = 1;
  operation<MatmulT>(builder, 0, 2).bias_dims = {2};
  EXPECT_THAT(faultOf(builder), HasSubstr("must have bias index 2 in C"));
}

TEST(CheckOperations, outputMustNotBeAnInputToo) {
  TestPlan builder = planWithMatmul();
  operation<MatmulT>(builder, 0, 2).c = 2;
  EXPECT_THAT(faultOf(builder), HasSubstr("must not write buffer 2 \"result\", which it also uses otherwise"));
}

TEST(CheckOperations, onlySomeOperationsWorkInPlace) {
  TestPlan builder = smallPlan();
  operation<ToPartialT>(builder, 0, 1).output = 1;
  EXPECT_EQ(check(builder.plan), absl::OkStatus());
  operation<CollectiveT>(builder, 1, 0).segments[0]->input = 1;
  EXPECT_THAT(faultOf(builder), HasSubstr("must not write buffer 1"));
}

TEST(CheckOperations, segmentsMustNotShareOutputs) {
  TestPlan builder = smallPlan();
  CollectiveT &gather = operation<CollectiveT>(builder, 1, 0);
  gather.segments.push_back(std::make_unique<SegmentT>(*gather.segments[0]));
  EXPECT_THAT(faultOf(builder), HasSubstr("must not write buffer 1 \"whole\", which it also uses otherwise"));
}

TEST(CheckOperations, libraryCallsMustHaveTheirArguments) {
  TestPlan builder = smallPlan();
  builder.plan.buffers[2]->last = 3;
  LibraryCallT call;
  call.function = LibraryFunction::Iota;
  call.buffers = {2};
  call.extents = {2, 1};
  builder.add(0, call);
  EXPECT_THAT(faultOf(builder), HasSubstr("iota must have 3 extents, got 2"));
  operation<LibraryCallT>(builder, 0, 2).extents = {2, 1, 2};
  EXPECT_EQ(check(builder.plan), absl::OkStatus());
  operation<LibraryCallT>(builder, 0, 2).buffers = {};
  EXPECT_THAT(faultOf(builder), HasSubstr("iota must have 1 buffer, got 0"));
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

TEST(CheckSizes, bufferMustHoldWhatIsWritten) {
  TestPlan builder = smallPlan();
  builder.plan.buffers[1]->bytes = 39;
  EXPECT_THAT(faultOf(builder), HasSubstr("buffer 1 \"whole\" must hold the 40 bytes that instruction \"op2\" (1 on "
                                          "queue \"compute\") reads, got 39"));
}

TEST(CheckSizes, theLargestRankCounts) {
  // 10 elements over weights 1 and 4: rank 1 has 8.
  TestPlan builder = smallPlan();
  builder.plan.mesh[0]->weights = {1, 4};
  builder.plan.buffers[0]->bytes = 32;
  EXPECT_EQ(check(builder.plan), absl::OkStatus());
  builder.plan.buffers[0]->bytes = 31;
  EXPECT_THAT(faultOf(builder), HasSubstr("must hold the 32 bytes"));
}

TEST(CheckSizes, hugeProductsDoNotWrap) {
  TestPlan builder = planWithMatmul();
  builder.plan.extents[1]->factors[0]->size = int64_t(1) << 33;
  operation<MatmulT>(builder, 0, 2).extents = {1, 1, 1};
  operation<CollectiveT>(builder, 1, 0).segments[0]->whole = 2;
  operation<ToPartialT>(builder, 0, 1).count = 2;
  EXPECT_THAT(faultOf(builder), HasSubstr("must hold the more than 2^64 bytes"));
}

TEST(CheckSizes, groupsMustAgree) {
  TestPlan builder = smallPlan();
  builder.plan.mesh[0]->weights = {1, 4};
  operation<CollectiveT>(builder, 1, 0).segments[0]->whole = 0;
  EXPECT_THAT(faultOf(builder), HasSubstr("must have extents that are equal along axis \"dp\", got extent 0"));
}

/// smallPlan and a copy of buffer 1 to buffer 3 through views of one dim.
static TestPlan planWithCopy() {
  TestPlan builder = smallPlan();
  CopyT copy;
  copy.extents = {1};
  auto view = [](uint32_t buffer) {
    auto view = std::make_unique<ViewT>();
    view->buffer = buffer;
    view->dims.push_back(std::make_unique<ViewDimT>());
    view->dims[0]->loop = 0;
    view->dims[0]->extent = 1;
    return view;
  };
  copy.source = view(2);
  copy.target = view(builder.buffer("copy", 768, 256, {3, 3}));
  builder.plan.buffers[2]->last = 3;
  builder.add(0, copy);
  return builder;
}

TEST(CheckSizes, viewsMustStayInsideTheirBuffer) {
  TestPlan builder = planWithCopy();
  ASSERT_EQ(check(builder.plan), absl::OkStatus());
  ViewDimT &dim = *operation<CopyT>(builder, 0, 2).source->dims[0];
  dim.start = 1;
  EXPECT_THAT(faultOf(builder),
              HasSubstr("must touch coordinates in [0, 10) in dim 0 of buffer 2 \"result\", got 1 to 10"));
  dim.step = -1;
  EXPECT_THAT(faultOf(builder), HasSubstr("got -8 to 1"));
  dim.start = 9;
  EXPECT_EQ(check(builder.plan), absl::OkStatus());
  dim.step = INT64_MIN;
  EXPECT_THAT(faultOf(builder), HasSubstr("must have a view with starts and steps of at most"));
  dim.step = int64_t(1) << 46;
  EXPECT_THAT(faultOf(builder), HasSubstr("leaves dim 0"));
  dim.loop = 1;
  EXPECT_THAT(faultOf(builder), HasSubstr("over loops in [-1, 1), got 1"));
}

TEST(CheckSizes, viewsMoveByTheLoopInsideItOnly) {
  TestPlan builder = planWithCopy();
  operation<CopyT>(builder, 0, 2).source->by_loop_index = true;
  EXPECT_THAT(faultOf(builder), HasSubstr("must be inside the loop"));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST(CheckMemory, liveBuffersMustNotOverlap) {
  TestPlan builder = smallPlan();
  builder.plan.buffers[1]->offset = 0;
  EXPECT_THAT(faultOf(builder), HasSubstr("invalid plan: buffers 0 and 1 overlap while both are live"));
  // The other neighbour: buffer 0 reaches into buffer 1.
  builder.plan.buffers[1]->offset = 256;
  builder.plan.buffers[0]->bytes = 257;
  EXPECT_THAT(faultOf(builder), HasSubstr("buffers 0 and 1 overlap while both are live"));
}

TEST(CheckMemory, bytesAreUsedAgain) {
  TestPlan builder = smallPlan();
  builder.plan.buffers[2]->offset = 0; // of buffer 0, which is dead by then
  EXPECT_EQ(check(builder.plan), absl::OkStatus());
}

TEST(CheckMemory, noUseOutsideTheLife) {
  TestPlan builder = smallPlan();
  builder.plan.buffers[1]->last = 1;
  EXPECT_THAT(faultOf(builder), HasSubstr("uses buffer 1 \"whole\" after its last use, got a life from 1 to 1"));
  builder.plan.buffers[1]->first = 2;
  builder.plan.buffers[1]->last = 2;
  EXPECT_THAT(faultOf(builder), HasSubstr("uses buffer 1 \"whole\" before its first use"));
}

TEST(CheckMemory, noReadBeforeTheFirstWrite) {
  TestPlan builder = smallPlan();
  operation<FillT>(builder, 0, 0).buffer = 2;
  builder.plan.buffers[2]->first = 0;
  EXPECT_THAT(faultOf(builder), HasSubstr("reads buffer 0 \"shard\" before it is written"));
}
