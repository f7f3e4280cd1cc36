// Threads in the role of processes. Each thread has a communicator. A receiver copies the values that another thread
// sends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "triad/core/views.hpp"
#include "triad/parallel/communicator.hpp"

namespace triad::test {

/// The messages in transit between the threads.
class switchboard {
 public:
  explicit switchboard(int size) : size_(size) {}
  int size() const { return size_; }

  void send(int from, int to, std::vector<std::byte> message) {
    std::lock_guard const lock(mutex_);
    letters_[{from, to}].push_back(std::move(message));
    arrived_.notify_all();
  }
  std::vector<std::byte> receive(int from, int to) {
    std::unique_lock lock(mutex_);
    auto& box = letters_[{from, to}];
    arrived_.wait(lock, [&] { return !box.empty(); });
    auto message = std::move(box.front());
    box.erase(box.begin());
    return message;
  }
  void meet() {
    std::unique_lock lock(mutex_);
    auto const round = round_;
    if (++waiting_ == size_) {
      waiting_ = 0;
      ++round_;
      arrived_.notify_all();
    } else {
      arrived_.wait(lock, [&] { return round_ != round; });
    }
  }

 private:
  int size_, waiting_ = 0;
  long long round_ = 0;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::pair<int, int>, std::vector<std::vector<std::byte>>> letters_;
};

struct one_of_threads {
  switchboard& board;
  int number;
  long long messages = 0, values = 0;  // messages and values that this thread has sent

  int rank() const { return number; }
  int size() const { return board.size(); }
  template <class Ex, class T>
  void exchange(Ex& ex, int partner, vec<T const> mine, vec<T> theirs) {
    std::vector<std::byte> letter(static_cast<std::size_t>(mine.extent(0)) * sizeof(T));
    memory_of(ex).to_host(letter.data(), mine.data_handle(), letter.size());
    ++messages;
    values += mine.extent(0);
    board.send(number, partner, std::move(letter));
    auto const got = board.receive(partner, number);
    TRIAD_EXPECTS(got.size() == static_cast<std::size_t>(theirs.extent(0)) * sizeof(T),
                  "one_of_threads: the partner sends another length");
    memory_of(ex).from_host(theirs.data_handle(), got.data(), got.size());
  }
  void barrier() { board.meet(); }
};

/// Runs work(processes) in `size` threads. `work` must not use Catch2's checks, because Catch2 2 counts checks in one
/// thread only. If a thread throws an exception, the exception is rethrown here.
template <class Work>
void in_threads(int size, Work const& work) {
  switchboard board(size);
  std::vector<std::exception_ptr> wrong(static_cast<std::size_t>(size));
  std::vector<std::thread> all;
  for (int r = 0; r < size; ++r)
    all.emplace_back([&, r] {
      one_of_threads me{board, r};
      try {
        work(me);
      } catch (...) {
        wrong[static_cast<std::size_t>(r)] = std::current_exception();
      }
    });
  for (auto& one : all) one.join();
  for (auto const& what : wrong)
    if (what) std::rethrow_exception(what);
}

}  // namespace triad::test
