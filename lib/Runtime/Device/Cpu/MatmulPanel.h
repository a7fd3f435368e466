// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// A panel of B on its way into the order in which tiles read it, a few steps at a time.

#ifndef DS_LIB_RUNTIME_DEVICE_CPU_MATMULPANEL_H
#define DS_LIB_RUNTIME_DEVICE_CPU_MATMULPANEL_H

#include "MatmulTile.h"

namespace ds::runtime {

/// Some terms and columns of B; one of the strides is 1.
struct PanelSource {
  const float *from = nullptr;
  int64_t terms = 0, columns = 0, termStride = 0, columnStride = 0;
};

/// Units of kTileColumns columns, one after the other: of each [terms, columns rounded up to lines].
class PanelCopy {
public:
  /// Begins anew, into aligned memory.
  void start(const PanelSource &panel, float *memory) {
    source = panel;
    to = memory;
    done = 0;
  }
  /// In how many steps the panel is copied: by rows, or by squares if columns lie together, those of the same terms
  /// first.
  int64_t steps() const;
  void copyUntil(int64_t step);
  /// What is copied next.
  Ahead ahead() const;

private:
  bool isTransposed() const { return source.columnStride != 1; }
  int64_t squaresDown() const;
  // Where the next step begins.
  int64_t column() const;
  int64_t term() const;
  const float *next() const;
  float *place(int64_t column, int64_t term) const;
  void copyRows() const;
  void copySquare() const;

  PanelSource source;
  float *to = nullptr;
  int64_t done = 0; ///< steps
};

} // namespace ds::runtime

#endif // DS_LIB_RUNTIME_DEVICE_CPU_MATMULPANEL_H
