// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// f32 matmuls in blocks (Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008): a piece of
// C is computed by one thread from a panel of B that stays in its second cache, while strips of rows of A pass by.
// While one panel is in use the next is copied, a few squares after each tile, and each tile asks for the lines that
// are copied after it. So memory answers while products are added. Sums have one order, whatever the threads.

#include "MatmulPanel.h"
#include "MatmulTasks.h"

#include "ds/Runtime/Device/FastCopy.h"
#include "ds/Runtime/Device/ParallelFor.h"
#include "ds/Runtime/StatusMacros.h"

#include <algorithm>
#include <atomic>

using namespace ds;
using namespace ds::runtime;

/// Of a block: a strip of A takes 24 KiB of the first cache, a panel of B 576 KiB of the second, at most.
static constexpr int64_t kMostTerms = 768, kMostUnits = 4;
static constexpr int64_t kPanelFloats = kMostTerms * kMostUnits * kTileColumns;
/// Of a transposed A, 16 MiB are packed at a time.
static constexpr int64_t kPackedFloats = 4 << 20;
/// A panel of B that fewer rows use would be copied too often.
static constexpr int64_t kRowsPerPiece = 256;

namespace {
/// A part of C that one thread computes.
struct Piece {
  int64_t point = 0, row = 0, rows = 0, column = 0, columns = 0;
};

/// Which block: those of one piece of C follow each other, by outer sum and term.
struct Place {
  int64_t piece = 0;
  size_t sum = 0;
  int64_t term = 0;
};

/// The rows and terms of a phase, in which all threads work.
struct Phase {
  int64_t row = 0, rows = 0, term = 0, terms = 0;
};

/// A piece of C, and some terms of its sums.
struct Block {
  int64_t rows = 0, columns = 0, terms = 0;
  const float *a = nullptr; ///< strips one after the other if A is transposed, else as it lies
  PanelSource b;
  float *c = nullptr;
  const float *bias = nullptr; ///< if it is to be added
  bool adds = false;

  int64_t strips() const { return ceilDiv(rows, kTileRows); }
  int64_t units() const { return ceilDiv(columns, kTileColumns); }
};

struct BlocksTask : Task {
  absl::Status run(const TaskContext &) override;

  void runPhase();
  /// Copies A into strips, for all threads.
  void packLeft() const;
  Place next(Place place) const;
  /// Empty behind the last piece.
  Block blockAt(const Place &place) const;
  /// Cuts C for a phase.
  void cutPieces();
  bool isLeftTransposed() const { return form.sum.a != 1; }
  /// Between rows of A, of which a strip has kTileRows. Packed strips are whole lines.
  int64_t leftStride(int64_t terms) const { return isLeftTransposed() ? roundUp(terms, kLineFloats) : form.rows.a; }
  float *panels(int64_t thread) const { return static_cast<float *>(scratch->data()) + thread * 2 * kPanelFloats; }
  float *packedLeft() const { return panels(threads); }
  static const float *at(const char *base, int64_t bytes) { return reinterpret_cast<const float *>(base + bytes); }

  MatmulForm form;
  const char *a = nullptr, *b = nullptr, *c = nullptr, *bias = nullptr;
  float alpha = 1;
  bool accumulate = false;
  int64_t termsPerBlock = 0, rowsPerPhase = 0, termsPerPhase = 0, columnPieces = 1, threads = 1;
  std::vector<Offsets> points, sums;
  ScratchSpace *scratch = nullptr;
  Epilogue epilogue;
  Phase phase;
  std::vector<Piece> pieces;
};

/// One thread's way through pieces of C.
class BlocksWorker {
public:
  BlocksWorker(const BlocksTask &task, float *memory) : task(task), panels{memory, memory + kPanelFloats} {}

  void run(std::atomic<int64_t> &nextPiece) {
    Place place{nextPiece++, 0, task.phase.term};
    Block block = task.blockAt(place);
    copy.start(block.b, panels[1]);
    copy.copyUntil(copy.steps());
    while (block.rows > 0) {
      Place following = task.next(place);
      if (following.piece != place.piece)
        following.piece = nextPiece++;
      const Block ahead = task.blockAt(following);
      std::swap(panels[0], panels[1]);
      copy.start(ahead.b, panels[1]);
      for (int64_t strip = 0; strip < block.strips(); ++strip)
        runStrip(block, strip);
      place = following;
      block = ahead;
    }
  }

private:
  void runStrip(const Block &block, int64_t strip) {
    Tile tile;
    tile.rows = std::min(kTileRows, block.rows - strip * kTileRows);
    tile.terms = block.terms;
    tile.outStride = task.form.rows.c;
    tile.alpha = task.alpha;
    tile.adds = block.adds;
    setLeft(tile, block, strip);
    const int64_t units = block.units(), tiles = block.strips() * units;
    for (int64_t unit = 0; unit < units; ++unit) {
      const int64_t column = unit * kTileColumns;
      tile.columns = std::min(kTileColumns, block.columns - column);
      tile.right = panels[0] + column * block.terms;
      tile.out = block.c + strip * kTileRows * task.form.rows.c + column;
      tile.bias = block.bias ? block.bias + column : nullptr;
      tile.leftAhead = leftAhead(block, strip + 1, unit);
      tile.rightAhead = copy.ahead();
      multiplyTile(tile);
      copy.copyUntil(copy.steps() * (strip * units + unit + 1) / tiles);
    }
  }

  void setLeft(Tile &tile, const Block &block, int64_t strip) {
    const int64_t stride = task.leftStride(block.terms);
    tile.left = block.a + strip * kTileRows * stride;
    if (task.isLeftTransposed())
      return;
    tile.leftStride = stride;
    if (tile.rows < kTileRows) { // A tile reads all rows, so those that are not there become zeros.
      lastStrip.assign(static_cast<size_t>(kTileRows * tile.terms), 0.0f);
      for (int64_t row = 0; row < tile.rows; ++row)
        std::copy_n(tile.left + row * tile.leftStride, tile.terms, lastStrip.begin() + row * tile.terms);
      tile.left = lastStrip.data();
      tile.leftStride = tile.terms;
    }
  }

  /// A quarter of the next strip for each of the first four units.
  Ahead leftAhead(const Block &block, int64_t strip, int64_t unit) const {
    if (unit >= 4 || strip >= block.rows / kTileRows)
      return {block.a};
    const int64_t stride = task.leftStride(block.terms);
    return {block.a + (strip * kTileRows + 2 * unit) * stride, stride, block.terms / kLineFloats};
  }

  const BlocksTask &task;
  float *panels[2]; ///< the one in use, and the one that is filled
  PanelCopy copy;
  std::vector<float> lastStrip;
};
} // namespace

absl::Status BlocksTask::run(const TaskContext &) {
  for (phase.row = 0; phase.row < form.rows.size; phase.row += phase.rows) {
    phase.rows = std::min(rowsPerPhase, form.rows.size - phase.row);
    for (phase.term = 0; phase.term < form.sum.size; phase.term += phase.terms) {
      phase.terms = std::min(termsPerPhase, form.sum.size - phase.term);
      runPhase();
    }
  }
  return epilogue.run();
}

void BlocksTask::runPhase() {
  cutPieces();
  if (isLeftTransposed())
    packLeft();
  std::atomic<int64_t> nextPiece{0};
  parallelFor(threads, [&](int64_t thread) { BlocksWorker(*this, panels(thread)).run(nextPiece); });
}

static int64_t mostRowParts(int64_t rows) { return std::max<int64_t>(1, rows / kRowsPerPiece); }

/// Where part `part` of `parts` begins, at a multiple of `step`.
static int64_t cutAt(int64_t size, int64_t step, int64_t parts, int64_t part) {
  return std::min(size, ceilDiv(size, step) * part / parts * step);
}

/// Towards the end pieces are at most half a thread's share of what is left, as threads may be slowed down by other
/// work (guided self-scheduling, Polychronopoulos and Kuck 1987).
void BlocksTask::cutPieces() {
  pieces.clear();
  const int64_t numPoints = static_cast<int64_t>(points.size());
  int64_t left = numPoints * columnPieces;
  for (int64_t point = 0; point < numPoints; ++point)
    for (int64_t strip = 0; strip < columnPieces; ++strip, --left) {
      const int64_t column = cutAt(form.columns.size, kTileColumns, columnPieces, strip),
                    nextColumn = cutAt(form.columns.size, kTileColumns, columnPieces, strip + 1),
                    parts = std::min(mostRowParts(phase.rows), ceilDiv(2 * threads, left));
      for (int64_t part = 0; part < parts; ++part) {
        const int64_t row = cutAt(phase.rows, kLineFloats, parts, part),
                      nextRow = cutAt(phase.rows, kLineFloats, parts, part + 1);
        pieces.push_back({point, row, nextRow - row, column, nextColumn - column});
      }
    }
}

void BlocksTask::packLeft() const {
  const float *from = at(a, 0) + phase.term * form.sum.a + phase.row;
  const int64_t packedRows = roundUp(phase.rows, kLineFloats);
  parallelFor(ceilDiv(phase.terms, kLineFloats), [&](int64_t square) {
    const int64_t term = square * kLineFloats, block = term / termsPerBlock * termsPerBlock;
    const int64_t stride = leftStride(std::min(termsPerBlock, phase.terms - block));
    float *to = packedLeft() + block * packedRows + (term - block) * kTileRows;
    for (int64_t row = 0; row < phase.rows; row += kLineFloats)
      streamHalves({from + term * form.sum.a + row, form.sum.a, std::min(kLineFloats, phase.terms - term),
                    std::min(kLineFloats, phase.rows - row)},
                   to + row * stride, to + (row + kTileRows) * stride);
    finishStreams();
  });
}

/// The block behind `place`; of the next piece if it was the last of its own.
Place BlocksTask::next(Place place) const {
  place.term += termsPerBlock;
  if (place.term < phase.term + phase.terms)
    return place;
  return place.sum + 1 < sums.size() ? Place{place.piece, place.sum + 1, phase.term}
                                     : Place{place.piece + 1, 0, phase.term};
}

Block BlocksTask::blockAt(const Place &place) const {
  if (place.piece >= static_cast<int64_t>(pieces.size()))
    return Block();
  const Piece &piece = pieces[static_cast<size_t>(place.piece)];
  const Offsets &point = points[static_cast<size_t>(piece.point)], &sum = sums[place.sum];
  const int64_t row = phase.row + piece.row, column = piece.column;
  Block block;
  block.rows = piece.rows;
  block.columns = piece.columns;
  block.terms = std::min(termsPerBlock, phase.term + phase.terms - place.term);
  block.a = isLeftTransposed() ? packedLeft() + (place.term - phase.term) * roundUp(phase.rows, kLineFloats) +
                                     piece.row * leftStride(block.terms)
                               : at(a, point.a + sum.a) + row * form.rows.a + place.term;
  block.b = {at(b, point.b + sum.b) + column * form.columns.b + place.term * form.sum.b, block.terms, block.columns,
             form.sum.b, form.columns.b};
  block.c = const_cast<float *>(at(c, point.c)) + row * form.rows.c + column;
  const bool isLast = place.sum + 1 == sums.size() && place.term + block.terms == form.sum.size;
  block.bias = bias && isLast ? at(bias, point.bias) + column : nullptr;
  block.adds = accumulate || place.sum > 0 || place.term > 0;
  return block;
}

bool ds::runtime::hasBlocks(const MatmulSetup &setup) {
  constexpr int64_t kLeast = 256; // Below, oneDNN is faster, which copies less.
  const MatmulForm &form = setup.form;
  const bool isPackable = form.sum.a == 1 || (form.batch.empty() && form.outerSums.empty());
  return hasTiles() && setup.type == plan::DataType::F32 && form.isMatrix && isPackable &&
         setup.activation == plan::Activation::None && form.rows.size >= kLeast && form.columns.size >= kLeast &&
         form.sum.size >= kLeast;
}

/// Cuts the sums, the rows if A is to be packed, and the columns so that there are some pieces for each thread.
static void cut(BlocksTask &task) {
  constexpr int64_t kPiecesPerThread = 4;
  const int64_t terms = task.form.sum.size, points = static_cast<int64_t>(task.points.size());
  task.termsPerBlock = roundUp(ceilDiv(terms, ceilDiv(terms, kMostTerms)), kLineFloats);
  task.rowsPerPhase = task.form.rows.size;
  task.termsPerPhase = terms;
  if (task.isLeftTransposed()) {
    task.rowsPerPhase =
        std::min(task.form.rows.size, std::max(2 * kRowsPerPiece, kPackedFloats / terms / kLineFloats * kLineFloats));
    const int64_t blocks = kPackedFloats / (task.rowsPerPhase * task.termsPerBlock);
    task.termsPerPhase = std::min(terms, std::max<int64_t>(blocks, 1) * task.termsPerBlock);
  }
  const int64_t units = ceilDiv(task.form.columns.size, kTileColumns);
  const int64_t least = ceilDiv(kPiecesPerThread * task.threads, points * mostRowParts(task.rowsPerPhase));
  task.columnPieces = std::max(ceilDiv(units, kMostUnits), std::min(least, units));
}

TaskOr ds::runtime::makeBlocksTask(const MatmulSetup &setup) {
  auto task = std::make_unique<BlocksTask>();
  const MatmulForm &form = task->form = setup.form;
  task->a = setup.a;
  task->b = setup.b;
  task->c = setup.c;
  task->alpha = setup.alpha;
  task->accumulate = setup.accumulate;
  task->points = enumerateOffsets(form.batch, sizeof(float));
  task->sums = enumerateOffsets(form.outerSums, sizeof(float));
  task->threads = getThreads();
  cut(*task);
  task->scratch = setup.scratch;
  const int64_t packed = task->isLeftTransposed()
                             ? roundUp(task->rowsPerPhase, kLineFloats) * roundUp(task->termsPerPhase, kLineFloats)
                             : 0;
  setup.scratch->reserve(static_cast<size_t>(task->threads * 2 * kPanelFloats + packed) * sizeof(float));
  if (form.columns.bias == 1 && form.rows.bias == 0) {
    task->bias = setup.bias;
  } else {
    DS_ASSIGN_OR_RETURN(task->epilogue, makeEpilogue(setup));
  }
  return task;
}
