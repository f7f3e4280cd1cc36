// Reads and writes parameters in the safetensors files of other programs, such as PyTorch.  A parameter is found by the
// name of its tensor in the file.
// SPDX-License-Identifier: Apache-2.0
//
//   renames const names{{"emb.weight", "embedding.table"}, {"layers.*.q", "layers.*.attention.query"}};
//   load_weights(safetensors("theirs.safetensors"), learner.parameters(), names);
//   save_weights("ours.safetensors", learner.parameters(), names);
//
// Loading is strict.  If the file lacks a parameter, or has a tensor that no parameter uses, loading throws data_error.
// So a model that repeats a single layer cannot silently load the first layer of a file with three layers.  A tensor
// with several names is stored once.  The metadata map its other names to the stored name: {"layers.1.w":
// "layers.0.w"}.
#pragma once

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "triad/core/sizes.hpp"
#include "triad/io/checkpoint.hpp"

namespace triad {

/// The place of a parameter in a file.  The parameter is a whole tensor, or one of `parts` equal blocks of the rows of
/// a tensor.  `part` is the number of the block, from 0.
struct weight_name {
  std::string name;
  index_t part = 0, parts = 1;
};

/// Rules that map names in a file to names of this library, and back.  `*` stands for one name between dots.  The first
/// `*` of one side corresponds to the first `*` of the other side, and so on.  A rule fits a path that begins with its
/// pattern.  The rest of the path is the same on both sides.  The first rule that fits is used.  If no rule fits, the
/// path is not changed.
class renames {
 public:
  struct rule {
    std::string theirs, ours;
    index_t part = 0, parts = 1;  // only this block of the rows of `theirs`
  };
  /// Throws contract_violation if the two sides of a rule have different numbers of stars, or if `part` is not below
  /// `parts`.
  renames(std::initializer_list<rule> rules) : renames(std::vector<rule>(rules)) {}
  explicit renames(std::vector<rule> rules) : rules_(std::move(rules)) {
    for (auto const& r : rules_) {
      auto const stars = [](std::string const& name) { return std::count(name.begin(), name.end(), '*'); };
      TRIAD_EXPECTS(stars(r.theirs) == stars(r.ours),
                    "renames: " + r.theirs + " has " + std::to_string(stars(r.theirs)) + " stars and " + r.ours +
                        " has " + std::to_string(stars(r.ours)) + ", expected as many on both sides");
      TRIAD_EXPECTS(r.part >= 0 && r.part < r.parts, "renames: part " + std::to_string(r.part) + " of " + r.theirs +
                                                         ", expected 0 to " + std::to_string(r.parts - 1));
    }
  }

  weight_name operator()(std::string const& path) const {
    for (auto const& r : rules_) {
      std::vector<std::string_view> stars;
      auto const rest = match(r.ours, path, stars);
      if (rest == std::string_view::npos) continue;
      std::string name;
      std::size_t star = 0;
      for (char const c : r.theirs) name += c == '*' ? std::string(stars[star++]) : std::string(1, c);
      return {name + path.substr(rest), r.part, r.parts};
    }
    return {path};
  }

 private:
  /// Matches the beginning of a path with a pattern.  Returns the index in the path after the match, or npos if the
  /// pattern does not fit.  Appends the names that the stars match.
  static std::size_t match(std::string_view pattern, std::string_view path, std::vector<std::string_view>& stars) {
    std::size_t at = 0;
    for (char const c : pattern) {
      if (c == '*') {
        auto const end = std::min(path.find('.', at), path.size());
        if (end == at) return std::string_view::npos;
        stars.push_back(path.substr(at, end - at));
        at = end;
      } else if (at >= path.size() || path[at++] != c) {
        return std::string_view::npos;
      }
    }
    return at == path.size() || path[at] == '.' ? at : std::string_view::npos;
  }

  std::vector<rule> rules_;
};

namespace detail {
/// Returns the rules for layers with the names `theirs` and `ours`, which both contain a `*` and end with a dot.  In
/// the file, norms and the feed-forward block must have the names that PyTorch's layers use, as in many programs.  The
/// rules `more` come after these rules.
inline renames torch_layers(std::string const& theirs, std::string const& ours,
                            std::initializer_list<renames::rule> more) {
  std::vector<renames::rule> rules{
      {theirs + "linear1", ours + "feed_forward.inner"}, {theirs + "linear2", ours + "feed_forward.outer"},
      {theirs + "norm1.weight", ours + "norm1.gain"},    {theirs + "norm1.bias", ours + "norm1.bias"},
      {theirs + "norm2.weight", ours + "norm2.gain"},    {theirs + "norm2.bias", ours + "norm2.bias"}};
  rules.insert(rules.end(), more);
  return renames(std::move(rules));
}
}  // namespace detail

/// Returns the rules that map the layers of PyTorch's nn.TransformerEncoder to the Transformer layers of this library.
/// The layers are called `theirs`0, `theirs`1 ... in the file, and `ours`0, `ours`1 ... in this library.  In the file,
/// the query, key and value maps are three blocks of one tensor.
inline renames torch_encoder(std::string const& theirs = "layers.", std::string const& ours = "layers.") {
  auto const from = theirs + "*.", to = ours + "*.";
  auto const third = [&](char const* kind, char const* map, index_t part) {
    return renames::rule{from + "self_attn.in_proj_" + kind, to + "attention." + map + "." + kind, part, 3};
  };
  return detail::torch_layers(from, to,
                              {third("weight", "query", 0),
                               third("weight", "key", 1),
                               third("weight", "value", 2),
                               third("bias", "query", 0),
                               third("bias", "key", 1),
                               third("bias", "value", 2),
                               {from + "self_attn.out_proj", to + "attention.output"}});
}

/// Returns the rules for reading the Edge Transformer that the paper's authors released for CLUTRR into an
/// edge_transformer.  `theirs` is the prefix of the names in the file.  In these files, the tensor `linears.4` of each
/// attention is unused, so `leave_out` must name these tensors.
inline renames released_edge_transformer(std::string const& theirs = "") {
  auto const from = theirs + "encoder.layers.*.", attention = from + "edge_attention.linears.";
  std::string const to = "layers.*.";
  return detail::torch_layers(from, to,
                              {{theirs + "encoder.embedding.weight", "embedding.table"},
                               {attention + "0", to + "attention.query"},
                               {attention + "1", to + "attention.key"},
                               {attention + "2", to + "attention.left_value"},
                               {attention + "3", to + "attention.right_value"},
                               {attention + "5", to + "attention.output"},
                               {theirs + "decoder2vocab.0", "readout.inner"},
                               {theirs + "decoder2vocab.3", "readout.outer"}});
}

struct load_weights_options {
  bool convert = false;                     // whether F64 is rounded to F32; F32, F16 and BF16 are always converted
  std::vector<std::string> leave_out = {};  // names in the file to ignore; a final `*` matches any ending
  bool zero_biases = false;                 // a missing bias becomes zero, as in PyTorch's layers with bias=False
};

namespace detail {
inline bool left_out(std::string const& name, std::vector<std::string> const& rules) {
  for (auto const& rule : rules) {
    bool const open = rule.ends_with('*');
    if (open ? name.starts_with(std::string_view(rule).substr(0, rule.size() - 1)) : name == rule) return true;
  }
  return false;
}

/// Converts the result of name_of to a weight_name.  The result is a name or a weight_name.
inline weight_name named(weight_name name) { return name; }
inline weight_name named(std::string name) { return {std::move(name)}; }

inline bool is_bias(std::string_view path) { return path == "bias" || path.ends_with(".bias"); }

/// Returns the shape that the tensor in the file must have if the parameter has this shape.
inline std::vector<index_t> whole_shape(std::vector<index_t> shape, weight_name const& theirs) {
  TRIAD_EXPECTS(
      theirs.part >= 0 && theirs.part < theirs.parts,
      theirs.name + ": part " + std::to_string(theirs.part) + ", expected 0 to " + std::to_string(theirs.parts - 1));
  TRIAD_EXPECTS(theirs.parts == 1 || !shape.empty(),
                theirs.name + ": a single number in " + std::to_string(theirs.parts) + " parts, expected one part");
  if (!shape.empty()) shape[0] = checked_product(theirs.name.c_str(), "rows and parts", shape[0], theirs.parts);
  return shape;
}
}  // namespace detail

/// Overwrites every parameter in `values`.  `values` are fields, and `where` is their memory.  name_of(path) returns
/// the name of the parameter's tensor in the file, or a weight_name.  Shapes are (out, in), as in PyTorch.  Throws
/// data_error, and changes nothing, if the file lacks a tensor, or if the shape or type of a tensor differs.  Also
/// throws data_error if the file has a tensor, or a block of a tensor, that no parameter uses.  Two parameters may use
/// the same tensor. If the metadata say that a tensor is an alias, the stored tensor is used.
template <class Memory = host_memory, class Fields, class NameOf>
  requires(!holds_parameters<Fields>)
void load_weights(safetensors const& file, Fields values, NameOf name_of, load_weights_options const& options = {},
                  Memory const& where = {}) {
  struct taken_parts {
    index_t of;
    std::set<index_t> numbers;
  };
  std::map<std::string, taken_parts> taken;
  walk(values, [&](std::string const& path, auto view) {
    using T = element_t<decltype(view)>;
    auto const theirs = detail::named(name_of(path));
    auto const ours = detail::shape_of(view);
    auto const shape = detail::whole_shape(ours, theirs);
    auto const of = " for " + (theirs.parts == 1 ? std::string() : "a part of it, ") + "the parameter " + path + " " +
                    shape_text(ours);
    auto const* const stored = file.stored_name(theirs.name);
    if (!stored && options.zero_biases && detail::is_bias(path)) return;
    if (!stored)
      throw data_error(file.file() + ": expected a tensor " + detail::printable(theirs.name) + of +
                       ", found none; name_of(path) says what it is called there" +
                       (detail::is_bias(path) ? ", or {.zero_biases = true} that there is none" : ""));
    auto const& record = file.record(*stored);
    if (record.shape != shape)
      throw data_error(file.file() + ": tensor " + detail::printable(*stored) + " is " + shape_text(record.shape) +
                       ", expected " + shape_text(shape) + of + "; build the model with the file's sizes");
    bool const as_it_is = record.type == element_type_name<T>() || (record.type == "F32" && sizeof(T) == 8);
    bool const shorter = record.type == "F16" || record.type == "BF16";
    bool const longer = record.type == "F64" && sizeof(T) == 4;
    if (!as_it_is && !shorter && !(longer && options.convert))
      throw data_error(file.file() + ": tensor " + detail::printable(*stored) + " is " +
                       detail::type_text(record.type) + ", expected " + std::string(element_type_name<T>()) + of +
                       "; " + (longer ? "say {.convert = true} to round it" : "write the file in F32"));
    auto& parts = taken.try_emplace(*stored, taken_parts{theirs.parts, {}}).first->second;
    TRIAD_EXPECTS(parts.of == theirs.parts, "load_weights: " + theirs.name + " is cut into " +
                                                std::to_string(theirs.parts) + " parts, expected " +
                                                std::to_string(parts.of) + ", as by an earlier parameter");
    parts.numbers.insert(theirs.part);
  });
  std::string unused;
  std::size_t count = 0;
  for (auto const& [name, record] : file.tensors()) {
    auto const found = taken.find(name);
    bool const whole = found != taken.end() && static_cast<index_t>(found->second.numbers.size()) == found->second.of;
    if (!whole && !detail::left_out(name, options.leave_out) && ++count <= 4)
      unused += (unused.empty() ? "" : ", ") + detail::printable(name) + " " + shape_text(record.shape) +
                (found == taken.end() ? "" : " in all its parts");
  }
  if (count > 0)
    throw data_error(
        file.file() + ": no parameter takes " + std::to_string(count) + " of its tensors: " + unused +
        (count > 4 ? ", ..." : "") +
        "; a model of tied layers has layers.0 alone (say tied = false), and tensors without a use go into "
        "leave_out");
  walk(values, [&](std::string const& path, auto view) {
    using T = typename decltype(view)::element_type;
    auto const theirs = detail::named(name_of(path));
    auto const size = static_cast<std::size_t>(view.size());
    auto const* const stored = file.stored_name(theirs.name);
    if (!stored) {
      std::vector<T> const zeros(size);
      where.from_host(view.data_handle(), zeros.data(), size * sizeof(T));
      return;
    }
    auto const host = file.read_as<T>(*stored);
    where.from_host(view.data_handle(), host.data() + static_cast<std::size_t>(theirs.part) * size, size * sizeof(T));
  });
}

/// Like load_weights() above, but for a set of parameters.  Does not change moments.
template <holds_parameters Set, class NameOf>
void load_weights(safetensors const& file, Set& set, NameOf name_of, load_weights_options const& options = {}) {
  load_weights(file, set.mutable_values(), name_of, options, set.where());
}

/// Writes only parameters, atomically, to a file that load_weights() can read with the same name_of.  name_of(path)
/// returns the name of the tensor for a parameter.  Parameters that are blocks of one tensor are joined.  Throws
/// contract_violation if two parameters would be the same tensor, or if a block is missing.
template <class Memory = host_memory, class Fields, class NameOf>
  requires(!holds_parameters<Fields>)
void save_weights(std::string const& path, Fields values, NameOf name_of, Memory const& where = {}) {
  struct tensor_parts {
    std::string_view type;
    std::vector<index_t> shape;
    index_t parts;
    std::map<index_t, std::vector<std::byte>> bytes;
  };
  std::map<std::string, tensor_parts> tensors;
  walk(values, [&](std::string const& ours, auto view) {
    using T = element_t<decltype(view)>;
    auto const theirs = detail::named(name_of(ours));
    auto const shape = detail::whole_shape(detail::shape_of(view), theirs);
    std::vector<std::byte> bytes(static_cast<std::size_t>(view.size()) * sizeof(T));
    where.to_host(bytes.data(), view.data_handle(), bytes.size());
    auto const [at, fresh] =
        tensors.try_emplace(theirs.name, tensor_parts{element_type_name<T>(), shape, theirs.parts, {}});
    TRIAD_EXPECTS((fresh || (at->second.shape == shape && at->second.parts == theirs.parts)) &&
                      at->second.bytes.emplace(theirs.part, std::move(bytes)).second,
                  "save_weights: " + ours + " becomes " + theirs.name +
                      ", which another parameter has become, expected a name for each");
  });
  safetensors_writer file;
  for (auto const& [name, tensor] : tensors) {
    TRIAD_EXPECTS(static_cast<index_t>(tensor.bytes.size()) == tensor.parts,
                  "save_weights: " + std::to_string(tensor.bytes.size()) + " parts of " + name +
                      " are parameters, expected all " + std::to_string(tensor.parts));
    std::vector<std::byte> all;
    for (auto const& [part, bytes] : tensor.bytes) all.insert(all.end(), bytes.begin(), bytes.end());
    file.add_bytes(name, tensor.type, tensor.shape, all);
  }
  file.write(path);
}
template <holds_parameters Set, class NameOf>
void save_weights(std::string const& path, Set const& set, NameOf name_of) {
  save_weights(path, set.values(), name_of, set.where());
}

}  // namespace triad
