// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Attentions.h"
#include "ObjectCall.h"
#include "SharedContext.h"

#include "ds/Analysis/AttentionShape.h"
#include "ds/Codegen/Cpu.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

using namespace mlir;
using namespace ds;
using namespace ds::test;

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static constexpr int64_t kPackedParts = 3;

static int64_t sizeOf(const Letters &sizes, char letter) {
  return llvm::isDigit(letter) ? kPackedParts : sizes.get(letter, 1);
}

NamedTensor::NamedTensor(std::string names, const Letters &sizes) : names(std::move(names)) {
  size_t count = 1;
  for (char letter : this->names) {
    shape.push_back(sizeOf(sizes, letter));
    count *= shape.back();
  }
  elements.resize(count);
}

size_t NamedTensor::place(const Letters &point, const std::string &by) const {
  size_t result = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    result = result * shape[dim] + (llvm::isDigit(by[dim]) ? by[dim] - '0' : point.get(by[dim], 0));
  return result;
}

std::string NamedTensor::type() const {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + "f32>";
}

Attention::Attention(Letters given, bool isCausal, const std::string &biasNames) : sizes(given), isCausal(isCausal) {
  auto present = [&](std::string text) {
    llvm::erase_if(text, [&](char letter) { return !sizes.has(letter); });
    return text;
  };
  // Positions before heads, as projections give them.
  names = {present("bskgd"), present("btkd"), present("btke")};
  query = NamedTensor(names[0], sizes);
  key = NamedTensor(names[1], sizes);
  value = NamedTensor(names[2], sizes);
  gradient = NamedTensor(present("bskge"), sizes);
  if (!biasNames.empty())
    bias = NamedTensor(biasNames, sizes);
}

void Attention::pack() {
  isPacked = true;
  for (auto [number, text] : llvm::enumerate(names))
    text.insert(2, std::to_string(number));
  query = NamedTensor(names[0], sizes);
  key = value = NamedTensor();
}

//===----------------------------------------------------------------------===//
// Naively
//===----------------------------------------------------------------------===//

/// Zeros in the shapes of the results.
static AttentionResults makeResults(const Attention &a) {
  AttentionResults results;
  results.result = NamedTensor(a.gradient.names, a.sizes);
  results.rowMax = results.rowSum = NamedTensor(a.sizes.has('g') ? "bkgs" : "bks", a.sizes);
  for (const std::string &names : ArrayRef(a.names).take_front(a.isPacked ? 1 : 3))
    results.gradients.emplace_back(names, a.sizes);
  return results;
}

namespace {
/// One attention in f64.
class NaiveAttention {
public:
  explicit NaiveAttention(Attention &a) : a(a), results(makeResults(a)) {
    for (const NamedTensor &tensor : results.gradients)
      sums.emplace_back(tensor.elements.size());
  }

  AttentionResults run() {
    for (point['b'] = 0; point['b'] < sizeOf(a.sizes, 'b'); ++point['b'])
      for (point['k'] = 0; point['k'] < sizeOf(a.sizes, 'k'); ++point['k'])
        for (point['g'] = 0; point['g'] < sizeOf(a.sizes, 'g'); ++point['g'])
          for (point['s'] = 0; point['s'] < sizeOf(a.sizes, 's'); ++point['s'])
            addRow();
    for (size_t number = 0; number < sums.size(); ++number)
      for (size_t place = 0; place < sums[number].size(); ++place)
        results.gradients[number].elements[place] = static_cast<float>(sums[number][place]);
    return std::move(results);
  }

private:
  double input(size_t number) {
    NamedTensor *tensors[] = {&a.query, a.isPacked ? &a.query : &a.key, a.isPacked ? &a.query : &a.value};
    return tensors[number]->at(point, a.names[number]);
  }
  double &sum(size_t number) {
    size_t tensor = a.isPacked ? 0 : number;
    float *element = &results.gradients[tensor].at(point, a.names[number]);
    return sums[tensor][element - results.gradients[tensor].elements.data()];
  }
  template <typename FunctionT> void forEach(char letter, FunctionT body) {
    for (point[letter] = 0; point[letter] < sizeOf(a.sizes, letter); ++point[letter])
      body();
  }

  std::vector<double> scoresOfRow() {
    std::vector<double> scores;
    int64_t visible = point['s'] + sizeOf(a.sizes, 't') - sizeOf(a.sizes, 's');
    forEach('t', [&] {
      double score = 0;
      forEach('d', [&] { score += input(0) * input(1); });
      score = a.scale * score + (a.bias.names.empty() ? 0 : a.bias.at(point));
      bool isHidden = a.isCausal && point['t'] > visible;
      scores.push_back(isHidden ? -std::numeric_limits<double>::infinity() : score);
    });
    return scores;
  }

  void addRow() {
    std::vector<double> p = scoresOfRow(), gradients(p.size());
    double greatest = *std::max_element(p.begin(), p.end()), total = 0, mean = 0;
    for (double &x : p)
      total += x = std::exp(x - greatest);
    for (double &x : p)
      x /= total;
    results.rowMax.at(point) = static_cast<float>(greatest);
    results.rowSum.at(point) = static_cast<float>(total);
    forEach('e', [&] {
      double result = 0, incoming = a.gradient.at(point);
      forEach('t', [&] {
        result += p[point['t']] * input(2);
        gradients[point['t']] += incoming * input(2);
        sum(2) += p[point['t']] * incoming;
      });
      mean += incoming * result;
      results.result.at(point) = static_cast<float>(result);
    });
    forEach('t', [&] {
      double score = a.scale * p[point['t']] * (gradients[point['t']] - mean);
      forEach('d', [&] {
        sum(0) += score * input(1);
        sum(1) += score * input(0);
      });
    });
  }

  Attention &a;
  AttentionResults results;
  std::vector<std::vector<double>> sums; ///< the gradients
  Letters point = {{'b', 0}, {'k', 0}, {'g', 0}, {'s', 0}, {'t', 0}, {'d', 0}, {'e', 0}};
};
} // namespace

AttentionResults ds::test::evaluate(Attention &attention) { return NaiveAttention(attention).run(); }

//===----------------------------------------------------------------------===//
// Compiled
//===----------------------------------------------------------------------===//

namespace {
/// A string of the indices, and the tensor that it names.
using Named = std::pair<std::string, NamedTensor *>;

/// An op on tensors, in a module of its own.
class AttentionCaller {
public:
  AttentionCaller(const Attention &a, const std::string &name, const std::vector<Named> &operands,
                  const std::vector<Named> &results);

  std::string hash() { return makeCompiler("native")->add(op, Mesh())->hash; }
  void run(const Letters &sizes, const AttentionCall &call);

private:
  std::unique_ptr<KernelCompiler> makeCompiler(const std::string &cpu) {
    FailureOr<std::unique_ptr<KernelCompiler>> compiler = createCpuCompiler(&sharedContext(), {cpu, 1});
    if (failed(compiler))
      llvm::report_fatal_error("no compiler");
    return std::move(*compiler);
  }
  KernelFunction *find(const std::string &cpu);

  std::vector<NamedTensor *> operands, results; ///< several strings may name one result
  OwningOpRef<ModuleOp> module;
  Operation *op = nullptr;
};
} // namespace

AttentionCaller::AttentionCaller(const Attention &a, const std::string &name, const std::vector<Named> &namedOperands,
                                 const std::vector<Named> &namedResults) {
  std::string parameters, arguments, types, indices;
  for (auto [names, tensor] : namedOperands) {
    std::string separator = operands.empty() ? "" : ",", argument = "%a" + std::to_string(operands.size());
    parameters += separator + argument + ": " + tensor->type();
    arguments += separator + argument;
    types += separator + tensor->type();
    indices += separator + names;
    operands.push_back(tensor);
  }
  std::string resultTypes;
  for (auto [names, tensor] : namedResults) {
    indices += (results.empty() ? "->" : ",") + names;
    if (!results.empty() && results.back() == tensor)
      continue;
    resultTypes += (results.empty() ? "" : ",") + tensor->type();
    results.push_back(tensor);
  }
  std::string text = "func.func @f(" + parameters + ") {\n%r:" + std::to_string(results.size()) + " = " + name + " " +
                     arguments + " {indices = \"" + indices + "\", scale = " + std::to_string(a.scale) + " : f64" +
                     (a.isCausal ? ", causal" : "") + "} : (" + types + ") -> (" + resultTypes + ")\nreturn\n}\n";
  module = parseSourceString<ModuleOp>(text, &sharedContext());
  if (!module)
    llvm::report_fatal_error(llvm::StringRef("must parse:\n" + text));
  module->walk([&](Operation *found) {
    if (isa<FusedAttentionOp, FusedAttentionGradOp>(found))
      op = found;
  });
}

/// The code of all calls with one hash is the same, whatever the sizes.
KernelFunction *AttentionCaller::find(const std::string &cpu) {
  static std::map<std::string, std::unique_ptr<LoadedObject>> objects;
  std::unique_ptr<KernelCompiler> compiler = makeCompiler(cpu);
  std::string hash = compiler->add(op, Mesh())->hash;
  std::unique_ptr<LoadedObject> &object = objects[cpu + hash];
  if (!object) {
    FailureOr<std::vector<uint8_t>> bytes = compiler->finish();
    if (failed(bytes))
      llvm::report_fatal_error("no object");
    object = std::make_unique<LoadedObject>(*bytes);
  }
  auto *function = object->find<KernelFunction>(kernelSymbol(hash));
  if (!function)
    llvm::report_fatal_error("the function is missing");
  return function;
}

void AttentionCaller::run(const Letters &sizes, const AttentionCall &call) {
  KernelFunction *function = find(call.cpu);
  AttentionShape shape = analyzeAttention(op, Mesh({{"x", 1, {}}}));
  const int64_t chunks = call.chunks ? call.chunks : shape.chunks;
  std::vector<GuardedBuffer> memory;
  memory.reserve(operands.size() + results.size() + 1);
  std::vector<void *> buffers;
  auto allocate = [&](size_t count) { buffers.push_back(memory.emplace_back(count * sizeof(float)).data()); };
  for (const NamedTensor *tensor : operands) {
    allocate(tensor->elements.size());
    std::memcpy(buffers.back(), tensor->elements.data(), tensor->elements.size() * sizeof(float));
  }
  for (const NamedTensor *tensor : results)
    allocate(tensor->elements.size());
  allocate(chunks * attentionWorkspace(op));
  std::vector<int64_t> extents;
  int64_t rows = 1;
  for (char letter : llvm::StringRef("bkgst")) {
    int64_t size = call.extents.get(letter, sizeOf(sizes, letter));
    extents.insert(extents.end(), {size, 0});
    rows *= shape.rowLetters.contains(letter) ? size : 1;
  }
  for (int64_t chunk = chunks; chunk-- > 0;) // in any order
    function(buffers.data(), extents.data(), chunk * rows / chunks, (chunk + 1) * rows / chunks, chunk);
  for (auto [number, tensor] : llvm::enumerate(results))
    std::memcpy(tensor->elements.data(), buffers[operands.size() + number], tensor->elements.size() * sizeof(float));
  for (GuardedBuffer &buffer : memory)
    buffer.checkGuard();
}

/// Query, key and value, then `more`, then the bias if there is one.
static std::vector<Named> operandsOf(Attention &a, const std::vector<NamedTensor *> &more) {
  std::vector<Named> operands = {{a.names[0], &a.query},
                                 {a.names[1], a.isPacked ? &a.query : &a.key},
                                 {a.names[2], a.isPacked ? &a.query : &a.value}};
  for (NamedTensor *tensor : more)
    operands.emplace_back(tensor->names, tensor);
  if (!a.bias.names.empty())
    operands.emplace_back(a.bias.names, &a.bias);
  return operands;
}

/// The forward op, which writes to `results`.
static AttentionCaller makeForward(Attention &a, AttentionResults &results) {
  return AttentionCaller(a, "ds.fused_attention", operandsOf(a, {}),
                         {{results.result.names, &results.result},
                          {results.rowMax.names, &results.rowMax},
                          {results.rowSum.names, &results.rowSum}});
}

AttentionResults ds::test::compileAndCall(Attention &a, const AttentionCall &call) {
  AttentionResults results = makeResults(a);
  makeForward(a, results).run(a.sizes, call);
  std::vector<Named> gradients;
  for (size_t number = 0; number < a.names.size(); ++number)
    gradients.emplace_back(a.names[number], &results.gradients[a.isPacked ? 0 : number]);
  AttentionCaller(a, "ds.fused_attention_grad",
                  operandsOf(a, {&results.result, &results.rowMax, &results.rowSum, &a.gradient}), gradients)
      .run(a.sizes, call);
  return results;
}

std::string ds::test::attentionHash(Attention &attention) {
  AttentionResults results = makeResults(attention);
  return makeForward(attention, results).hash();
}
