// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "SmallPlan.h"

#include "ds/Plan/Check.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <fstream>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ds;
using namespace ds::plan;

/// A plan with something in every table.
static PlanT fullPlan() {
  TestPlan builder = smallPlan();
  PlanT &plan = builder.plan;
  plan.config = "{}";
  plan.samples_per_step = 8;
  auto variable = std::make_unique<VariableT>();
  variable->name = "weight";
  variable->role = VariableRole::Parameter;
  variable->shape = {10};
  ds::Layout layout = ds::Layout::replicated(1);
  layout.flat = {"dp"};
  variable->layout = toPlanLayout(layout, {10}, meshOf(plan));
  variable->buffer = builder.buffer("weight", 768, 256, {0, 2});
  variable->source = std::make_unique<FileRangeT>();
  variable->source->path = "model.onnx";
  variable->source->length = 40;
  builder.addModelFile("model.onnx", 48);
  plan.variables.push_back(std::move(variable));
  auto object = std::make_unique<NativeObjectT>();
  object->target = "x86_64";
  object->features = {"avx2"};
  object->data = {0x7F, 'E', 'L', 'F'};
  plan.objects.push_back(std::move(object));
  auto kernel = std::make_unique<KernelT>();
  kernel->hash = "0123";
  kernel->symbol = "kernel_0123";
  plan.kernels.push_back(std::move(kernel));
  return plan;
}

TEST(RoundTrip, keepsEveryField) {
  std::string bytes = writePlan(fullPlan());
  auto plan = readPlan(bytes);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ((*plan)->variables[0]->source->path, "model.onnx");
  const InstructionT &gather = *(*plan)->queues[1]->instructions[0];
  ASSERT_NE(operationAs<CollectiveT>(gather), nullptr);
  EXPECT_EQ(operationAs<FillT>(gather), nullptr);
  EXPECT_EQ(operationAs<CollectiveT>(gather)->segments[0]->output, 1u);
  // Whatever else there is, it is in the bytes.
  EXPECT_EQ(writePlan(**plan), bytes);
}

TEST(RoundTrip, planIsStillValid) {
  EXPECT_EQ(check(fullPlan()), absl::OkStatus());
  EXPECT_EQ(check(**readPlan(writePlan(fullPlan()))), absl::OkStatus());
}

TEST(RoundTrip, theFingerprintIsThatOfAllTheRest) {
  PlanT plan = fullPlan();
  const std::string first = (*readPlan(writePlan(plan)))->fingerprint;
  EXPECT_EQ(first.size(), 32u);
  plan.fingerprint = "any";
  EXPECT_EQ((*readPlan(writePlan(plan)))->fingerprint, first);
  EXPECT_EQ(fingerprintOf(plan), first);
  plan.model_files[0]->hash[0] ^= 1;
  EXPECT_NE((*readPlan(writePlan(plan)))->fingerprint, first);
}

TEST(RoundTrip, equalPlansGiveEqualBytes) { EXPECT_EQ(writePlan(fullPlan()), writePlan(fullPlan())); }

TEST(RoundTrip, readsBytesAtAnyAddress) {
  std::string bytes = writePlan(fullPlan());
  for (size_t shift = 0; shift < 8; ++shift) {
    std::string shifted = std::string(shift, 'x') + bytes;
    EXPECT_TRUE(readPlan(std::string_view(shifted).substr(shift)).ok());
  }
}

//===----------------------------------------------------------------------===//
// Damage
//===----------------------------------------------------------------------===//

/// The status of reading a copy of exactly these bytes, so that a read behind the end is seen by the sanitizer.
static absl::Status readingOf(std::string_view bytes) {
  const std::vector<char> copy(bytes.begin(), bytes.end());
  return readPlan({copy.data(), copy.size()}).status();
}

TEST(Damage, truncationIsRefused) {
  const std::string bytes = writePlan(fullPlan());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const absl::Status status = readingOf(std::string_view(bytes).substr(0, size));
    EXPECT_EQ(status.code(), size < 16 ? absl::StatusCode::kInvalidArgument : absl::StatusCode::kDataLoss) << size;
    EXPECT_EQ(status.message().substr(0, 14), "invalid plan: ");
  }
}

TEST(Damage, everyChangedByteIsNoticed) {
  const std::string bytes = writePlan(fullPlan());
  for (size_t i = 0; i < bytes.size(); ++i)
    for (int flip : {0x01, 0x80, 0xFF}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      // Bytes 4 to 7 tell that the file is a plan at all.
      const bool isIdentifier = i >= 4 && i < 8;
      EXPECT_EQ(readingOf(damaged).code(),
                isIdentifier ? absl::StatusCode::kInvalidArgument : absl::StatusCode::kDataLoss)
          << "byte " << i;
    }
}

TEST(Damage, insertedAndRemovedBytesAreNoticed) {
  const std::string bytes = writePlan(fullPlan());
  for (size_t i = 8; i < bytes.size(); ++i) {
    EXPECT_EQ(readingOf(bytes.substr(0, i) + '\0' + bytes.substr(i)).code(), absl::StatusCode::kDataLoss) << i;
    EXPECT_EQ(readingOf(bytes.substr(0, i) + bytes.substr(i + 1)).code(), absl::StatusCode::kDataLoss) << i;
  }
  EXPECT_EQ(readingOf(bytes + bytes).code(), absl::StatusCode::kDataLoss);
}

/// The CRC-32 of ISO 3309, bit by bit.
static uint32_t crc32Of(std::string_view bytes) {
  uint32_t sum = 0xFFFFFFFF;
  for (const char byte : bytes) {
    sum ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit)
      sum = sum >> 1 ^ (sum & 1 ? 0xEDB88320 : 0);
  }
  return ~sum;
}

/// `bytes` of a plan with a checksum that fits whatever they are.
static std::string withFittingChecksum(std::string bytes) {
  const uint32_t sum = crc32Of(std::string_view(bytes).substr(0, bytes.size() - 8));
  for (int i = 0; i < 4; ++i)
    bytes[bytes.size() - 4 + i] = static_cast<char>(sum >> 8 * i);
  return bytes;
}

TEST(Damage, theChecksumIsCrc32) {
  EXPECT_EQ(crc32Of("123456789"), 0xCBF43926u);
  EXPECT_EQ(withFittingChecksum(writePlan(fullPlan())), writePlan(fullPlan()));
}

// Whoever can write a file can write its checksum: what is behind it must hold alone.
TEST(Damage, changesWithAFittingChecksumDoNotCrash) {
  const std::string bytes = writePlan(fullPlan());
  size_t refused = 0, checked = 0;
  for (size_t i = 0; i + 8 < bytes.size(); ++i)
    for (int flip : {0x01, 0x80, 0xFF}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      auto plan = readPlan(withFittingChecksum(damaged));
      refused += !plan.ok();
      if (!plan.ok())
        continue;
      writePlan(**plan);
      checked += !check(**plan).ok();
    }
  EXPECT_GT(refused, bytes.size() / 2);
  EXPECT_GT(checked, bytes.size() / 4);
}

TEST(Damage, anotherVersionIsRefused) {
  PlanT plan = fullPlan();
  plan.version = kPlanVersion + 1;
  EXPECT_EQ(readPlan(writePlan(plan)).status().message(),
            "invalid plan: version must be 3, got 4; compile the model again with this version's compiler");
}

TEST(Damage, anotherFormatIsRefused) {
  EXPECT_EQ(readPlan("PK\x03\x04 this is a zip file").status().message(),
            "invalid plan: file must have the identifier \"DSPL\" at byte 4");
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {
class Files : public testing::Test {
protected:
  void SetUp() override {
    char path[] = "/tmp/ds-plan-test-XXXXXX";
    folder = mkdtemp(path);
  }
  void TearDown() override {
    unlink((folder + "/a.dsplan").c_str());
    rmdir(folder.c_str());
  }
  size_t numFiles() {
    DIR *dir = opendir(folder.c_str());
    size_t count = 0;
    while (dirent *entry = readdir(dir))
      count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
  }
  std::string folder;
};
} // namespace

TEST_F(Files, savedPlanIsLoaded) {
  std::string path = folder + "/a.dsplan";
  ASSERT_TRUE(savePlan(fullPlan(), path).ok());
  ASSERT_TRUE(savePlan(fullPlan(), path).ok()) << "an existing file must be replaced";
  EXPECT_EQ(numFiles(), 1u);
  auto plan = loadPlan(path);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(writePlan(**plan), writePlan(fullPlan()));
}

TEST_F(Files, failureLeavesNothing) {
  // The target is a folder, so the rename fails after the data was written.
  std::string path = folder + "/a.dsplan";
  ASSERT_EQ(mkdir(path.c_str(), 0755), 0);
  EXPECT_FALSE(savePlan(fullPlan(), path).ok());
  EXPECT_EQ(numFiles(), 1u);
  rmdir(path.c_str());
  EXPECT_FALSE(savePlan(fullPlan(), folder + "/missing/a.dsplan").ok());
}

TEST_F(Files, errorsNameTheFile) {
  std::string path = folder + "/a.dsplan";
  EXPECT_EQ(loadPlan(path).status().code(), absl::StatusCode::kInvalidArgument);
  std::ofstream(path) << "no plan at all, but long enough";
  EXPECT_EQ(loadPlan(path).status().message(),
            "invalid plan: file must have the identifier \"DSPL\" at byte 4 (" + path + ")");
  EXPECT_FALSE(loadPlan(folder).ok());
}
