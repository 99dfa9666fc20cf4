// Writes rows that are put together from places: most columns may be zero, and several may have one value. A row has
// blocks of 8 columns; those of zeros are not in memory, and the columns of the others say where they are.
#ifndef GRID_PACK_BLOCKS_HPP
#define GRID_PACK_BLOCKS_HPP

#include "pack_io.hpp"

namespace grid {
namespace detail {

constexpr int block_columns = 8;

// Block b is list number `blocks[b]` of 8 places, or zeros if that is negative.
template <class T, class Block, class Place>
struct columns_in_places {
    const pack<T>* src;
    const Block* blocks;
    const Place* lists;

    template <int Width>
    GRID_INLINE bool gather(pack<T>* to, int column) const {
        constexpr int L = lanes<T>, width = L < block_columns ? L : block_columns;
        bool some = false;
#pragma GCC unroll 2
        for (int first = 0; first < L; first += width) {
            const int number = first < Width ? blocks[(column + first) / block_columns] : -1;
            if (number >= 0) {
                const Place* const places = lists + block_columns * number + column % block_columns;
#pragma GCC unroll 8
                for (int k = 0; k < width; ++k) to[first + k] = src[places[k]];
                some = true;
            } else {
#pragma GCC unroll 8
                for (int k = 0; k < width; ++k) to[first + k] = pack<T>{};
            }
        }
        return some;
    }
};

template <int K, class T, class Columns>
__attribute__((noinline)) void store_rows(T* base, std::int64_t stride, int n, Columns columns) {
    separate_rows<T> rows;
    rows.count = n;
    for (int l = 0; l < lanes<T>; ++l) rows.row[l] = base + (l < n ? l : n - 1) * stride;
    store_gathered<K, T>(rows, columns);
}

// The same for rows of one pack side by side, block by block without a loop: places are known while compiling.
template <int K, class T, class Columns, int... Block>
GRID_INLINE void store_unrolled(T* base, const Columns& columns, std::integer_sequence<int, Block...>) {
    (store_gathered<(K - Block * lanes<T> < lanes<T> ? K - Block * lanes<T> : lanes<T>), T>(
         adjacent_rows<T, K>{base + Block * lanes<T>}, columns, Block * lanes<T>), ...);
}

// Scalars of a row up to which that is worth its code.
constexpr int unrolled_columns = 256;

// Whether rows of K scalars, of which so many blocks are kept, are long and mostly zeros: whole lines are faster then.
template <class T, int K, int Kept>
constexpr bool mostly_zeros = K * sizeof(T) >= 2048 && 2 * block_columns * Kept <= K;

}  // namespace detail

// base[l * stride + k] = src[lists[8 * blocks[k / 8] + k % 8]] lane l, or zero where the block is negative, for K columns
// and the 1 <= n <= L rows l < n. The last list is full, whatever is left of the row. Streaming is as for store().
template <int K, class T, class Block, class Place, int Places>
GRID_INLINE void store_places(T* base, std::int64_t stride, int n, const pack<T>* src, const Block* blocks,
                              const Place (&lists)[Places], bool streaming = false) {
    if (is_batch_last(stride)) {
        const auto at = [=](int k) {
            const int number = blocks[k / detail::block_columns];
            return number < 0 ? pack<T>{} : src[lists[detail::block_columns * number + k % detail::block_columns]];
        };
        detail::store_batch_last<K>(base, stride, n, at);
        return;
    }
    const detail::columns_in_places<T, Block, Place> columns{src, blocks, lists};
    if (streaming) return detail::stream_rows<K>(base, stride, n, columns);
    if constexpr (K <= detail::unrolled_columns)
        if (stride == K && n == lanes<T>) {
            constexpr int count = (K + lanes<T> - 1) / lanes<T>;
            return detail::store_unrolled<K>(base, columns, std::make_integer_sequence<int, count>());
        }
#if defined(__AVX512F__)
    if constexpr (detail::mostly_zeros<T, K, Places / detail::block_columns>)
        if (n == lanes<T>) return detail::store_joined<K, false>(base, stride, columns);
#endif
    detail::store_rows<K>(base, stride, n, columns);
}

}  // namespace grid
#endif
