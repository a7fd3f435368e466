// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Mesh, variables, casts and kernels.

#include "ds/Dialect/DsDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ds;

//===----------------------------------------------------------------------===//
// Mesh
//===----------------------------------------------------------------------===//

Mesh MeshOp::getMesh() {
  std::vector<MeshAxis> axes;
  for (auto [number, name] : llvm::enumerate(getAxisNames().getAsValueRange<StringAttr>())) {
    MeshAxis axis{name.str(), getAxisSizes()[number], {}};
    if (std::optional<ArrayAttr> weights = getAxisWeights()) {
      ArrayRef<int64_t> values = cast<DenseI64ArrayAttr>((*weights)[number]).asArrayRef();
      axis.weights.assign(values.begin(), values.end());
    }
    axes.push_back(std::move(axis));
  }
  return Mesh(std::move(axes));
}

ParseResult MeshOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  if (parser.parseSymbolName(name, "sym_name", result.attributes))
    return failure();
  Builder &builder = parser.getBuilder();
  SmallVector<StringRef> names;
  SmallVector<int64_t> sizes;
  SmallVector<Attribute> weights;
  bool anyWeights = false;
  auto parseAxis = [&]() -> ParseResult {
    SmallVector<int64_t> values;
    if (parser.parseKeyword(&names.emplace_back()) || parser.parseEqual() || parser.parseInteger(sizes.emplace_back()))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("weights"))) {
      anyWeights = true;
      if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                         [&] { return parser.parseInteger(values.emplace_back()); }))
        return failure();
    }
    weights.push_back(builder.getDenseI64ArrayAttr(values));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseAxis))
    return failure();
  result.addAttribute("axis_names", builder.getStrArrayAttr(names));
  result.addAttribute("axis_sizes", builder.getDenseI64ArrayAttr(sizes));
  if (anyWeights)
    result.addAttribute("axis_weights", builder.getArrayAttr(weights));
  return parser.parseOptionalAttrDict(result.attributes);
}

void MeshOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << " <";
  Mesh mesh = getMesh();
  llvm::interleaveComma(mesh.axes(), printer, [&](const MeshAxis &axis) {
    printer << axis.name << " = " << axis.size;
    if (axis.weights.empty())
      return;
    printer << " weights [";
    llvm::interleaveComma(axis.weights, printer);
    printer << ']';
  });
  printer << '>';
  printer.printOptionalAttrDict((*this)->getAttrs(), {"sym_name", "axis_names", "axis_sizes", "axis_weights"});
}

LogicalResult MeshOp::verify() {
  llvm::StringSet<> seen;
  for (auto [name, size] : llvm::zip_equal(getAxisNames().getAsValueRange<StringAttr>(), getAxisSizes())) {
    if (size < 1)
      return emitOpError("axis \"") << name << "\" must be >= 1, got " << size;
    if (!seen.insert(name).second)
      return emitOpError("axis \"") << name << "\" must be declared once";
  }
  std::optional<ArrayAttr> weights = getAxisWeights();
  if (!weights)
    return success();
  for (auto [number, attr] : llvm::enumerate(*weights)) {
    ArrayRef<int64_t> values = cast<DenseI64ArrayAttr>(attr).asArrayRef();
    if (!values.empty() && static_cast<int64_t>(values.size()) != getAxisSizes()[number])
      return emitOpError("axis ") << getAxisNames()[number] << " must have one weight per coordinate, got "
                                  << values.size() << " for " << getAxisSizes()[number];
    if (llvm::any_of(values, [](int64_t weight) { return weight < 1; }))
      return emitOpError("axis ") << getAxisNames()[number] << " must have positive weights";
  }
  return success();
}

LogicalResult AxesOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto meshOp = symbols.lookupNearestSymbolFrom<MeshOp>(*this, getMeshAttr());
  if (!meshOp)
    return emitOpError("refers to unknown mesh @") << getMesh();
  const Mesh mesh = meshOp.getMesh();
  if (mesh.findAxis(std::string_view(getAlias())))
    return emitOpError("alias must be no axis of the mesh, got \"") << getAlias() << "\"";
  for (StringRef axis : getAxes().getAsValueRange<StringAttr>())
    if (!mesh.findAxis(std::string_view(axis)))
      return emitOpError("refers to unknown axis \"") << axis << "\"";
  return success();
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

/// Checks a hint against the shape of its tensor; `ds-propagate-layouts` checks it against the mesh.
static LogicalResult verifyHint(Operation *op, LayoutAttr layout, RankedTensorType type) {
  return layout.verifyEncoding(type.getShape(), type.getElementType(), [op] { return op->emitOpError(); });
}

LogicalResult ConstrainOp::verify() { return verifyHint(*this, getLayout(), getInput().getType()); }

LogicalResult VariableOp::verify() {
  if (getLayout() && failed(verifyHint(*this, *getLayout(), getTensorType())))
    return failure();
  std::optional<Attribute> initial = getInitial();
  if (!initial)
    return success();
  if (auto range = dyn_cast<FileRangeAttr>(*initial)) {
    Type element = getTensorType().getElementType();
    uint64_t bytes = getTensorType().getNumElements() * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
    if (range.getLength() != bytes)
      return emitOpError("file range must have ") << bytes << " bytes, got " << range.getLength();
    return success();
  }
  auto elements = dyn_cast<ElementsAttr>(*initial);
  if (!elements)
    return emitOpError("initial must be a file range or elements");
  auto type = cast<RankedTensorType>(elements.getShapedType());
  if (type.getShape() != getTensorType().getShape() || type.getElementType() != getTensorType().getElementType())
    return emitOpError("initial must have the shape and element type of ") << getType() << ", got " << type;
  return success();
}

template <typename OpT> static LogicalResult verifyVariableUse(OpT op, Type type, SymbolTableCollection &symbols) {
  auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(op, op.getVariableAttr());
  if (!variable)
    return op.emitOpError("refers to unknown variable @") << op.getVariable();
  if (variable.getType() == type)
    return success();
  InFlightDiagnostic diagnostic = op.emitOpError("must have the variable's type ")
                                  << variable.getType() << ", got " << type;
  diagnostic.attachNote(variable.getLoc()) << "declared here";
  return diagnostic;
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyVariableUse(*this, getType(), symbols);
}

LogicalResult AssignOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyVariableUse(*this, getValue().getType(), symbols);
}

//===----------------------------------------------------------------------===//
// Casts: what their types tell without the mesh; ds-verify-layouts checks the rest
//===----------------------------------------------------------------------===//

static bool isSplitOver(const Layout &layout, StringRef axis) {
  return llvm::is_contained(layout.dimAxes(), axis) || llvm::is_contained(layout.flat, axis);
}

/// Checks that `axis` goes from one state to another; `what` describes the state as in "partial over".
static LogicalResult verifyAxis(Operation *op, bool holds, StringRef side, StringRef what, StringRef axis, Type type) {
  if (holds)
    return success();
  return op->emitOpError() << side << " must be " << what << " \"" << axis << "\", got " << type;
}

LogicalResult AllGatherOp::verify() {
  std::string axis = getAxis().str();
  if (failed(verifyAxis(*this, isSplitOver(layoutOf(getInput()), axis), "input", "split over", axis,
                        getInput().getType())))
    return failure();
  return verifyAxis(*this, !isSplitOver(layoutOf(getResult()), axis), "result", "whole over", axis, getType());
}

LogicalResult ReduceScatterOp::verify() {
  std::string axis = getAxis().str();
  if (failed(verifyAxis(*this, layoutOf(getInput()).partial.count(axis), "input", "partial over", axis,
                        getInput().getType())))
    return failure();
  return verifyAxis(*this, isSplitOver(layoutOf(getResult()), axis), "result", "split over", axis, getType());
}

LogicalResult AllReduceOp::verify() {
  std::string axis = getAxis().str();
  if (failed(verifyAxis(*this, layoutOf(getInput()).partial.count(axis), "input", "partial over", axis,
                        getInput().getType())))
    return failure();
  return verifyAxis(*this, !layoutOf(getResult()).partial.count(axis), "result", "whole over", axis, getType());
}

LogicalResult AllToAllOp::verify() {
  std::string axis = getAxis().str();
  if (failed(verifyAxis(*this, isSplitOver(layoutOf(getInput()), axis), "input", "split over", axis,
                        getInput().getType())))
    return failure();
  return verifyAxis(*this, isSplitOver(layoutOf(getResult()), axis), "result", "split over", axis, getType());
}

LogicalResult TakeShardOp::verify() {
  std::string axis = getAxis().str();
  if (failed(verifyAxis(*this, !isSplitOver(layoutOf(getInput()), axis), "input", "whole over", axis,
                        getInput().getType())))
    return failure();
  return verifyAxis(*this, isSplitOver(layoutOf(getResult()), axis), "result", "split over", axis, getType());
}

LogicalResult ToPartialOp::verify() {
  std::string axis = getAxis().str();
  Layout input = layoutOf(getInput());
  bool whole = !isSplitOver(input, axis) && !input.partial.count(axis);
  if (failed(verifyAxis(*this, whole, "input", "whole over", axis, getInput().getType())))
    return failure();
  return verifyAxis(*this, layoutOf(getResult()).partial.count(axis), "result", "partial over", axis, getType());
}

//===----------------------------------------------------------------------===//
// Kernels and collectives in flight
//===----------------------------------------------------------------------===//

LogicalResult KernelOp::verify() {
  Block &block = getBody().front();
  if (TypeRange(block.getArgumentTypes()) != TypeRange(getInputs().getTypes()))
    return emitOpError("body must take the inputs, got other types");
  auto yield = dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield || TypeRange(yield.getValues().getTypes()) != TypeRange(getResultTypes()))
    return emitOpError("body must yield the results, got other types");
  for (auto [place, number] : llvm::enumerate(getStreamed()))
    if (number < 0 || number >= getNumResults() || (place > 0 && number <= getStreamed()[place - 1]))
      return emitOpError("streamed must number results in ascending order, got ") << getStreamed();
  return success();
}

LogicalResult StartOp::verify() {
  if (getInputs().empty() || getInputs().size() != getDestinationTypes().size())
    return emitOpError("must have one destination type per input, got ")
           << getDestinationTypes().size() << " for " << getInputs().size();
  for (auto [input, type] :
       llvm::zip_equal(getInputs().getTypes(), getDestinationTypes().getAsValueRange<TypeAttr>())) {
    auto from = cast<RankedTensorType>(input), to = dyn_cast<RankedTensorType>(type);
    if (!to || from.getShape() != to.getShape() || from.getElementType() != to.getElementType())
      return emitOpError("must keep shape and element type, got ") << from << " and " << type;
  }
  return success();
}

LogicalResult WaitOp::verify() {
  if (!getToken().hasOneUse())
    return emitOpError("must be the only use of its token");
  auto start = getToken().getDefiningOp<StartOp>();
  if (!start)
    return emitOpError("must wait for the token of a start");
  if (start.getInputs() != getInputs())
    return emitOpError("must take the inputs of its start");
  auto typeOf = [](Attribute attr) { return cast<TypeAttr>(attr).getValue(); };
  if (!llvm::equal(llvm::map_range(start.getDestinationTypes(), typeOf), getResultTypes()))
    return emitOpError("must give the result types of its start");
  return success();
}
