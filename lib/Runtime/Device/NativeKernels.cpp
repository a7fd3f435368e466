// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Device/NativeKernels.h"

#include "ds/Runtime/ErrorCodes.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace ds::runtime;

static absl::Status writeAll(int file, const std::vector<uint8_t> &bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written = write(file, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return memoryError(absl::StrCat("cannot write machine code to a memory file: ", std::strerror(errno)));
    done += static_cast<size_t>(written);
  }
  return absl::OkStatus();
}

/// Loads an ELF shared object from memory: the file has no name that could be left behind. It stays open as long as the
/// object, since dlopen takes two objects of one path, which holds the file's number, for the same.
absl::Status NativeKernels::loadObject(const plan::NativeObjectT &object) {
  const int file = memfd_create("ds-kernels", MFD_CLOEXEC);
  if (file < 0)
    return memoryError(absl::StrCat("cannot create a memory file: ", std::strerror(errno)));
  files.push_back(file);
  DS_RETURN_IF_ERROR(writeAll(file, object.data));
  void *handle = dlopen(absl::StrCat("/proc/self/fd/", file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return absl::InvalidArgumentError(
        absl::StrCat("cannot load the machine code for ", object.target, ": ", dlerror()));
  handles.push_back(handle);
  return absl::OkStatus();
}

static bool isForHost(const std::string &target) {
#if defined(__x86_64__)
  return target.rfind("x86_64", 0) == 0;
#elif defined(__aarch64__)
  return target.rfind("aarch64", 0) == 0;
#else
  return false;
#endif
}

absl::Status NativeKernels::loadObjects(const plan::PlanT &plan) {
  for (const std::unique_ptr<plan::NativeObjectT> &object : plan.objects) {
    if (!isForHost(object->target)) {
      absl::StrAppend(&refusals, "; the object for ", object->target, " is not for this machine");
      continue;
    }
    const std::vector<std::string> missing = findMissingCpuFeatures(object->features);
    if (!missing.empty()) {
      absl::StrAppend(&refusals, "; the object for ", object->target,
                      " needs CPU features that this machine lacks: ", absl::StrJoin(missing, ", "));
      continue;
    }
    DS_RETURN_IF_ERROR(loadObject(*object));
  }
  return absl::OkStatus();
}

static void *findSymbol(const std::vector<void *> &handles, const std::string &symbol) {
  for (void *handle : handles)
    if (void *address = dlsym(handle, symbol.c_str()))
      return address;
  return nullptr;
}

absl::Status NativeKernels::findKernels(const plan::PlanT &plan) {
  for (const std::unique_ptr<plan::KernelT> &kernel : plan.kernels) {
    KernelEntry entry;
    entry.run = reinterpret_cast<KernelFunction>(findSymbol(handles, kernel->symbol));
    if (kernel->has_finish)
      entry.finish = reinterpret_cast<KernelFinish>(findSymbol(handles, kernel->symbol + "_finish"));
    if (!entry.run || (kernel->has_finish && !entry.finish))
      return absl::FailedPreconditionError(absl::StrCat("kernel \"", kernel->symbol,
                                                        "\" must be in an object of the plan, got none",
                                                        entry.run ? " for its finish function" : "", refusals));
    kernels.push_back(entry);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<NativeKernels>> NativeKernels::load(const plan::PlanT &plan) {
  std::unique_ptr<NativeKernels> result(new NativeKernels());
  if (plan.kernels.empty())
    return result;
  DS_RETURN_IF_ERROR(result->loadObjects(plan));
  DS_RETURN_IF_ERROR(result->findKernels(plan));
  return result;
}

NativeKernels::~NativeKernels() {
  for (void *handle : handles)
    dlclose(handle);
  for (int file : files)
    close(file);
}
