// Transposes in registers: L rows of L scalars <-> L packs, where L is the number of lanes of a pack.
#ifndef GRID_PACK_TRANSPOSE_HPP
#define GRID_PACK_TRANSPOSE_HPP

#include <utility>

#include "pack_type.hpp"

namespace grid {
namespace detail {

// Picks lanes of the 2L lanes of (x, y).
template <int... Index, class V>
GRID_INLINE V shuffle(V x, V y) {
#if defined(__clang__) || __GNUC__ >= 12
    return __builtin_shufflevector(x, y, Index...);
#else
    return __builtin_shuffle(x, y, gm::bits_of<V>{Index...});
#endif
}

// The order in which each step of the network below takes lanes; `Lane` scalars fill 16 bytes.
template <int L, int Lane>
struct order {
    // Interleaves the low (Half 0) or high (Half 1) halves of every 16 bytes of x and y.
    static constexpr int interleave(int l, int half) {
        return l / Lane * Lane + half * (Lane / 2) + l % Lane / 2 + l % 2 * L;
    }
    // The even (Half 0) or odd (Half 1) 16-byte lanes of x, then those of y.
    static constexpr int alternate(int l, int half) {
        return l < L / 2 ? (l / Lane * 2 + half) * Lane + l % Lane : alternate(l - L / 2, half) + L;
    }
};

template <class O, int Half, class V, int... l>
GRID_INLINE V interleave(V x, V y, std::integer_sequence<int, l...>) {
    return shuffle<O::interleave(l, Half)...>(x, y);
}

template <class O, int Half, class V, int... l>
GRID_INLINE V alternate(V x, V y, std::integer_sequence<int, l...>) {
    return shuffle<O::alternate(l, Half)...>(x, y);
}

// Every step is one in-lane unpack or one 16-byte-lane shuffle, the cheapest shuffles of x86. log2(L) steps a row.
template <class V>
GRID_INLINE void transpose(V* rows) {
    constexpr int L = gm::lanes_of<V>, lane = 16 / int(sizeof(gm::scalar_of<V>)), groups = L / lane;
    using O = order<L, lane>;
    constexpr std::make_integer_sequence<int, L> all{};
    V next[L];
#pragma GCC unroll 4
    for (int step = 1; step < lane; step *= 2) {
#pragma GCC unroll 16
        for (int i = 0; i < L / 2; ++i) {
            const int first = i / (lane / 2) * lane, pair = i % (lane / 2);
            const V x = rows[first + pair], y = rows[first + pair + lane / 2];
            next[first + 2 * pair] = interleave<O, 0>(x, y, all);
            next[first + 2 * pair + 1] = interleave<O, 1>(x, y, all);
        }
#pragma GCC unroll 16
        for (int i = 0; i < L; ++i) rows[i] = next[i];
    }
    if constexpr (groups > 1) {
#pragma GCC unroll 4
        for (int step = 1; step < groups; step *= 2) {
#pragma GCC unroll 16
            for (int i = 0; i < L / 2; ++i) {
                const int column = i % lane, pair = i / lane;
                const V x = rows[2 * pair * lane + column], y = rows[(2 * pair + 1) * lane + column];
                next[pair * lane + column] = alternate<O, 0>(x, y, all);
                next[(pair + groups / 2) * lane + column] = alternate<O, 1>(x, y, all);
            }
#pragma GCC unroll 16
            for (int i = 0; i < L; ++i) rows[i] = next[i];
        }
    }
}

}  // namespace detail
}  // namespace grid
#endif
