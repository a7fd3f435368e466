// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// One small program for each op that has a gradient, for tests that must hold for every op.

#ifndef DS_TEST_UNIT_PASSES_OPPROGRAMS_H
#define DS_TEST_UNIT_PASSES_OPPROGRAMS_H

#include "llvm/ADT/ArrayRef.h"

#include <ostream>
#include <string>
#include <vector>

namespace ds::test {

/// A program with one op of interest. The body defines `%y` of type `result` from the parameters `%a`, `%b`, ... of
/// types `parameters`; the loss is the sum of %y times random weights. All numbers are f64.
struct OpProgram {
  std::string name;
  std::vector<std::string> parameters;
  std::string result;
  std::string body;
  std::string arguments; ///< more arguments, as in ", %ids: tensor<2xi64> {ds.name = \"ids\"}"
};

inline std::ostream &operator<<(std::ostream &out, const OpProgram &program) { return out << program.name; }

/// The text of a module with the function @forward of a program.
std::string forwardText(const OpProgram &program);

// The programs, by families of ops.
llvm::ArrayRef<OpProgram> arithPrograms();
llvm::ArrayRef<OpProgram> mathPrograms();
llvm::ArrayRef<OpProgram> matmulPrograms();
llvm::ArrayRef<OpProgram> rowPrograms();
llvm::ArrayRef<OpProgram> shapePrograms();
llvm::ArrayRef<OpProgram> indexPrograms();
llvm::ArrayRef<OpProgram> attentionPrograms();
llvm::ArrayRef<OpProgram> windowPrograms();

/// y = ds.op a {attributes}.
OpProgram modelProgram(const std::string &name, const std::string &op, const std::string &from, const std::string &to,
                       const std::string &attributes);

} // namespace ds::test

#endif // DS_TEST_UNIT_PASSES_OPPROGRAMS_H
