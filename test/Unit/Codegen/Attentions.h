// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Fused attentions and their gradients, compiled and called as the runtime calls them, beside naive ones in f64.

#ifndef DS_TEST_UNIT_CODEGEN_ATTENTIONS_H
#define DS_TEST_UNIT_CODEGEN_ATTENTIONS_H

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace ds::test {

/// A number for some letters of an attention's indices: their sizes, or one element's coordinates.
class Letters {
public:
  Letters() { numbers.fill(-1); }
  Letters(std::initializer_list<std::pair<char, int64_t>> given) : Letters() {
    for (auto [letter, number] : given)
      numbers[letter] = number;
  }
  bool has(char letter) const { return numbers[letter] >= 0; }
  int64_t get(char letter, int64_t otherwise) const { return has(letter) ? numbers[letter] : otherwise; }
  int64_t &operator[](char letter) { return numbers[letter]; }

private:
  std::array<int64_t, 128> numbers; ///< -1: none
};

/// A tensor whose dims are letters or digits.
struct NamedTensor {
  NamedTensor() = default;
  /// Zeros; a dim with a digit has size 3.
  NamedTensor(std::string names, const Letters &sizes);
  float &at(const Letters &point) { return elements[place(point, names)]; }
  /// Of a tensor that several strings name, by one of them.
  float &at(const Letters &point, const std::string &others) { return elements[place(point, others)]; }
  std::string type() const; ///< "tensor<2x3xf32>"

  std::string names;
  std::vector<int64_t> shape;
  std::vector<float> elements;

private:
  size_t place(const Letters &point, const std::string &by) const;
};

/// An attention with its data. Letters that `sizes` lacks have size 1 and are left out of the names.
struct Attention {
  Attention(Letters sizes, bool isCausal, const std::string &biasNames = "");
  /// Query, key and value in one tensor, and their gradients in one.
  void pack();
  /// Every input element becomes what `next` returns.
  template <typename FunctionT> void fill(FunctionT next) {
    for (NamedTensor *tensor : {&query, &key, &value, &bias, &gradient})
      for (float &element : tensor->elements)
        element = next();
  }

  Letters sizes;
  bool isCausal, isPacked = false;
  double scale = 0.25;
  NamedTensor query, key, value, bias, gradient; ///< no names: there is no bias
  std::vector<std::string> names;                ///< of query, key and value
};

struct AttentionResults {
  NamedTensor result, rowMax, rowSum;
  std::vector<NamedTensor> gradients; ///< of query, key and value, or one
};

AttentionResults evaluate(Attention &attention);

struct AttentionCall {
  int64_t chunks = 0; ///< 0: as analyzeAttention says
  std::string cpu = "native";
  Letters extents; ///< of letters that are shorter than their dims
};

/// Calls the forward kernel, and the gradient's with what it gave. All buffers end in guard bytes, which are checked.
AttentionResults compileAndCall(Attention &attention, const AttentionCall &call = {});

/// The hash of the forward kernel's code.
std::string attentionHash(Attention &attention);

} // namespace ds::test

#endif // DS_TEST_UNIT_CODEGEN_ATTENTIONS_H
