// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_DIALECT_DS_TYPES
#define DS_DIALECT_DS_TYPES

include "ds/Dialect/DsBase.td"

def Ds_TokenType : TypeDef<Ds_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "a collective in flight";
  let description = "Made by a start op; consumed by exactly one `ds.wait`.";
}

#endif // DS_DIALECT_DS_TYPES
