// The NCCL functions that triad/parallel/nccl.cuh calls, on the host. Threads play the role of processes, and each has
// its own stream.
// SPDX-License-Identifier: Apache-2.0
//
// A send and the matching receive become steps of both streams once both groups have ended:
//
//   the sender's stream     the sent row is ready            the sent row has been copied
//   the receiver's stream                         the copy
//
// So ncclGroupEnd waits on the host for the partner's call. NCCL itself does not wait there. With NCCL, a process hangs
// if the message that it waits for never comes, for example because its partner has called another function. With this
// stand-in, every process gets an error that says which process waits for which.
#include "tests/cuda_on_host/nccl.hpp"

#include <nccl.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/cuda_on_host/engine.hpp"
#include "tests/cuda_on_host/machine.hpp"

namespace triad::cuda_on_host {

/// A call of ncclSend or ncclRecv.
struct message {
  bool sends;
  int peer;
  char* at;
  std::size_t count;
  ncclDataType_t type;
};

struct seat {
  enum { empty, taken, left } state = empty;
  cudaStream_t stream = nullptr;
  bool has_stream = false;
  std::deque<message> open;  // unmatched messages of groups that have ended
  bool waits = false;
};

/// The processes that have the same id.
struct team {
  std::mutex door;
  std::condition_variable news;
  std::vector<seat> seats;
  std::string broken;  // the reason why no process can continue
};

namespace {

struct known_ids {
  std::mutex door;
  std::uint64_t made = 0;
  std::map<std::string, std::shared_ptr<team>> teams;
};
known_ids& ids() {
  static known_ids those;
  return those;
}

std::mutex counting;
nccl_counts so_far;
std::chrono::milliseconds patience = std::chrono::seconds(60);

thread_local std::string last_error;
ncclResult_t refuse(ncclResult_t with, std::string const& why) {
  last_error = why;
  return with;
}

std::pair<std::size_t, char const*> size_and_name(ncclDataType_t type) {
  switch (type) {
    case ncclFloat32:
      return {4, "float32"};
    case ncclFloat64:
      return {8, "float64"};
    case ncclUint8:
      return {1, "uint8"};
    default:
      return {0, "a type that the stand-in does not have"};
  }
}
std::string in_words(message const& m) {
  return std::to_string(m.count) + " values of " + size_and_name(m.type).second;
}
std::string in_words(int rank, message const& m) {
  return "process " + std::to_string(rank) + (m.sends ? " sends " : " receives ") + in_words(m) +
         (m.sends ? " to process " : " from process ") + std::to_string(m.peer);
}

/// Appends the steps to both streams. Returns false if one of the streams has a fault.
bool carry(message const& from, cudaStream_t sender, message const& to, cudaStream_t receiver) {
  one_call const guard;
  auto const ready = std::make_shared<recordings>(), taken = std::make_shared<recordings>();
  ready->made = taken->made = 1;
  auto const bytes = from.count * size_and_name(from.type).first;
  auto const copy = [source = from.at, target = to.at, bytes] {
    if (!on_device(source, bytes) || !on_device(target, bytes))
      throw fault("NCCL: a row that is sent or received has been freed");
    std::memcpy(target, source, bytes);
  };
  return submit(sender, {{}, ready, {}, 1}) == cudaSuccess && submit(receiver, {{}, {}, ready, 1}) == cudaSuccess &&
         submit(receiver, {copy}) == cudaSuccess && submit(receiver, {{}, taken, {}, 1}) == cudaSuccess &&
         submit(sender, {{}, {}, taken, 1}) == cudaSuccess;
}

/// Returns the first open message of one direction to or from this peer. Messages are matched in the order of the
/// calls.
message* first_of(seat& s, bool sends, int peer) {
  auto const found =
      std::find_if(s.open.begin(), s.open.end(), [&](message const& m) { return m.sends == sends && m.peer == peer; });
  return found == s.open.end() ? nullptr : &*found;
}
void answered(seat& s, message const* m) { s.open.erase(s.open.begin() + (m - &s.open.front())); }

void match(team& t) {
  for (int a = 0; a < static_cast<int>(t.seats.size()); ++a)
    for (int b = 0; b < static_cast<int>(t.seats.size()); ++b) {
      seat &sender = t.seats[static_cast<std::size_t>(a)], &receiver = t.seats[static_cast<std::size_t>(b)];
      for (;;) {
        auto* const sent = first_of(sender, true, b);
        auto* const wanted = first_of(receiver, false, a);
        if (sent == nullptr || wanted == nullptr || !t.broken.empty()) break;
        if (sent->count != wanted->count || sent->type != wanted->type) {
          t.broken = in_words(a, *sent) + ", and " + in_words(b, *wanted);
          break;
        }
        if (!carry(*sent, sender.stream, *wanted, receiver.stream)) {
          t.broken = "the stream of process " + std::to_string(a) + " or " + std::to_string(b) + " is at fault";
          break;
        }
        auto const answer = *wanted;
        answered(sender, sent);
        answered(receiver, first_of(receiver, false, answer.peer));
      }
    }
}

/// Detects a deadlock: every process waits or has left.
void find_deadlock(team& t) {
  bool const nobody_goes_on = std::all_of(t.seats.begin(), t.seats.end(), [](seat const& s) {
    return s.state == seat::left || (s.waits && !s.open.empty());
  });
  bool for_one_that_left = false;
  std::string who;
  for (std::size_t r = 0; r < t.seats.size(); ++r) {
    auto const& s = t.seats[r];
    if (!s.waits || s.open.empty()) continue;
    auto const& m = s.open.front();
    bool const left = t.seats[static_cast<std::size_t>(m.peer)].state == seat::left;
    who += (who.empty() ? "" : "; ") + in_words(static_cast<int>(r), m) + (left ? ", which has left" : "");
    for_one_that_left = for_one_that_left || left;
  }
  if (t.broken.empty() && !who.empty() && (nobody_goes_on || for_one_that_left))
    t.broken = "no process answers, and a GPU would wait for ever: " + who;
}

}  // namespace

nccl_counts counted_nccl() {
  std::lock_guard const lock(counting);
  return so_far;
}
std::chrono::milliseconds wait_for_others(std::chrono::milliseconds time) { return std::exchange(patience, time); }

}  // namespace triad::cuda_on_host

using namespace triad::cuda_on_host;

struct ncclComm {
  std::shared_ptr<team> all;
  int rank;
};

namespace {

thread_local int depth = 0;
thread_local ncclComm_t of_group = nullptr;
thread_local cudaStream_t stream_of_group = nullptr;
thread_local std::deque<message> in_group;

std::string name_of(ncclUniqueId const& id) { return {id.internal, NCCL_UNIQUE_ID_BYTES}; }

ncclResult_t add(char const* call, message const& m, ncclComm_t by, cudaStream_t stream) {
  if (by == nullptr) return refuse(ncclInvalidArgument, std::string(call) + " of no communicator");
  auto& t = *by->all;
  std::lock_guard const lock(t.door);
  auto& own = t.seats[static_cast<std::size_t>(by->rank)];
  if (depth == 0)
    return refuse(ncclInvalidUsage, std::string(call) +
                                        " outside of ncclGroupStart and ncclGroupEnd: two processes that both begin "
                                        "with it would wait for each other for ever");
  if (m.peer < 0 || m.peer >= static_cast<int>(t.seats.size()) || m.peer == by->rank)
    return refuse(ncclInvalidArgument,
                  std::string(call) + ": there is no other process " + std::to_string(m.peer) + " to reach");
  auto const each = size_and_name(m.type).first;
  if (each == 0) return refuse(ncclInvalidArgument, std::string(call) + ": a type that the stand-in does not have");
  if (!on_device(m.at, m.count * each))
    return refuse(ncclInvalidArgument,
                  std::string(call) + ": " + in_words(m) + " that do not lie in device memory, or not all of them");
  if (of_group != nullptr && of_group != by)
    return refuse(ncclInvalidUsage, "the stand-in has groups of one communicator alone");
  if (own.has_stream && own.stream != stream)
    return refuse(ncclInvalidUsage, std::string(call) + " in another stream than the communicator's calls before: " +
                                        "nothing orders the two");
  {
    one_call const guard;
    if (stream != nullptr && stream->capture != nullptr)
      return refuse(ncclInvalidUsage,
                    std::string(call) + " in a stream that is captured, which the stand-in does not have");
  }
  for (auto const& other : in_group) {
    auto const *first = m.at, *second = other.at;
    bool const meet = first < second + other.count * size_and_name(other.type).first && second < first + m.count * each;
    if (meet && (!m.sends || !other.sends))
      return refuse(ncclInvalidUsage,
                    std::string(call) + ": what is received lies where something else of the group does");
  }
  own.has_stream = true;
  own.stream = stream_of_group = stream;
  of_group = by;
  in_group.push_back(m);
  return ncclSuccess;
}

ncclResult_t leave(ncclComm_t by, bool waits) {
  if (by == nullptr) return waits ? refuse(ncclInvalidArgument, "no communicator is destroyed") : ncclSuccess;
  {
    auto& t = *by->all;
    std::lock_guard const lock(t.door);
    t.seats[static_cast<std::size_t>(by->rank)].state = seat::left;
    find_deadlock(t);
    t.news.notify_all();
  }
  one_call const guard;
  if (known(by, "NCCL communicator") != cudaSuccess)
    return refuse(ncclInvalidArgument, "there is no such communicator");
  the_machine().handles.erase(by);
  delete by;
  return ncclSuccess;
}

}  // namespace

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  auto& known = ids();
  std::lock_guard const lock(known.door);
  std::memset(id, 0, sizeof *id);
  auto const text = "stand-in " + std::to_string(++known.made);
  std::memcpy(id->internal, text.data(), text.size());
  known.teams[name_of(*id)] = std::make_shared<team>();
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* made, int size, ncclUniqueId id, int rank) {
  *made = nullptr;
  std::shared_ptr<team> all;
  {
    auto& known = ids();
    std::lock_guard const lock(known.door);
    auto const found = known.teams.find(name_of(id));
    if (found == known.teams.end())
      return refuse(ncclRemoteError, "an id that no process here has made: of an earlier run, or not copied whole");
    all = found->second;
  }
  std::unique_lock lock(all->door);
  auto const n = static_cast<std::size_t>(size);
  if (all->seats.empty()) all->seats.resize(n);
  if (all->seats.size() != n)
    return refuse(ncclInvalidArgument, "another process says that there are " + std::to_string(all->seats.size()));
  auto& own = all->seats[static_cast<std::size_t>(rank)];
  if (own.state != seat::empty) return refuse(ncclInvalidUsage, "there is a process of this rank already");
  own.state = seat::taken;
  all->news.notify_all();
  auto const everybody = [&] {
    return std::none_of(all->seats.begin(), all->seats.end(), [](seat const& s) { return s.state == seat::empty; });
  };
  if (!all->news.wait_for(lock, patience, everybody)) {
    own.state = seat::empty;
    return refuse(ncclRemoteError, "not all processes have come");
  }
  lock.unlock();
  one_call const guard;
  *made = new ncclComm{all, rank};
  the_machine().handles[*made] = "NCCL communicator";
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t by) { return leave(by, true); }
ncclResult_t ncclCommAbort(ncclComm_t by) { return leave(by, false); }

ncclResult_t ncclCommGetAsyncError(ncclComm_t by, ncclResult_t* news) {
  std::lock_guard const lock(by->all->door);
  *news = by->all->broken.empty() ? ncclSuccess : refuse(ncclRemoteError, by->all->broken);
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  ++depth;
  return ncclSuccess;
}

ncclResult_t ncclSend(void const* at, std::size_t count, ncclDataType_t type, int peer, ncclComm_t by,
                      cudaStream_t stream) {
  return add("ncclSend", {true, peer, static_cast<char*>(const_cast<void*>(at)), count, type}, by, stream);
}
ncclResult_t ncclRecv(void* at, std::size_t count, ncclDataType_t type, int peer, ncclComm_t by, cudaStream_t stream) {
  return add("ncclRecv", {false, peer, static_cast<char*>(at), count, type}, by, stream);
}

ncclResult_t ncclGroupEnd() {
  if (depth == 0) return refuse(ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  if (--depth > 0) return ncclSuccess;
  auto* const by = std::exchange(of_group, nullptr);
  auto group = std::exchange(in_group, {});
  if (by == nullptr) return ncclSuccess;
  {
    std::lock_guard const lock(counting);
    ++so_far.groups;
    for (auto const& m : group)
      if (m.sends) ++so_far.sends, so_far.bytes += m.count * size_and_name(m.type).first;
  }
  auto& t = *by->all;
  std::unique_lock lock(t.door);
  if (!t.broken.empty()) return refuse(ncclRemoteError, t.broken);
  auto& own = t.seats[static_cast<std::size_t>(by->rank)];
  own.open = std::move(group);
  own.waits = true;
  match(t);
  find_deadlock(t);
  t.news.notify_all();
  bool const in_time = t.news.wait_for(lock, patience, [&] { return own.open.empty() || !t.broken.empty(); });
  if (!in_time) {
    t.broken = "no process answers: " + in_words(by->rank, own.open.front());
    t.news.notify_all();
  }
  own.waits = false;
  bool const done = own.open.empty();
  own.open.clear();
  return done ? ncclSuccess : refuse(ncclRemoteError, t.broken);
}

char const* ncclGetErrorString(ncclResult_t code) {
  switch (code) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error";
    case ncclSystemError:
      return "unhandled system error";
    case ncclInternalError:
      return "internal error";
    case ncclInvalidArgument:
      return "invalid argument";
    case ncclInvalidUsage:
      return "invalid usage";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    default:
      return "unknown result code";
  }
}
char const* ncclGetLastError(ncclComm_t) { return last_error.c_str(); }
