// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "BadSteps.h"

#include "ds/Runtime/Device/NonFinite.h"
#include "ds/Runtime/ErrorCodes.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <cmath>

namespace ds::runtime {

static constexpr int64_t kAfterAllNans = int64_t(1) << 62;

bool StepRecord::isBad() const {
  return (loss && !std::isfinite(*loss)) || (gradientNorm && !std::isfinite(*gradientNorm));
}

std::string describeBadNumbers(const StepRecord &record) {
  std::vector<std::string> words;
  for (const auto &[name, value] :
       {std::make_pair("loss", record.loss), std::make_pair("gradient norm", record.gradientNorm)})
    if (value && !std::isfinite(*value))
      words.push_back(absl::StrCat(name, std::isnan(*value) ? " nan" : *value > 0 ? " inf" : " -inf"));
  return absl::StrJoin(words, ", ");
}

void BadSteps::add(const StepRecord &record) {
  if (!record.isBad()) {
    inARow = 0;
    lastGood = record.step;
    return;
  }
  ++inARow;
  last = record;
}

absl::Status BadSteps::stop() const {
  const std::string weights = lastGood < 0
                                  ? "no step was good, so nothing is saved"
                                  : absl::StrCat("the weights are those after step ", lastGood, ", the last good one");
  return absl::Status(kNumericStop,
                      absl::StrCat("stopped after step ", last.step, ": ", describeBadNumbers(last), ", the last of ",
                                   inARow, inARow == 1 ? " step" : " steps in a row", " that changed nothing; ",
                                   weights, "; --find-nan names the op where such a number comes from"));
}

//===----------------------------------------------------------------------===//
// Where a number comes from
//===----------------------------------------------------------------------===//

namespace {
/// A tensor of the plan that is there before the step.
struct TensorInMemory {
  std::string name;
  plan::DataType type;
  const plan::LayoutT &layout;
  const Shape &shape;
  uint32_t buffer;
};
} // namespace

static void look(const RankMemory &memory, const TensorInMemory &tensor, FirstNonFinite &first) {
  const int64_t elements =
      ownedElements(plan::layoutOf(memory.plan, tensor.layout), tensor.shape, memory.mesh, memory.rank);
  const NonFiniteCount count = countNonFinite(tensor.type, memory.findBuffer(tensor.buffer).data, elements);
  if (count.nans > 0 && !first.nan)
    first.nan = {0, -1, tensor.name, count.nans, elements};
  if (count.infinities > 0 && !first.infinity)
    first.infinity = {0, -1, tensor.name, count.infinities, elements};
}

FirstNonFinite findInMemory(const RankMemory &memory) {
  FirstNonFinite first;
  for (const auto &port : memory.plan.inputs)
    look(memory, {absl::StrCat("input '", port->name, "'"), port->type, *port->layout, port->shape, port->buffer},
         first);
  for (const auto &variable : memory.plan.variables)
    look(memory,
         {absl::StrCat("variable '", variable->name, "'"), variable->type, *variable->layout, variable->shape,
          variable->buffer},
         first);
  return first;
}

int64_t placeOf(const FirstNonFinite &first) {
  const auto place = [](const NonFiniteFinding &finding) { return finding.iteration << 32 | (finding.order + 1); };
  if (first.nan)
    return place(*first.nan);
  return first.infinity ? kAfterAllNans + place(*first.infinity) : INT64_MAX;
}

static std::string describe(const NonFiniteFinding &finding) {
  return absl::StrCat("in ", finding.order < 0 ? "" : "the result of op ", finding.op, " (", finding.count, " of ",
                      finding.elements, " elements)");
}

std::string describeFirst(const FirstNonFinite &first) {
  if (!first.nan && !first.infinity)
    return "no result shows where it comes from";
  if (!first.nan)
    return absl::StrCat("the first infinity is ", describe(*first.infinity));
  std::string text = absl::StrCat("the first NaN is ", describe(*first.nan));
  if (first.infinity && first.infinity->place() < first.nan->place())
    absl::StrAppend(&text, ", after an infinity ", describe(*first.infinity));
  return text;
}

} // namespace ds::runtime
