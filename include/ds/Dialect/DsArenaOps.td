// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_DIALECT_DS_ARENA_OPS
#define DS_DIALECT_DS_ARENA_OPS

include "ds/Dialect/DsBase.td"

def Ds_ArenaOp : Ds_Op<"arena", [SingleBlock, NoTerminator, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the memory of a step, as ds-assign-arena has packed it";
  let description = [{
    A rank takes `bytes` once; every `ds.buffer` is a piece of them. Buffers that are live at one time take `lower_bound`
    bytes at least, at time `peak`, which is that of op `peak_op`; `largest` are the largest buffers live there. Times are
    places of ops in the function: ops are counted from 0 in program order, a loop's body behind the loop; the bodies of
    kernels are left out.

    The function tells which buffer is whose by numbers: `ds.buffers` on an op has one per result (-1 for what is no
    tensor), then one per workspace; `ds.buffer` is that of an argument, or on a `ds.variable` its own.

    Constraints:
    - C1: `function` is a function of the module
    - C2: `bytes` are `lower_bound` at least
    - C3: `largest` are numbers of buffers
    - C4: the body holds buffers alone
    - C5: a buffer's number is its place, counted from 0
    - C6: a buffer is inside the arena, at a multiple of the alignment
    - C7: a buffer lives from a time >= 0 to one not before it

    ```mlir
    ds.arena of @step bytes 8192 lower_bound 4352 peak 3 "matmul" largest [0, 1] {
      ds.buffer 0 "weight" at 0 bytes 4096 live 0 to 5
      ds.buffer 1 "matmul" at 4096 bytes 256 live 3 to 4
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$function, I64Attr:$bytes, I64Attr:$lower_bound, I64Attr:$peak,
                       StrAttr:$peak_op, DenseI64ArrayAttr:$largest);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `of` $function `bytes` $bytes `lower_bound` $lower_bound `peak` $peak $peak_op `largest` $largest attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def Ds_BufferOp : Ds_Op<"buffer", [HasParent<"ArenaOp">]> {
  let summary = "a piece of an arena";
  let description = [{
    `bytes` bytes from `offset` hold the values of this buffer from time `first` to `last`, both inclusive.

    ```mlir
    ds.buffer 0 "weight" at 0 bytes 4096 live 0 to 5
    ```
  }];
  let arguments = (ins I64Attr:$number, StrAttr:$name, I64Attr:$offset, I64Attr:$bytes, I64Attr:$first, I64Attr:$last);
  let assemblyFormat = "$number $name `at` $offset `bytes` $bytes `live` $first `to` $last attr-dict";
}

#endif // DS_DIALECT_DS_ARENA_OPS
