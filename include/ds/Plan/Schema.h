// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The code that flatc makes from lib/Plan/plan.fbs, with its warnings off.

#ifndef DS_PLAN_SCHEMA_H
#define DS_PLAN_SCHEMA_H

#pragma GCC system_header
#include "ds/Plan/plan_generated.h"

#endif // DS_PLAN_SCHEMA_H
