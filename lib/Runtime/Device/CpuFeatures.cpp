// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Device/NativeKernels.h"

#include "absl/strings/str_replace.h"

#include <fstream>
#include <map>
#include <set>
#include <sstream>

using namespace ds::runtime;

/// Linux's name of a feature where it is not LLVM's with '-' and '.' as '_'.
static std::string linuxName(const std::string &feature) {
  static const std::map<std::string, std::string> differing = {
      {"64bit", "lm"},
      {"avx512bf16", "avx512_bf16"},
      {"avx512bitalg", "avx512_bitalg"},
      {"avx512fp16", "avx512_fp16"},
      {"avx512vbmi2", "avx512_vbmi2"},
      {"avx512vnni", "avx512_vnni"},
      {"avx512vp2intersect", "avx512_vp2intersect"},
      {"avx512vpopcntdq", "avx512_vpopcntdq"},
      {"avxifma", "avx_ifma"},
      {"avxvnni", "avx_vnni"},
      {"bmi", "bmi1"},
      {"crc32", "sse4_2"},
      {"evex512", "avx512f"},
      {"lzcnt", "abm"},
      {"pclmul", "pclmulqdq"},
      {"prfchw", "3dnowprefetch"},
      {"rdrnd", "rdrand"},
      {"sahf", "lahf_lm"},
      {"sha", "sha_ni"},
      {"shstk", "user_shstk"},
      {"sse3", "pni"},
      {"x87", "fpu"},
  };
  auto found = differing.find(feature);
  return found != differing.end() ? found->second : absl::StrReplaceAll(feature, {{"-", "_"}, {".", "_"}});
}

static std::set<std::string> readHostFlags() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::set<std::string> flags;
  for (std::string line; std::getline(cpuinfo, line);) {
    const bool hasFlags = line.rfind("flags", 0) == 0 || line.rfind("Features", 0) == 0;
    const size_t colon = line.find(':');
    if (!hasFlags || colon == std::string::npos)
      continue;
    std::istringstream words(line.substr(colon + 1));
    for (std::string word; words >> word;)
      flags.insert(word);
    return flags; // The first core speaks for all.
  }
  return flags;
}

std::vector<std::string> ds::runtime::findMissingCpuFeatures(const std::vector<std::string> &features) {
  static const std::set<std::string> host = readHostFlags();
  std::vector<std::string> missing;
  for (const std::string &feature : features) {
    if (feature.empty() || feature[0] == '-')
      continue;
    const std::string name = feature[0] == '+' ? feature.substr(1) : feature;
    if (!host.count(linuxName(name)))
      missing.push_back(name);
  }
  return missing;
}
