// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Classes of values that share memory, by union-find. A class is a chain in time: each member is defined no earlier
// than the last use of those before it, and if at the same op then by a kernel that may work in place.
//
//   1. unite what must share: reshapes and fences with their input, a loop's carried values;
//   2. unite what saves a copy: assigned values with their variable, yielded values with the carried one;
//   3. unite what saves memory: kernel results with inputs that die there.

#include "ds/Analysis/Storage.h"

#include "ds/Analysis/TensorSizes.h"

using namespace mlir;
using namespace ds;

std::string ds::describe(Operation *op) {
  std::string text = op->getName().stripDialect().str();
  if (auto name = op->getLoc()->findInstanceOf<NameLoc>())
    text += " " + name.getName().str();
  return text;
}

StoragePlan::StoragePlan(func::FuncOp function, const Mesh &mesh) : function(function), mesh(mesh), times(function) {
  Block &block = function.getBody().front();
  uniteAliases(block);
  uniteTargets(block);
  uniteInPlace(block);
  addVariables();
  assignStorages(block);
}

unsigned StoragePlan::addScratch(std::string name, uint64_t bytes) {
  Storage storage;
  storage.name = std::move(name);
  storage.bytes = bytes;
  allStorages.push_back(storage);
  return allStorages.size() - 1;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

/// When the memory of `value` is first written; a loop's result after its last iteration.
int64_t StoragePlan::definition(Value value) {
  if (Operation *op = birthOf(value))
    return times.endOf(op);
  Operation *parent = cast<BlockArgument>(value).getOwner()->getParentOp();
  return isa<scf::ForOp>(parent) ? times.of(parent) : -1;
}

/// The last time at which `value` is used; inside a loop that it comes from outside of: the loop's end.
int64_t StoragePlan::lastUse(Value value) {
  int64_t last = definition(value);
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    // Assigning and yielding move nothing where storages are shared; they are looked at where that is decided.
    if (isa<AssignOp, scf::YieldOp>(user))
      continue;
    if (isa<func::ReturnOp>(user)) {
      last = std::numeric_limits<int64_t>::max();
      continue;
    }
    Operation *inBlock = value.getParentBlock()->findAncestorOpInBlock(*user);
    last = std::max<int64_t>(last, inBlock == user ? times.of(user) : times.endOf(inBlock));
  }
  return last;
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

Value StoragePlan::leader(Value value) {
  auto found = parents.find(value);
  if (found == parents.end()) {
    parents[value] = value;
    members[value] = {value};
    classEnds[value] = lastUse(value);
    return value;
  }
  Value current = value;
  while (parents.lookup(current) != current)
    current = parents.lookup(current);
  parents[value] = current;
  return current;
}

void StoragePlan::unite(Value into, Value value) {
  Value a = leader(into), b = leader(value);
  if (a == b)
    return;
  parents[b] = a;
  classEnds[a] = std::max(classEnds.lookup(a), classEnds.lookup(b));
  SmallVector<Value, 2> moved = members.lookup(b);
  members[a].append(moved);
  members.erase(b);
  if (fixedClasses.erase(b))
    fixedClasses.insert(a);
}

/// Whether the op that defines `value` reads members of the class only so that it may write over them.
bool StoragePlan::mayOverwrite(Value value, Value previousLeader) {
  Operation *op = value.getDefiningOp();
  // A collective reads its sources while it writes.
  if (!op || isa<WaitOp>(op))
    return false;
  // Another result that nothing reads is written all the same.
  if (llvm::any_of(members.lookup(previousLeader), [&](Value member) { return member.getDefiningOp() == op; }))
    return false;
  const unsigned result = cast<OpResult>(value).getResultNumber();
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    if (isTensor(operand) && leader(operand) == previousLeader && !sharing.isAllowed(op, result, number))
      return false;
  return true;
}

/// Whether `value` may live in the class of `previous` after its members.
bool StoragePlan::canFollow(Value value, Value previous) {
  Value a = leader(previous), b = leader(value);
  if (a == b || maxLocalBytes(value.getType(), mesh) != maxLocalBytes(previous.getType(), mesh))
    return false;
  int64_t born = std::numeric_limits<int64_t>::max();
  Value first;
  for (Value member : members.lookup(b))
    if (definition(member) < born) {
      born = definition(member);
      first = member;
    }
  int64_t end = classEnds.lookup(a);
  return end < born || (end == born && mayOverwrite(first, a));
}

void StoragePlan::uniteIfPossible(Value previous, Value value) {
  if (!fixedClasses.contains(leader(value)) && canFollow(value, previous))
    unite(previous, value);
}

void StoragePlan::uniteAliases(Block &block) {
  Operation *parent = block.getParentOp();
  if (isa<func::FuncOp>(parent))
    for (BlockArgument arg : block.getArguments())
      fixedClasses.insert(leader(arg));
  for (Operation &op : block) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      reads[read.getVariable()] = read.getResult();
      fixedClasses.insert(leader(read.getResult()));
    } else if (isa<ReshapeOp, FenceOp>(op)) {
      unite(op.getOperand(0), op.getResult(0));
    } else if (isLoadedBefore(&op)) {
      fixedClasses.insert(leader(op.getResult(0)));
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [arg, result] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults())) {
        unite(arg, result);
        // Between the iterations the class holds the carried value.
        fixedClasses.insert(leader(arg));
      }
      uniteAliases(*loop.getBody());
    }
  }
}

/// Where `value` did not get the storage of `target`, `mover` copies it there: until then its class is in use.
void StoragePlan::keepUntilMoved(Value value, Value target, Operation *mover) {
  if (!isTensor(value) || (target && leader(target) == leader(value)))
    return;
  int64_t &end = classEnds[leader(value)];
  end = std::max<int64_t>(end, times.of(mover));
}

void StoragePlan::uniteTargets(Block &block) {
  for (Operation &op : block) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      // The carried class: its result lives after the loop, which must not keep the body from overwriting the argument.
      for (auto [number, arg] : llvm::enumerate(loop.getRegionIterArgs())) {
        Value yielded = loop.getBody()->getTerminator()->getOperand(number), lead = leader(arg);
        int64_t whole = classEnds.lookup(lead);
        classEnds[lead] = lastUse(arg);
        uniteIfPossible(arg, yielded);
        classEnds[leader(arg)] = std::max(whole, classEnds.lookup(leader(arg)));
        keepUntilMoved(yielded, arg, loop.getBody()->getTerminator());
      }
      uniteTargets(*loop.getBody());
    } else if (auto assign = dyn_cast<AssignOp>(op)) {
      Value old = reads.lookup(assign.getVariable());
      if (old)
        uniteIfPossible(old, assign.getValue());
      keepUntilMoved(assign.getValue(), old, assign);
    }
  }
}

void StoragePlan::uniteInPlace(Block &block) {
  for (Operation &op : block) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      uniteInPlace(*loop.getBody());
    auto kernel = dyn_cast<KernelOp>(op);
    if (!kernel)
      continue;
    for (Value result : kernel.getResults()) {
      if (members.lookup(leader(result)).size() > 1)
        continue;
      for (auto [number, input] : llvm::enumerate(kernel.getInputs()))
        if (!fixedClasses.contains(leader(input)) && input.getParentBlock() == &block && canFollow(result, input)) {
          unite(input, result);
          break;
        }
    }
  }
}

//===----------------------------------------------------------------------===//
// Storages
//===----------------------------------------------------------------------===//

void StoragePlan::addVariables() {
  auto module = function->getParentOfType<ModuleOp>();
  for (VariableOp variable : module.getOps<VariableOp>()) {
    Storage storage;
    storage.name = variable.getSymName().str();
    storage.bytes = maxLocalBytes(variable.getType(), mesh);
    storage.isVariable = true;
    unsigned id = allStorages.size();
    allStorages.push_back(storage);
    variableStorage[variable.getSymName()] = id;
    if (Value read = reads.lookup(variable.getSymName()))
      storageIds[leader(read)] = id;
  }
}

void StoragePlan::assignStorages(Block &block) {
  auto add = [&](Value value, const std::string &what) {
    if (!isTensor(value))
      return;
    auto [it, isNew] = storageIds.try_emplace(leader(value), allStorages.size());
    if (!isNew)
      return;
    allStorages.push_back({what, maxLocalBytes(value.getType(), mesh)});
  };
  for (BlockArgument arg : block.getArguments()) {
    add(arg, "argument");
    if (isa<func::FuncOp>(block.getParentOp()) && isTensor(arg))
      allStorages[storageOf(arg)].isInput = true;
  }
  for (Operation &op : block) {
    for (Value result : op.getResults())
      add(result, describe(&op));
    if (isLoadedBefore(&op))
      allStorages[storageOf(op.getResult(0))].isVariable = true;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      assignStorages(*loop.getBody());
    if (isa<func::ReturnOp>(op))
      for (Value operand : op.getOperands())
        allStorages[storageOf(operand)].isOutput = true;
  }
}
