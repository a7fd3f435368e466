// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "MatmulPanel.h"

#include <algorithm>

using namespace ds::runtime;

int64_t PanelCopy::squaresDown() const { return ceilDiv(source.columns, kLineFloats); }

int64_t PanelCopy::steps() const {
  return isTransposed() ? squaresDown() * ceilDiv(source.terms, kLineFloats) : source.terms;
}

int64_t PanelCopy::column() const { return isTransposed() ? done % squaresDown() * kLineFloats : 0; }
int64_t PanelCopy::term() const { return isTransposed() ? done / squaresDown() * kLineFloats : done; }

const float *PanelCopy::next() const {
  return source.from + column() * source.columnStride + term() * source.termStride;
}

void PanelCopy::copyUntil(int64_t step) {
  for (; done < step; ++done)
    isTransposed() ? copySquare() : copyRows();
}

Ahead PanelCopy::ahead() const {
  if (done >= steps())
    return {source.from};
  return isTransposed() ? Ahead{next(), source.columnStride} : Ahead{next(), source.termStride, squaresDown()};
}

/// The floats of a row of the unit that has `column`.
static int64_t unitWidth(const PanelSource &source, int64_t column) {
  return roundUp(std::min(kTileColumns, source.columns - column / kTileColumns * kTileColumns), kLineFloats);
}

float *PanelCopy::place(int64_t column, int64_t term) const {
  return to + column / kTileColumns * kTileColumns * source.terms + term * unitWidth(source, column) +
         column % kTileColumns;
}

void PanelCopy::copyRows() const {
  for (int64_t column = 0; column < source.columns; column += kTileColumns)
    copyRow(next() + column, std::min(kTileColumns, source.columns - column), place(column, term()));
}

void PanelCopy::copySquare() const {
  const int64_t column = this->column(), term = this->term();
  copyTransposed({source.from + column * source.columnStride + term, source.columnStride,
                  std::min(kLineFloats, source.columns - column), std::min(kLineFloats, source.terms - term)},
                 place(column, term), unitWidth(source, column));
}
