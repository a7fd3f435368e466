// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Early return of errors.

#ifndef DS_RUNTIME_STATUSMACROS_H
#define DS_RUNTIME_STATUSMACROS_H

#include "absl/status/statusor.h"

#include <utility>

#define DS_CONCAT_INNER(a, b) a##b
#define DS_CONCAT(a, b) DS_CONCAT_INNER(a, b)

/// Returns the status of `expression` from the function if it is an error.
#define DS_RETURN_IF_ERROR(expression)                                                                                 \
  do {                                                                                                                 \
    if (absl::Status dsStatus = (expression); !dsStatus.ok())                                                          \
      return dsStatus;                                                                                                 \
  } while (false)

/// Declares or assigns `target` from the StatusOr `expression`, or returns its error.
#define DS_ASSIGN_OR_RETURN(target, expression)                                                                        \
  DS_ASSIGN_OR_RETURN_INNER(DS_CONCAT(dsStatusOr, __LINE__), target, expression)
#define DS_ASSIGN_OR_RETURN_INNER(temporary, target, expression)                                                       \
  auto temporary = (expression);                                                                                       \
  if (!temporary.ok())                                                                                                 \
    return temporary.status();                                                                                         \
  target = *std::move(temporary)

#endif // DS_RUNTIME_STATUSMACROS_H
