// Matrix products by oneDNN 2.6 to 3.x.  This header needs oneDNN, and no other header includes it.
// SPDX-License-Identifier: Apache-2.0
//
// oneDNN compiles a kernel for each shape.  A kernel is kept for the next product of its shape.  Each thread has its
// own table of kernels, so that no thread waits for another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <unordered_map>

#include "triad/cpu/kernels/processor.hpp"
#include "triad/cpu/products/engine.hpp"

// oneDNN's threads may be those of OpenMP.  These functions are then there.
extern "C" {
void omp_set_num_threads(int) __attribute__((weak));
int omp_get_max_threads(void) __attribute__((weak));
}

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace detail {

/// Lets oneDNN compute on the calling thread alone during the lifetime of the object.
class alone_in_onednn {
 public:
  alone_in_onednn() : before_(omp_get_max_threads && omp_set_num_threads ? omp_get_max_threads() : 1) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~alone_in_onednn() {
    if (before_ != 1) omp_set_num_threads(before_);
  }
  alone_in_onednn(alone_in_onednn const&) = delete;
  alone_in_onednn& operator=(alone_in_onednn const&) = delete;

 private:
  int before_;
};

/// What a kernel was compiled for: a shape, the distance between rows of what is packed, and the address of a packed
/// right factor.  oneDNN writes zeros to packed memory when a memory object gets its address.  Other threads may read
/// that memory, so each address has its own memory object.
struct kernel_key {
  product_shape shape;
  index_t leading = 0;
  void const* packed = nullptr;
  friend bool operator==(kernel_key const&, kernel_key const&) = default;
};
struct hash_of_key {
  std::size_t operator()(kernel_key const& key) const {
    std::uint64_t h = reinterpret_cast<std::uintptr_t>(key.packed);
    auto const add = [&](std::uint64_t x) { h = (h ^ x) * 0x9e3779b97f4a7c15u, h ^= h >> 29; };
    auto const& s = key.shape;
    for (index_t x : {s.m, s.n, s.k, key.leading}) add(static_cast<std::uint64_t>(x));
    add(static_cast<std::uint64_t>(s.factors) | static_cast<std::uint64_t>(s.a) << 2 |
        static_cast<std::uint64_t>(s.b) << 4 | static_cast<std::uint64_t>(s.add) << 6);
    return static_cast<std::size_t>(h);
  }
};

}  // namespace detail

/// oneDNN as an engine.
class onednn_engine final : public product_engine {
 public:
  /// Returns the engine of this process.
  static onednn_engine const& instance() {
    static onednn_engine const one;
    return one;
  }
  /// Whether oneDNN can compute on the calling thread alone.  If not, oneDNN was built for the threads of TBB, of SYCL
  /// or of the caller, and must not be used.
  static bool computes_alone() {
    auto const runtime = dnnl_version()->cpu_runtime;
    return runtime == DNNL_RUNTIME_SEQ ||
           (runtime == DNNL_RUNTIME_OMP && omp_set_num_threads != nullptr && omp_get_max_threads != nullptr);
  }

  std::string name() const override {
    auto const* const v = dnnl_version();
    return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
  }
  std::string kernels() const override {
    if (has(dnnl::cpu_isa::avx512_core_amx)) return "AVX-512 and AMX";
    if (has(dnnl::cpu_isa::avx512_core_bf16)) return "AVX-512 BF16";
    if (has(dnnl::cpu_isa::avx512_core)) return "AVX-512";
    return has(dnnl::cpu_isa::avx2) ? "AVX2" : "SSE4.1";
  }
  bool computes(arithmetic factors) const override {
    if (factors == arithmetic::float32) return true;
    auto const fast = processor_bf16();
    return fast != bf16_set::none &&
           has(fast == bf16_set::tiles ? dnnl::cpu_isa::avx512_core_amx : dnnl::cpu_isa::avx512_core_bf16);
  }
  /// oneDNN's kernels for AVX2 sum in an order that depends on the number of rows.
  bool rows_are_independent() const override { return has(dnnl::cpu_isa::avx512_core); }
  /// A tile of AMX has 16 rows.  For products of at most 256 elements, oneDNN takes kernels without AMX, which sum in
  /// another order.  With AMX, oneDNN cuts a sum of 800 or more terms in a way that depends on the number of rows.  A
  /// tile has 32 columns of bf16.  oneDNN 2.6 computes the rest of a sum of another length in a second pass: sums of
  /// 200 terms take up to 1.5 times as long as sums of 224 (m = 384, n = 800, one core with AMX).
  product_limits limits(arithmetic factors) const override {
    if (factors == arithmetic::float32) return {1, 0x7fffffff};
    return {16, 768, processor_bf16() == bf16_set::tiles ? 32 : 1};
  }

  std::size_t packed_bytes(arithmetic factors, index_t k, index_t n) const override {
    detail::alone_in_onednn const alone;
    return packing_of(factors, k, n, factor_form::rows, n).to.get_desc().get_size();
  }
  void pack(arithmetic factors, index_t k, index_t n, float const* b, factor_form form, index_t leading,
            void* packed) const override {
    detail::alone_in_onednn const alone;
    auto& kept = packing_of(factors, k, n, form, leading);
    kept.from.set_data_handle(const_cast<float*>(b));
    kept.to.set_data_handle(packed);
    run(kept.reorder, {{DNNL_ARG_FROM, kept.from.get()}, {DNNL_ARG_TO, kept.to.get()}});
  }
  void multiply(product_shape const& shape, void const* a, void const* b, float* c) const override {
    detail::alone_in_onednn const alone;
    auto& kept = product_of(shape, b);
    kept.a.set_data_handle(const_cast<void*>(a));
    if (shape.b != factor_form::packed) kept.b.set_data_handle(const_cast<void*>(b));
    kept.c.set_data_handle(c);
    run(kept.matmul, {{DNNL_ARG_SRC, kept.a.get()}, {DNNL_ARG_WEIGHTS, kept.b.get()}, {DNNL_ARG_DST, kept.c.get()}});
  }

 private:
  using type = dnnl::memory::data_type;
  struct packing {
    dnnl::reorder reorder;
    dnnl::memory from, to;
  };
  struct product {
    dnnl::matmul matmul;
    dnnl::memory a, b, c;
  };
  template <class Value>
  using table = std::unordered_map<detail::kernel_key, Value, detail::hash_of_key>;
  static constexpr std::size_t most_kernels = 4096;  // of a thread; a kernel takes about 100 KiB

  onednn_engine() : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}

  static bool has(dnnl::cpu_isa isa) {
    auto const wanted = static_cast<unsigned>(isa), present = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
    return (present & wanted) == wanted;
  }
  static type type_of(arithmetic factors) { return factors == arithmetic::bf16 ? type::bf16 : type::f32; }
  static dnnl::memory::desc layout(index_t rows, index_t columns, factor_form form, index_t leading, type of) {
    return {{rows, columns},
            of,
            form == factor_form::columns ? dnnl::memory::dims{1, leading} : dnnl::memory::dims{leading, 1}};
  }
  static dnnl::memory::desc contiguous(index_t rows, index_t columns, factor_form form, type of) {
    return layout(rows, columns, form, form == factor_form::columns ? rows : columns, of);
  }
  dnnl::matmul::primitive_desc described(dnnl::memory::desc const& a, dnnl::memory::desc const& b,
                                         dnnl::memory::desc const& c, bool add) const {
    dnnl::primitive_attr attributes;
    if (add) {
      dnnl::post_ops sum;
      sum.append_sum(1);
      attributes.set_post_ops(sum);
    }
#if DNNL_VERSION_MAJOR >= 3
    return {engine_, a, b, c, attributes};
#else
    return {dnnl::matmul::desc(a, b, c), attributes, engine_};
#endif
  }
  /// Returns the layout of a packed right factor.  It is the same for any number of rows of the left factor.
  dnnl::memory::desc packed_layout(arithmetic factors, index_t k, index_t n) const {
    index_t const rows = 384;
    return described(contiguous(rows, k, factor_form::rows, type_of(factors)),
                     {{k, n}, type_of(factors), dnnl::memory::format_tag::any},
                     contiguous(rows, n, factor_form::rows, type::f32), false)
        .weights_desc();
  }

  packing& packing_of(arithmetic factors, index_t k, index_t n, factor_form form, index_t leading) const {
    thread_local table<packing> made;
    if (made.size() >= most_kernels) made.clear();
    auto& kept = made[{{0, n, k, factors, form, form, false}, leading}];
    if (!kept.reorder) {
      kept.from = dnnl::memory(layout(k, n, form, leading, type::f32), engine_, nullptr);
      kept.to = dnnl::memory(packed_layout(factors, k, n), engine_, nullptr);
      kept.reorder = dnnl::reorder(kept.from, kept.to);
    }
    return kept;
  }
  product& product_of(product_shape const& s, void const* b) const {
    thread_local table<product> made;
    if (made.size() >= most_kernels) made.clear();
    bool const packed = s.b == factor_form::packed;
    auto& kept = made[{s, 0, packed ? b : nullptr}];
    if (!kept.matmul) {
      auto const of = type_of(s.factors);
      auto const left = contiguous(s.m, s.k, s.a, of),
                 right = packed ? packed_layout(s.factors, s.k, s.n) : contiguous(s.k, s.n, s.b, of),
                 result = contiguous(s.m, s.n, factor_form::rows, type::f32);
      kept.a = dnnl::memory(left, engine_, nullptr);
      kept.b = dnnl::memory(right, engine_, packed ? const_cast<void*>(b) : nullptr);
      kept.c = dnnl::memory(result, engine_, nullptr);
      kept.matmul = dnnl::matmul(described(left, right, result, s.add));
    }
    return kept;
  }
  /// Runs a primitive.  Throws dnnl::error, as the constructors of oneDNN's classes do.
  template <std::size_t N>
  void run(dnnl::primitive const& what, dnnl_exec_arg_t const (&with)[N]) const {
    dnnl::error::wrap_c_api(dnnl_primitive_execute(what.get(), stream_.get(), static_cast<int>(N), with),
                            "triad: oneDNN could not compute a product");
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
};

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
