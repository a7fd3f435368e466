# The lit suite: tests by the sub-paths of the libraries. Run `ninja check-ds-lit`, or `lit build/test/Import` for a part.

import os
import shutil
import sys

import lit.formats

config.name = "ds"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".textproto", ".test"]
config.excludes = ["Inputs", "Unit", "lib", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.ds_build_dir, "test")

path = os.pathsep.join([config.ds_tools_dir, config.llvm_tools_dir, config.environment.get("PATH", "")])
config.environment["PATH"] = path
config.environment["XDG_CACHE_HOME"] = os.path.join(config.ds_build_dir, "test", "cache")  # not the user's
config.environment["DS_MACHINE"] = "cpu"  # not this machine, which would be measured
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"  # the source tree stays clean

# Substitutions: the tools are found by their names; the rest is data.
oracles = os.environ.get("DS_ORACLES", config.ds_oracles_dir)
config.substitutions.append((r"\bpython3\b", sys.executable))  # what python3 names may be a script that starts it
config.substitutions.append(("%oracles", oracles))
config.substitutions.append(("%source-dir", config.ds_source_dir))
config.substitutions.append(("%build-dir", config.ds_build_dir))
inputs = os.path.join(config.test_source_root, "Inputs")
config.substitutions.append(("%expect-exit", sys.executable + " " + os.path.join(inputs, "expect_exit.py")))
config.substitutions.append(("%count-ops", sys.executable + " " + os.path.join(inputs, "count_ops.py")))
config.substitutions.append(("%onnx-encode", "protoc --encode=onnx.ModelProto -I/usr/include onnx/onnx.proto"))

# Features: a test that needs one says REQUIRES.
if os.path.isdir(oracles):
    config.available_features.add("oracles")
if config.has_sanitizer:  # which takes a large part of the address space for itself
    config.available_features.add("sanitizer")
if config.has_compiler:
    config.available_features.add("compiler")
if shutil.which("protoc") and os.path.exists("/usr/include/onnx/onnx.proto"):
    config.available_features.add("onnx-text")
if shutil.which("shellcheck"):
    config.available_features.add("shellcheck")
if os.environ.get("DS_PEER_PYTHON"):  # a Python with torch and onnx, to compare with
    config.available_features.add("peer-python")
    config.substitutions.append(("%peer-python", os.environ["DS_PEER_PYTHON"]))
    peer_tools = os.path.join(oracles, os.pardir, "tools")
    if os.path.isdir(peer_tools):  # random programs, run here and there
        config.available_features.add("peer-tools")
        config.substitutions.append(("%peer-tools", peer_tools))
# How much to run: by default what takes less than two seconds each; `lit --param thorough=1`: tests of several seconds as
# well; `lit --param slow=1`: everything, the matrices of models, stages and ranks included.
if lit_config.params.get("slow"):
    config.available_features |= {"slow", "thorough"}
if lit_config.params.get("thorough"):
    config.available_features.add("thorough")
if shutil.which("nvidia-smi"):
    config.available_features.add("gpu")
