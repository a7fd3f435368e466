// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The model that a machine is measured with, and its recipe.

#ifndef DS_LIB_DRIVER_MACHINEPROBE_H
#define DS_LIB_DRIVER_MACHINEPROBE_H

namespace ds {

/// The text of MachineProbe.mlir, a program as the import gives it.
extern const char *const kMachineProbe;

/// The ds_config.json of its training.
extern const char *const kMachineProbeConfig;

} // namespace ds

#endif // DS_LIB_DRIVER_MACHINEPROBE_H
