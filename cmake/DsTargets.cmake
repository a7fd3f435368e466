# The two kinds of library of this project, and the one set of warnings they share.

find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(nlohmann_json REQUIRED)
if(DS_BUILD_COMPILER)
  find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
  list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
  include(TableGen)
  include(AddLLVM)
  include(AddMLIR)
  set(MLIR_BINARY_DIR ${PROJECT_BINARY_DIR})
endif()

add_library(ds_headers INTERFACE)
target_include_directories(ds_headers INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_include_directories(ds_headers SYSTEM INTERFACE ${PROJECT_BINARY_DIR}/include) # generated
target_compile_options(ds_headers INTERFACE -Wall -Wextra -Werror -Wno-deprecated-declarations
  # Clang's pragmas: how loops are unrolled, which changes no result.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-unknown-pragmas>)

# ds_add_library(Name sources... [LINK libraries...]): a library that knows no MLIR.
function(ds_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ds_headers ${ARG_LINK})
endfunction()

# The headers of MLIR cost most of the time to compile: they are compiled once.
if(DS_BUILD_COMPILER)
  add_library(ds_mlir_headers OBJECT ${PROJECT_SOURCE_DIR}/cmake/MlirHeaders.cpp)
  target_include_directories(ds_mlir_headers SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_link_libraries(ds_mlir_headers PUBLIC ds_headers)
  target_compile_options(ds_mlir_headers PRIVATE -fno-exceptions $<$<CXX_COMPILER_ID:Clang>:-Xclang -fno-pch-timestamp>)
  target_precompile_headers(ds_mlir_headers PRIVATE ${PROJECT_SOURCE_DIR}/cmake/MlirHeaders.h)
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    # Lets ccache serve one checkout from another: the compiled headers hold absolute paths, so their hash would differ in
    # each; ccache takes that of the .sum instead (CCACHE_PCH_EXTSUM). CMake's own option would name the text as well, by
    # an absolute path.
    set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE>)
    file(SHA256 ${PROJECT_SOURCE_DIR}/cmake/MlirHeaders.h headers_hash)
    file(TIMESTAMP ${LLVM_CMAKE_DIR}/LLVMConfig.cmake llvm_installed)
    file(WRITE ${PROJECT_BINARY_DIR}/CMakeFiles/ds_mlir_headers.dir/cmake_pch.hxx.pch.sum
      "${headers_hash} LLVM ${LLVM_PACKAGE_VERSION} ${llvm_installed} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_CXX_FLAGS}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/MlirHeaders.h)
  endif()
endif()

# ds_add_compiler_library(Name sources... [NO_PCH] [DEPENDS targets...] [LINK libraries...]): a library that uses MLIR,
# all of it from the one shared libMLIR. NO_PCH: for sources with definitions of their own.
function(ds_add_compiler_library name)
  cmake_parse_arguments(ARG "NO_PCH" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_compile_options(${name} PRIVATE -fno-exceptions $<$<CXX_COMPILER_ID:Clang>:-Xclang -fno-pch-timestamp>)
  target_link_libraries(${name} PUBLIC ds_headers ${ARG_LINK} MLIR LLVM)
  if(NOT ARG_NO_PCH)
    target_precompile_headers(${name} REUSE_FROM ds_mlir_headers)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()
