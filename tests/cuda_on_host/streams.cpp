// The CUDA runtime's streams, events and copies, on the host. A stream is a queue. Its steps run when a call waits for
// them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "tests/cuda_on_host/engine.hpp"
#include "tests/cuda_on_host/guarded.hpp"
#include "tests/cuda_on_host/machine.hpp"

namespace triad::cuda_on_host {

namespace {

CUstream_st& stream_of(cudaStream_t s) { return s == nullptr ? the_machine().default_stream : *s; }
cudaError_t known_stream(cudaStream_t s) { return s == nullptr ? cudaSuccess : known(s, "stream"); }

cudaError_t at_fault(CUstream_st& s) {
  auto const status = answer(cudaErrorLaunchFailure, s.fault);
  // The default stream is never destroyed, so its fault is cleared after the first report.
  if (&s == &the_machine().default_stream) s.fault.clear();
  return status;
}

bool can_go_on(CUstream_st const& s) {
  return !s.queue.empty() &&
         (s.queue.front().awaits == nullptr || s.queue.front().awaits->reached >= s.queue.front().which);
}

void reach(step const& s) {
  if (s.records == nullptr) return;
  s.records->reached = std::max(s.records->reached, s.which);
  s.records->at = std::chrono::steady_clock::now();
}

void check_guards() {
  for (auto const& [p, bytes] : the_machine().device)
    if (!guards_hold(p, bytes)) {
      mend_guards(const_cast<char*>(p), bytes);
      throw fault("something was written just outside of " + std::to_string(bytes) + " bytes of device memory");
    }
}

void run_next(CUstream_st& s) {
  step const next = std::move(s.queue.front());
  s.queue.pop_front();
  try {
    if (next.work) {
      next.work();
      check_guards();
    }
  } catch (std::exception const& e) {
    s.fault = e.what();
  }
  reach(next);
  if (s.fault.empty()) return;
  for (auto const& dropped : s.queue) reach(dropped);  // otherwise some steps would wait for ever
  s.queue.clear();
}

enum class side { device, pinned, pageable };

side side_of(void const* p) {
  if (on_device(p, 0)) return side::device;
  auto const& pinned = the_machine().pinned;
  auto const after = pinned.upper_bound(static_cast<char const*>(p));
  if (after == pinned.begin()) return side::pageable;
  auto const [first, bytes] = *std::prev(after);
  return static_cast<std::size_t>(static_cast<char const*>(p) - first) < bytes ? side::pinned : side::pageable;
}

cudaError_t copy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  if (auto const status = known_stream(stream); status != cudaSuccess) return status;
  if (bytes == 0) return cudaSuccess;
  side const there = side_of(to), here = side_of(from);
  bool const to_device = kind == cudaMemcpyDefault ? there == side::device
                                                   : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  bool const from_device = kind == cudaMemcpyDefault
                               ? here == side::device
                               : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (to_device != (there == side::device) || from_device != (here == side::device))
    return answer(cudaErrorInvalidValue,
                  "a copy whose direction is not that of its pointers, or to or from memory that was never allocated");
  if ((to_device && !on_device(to, bytes)) || (from_device && !on_device(from, bytes)))
    return answer(cudaErrorInvalidValue,
                  "a copy of " + std::to_string(bytes) + " bytes beyond the end of device memory");
  CUstream_st& s = stream_of(stream);
  if (s.capture != nullptr && (there == side::pageable || here == side::pageable)) {
    s.spoilt = true;
    return answer(cudaErrorStreamCaptureUnsupported, "a copy of pageable memory");
  }
  auto const checked = [=](void const* source) {
    if ((to_device && !on_device(to, bytes)) || (from_device && !on_device(source, bytes)))
      throw fault("a copy of memory that has been freed");
    std::memmove(to, source, bytes);
  };
  if (here == side::pageable && to_device) {  // staged, so the caller may now change `from`
    auto const* const first = static_cast<char const*>(from);
    auto const staged = std::make_shared<std::vector<char>>(first, first + bytes);
    return submit(stream, {[=] { checked(staged->data()); }});
  }
  // If the host reads too early, it must get neither the old values nor the new values.
  if (!to_device && from_device && s.capture == nullptr && s.fault.empty()) std::memset(to, 0xFF, bytes);
  return submit(stream, {[=] { checked(from); }});
}

cudaError_t fill(void* p, int value, std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  bool const of_the_host = settings_in_use().unified && side_of(p) != side::device;
  if (!of_the_host && !on_device(p, bytes))
    return answer(cudaErrorInvalidValue, "filling what is not device memory, or beyond its end");
  return submit(stream, {[=] {
                  if (!of_the_host && !on_device(p, bytes)) throw fault("filling memory that has been freed");
                  std::memset(p, value, bytes);
                }});
}

}  // namespace

cudaError_t submit(cudaStream_t to, step what) {
  one_call const guard;
  if (auto const status = known_stream(to); status != cudaSuccess) return status;
  CUstream_st& s = stream_of(to);
  if (!s.fault.empty()) return at_fault(s);
  if (s.capture != nullptr) {
    if (s.spoilt) return answer(cudaErrorStreamCaptureInvalidated, "");
    s.capture->steps.push_back(std::move(what));
    return cudaSuccess;
  }
  if (to == nullptr) {  // the default stream and blocking streams wait for each other: all work runs now
    for (auto* other : the_machine().streams)
      if (other->blocking && other->capture != nullptr) {
        other->spoilt = true;
        return answer(cudaErrorStreamCaptureImplicit, "");
      }
    advance_until([] {
      auto const& all = the_machine().streams;
      return std::none_of(all.begin(), all.end(), [](auto* other) { return other->blocking && !other->queue.empty(); });
    });
  }
  s.queue.push_back(std::move(what));
  if (to == nullptr || !settings_in_use().deferred) advance_until([&] { return s.queue.empty(); });
  return s.fault.empty() ? cudaSuccess : at_fault(s);
}

cudaError_t enqueue(cudaStream_t stream, std::function<void()> work) { return submit(stream, {std::move(work)}); }

cudaError_t unless_captured(char const* call) {
  bool captured = false;
  for (auto* s : the_machine().streams) {
    bool const by_me = s->captured_by == std::this_thread::get_id();
    bool const forbids =
        (s->mode == cudaStreamCaptureModeGlobal && mode_of_thread() == cudaStreamCaptureModeGlobal) ||
        (s->mode != cudaStreamCaptureModeRelaxed && mode_of_thread() != cudaStreamCaptureModeRelaxed && by_me);
    if (s->capture != nullptr && forbids) captured = s->spoilt = true;
  }
  return captured ? answer(cudaErrorStreamCaptureUnsupported, std::string(call) + " while a stream is captured")
                  : cudaSuccess;
}

void advance_once() {
  machine& m = the_machine();
  std::vector<CUstream_st*> ready;
  for (auto* s : m.streams)
    if (can_go_on(*s)) ready.push_back(s);
  if (can_go_on(m.default_stream)) ready.push_back(&m.default_stream);
  if (ready.empty()) throw std::logic_error("cuda on host: all streams wait for events that no stream will record");
  run_next(*ready[ready.size() == 1 ? 0 : next_seed() % ready.size()]);
}

void advance_all() {
  advance_until([] {
    auto const& all = the_machine().streams;
    return the_machine().default_stream.queue.empty() &&
           std::all_of(all.begin(), all.end(), [](auto* s) { return s->queue.empty(); });
  });
}

}  // namespace triad::cuda_on_host

using namespace triad::cuda_on_host;

// ---- copies ---------------------------------------------------------------------------------------------------------

cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  one_call const guard;
  return copy(to, from, bytes, kind, stream);
}
cudaError_t cudaMemsetAsync(void* p, int value, std::size_t bytes, cudaStream_t stream) {
  one_call const guard;
  return fill(p, value, bytes, stream);
}
/// Copies in the default stream, so it does not wait for non-blocking streams.
cudaError_t cudaMemcpy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind) {
  one_call const guard;
  if (auto const status = unless_captured("cudaMemcpy"); status != cudaSuccess) return status;
  ++the_machine().counted.waits;
  return copy(to, from, bytes, kind, nullptr);
}
cudaError_t cudaMemset(void* p, int value, std::size_t bytes) {
  one_call const guard;
  if (auto const status = unless_captured("cudaMemset"); status != cudaSuccess) return status;
  return fill(p, value, bytes, nullptr);
}

// ---- streams --------------------------------------------------------------------------------------------------------

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned flags) {
  one_call const guard;
  *s = new CUstream_st{};
  (*s)->blocking = (flags & cudaStreamNonBlocking) == 0;
  the_machine().handles[*s] = "stream";
  the_machine().streams.push_back(*s);
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* s) { return cudaStreamCreateWithFlags(s, cudaStreamDefault); }

cudaError_t cudaStreamDestroy(cudaStream_t s) {
  one_call const guard;
  if (auto const status = known(s, "stream"); status != cudaSuccess) return status;
  if (s->capture != nullptr) complain("a stream is destroyed while it is captured");
  advance_until([&] { return s->queue.empty(); });
  if (!s->fault.empty() && !s->asked) complain("a stream is destroyed, is at fault, and was not asked: " + s->fault);
  the_machine().handles.erase(s);
  std::erase(the_machine().streams, s);
  delete s;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t to) {
  one_call const guard;
  if (auto const status = known_stream(to); status != cudaSuccess) return status;
  CUstream_st& s = stream_of(to);
  if (s.capture != nullptr) {
    s.spoilt = true;
    return answer(cudaErrorStreamCaptureUnsupported, "waiting for a stream that is captured");
  }
  ++the_machine().counted.waits;
  advance_until([&] { return s.queue.empty(); });
  return s.fault.empty() ? cudaSuccess : at_fault(s);
}

cudaError_t cudaStreamQuery(cudaStream_t to) {
  one_call const guard;
  if (auto const status = known_stream(to); status != cudaSuccess) return status;
  CUstream_st& s = stream_of(to);
  if (!s.fault.empty()) return at_fault(s);
  if (s.queue.empty()) return cudaSuccess;
  advance_once();  // so that repeated queries end
  return cudaErrorNotReady;
}

cudaError_t cudaDeviceSynchronize() {
  one_call const guard;
  if (auto const status = unless_captured("cudaDeviceSynchronize"); status != cudaSuccess) return status;
  ++the_machine().counted.waits;
  advance_all();
  for (auto* s : the_machine().streams)
    if (!s->fault.empty()) return at_fault(*s);
  return cudaSuccess;
}

// ---- events ---------------------------------------------------------------------------------------------------------

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned flags) {
  one_call const guard;
  *e = new CUevent_st{};
  (*e)->timed = (flags & cudaEventDisableTiming) == 0;
  the_machine().handles[*e] = "event";
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* e) { return cudaEventCreateWithFlags(e, cudaEventDefault); }

cudaError_t cudaEventDestroy(cudaEvent_t e) { return destroy(e, "event"); }

cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
  one_call const guard;
  if (auto const status = known(e, "event"); status != cudaSuccess) return status;
  if (auto const status = known_stream(s); status != cudaSuccess) return status;
  e->captured = stream_of(s).capture != nullptr ? s : nullptr;
  if (e->captured != nullptr) return cudaSuccess;  // the graph is a sequence, so the dependency needs no step
  return submit(s, {{}, e->recordings, {}, ++e->recordings->made});
}

/// If the event has not been recorded yet, the wait has no effect.
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned) {
  one_call const guard;
  if (auto const status = known(e, "event"); status != cudaSuccess) return status;
  if (auto const status = known_stream(s); status != cudaSuccess) return status;
  CUstream_st& q = stream_of(s);
  if (q.capture != nullptr) {
    if (e->captured == s) return cudaSuccess;
    q.spoilt = true;
    return answer(cudaErrorStreamCaptureIsolation, "an event that was recorded outside of the capture");
  }
  if (e->captured != nullptr)
    return answer(cudaErrorNotSupported, "the stand-in captures one stream, not several joined by events");
  if (e->recordings->made == 0) return cudaSuccess;
  return submit(s, {{}, {}, e->recordings, e->recordings->made});
}

cudaError_t cudaEventQuery(cudaEvent_t e) {
  one_call const guard;
  if (auto const status = known(e, "event"); status != cudaSuccess) return status;
  if (e->captured != nullptr) return answer(cudaErrorStreamCaptureUnsupported, "asking for an event that is captured");
  if (auto const status = unless_captured("cudaEventQuery"); status != cudaSuccess) return status;
  if (e->recordings->reached >= e->recordings->made) return cudaSuccess;
  advance_once();
  return cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t e) {
  one_call const guard;
  if (auto const status = known(e, "event"); status != cudaSuccess) return status;
  if (e->captured != nullptr) return answer(cudaErrorStreamCaptureUnsupported, "waiting for an event that is captured");
  if (auto const status = unless_captured("cudaEventSynchronize"); status != cudaSuccess) return status;
  ++the_machine().counted.waits;
  auto const wanted = e->recordings->made;
  advance_until([&] { return e->recordings->reached >= wanted; });
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  one_call const guard;
  for (auto* e : {begin, end}) {
    if (auto const status = known(e, "event"); status != cudaSuccess) return status;
    if (!e->timed || e->recordings->made == 0) return answer(cudaErrorInvalidResourceHandle, "an event without a time");
    if (e->recordings->reached < e->recordings->made) return cudaErrorNotReady;
  }
  *milliseconds = std::chrono::duration<float, std::milli>(end->recordings->at - begin->recordings->at).count();
  return cudaSuccess;
}
