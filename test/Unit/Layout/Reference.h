// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The definitions of docs/layouts.md by enumeration, to test the library against. Shares nothing with it but the
/// data structures.

#ifndef DS_TEST_UNIT_LAYOUT_REFERENCE_H
#define DS_TEST_UNIT_LAYOUT_REFERENCE_H

#include "ds/Layout/Cast.h"

namespace ds::test {

/// Short spellings: a mesh of axes of these sizes called a, b, c, ...
Mesh meshOf(const std::vector<int64_t> &sizes);
/// A factor, or with size kWholeDim the whole dim.
Factor factor(int64_t size, AxisList axes = {});
/// A layout with one whole factor per dim.
Layout layoutOf(std::vector<AxisList> dims);
Layout flatOver(Layout layout, AxisList flat);
Layout partialOver(Layout layout, std::map<std::string, ReduceKind> partial);

int64_t numElements(const Shape &shape);
/// The coordinate of `rank` on `axis`.
int64_t referenceCoordinate(const Mesh &mesh, int64_t rank, const std::string &axis);
/// The elements that `rank` holds: every element of the tensor is asked whether it is in.
std::vector<int64_t> referenceIndices(const Layout &layout, const Shape &shape, const Mesh &mesh, int64_t rank);

/// Places that axes can take in an enumeration of layouts: factor `factor` of dim `dim`, major first.
using Spelling = std::vector<Shape>; ///< the factor sizes of each dim
/// All layouts (normalized) of a tensor in which each of `axes` is replicated, partial with its operation, on one of
/// the factors of `spelling`, in flat, or in one set of `at` (coordinate 0, or the last one), in all orders.
std::vector<Layout> allLayouts(const Spelling &spelling, const std::map<std::string, ReduceKind> &axes,
                               const Mesh &mesh);
Shape shapeOf(const Spelling &spelling);

} // namespace ds::test

#endif // DS_TEST_UNIT_LAYOUT_REFERENCE_H
