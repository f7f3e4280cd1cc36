// Many examples in batches that a model has room for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "triad/core/errors.hpp"

namespace triad::apps {

/// use(first, last) for examples that the net's batch has got by add(i): as many as it has room for, in their order.
/// refused(i): what is said of one that has no room by itself.  Throws data_error.
template <class Net, class Add, class Refused, class Use>
void in_batches(Net& net, std::size_t count, Add const& add, Refused const& refused, Use const& use) {
  for (std::size_t first = 0; first < count;) {
    net.clear();
    auto last = first;
    while (last < count && add(last)) ++last;
    if (last == first) throw data_error(refused(first));
    use(first, last);
    first = last;
  }
}

}  // namespace triad::apps
