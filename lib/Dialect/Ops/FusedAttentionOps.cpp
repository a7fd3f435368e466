// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Verifiers and layout rules of the fused attention and its gradient.

#include "ds/Dialect/DsDialect.h"
#include "ds/Dialect/IndexNotation.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ds;

//===----------------------------------------------------------------------===//
// Notation
//===----------------------------------------------------------------------===//

IndexNotation IndexNotation::parse(StringRef text) {
  IndexNotation notation;
  auto [operands, results] = text.split("->");
  for (StringRef one : llvm::split(operands, ','))
    notation.operands.push_back(one.str());
  for (StringRef one : llvm::split(results, ','))
    notation.results.push_back(one.str());
  return notation;
}

std::string IndexNotation::str() const { return llvm::join(operands, ",") + "->" + llvm::join(results, ","); }

IndexNotation ds::notationOf(Operation *op) {
  return IndexNotation::parse(op->getAttrOfType<StringAttr>("indices").getValue());
}

RankedTensorType ds::typeOfString(Operation *op, size_t number) {
  unsigned operands = op->getNumOperands();
  Value value = number < operands ? op->getOperand(number)
                                  : op->getResult(std::min<size_t>(number - operands, op->getNumResults() - 1));
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// Whether `text` has the letters of `expected`, each once and the last one last, and digits.
static bool hasLetters(StringRef text, StringRef expected) {
  std::string letters;
  for (char c : text)
    if (!llvm::isDigit(c))
      letters.push_back(c);
  bool endsAlike = !text.empty() && text.back() == expected.back();
  std::string wanted = expected.str();
  llvm::sort(letters);
  llvm::sort(wanted);
  return endsAlike && letters == wanted;
}

/// Whether two strings of one tensor name no element both.
static bool areApart(StringRef a, StringRef b) {
  for (auto [x, y] : llvm::zip_equal(a, b))
    if (llvm::isDigit(x) && llvm::isDigit(y) && x != y)
      return true;
  return false;
}

/// The strings of each result name all of its elements, each once.
static LogicalResult verifyResults(Operation *op, const IndexNotation &notation) {
  const size_t parts = notation.results.size() / op->getNumResults();
  for (auto [number, text] : llvm::enumerate(notation.results)) {
    size_t coordinates = 1;
    for (auto [c, size] : llvm::zip_equal(text, typeOfString(op, op->getNumOperands() + number).getShape()))
      coordinates *= llvm::isDigit(c) ? size : 1;
    bool isApart = true;
    for (const std::string &other : ArrayRef(notation.results).take_front(parts > 1 ? number : 0))
      isApart &= areApart(text, other);
    if (coordinates != parts || !isApart)
      return op->emitOpError("coordinates of a result must name each of its ")
             << parts << (parts > 1 ? " parts" : " part") << " once, got \"" << text << "\"";
  }
  return success();
}

/// `expected`: the letters of each string, with g; it may be absent everywhere.
static LogicalResult verifyAttention(Operation *op, StringRef indices, ArrayRef<StringRef> expected, bool isCausal) {
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (!getElementTypeOrSelf(type).isF32())
      return op->emitOpError("tensors must be of f32, got ") << type;
  IndexNotation notation = IndexNotation::parse(indices);
  if (notation.operands.size() != op->getNumOperands() || notation.numTensors() != expected.size())
    return op->emitOpError("indices must name ")
           << op->getNumOperands() << " operands and " << expected.size() - op->getNumOperands() << " results, got \""
           << indices << "\"";
  bool isGrouped = StringRef(notation.operands[0]).contains('g');
  llvm::SmallDenseMap<char, int64_t> sizes;
  for (auto [number, wanted] : llvm::enumerate(expected)) {
    StringRef text = notation.tensor(number);
    RankedTensorType type = typeOfString(op, number);
    std::string letters = wanted.str();
    if (!isGrouped)
      llvm::erase(letters, 'g');
    if (text.size() != static_cast<size_t>(type.getRank()) || !hasLetters(text, letters))
      return op->emitOpError("indices of ") << type << " must be the letters of \"" << letters
                                            << "\" and digits, the last one last, got \"" << text << "\"";
    for (auto [c, size] : llvm::zip_equal(text, type.getShape())) {
      if (llvm::isDigit(c) && c - '0' >= size)
        return op->emitOpError("coordinate ") << c << " must be below the dim's size of " << size;
      if (llvm::isAlpha(c) && sizes.try_emplace(c, size).first->second != size)
        return op->emitOpError("index '") << c << "' must have one size, got " << sizes[c] << " and " << size;
    }
  }
  if (isCausal && sizes['t'] < sizes['s'])
    return op->emitOpError("a causal attention must have as many keys as queries, got ")
           << sizes['t'] << " and " << sizes['s'];
  return verifyResults(op, notation);
}

/// The letters of a bias, which may lack heads and batch.
static std::string biasLetters(StringRef indices, size_t place) {
  IndexNotation notation = IndexNotation::parse(indices);
  if (place >= notation.operands.size())
    return "";
  std::string present;
  for (char letter : StringRef("bkgt"))
    if (letter == 't' || StringRef(notation.operands[place]).contains(letter))
      present.push_back(letter);
  return present;
}

LogicalResult FusedAttentionOp::verify() {
  std::string bias = biasLetters(getIndices(), 3);
  SmallVector<StringRef> expected = {"bkgsd", "bktd", "bkte"};
  if (getBias())
    expected.push_back(bias);
  expected.append({"bkgse", "bkgs", "bkgs"});
  return verifyAttention(*this, getIndices(), expected, getCausal());
}

LogicalResult FusedAttentionGradOp::verify() {
  if (getNumResults() != 1 && getNumResults() != 3)
    return emitOpError("must have one result or three, got ") << getNumResults();
  std::string bias = biasLetters(getIndices(), 7);
  SmallVector<StringRef> expected = {"bkgsd", "bktd", "bkte", "bkgse", "bkgs", "bkgs", "bkgse"};
  if (getBias())
    expected.push_back(bias);
  expected.append({"bkgsd", "bktd", "bkte"});
  return verifyAttention(*this, getIndices(), expected, getCausal());
}

//===----------------------------------------------------------------------===//
// Layout rules
//===----------------------------------------------------------------------===//

/// Batch and heads may be split; every rank has all positions of its heads. The gradients of key and value are sums
/// over the query heads of a key head, which stay together there.
static LayoutRule fusedAttentionRule(Operation *op) {
  LayoutRule rule;
  StringRef parallel = isa<FusedAttentionOp>(op) ? "bkg" : "bk";
  llvm::SmallDenseMap<char, unsigned> numbers;
  IndexNotation notation = notationOf(op);
  auto indicesOf = [&](size_t number) {
    ValueIndices value;
    for (auto [c, size] : llvm::zip_equal(notation.tensor(number), typeOfString(op, number).getShape())) {
      IndexKind kind = parallel.contains(c) ? IndexKind::Parallel : IndexKind::Whole;
      auto [it, isNew] = numbers.try_emplace(c, 0);
      if (isNew || llvm::isDigit(c))
        it->second = rule.addIndex(size, kind);
      value.push_back({it->second});
    }
    return value;
  };
  for (size_t number = 0; number < op->getNumOperands(); ++number)
    rule.operands.push_back(indicesOf(number));
  for (size_t number = 0; number < op->getNumResults(); ++number)
    rule.results.push_back(indicesOf(op->getNumOperands() + number));
  return rule;
}

LayoutRule FusedAttentionOp::getLayoutRule() { return fusedAttentionRule(*this); }
LayoutRule FusedAttentionGradOp::getLayoutRule() { return fusedAttentionRule(*this); }
