// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Field.h"

#include <cmath>
#include <utility>

namespace ds::config {
namespace {

using OptimizerName = std::pair<OptimizerKind, const char *>;
constexpr OptimizerName optimizerNames[] = {
    {OptimizerKind::Adam, "Adam"}, {OptimizerKind::AdamW, "AdamW"}, {OptimizerKind::Sgd, "SGD"}};

using SchedulerName = std::pair<SchedulerKind, const char *>;
constexpr SchedulerName schedulerNames[] = {{SchedulerKind::WarmupLR, "WarmupLR"},
                                            {SchedulerKind::WarmupDecayLR, "WarmupDecayLR"},
                                            {SchedulerKind::WarmupCosineLR, "WarmupCosineLR"},
                                            {SchedulerKind::OneCycle, "OneCycle"},
                                            {SchedulerKind::LRRangeTest, "LRRangeTest"}};

using ShapeName = std::pair<WarmupShape, const char *>;
constexpr ShapeName shapeNames[] = {{WarmupShape::Log, "log"}, {WarmupShape::Linear, "linear"}};

using MeanName = std::pair<LossMean, const char *>;
constexpr MeanName meanNames[] = {{LossMean::Parts, "parts"}, {LossMean::Labels, "labels"}};

template <typename Enum, size_t N>
void storeEnum(Enum &place, const std::pair<Enum, const char *> (&names)[N], const Json &value) {
  for (const auto &[kind, name] : names)
    if (value == name)
      place = kind;
}

template <typename Enum, size_t N> Json loadEnum(Enum place, const std::pair<Enum, const char *> (&names)[N]) {
  for (const auto &[kind, name] : names)
    if (place == kind)
      return name;
  return nullptr;
}

struct Store {
  const Json &value;

  void operator()(bool *place) const { *place = value.get<bool>(); }
  void operator()(int64_t *place) const { *place = *integerIn(value); }
  void operator()(double *place) const { *place = value.get<double>(); }
  void operator()(std::string *place) const { *place = value.get<std::string>(); }
  void operator()(std::vector<std::string> *place) const { *place = value.get<std::vector<std::string>>(); }
  void operator()(std::map<std::string, int64_t> *place) const {
    place->clear();
    for (const auto &[name, extent] : value.items())
      (*place)[name] = *integerIn(extent);
  }
  void operator()(NumberPair place) const {
    *place.first = value[0].get<double>();
    *place.second = value[1].get<double>();
  }
  void operator()(OptimizerKind *place) const { storeEnum(*place, optimizerNames, value); }
  void operator()(SchedulerKind *place) const { storeEnum(*place, schedulerNames, value); }
  void operator()(WarmupShape *place) const { storeEnum(*place, shapeNames, value); }
  void operator()(LossMean *place) const { storeEnum(*place, meanNames, value); }
  void operator()(std::vector<std::vector<std::string>> *place) const {
    *place = value.get<std::vector<std::vector<std::string>>>();
  }

  template <typename T> void operator()(std::optional<T> *place) const {
    T plain{};
    (*this)(&plain);
    *place = plain;
  }
};

struct Reset {
  template <typename T> void operator()(std::optional<T> *place) const { place->reset(); }
  template <typename T> void operator()(T) const {}
};

struct Load {
  template <typename T> Json operator()(T *place) const { return *place; }
  template <typename T> Json operator()(std::optional<T> *place) const {
    return *place ? Json(**place) : Json(nullptr);
  }
  Json operator()(std::map<std::string, int64_t> *place) const {
    Json object = Json::object();
    for (const auto &[name, extent] : *place)
      object[name] = extent;
    return object;
  }
  Json operator()(NumberPair place) const { return Json::array({*place.first, *place.second}); }
  Json operator()(OptimizerKind *place) const { return loadEnum(*place, optimizerNames); }
  Json operator()(SchedulerKind *place) const { return loadEnum(*place, schedulerNames); }
  Json operator()(WarmupShape *place) const { return loadEnum(*place, shapeNames); }
  Json operator()(LossMean *place) const { return loadEnum(*place, meanNames); }
};

} // namespace

std::optional<int64_t> integerIn(const Json &value) {
  if (value.is_number_unsigned()) {
    const uint64_t number = value.get<uint64_t>();
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return std::nullopt;
    return static_cast<int64_t>(number);
  }
  if (value.is_number_integer())
    return value.get<int64_t>();
  if (!value.is_number_float())
    return std::nullopt;
  const double number = value.get<double>();
  if (std::abs(number) > 9007199254740992.0 || number != std::floor(number))
    return std::nullopt;
  return static_cast<int64_t>(number);
}

void storeField(Field field, const Json &value) {
  if (value.is_null())
    std::visit(Reset{}, field);
  else
    std::visit(Store{value}, field);
}

Json loadField(Field field) { return std::visit(Load{}, field); }

} // namespace ds::config
