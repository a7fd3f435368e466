// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The #ds.layout attribute: its short form, and layouts of types.

#include "ds/Dialect/DsDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ds;

#define GET_ATTRDEF_CLASSES
#include "ds/Dialect/DsAttrs.cpp.inc"

void DsDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ds/Dialect/DsAttrs.cpp.inc"
      >();
}

llvm::hash_code ds::hash_value(const Layout &layout) { return llvm::hash_value(llvm::StringRef(layout.str())); }

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// Parses `{a, b}`.
static ParseResult parseAxes(AsmParser &parser, AxisList &axes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&] {
    StringRef axis;
    if (parser.parseKeyword(&axis))
      return failure();
    axes.push_back(axis.str());
    return success();
  });
}

/// Parses `{a}` or `(3)(4{tp})(16)`.
static ParseResult parseDim(AsmParser &parser, DimLayout &dim) {
  if (failed(parser.parseOptionalLParen())) {
    dim.emplace_back();
    return parseAxes(parser, dim.back().axes);
  }
  do {
    Factor factor;
    if (parser.parseInteger(factor.size))
      return failure();
    if (factor.size < 1)
      return parser.emitError(parser.getCurrentLocation(), "a factor must be >= 1, got ") << factor.size;
    // An empty list `{}` is accepted, too.
    if (failed(parser.parseOptionalRParen())) {
      if (parseAxes(parser, factor.axes) || parser.parseRParen())
        return failure();
    }
    dim.push_back(factor);
  } while (succeeded(parser.parseOptionalLParen()));
  return success();
}

/// Parses `{dp, tp:max}`.
static ParseResult parsePartial(AsmParser &parser, std::map<std::string, ReduceKind> &partial) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&]() -> ParseResult {
    StringRef axis, kindName = "sum";
    if (parser.parseKeyword(&axis))
      return failure();
    SMLoc loc = parser.getCurrentLocation();
    if (succeeded(parser.parseOptionalColon()) && parser.parseKeyword(&kindName))
      return failure();
    std::optional<ReduceKind> kind = findReduceKind(std::string_view(kindName.data(), kindName.size()));
    if (!kind)
      return parser.emitError(loc, "a partial must be sum, max, min, and or or, got ") << kindName;
    if (!partial.emplace(axis.str(), *kind).second)
      return parser.emitError(loc, "axis \"") << axis << "\" is partial twice";
    return success();
  });
}

/// Parses `{pp = 1, ep = {0, 2}}`.
static ParseResult parseAt(AsmParser &parser, std::map<std::string, std::set<int64_t>> &at) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&]() -> ParseResult {
    StringRef axis;
    if (parser.parseKeyword(&axis) || parser.parseEqual())
      return failure();
    std::set<int64_t> &coordinates = at[axis.str()];
    auto parseCoordinate = [&]() -> ParseResult {
      int64_t coordinate = 0;
      if (parser.parseInteger(coordinate))
        return failure();
      coordinates.insert(coordinate);
      return success();
    };
    int64_t single = 0;
    OptionalParseResult parsed = parser.parseOptionalInteger(single);
    if (!parsed.has_value())
      return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseCoordinate);
    coordinates.insert(single);
    return *parsed;
  });
}

static ParseResult parseMemory(AsmParser &parser, MemoryTier &memory) {
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<MemoryTier> tier = findMemoryTier(std::string_view(name.data(), name.size()));
  if (!tier)
    return parser.emitError(loc, "memory must be device, host or disk, got ") << name;
  memory = *tier;
  return success();
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  Layout layout;
  auto parseOneDim = [&] { return parseDim(parser, layout.dims.emplace_back()); };
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOneDim))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return {};
    ParseResult result = success();
    if (key == "partial")
      result = parsePartial(parser, layout.partial);
    else if (key == "flat")
      result = parseAxes(parser, layout.flat);
    else if (key == "at")
      result = parseAt(parser, layout.at);
    else if (key == "memory")
      result = parseMemory(parser, layout.memory);
    else
      result = parser.emitError(loc, "expected partial, flat, at or memory, got ") << key;
    if (result)
      return {};
  }
  if (parser.parseGreater())
    return {};
  return LayoutAttr::get(parser.getContext(), layout);
}

void LayoutAttr::print(AsmPrinter &printer) const { printer << '<' << getLayout().str() << '>'; }

/// Checks what the shape alone tells; `ds-verify-layouts` checks the rest with the mesh.
LogicalResult LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                         llvm::function_ref<InFlightDiagnostic()> emitError) const {
  const std::vector<DimLayout> &dims = getLayout().dims;
  if (dims.size() != shape.size())
    return emitError() << "a layout must have one entry per dim, got " << dims.size() << " entries for " << shape.size()
                       << " dims";
  for (auto [number, dim] : llvm::enumerate(dims)) {
    int64_t product = 1;
    for (const Factor &factor : dim)
      product *= factor.size == kWholeDim ? shape[number] : factor.size;
    if (product != shape[number])
      return emitError() << "the factors of dim " << number << " must multiply to " << shape[number] << ", got "
                         << product;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Layouts of types
//===----------------------------------------------------------------------===//

bool ds::hasEncoding(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getEncoding();
}

Layout ds::layoutOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return Layout();
  if (auto attr = dyn_cast_or_null<LayoutAttr>(tensor.getEncoding()))
    return normalized(attr.getLayout(), shapeOf(type));
  return Layout::replicated(tensor.getRank());
}

Shape ds::shapeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? Shape(tensor.getShape().begin(), tensor.getShape().end()) : Shape();
}

RankedTensorType ds::withLayout(RankedTensorType type, const Layout &layout) {
  Layout canonical = normalized(layout, shapeOf(type));
  Attribute encoding;
  if (!canonical.isReplicated())
    encoding = LayoutAttr::get(type.getContext(), canonical);
  return RankedTensorType::get(type.getShape(), type.getElementType(), encoding);
}

Mesh ds::meshOf(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  if (module)
    for (MeshOp mesh : module.getOps<MeshOp>())
      return mesh.getMesh();
  return Mesh();
}
