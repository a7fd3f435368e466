// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Analysis/PredictedWork.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace ds;

void ds::setPrediction(Operation *op, const Work &work, double seconds) {
  Builder builder(op->getContext());
  SmallVector<NamedAttribute> numbers;
  for (const WorkField &field : kWorkFields)
    if (const double number = work.*field.place)
      numbers.push_back(builder.getNamedAttr(field.name, builder.getF64FloatAttr(number)));
  op->setAttr(kSecondsAttr, builder.getF64FloatAttr(seconds));
  op->setAttr(kWorkAttr, builder.getDictionaryAttr(numbers));
}

double ds::predictedSeconds(Operation *op) {
  auto seconds = op->getAttrOfType<FloatAttr>(kSecondsAttr);
  return seconds ? seconds.getValueAsDouble() : 0;
}

Work ds::predictedWork(Operation *op) {
  Work work;
  if (auto numbers = op->getAttrOfType<DictionaryAttr>(kWorkAttr))
    for (const WorkField &field : kWorkFields)
      if (auto number = numbers.getAs<FloatAttr>(field.name))
        work.*field.place = number.getValueAsDouble();
  return work;
}
