// Writes rows of which whole blocks of 16 columns are zero: those are not in memory, and become zeros on the way out.
#ifndef GRID_PACK_BLOCKS_HPP
#define GRID_PACK_BLOCKS_HPP

#include "pack_io.hpp"

namespace grid {
namespace detail {

constexpr int block_columns = 16;

// Width columns of every row, from packs or, without them, zeros.
template <int Width, class T, class Rows>
GRID_INLINE void store_or_clear(Rows rows, const pack<T>* src, int column) {
    constexpr int L = lanes<T>;
    if (src == nullptr) {
        for (int l = 0; l < rows.count; ++l) std::memset(rows[l] + column, 0, Width * sizeof(T));
        return;
    }
    for (int k = 0; k + L <= Width; k += L) store_block<L, T>(rows, src + k, column + k);
    if constexpr (Width % L != 0) store_block<Width % L, T>(rows, src + Width - Width % L, column + Width - Width % L);
}

// K columns of every row, with the places of their blocks among those that begin at `src`.
template <int K, class T, class Rows>
GRID_INLINE void store_places(Rows rows, const pack<T>* src, const int* places) {
    constexpr int whole = K / block_columns, rest = K % block_columns;
    const auto block = [=](int b) { return places[b] < 0 ? nullptr : src + block_columns * places[b]; };
    for (int b = 0; b < whole; ++b) store_or_clear<block_columns, T>(rows, block(b), block_columns * b);
    if constexpr (rest != 0) store_or_clear<rest, T>(rows, block(whole), block_columns * whole);
}

// As stream_columns, from blocks.
template <int Width, class T>
GRID_INLINE void stream_places(T* base, std::int64_t stride, int n, const pack<T>* src, const int* places) {
    constexpr int apart = Width + lanes<T>;
    alignas(sizeof(pack<T>)) T tile[lanes<T> * apart];
    store_places<Width, T>(adjacent_rows<T, apart>{tile}, src, places);
    for (int l = 0; l < n; ++l) stream_run(base + l * stride, tile + l * apart, Width);
}

}  // namespace detail

// base[l * stride + 16 * b + k] = src[16 * places[b] + k] lane l, or zero where places[b] is negative, for K columns and
// the 1 <= n <= L rows l < n. The last block has what is left of the row. Streaming is as for store().
template <int K, class T>
__attribute__((noinline)) void store_blocks(T* base, std::int64_t stride, int n, const pack<T>* src, const int* places,
                                            bool streaming = false) {
    constexpr int tile = 256, rest = K % tile;
    if (!streaming) {
        detail::separate_rows<T> rows;
        rows.count = n;
        for (int l = 0; l < lanes<T>; ++l) rows.row[l] = base + (l < n ? l : n - 1) * stride;
        detail::store_places<K, T>(rows, src, places);
        return;
    }
    for (int column = 0; column + tile <= K; column += tile)
        detail::stream_places<tile, T>(base + column, stride, n, src, places + column / detail::block_columns);
    if constexpr (rest != 0)
        detail::stream_places<rest, T>(base + K - rest, stride, n, src, places + (K - rest) / detail::block_columns);
}

}  // namespace grid
#endif
