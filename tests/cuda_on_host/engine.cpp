// The engine runs threads as fibers, and switches fibers when threads wait for each other. It must not be built with
// -fsanitize=thread (see README.md).
// SPDX-License-Identifier: Apache-2.0
//
// A thread runs until it has to wait: at a barrier of its block, or for the other lanes of its warp. When the last
// thread arrives, all of them can continue. Threads that never wait run one after another on the same stack.
//
// Everything in this file has internal linkage, and code that runs in a thread does not call memcpy. TSan would see
// these calls, and report accesses to the engine's own data as races between threads of the grid.
#include "tests/cuda_on_host/engine.hpp"

#include <array>
#include <cstring>
#include <exception>
#include <numeric>
#include <string>
#include <vector>

#include "tests/cuda_on_host/fibers.hpp"
#include "tests/cuda_on_host/guarded.hpp"
#include "tests/cuda_on_host/settings.hpp"

namespace triad::cuda_on_host {

namespace {

constexpr int most_threads = 1024, lanes = 32, most_warps = most_threads / lanes;

enum class waits { no, for_block, for_warp, returned };
enum class operation { sync_warp, shuffle, shuffle_xor, ballot };
constexpr char const* named(operation op) {
  return std::array{"sync_warp", "shuffle", "shuffle_xor", "ballot"}[static_cast<std::size_t>(op)];
}

struct thread_state {
  waits state;
  fiber* on;  // null before the thread starts
  operation op;
  place at;
  int argument;
  std::uint64_t value;
};

struct meeting {
  int arrived = 0, first = 0, returned = 0;
  unsigned parity = 0;
};

/// With these tags, the engine tells TSan which thread has waited for which. Each kind of meeting has two tags, which
/// are used in turn. With only one tag, the next barrier could hide a missing barrier. Neighbouring blocks have
/// different tags and different stacks, so that nothing orders these blocks.
struct tags {
  char block[2], warp[most_warps][2];
};

struct kept {
  void* memory;
};

struct engine {
  fiber program, fibers[2][most_threads];
  fiber* idle[most_threads];
  int idle_count = 0;
  fiber* current = nullptr;

  settings how;
  grid const* g = nullptr;
  void (*body)(void const*, thread_info const&) = nullptr;
  void const* kernel = nullptr;
  std::int64_t index = 0;
  void* shared = nullptr;
  bool running = false, own_stacks = false;
  int group = 0, prepared = 0;

  thread_state threads[most_threads];
  meeting block, warps[most_warps];
  int ready[most_threads], head = 0, waiting = 0;  // a ring buffer

  bool failed = false;
  std::string message;
  std::uint64_t random = 0, runs = 0;
  tags tag[2];
  char begins = 0, ends = 0;
  std::vector<kept> shared_memory;

  void run(grid const&, void (*)(void const*, thread_info const&), void const*);
  void run_block(std::int64_t);
  void run_thread(int);
  void push(int);
  void push_first(int);
  int pick();
  void go_to(fiber&);
  void resume(int);
  void park();
  void finish();
  std::uint64_t meet(operation, std::uint64_t, int, place);
  void exchange(int first);
  void record(std::string const&);
  std::string census() const;
};

engine& the() {
  static engine& e = *new engine;  // never destroyed: a static backend may live longer than other static objects
  return e;
}

[[noreturn]] void entry() {
  fiber::entered();
  engine& e = the();
  for (;;) {
    e.run_thread(e.current->thread);
    e.finish();
  }
}

bool same(place a, place b) { return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0); }

std::string text(place p) {
  std::string file = p.file;
  return file.substr(file.find_last_of('/') + 1) + ":" + std::to_string(p.line);
}

// ---- a grid ---------------------------------------------------------------------------------------------------------

void engine::run(grid const& what, void (*f)(void const*, thread_info const&), void const* k) {
  if (running) throw fault("a kernel cannot start kernels");
  if (what.threads <= 0 || what.threads > most_threads || what.threads % lanes != 0)
    throw fault(std::string("kernel ") + what.name + ": a block has whole warps and at most 1024 threads");
  how = settings_in_use();
  g = &what;
  body = f;
  kernel = k;
  running = true;
  failed = false;
  own_stacks = race_detection();
  random = next_seed();
  ++runs;
  program.adopt();
  current = &program;

  // If blocks are shuffled, the first block is random, and the step from block to block is coprime to the number of
  // blocks.
  std::int64_t first = 0, step = 1;
  if (how.shuffled && what.blocks > 1) {
    auto const draw = [&] {
      return static_cast<std::int64_t>(next_random(random) % static_cast<std::uint64_t>(what.blocks));
    };
    first = draw();
    do step = 1 + draw();
    while (std::gcd(step, what.blocks) != 1);
  }
  for (std::int64_t b = 0; b < what.blocks && !failed; ++b) {
    if (what.shared_bytes > 0) {
      shared = allocate_guarded(what.shared_bytes);
      shared_memory.push_back({shared});
    }
    release(&begins);  // orders this block after the program's work, but not after other blocks
    group = own_stacks ? static_cast<int>(b % 2) : 0;
    run_block((first + b * step) % what.blocks);
    if (what.shared_bytes > 0 && !failed && !guards_hold(shared, what.shared_bytes))
      record("something was written outside of its shared memory");
    if (!own_stacks)
      for (; !shared_memory.empty(); shared_memory.pop_back())
        free_guarded(shared_memory.back().memory, what.shared_bytes);
  }
  acquire(&ends);
  for (; !shared_memory.empty(); shared_memory.pop_back()) free_guarded(shared_memory.back().memory, what.shared_bytes);
  shared = nullptr;
  running = false;
  if (!failed) return;
  for (auto& some : fibers)
    for (auto& one : some) one.abandon();
  idle_count = prepared = 0;
  throw fault(message);
}

void engine::run_block(std::int64_t b) {
  index = b;
  block = {};
  for (int w = 0; w < g->threads / lanes; ++w) warps[w] = {};
  head = 0;
  waiting = 0;
  for (int t = 0; t < g->threads; ++t) {
    threads[t].state = waits::no;
    threads[t].on = nullptr;
    push(t);
  }
  resume(pick());
}

void engine::run_thread(int t) {
  acquire(&begins);
  thread_info const info{t, g->threads, index, g->blocks, shared, g->shared_bytes};
  try {
    body(kernel, info);
  } catch (std::exception const& e) {
    record(e.what());
  } catch (...) {
    record("the kernel threw something");
  }
  release(&ends);
  threads[t].state = waits::returned;
  ++block.returned;
  ++warps[t / lanes].returned;
  if (failed) return;
  meeting const& w = warps[t / lanes];
  if (w.arrived > 0)
    record("the thread returned while lane " + std::to_string(w.first % lanes) + " of its warp waits for it in " +
           named(threads[w.first].op) + " at " + text(threads[w.first].at));
  else if (block.arrived > 0 && how.strict)
    record("the thread returned while " + std::to_string(block.arrived) + " threads wait for it at the barrier at " +
           text(threads[block.first].at));
  // With lenient settings, the threads that have not returned continue.
  else if (block.arrived > 0 && block.arrived + block.returned == g->threads) {
    block.arrived = 0;
    ++block.parity;
    for (int other = 0; other < g->threads; ++other)
      if (threads[other].state == waits::for_block) push(other);
  }
}

// ---- taking turns ---------------------------------------------------------------------------------------------------

void engine::push(int t) { ready[(head + waiting++) % most_threads] = t; }

/// If threads run in order, a warp runs until it has to wait for other warps. Its stacks then stay in the cache, and
/// later warps reuse these stacks.
void engine::push_first(int t) {
  head = (head + most_threads - 1) % most_threads;
  ready[head] = t;
  ++waiting;
}

int engine::pick() {
  if (waiting == 0) return -1;
  if (how.shuffled) {
    int& other =
        ready[(head + static_cast<int>(next_random(random) % static_cast<std::uint64_t>(waiting))) % most_threads];
    int const t = other;
    other = ready[head];
    ready[head] = t;
  }
  int const t = ready[head];
  head = (head + 1) % most_threads;
  --waiting;
  return t;
}

void engine::go_to(fiber& to) {
  fiber& from = *current;
  current = &to;
  fiber::change(from, to);
}

void engine::resume(int t) {
  fiber*& f = threads[t].on;
  if (f == nullptr) {
    if (own_stacks)
      f = &fibers[group][t];
    else if (idle_count > 0)
      f = idle[--idle_count];
    else
      f = &fibers[0][prepared++];
    if (!f->prepared()) f->prepare(t, entry);
    f->thread = t;
  }
  go_to(*f);
}

/// Suspends the current thread until another thread makes it ready.
void engine::park() {
  fiber* const mine = current;
  int const next = pick();
  if (next < 0) {
    record("deadlock: " + census());
    go_to(program);
    __builtin_unreachable();  // nothing returns to an abandoned stack
  }
  if (threads[next].on != mine) resume(next);
}

/// Switches from a thread that has returned to the next thread. If the next thread has not started, it takes over the
/// stack.
void engine::finish() {
  int const next = failed ? -1 : pick();
  if (next >= 0 && threads[next].on == nullptr && !own_stacks) {
    threads[next].on = current;
    current->thread = next;
    return;
  }
  if (!own_stacks) idle[idle_count++] = current;
  if (next >= 0) return resume(next);
  if (!failed && block.returned < g->threads) record("deadlock: " + census());
  go_to(program);
}

// ---- meetings -------------------------------------------------------------------------------------------------------

std::uint64_t engine::meet(operation op, std::uint64_t value, int argument, place at) {
  int const t = current->thread, first = t / lanes * lanes;
  meeting& w = warps[t / lanes];
  if (w.returned > 0)
    throw fault(std::string(named(op)) + " at " + text(at) + " is for whole warps, and " + std::to_string(w.returned) +
                " lanes of this one have returned");
  if (w.arrived == 0) w.first = t;
  thread_state const& other = threads[w.first];
  if (w.arrived > 0 && (other.op != op || !same(other.at, at)))
    throw fault("lane " + std::to_string(t % lanes) + " is in " + named(op) + " at " + text(at) + ", lane " +
                std::to_string(w.first % lanes) + " of its warp in " + named(other.op) + " at " + text(other.at));
  thread_state& mine = threads[t];
  mine.state = waits::for_warp;
  mine.op = op;
  mine.at = at;
  mine.argument = argument;
  mine.value = value;
  // Only sync_warp orders memory. On a device, shuffles and ballots do not.
  char* const tag_of = &tag[group].warp[t / lanes][w.parity % 2];
  if (op == operation::sync_warp) release(tag_of);
  if (++w.arrived == lanes) {
    exchange(first);
    w.arrived = 0;
    ++w.parity;
    for (int l = lanes; l-- > 0;) push_first(first + l);
  }
  park();
  if (op == operation::sync_warp) acquire(tag_of);
  mine.state = waits::no;
  return mine.value;
}

/// Gives each lane its result; called when all lanes have arrived.
void engine::exchange(int first) {
  thread_state* const lane = threads + first;
  std::uint64_t given[lanes], votes = 0;
  for (int l = 0; l < lanes; ++l) {
    given[l] = lane[l].value;
    votes |= (lane[l].value & 1) << l;
  }
  for (int l = 0; l < lanes; ++l) {
    if (lane[l].op == operation::shuffle) lane[l].value = given[lane[l].argument & (lanes - 1)];
    if (lane[l].op == operation::shuffle_xor) lane[l].value = given[l ^ lane[l].argument];
    if (lane[l].op == operation::ballot) lane[l].value = votes;
  }
}

/// Records the first fault. Later faults may be its consequences.
void engine::record(std::string const& what) {
  if (failed) return;
  failed = true;
  message = std::string("kernel ") + g->name + ", block " + std::to_string(index) + " of " + std::to_string(g->blocks);
  if (current != &program) message += ", thread " + std::to_string(current->thread);
  if (how.shuffled) message += " (shuffled, seed " + std::to_string(how.seed) + ")";
  message += ": " + what;
  release(&ends);  // orders the program's reads after this block
}

std::string engine::census() const {
  std::string s = std::to_string(block.returned) + " threads have returned";
  if (block.arrived > 0)
    s += ", " + std::to_string(block.arrived) + " wait at the barrier at " + text(threads[block.first].at);
  for (int w = 0; w < g->threads / lanes; ++w)
    if (warps[w].arrived > 0)
      s += ", " + std::to_string(warps[w].arrived) + " of warp " + std::to_string(w) + " in " +
           named(threads[warps[w].first].op) + " at " + text(threads[warps[w].first].at);
  return s;
}

}  // namespace

void run(grid const& g, void (*body)(void const*, thread_info const&), void const* kernel) {
  the().run(g, body, kernel);
}

std::uint64_t grids_run() { return the().runs; }

void barrier(place at) {
  engine& e = the();
  int const t = e.current->thread;
  meeting& m = e.block;
  if (m.returned > 0 && e.how.strict)
    throw fault("the barrier at " + text(at) + " is reached after " + std::to_string(m.returned) +
                " threads have returned");
  if (m.arrived == 0) m.first = t;
  place const other = e.threads[m.first].at;
  if (m.arrived > 0 && !same(other, at))
    throw fault("the thread is at the barrier at " + text(at) + ", thread " + std::to_string(m.first) + " at that at " +
                text(other));
  e.threads[t].state = waits::for_block;
  e.threads[t].at = at;
  char* const tag = &e.tag[e.group].block[m.parity % 2];
  release(tag);
  if (++m.arrived + m.returned == e.g->threads) {
    m.arrived = 0;
    ++m.parity;
    for (int other_thread = 0; other_thread < e.g->threads; ++other_thread)
      if (e.threads[other_thread].state == waits::for_block) e.push(other_thread);
  }
  e.park();
  acquire(tag);
  e.threads[t].state = waits::no;
}

void warp_barrier(place at) { the().meet(operation::sync_warp, 0, 0, at); }
std::uint64_t shuffle(std::uint64_t bits, int from, place at) { return the().meet(operation::shuffle, bits, from, at); }
std::uint64_t shuffle_xor(std::uint64_t bits, int mask, place at) {
  if (mask < 0 || mask >= lanes)
    throw fault("shuffle_xor at " + text(at) + " with mask " + std::to_string(mask) + ", which leads out of the warp");
  return the().meet(operation::shuffle_xor, bits, mask, at);
}
unsigned ballot(bool yes, place at) { return static_cast<unsigned>(the().meet(operation::ballot, yes ? 1 : 0, 0, at)); }

void fail(std::string const& message) { throw fault(message); }

}  // namespace triad::cuda_on_host
