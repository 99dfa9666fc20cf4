// Checks grid::load and grid::store against their definition, in memory that begins and ends at unreadable pages.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "pack.hpp"
#include "pack_blocks.hpp"
#include "pack_io.hpp"

// `bytes` of memory that start after, or end before, an unreadable page.
class guarded {
public:
    explicit guarded(std::size_t bytes) : page_(std::size_t(sysconf(_SC_PAGESIZE))) {
        inner_ = (bytes + page_ - 1) / page_ * page_;
        base_ = static_cast<char*>(mmap(nullptr, inner_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        if (base_ == MAP_FAILED || mprotect(base_ + page_, inner_, PROT_READ | PROT_WRITE) != 0) std::abort();
    }
    ~guarded() { munmap(base_, inner_ + 2 * page_); }
    guarded(const guarded&) = delete;
    guarded& operator=(const guarded&) = delete;
    char* first() { return base_ + page_; }
    char* last(std::size_t bytes) { return base_ + page_ + inner_ - bytes; }

private:
    std::size_t page_, inner_;
    char* base_;
};

int failures = 0;

void expect(bool good, const char* what, int K, int n, long stride, int scalar) {
    if (good || ++failures > 20) return;
    std::printf("%s<%d> of %d bytes: n %d, stride %ld\n", what, K, scalar, n, stride);
}

// Where entry k of sample l is, and which entry is at a place; in gaps, k or l is beyond the last one.
long index_of(long stride, long l, long k) {
    return grid::is_batch_last(stride) ? k * (stride - GRID_BATCH_LAST) + l : l * stride + k;
}
struct entry {
    int l, k;
};
entry entry_at(long stride, std::size_t i) {
    const long row = grid::is_batch_last(stride) ? stride - GRID_BATCH_LAST : stride;
    const int a = int(i / row), b = int(i % row);
    return grid::is_batch_last(stride) ? entry{b, a} : entry{a, b};
}

template <int K, class T>
void check_load(const T* base, long stride, int n) {
    std::vector<grid::pack<T>> packs(K + 1, gm::broadcast<grid::pack<T>>(T(-7)));
    grid::load<K>(packs.data(), base, stride, n);
    bool good = true;
    for (int l = 0; l < grid::lanes<T>; ++l) {
        for (int k = 0; k < K; ++k) good &= packs[k][l] == (base ? base[index_of(stride, l < n ? l : n - 1, k)] : T(0));
        good &= packs[K][l] == T(-7);
    }
    expect(good, "load", K, n, stride, sizeof(T));
}

template <int K, class T>
void check_store(T* base, long stride, int n, std::size_t size, bool streaming) {
    std::vector<grid::pack<T>> packs(K);
    for (int k = 0; k < K; ++k)
        for (int l = 0; l < grid::lanes<T>; ++l) packs[k][l] = T(1 + k * grid::lanes<T> + l);
    for (std::size_t i = 0; i < size; ++i) base[i] = T(-7);
    grid::store<K>(base, stride, n, packs.data(), streaming);
    grid::settle();
    bool good = true;
    for (std::size_t i = 0; i < size; ++i) {
        const auto [l, k] = entry_at(stride, i);
        good &= base[i] == (k < K && l < n ? T(1 + k * grid::lanes<T> + l) : T(-7));
    }
    expect(good, streaming ? "streaming store" : "store", K, n, stride, sizeof(T));
}

// Blocks of 8 columns of which so many in three may be other than zero. Places go backwards and serve two columns each.
template <int K, int InThree, class T>
void check_places(T* base, long stride, int n, std::size_t size, bool streaming) {
    constexpr int count = (K + 7) / 8;
    constexpr int kept = count / 3 * InThree + (count % 3 < InThree ? count % 3 : InThree);
    short blocks[count];
    unsigned short lists[8 * (kept ? kept : 1)] = {};
    std::vector<grid::pack<T>> packs(K / 2 + 2);
    const auto place = [](int k) { return K / 2 - k / 2; };
    for (int b = 0, k = 0; b < count; ++b) {
        blocks[b] = b % 3 < InThree ? short(k / 8) : -1;
        for (int column = 8 * b; blocks[b] >= 0 && column < 8 * b + 8; ++column)
            lists[k++] = column < K && column % 5 != 2 ? place(column) : K / 2 + 1;
    }
    for (int p = 0; p <= K / 2; ++p)
        for (int l = 0; l < grid::lanes<T>; ++l) packs[p][l] = T(1 + p * grid::lanes<T> + l);
    for (std::size_t i = 0; i < size; ++i) base[i] = T(-7);
    grid::store_places<K>(base, stride, n, packs.data(), blocks, lists, streaming);
    grid::settle();
    bool good = true;
    for (std::size_t i = 0; i < size; ++i) {
        const auto [l, k] = entry_at(stride, i);
        const bool set = k < K && blocks[k / 8] >= 0 && k % 5 != 2;
        good &= base[i] == (k >= K || l >= n ? T(-7) : set ? packs[place(k)][l] : T(0));
    }
    expect(good, streaming ? "streaming places" : "places", K, n, stride, sizeof(T));
}

template <int K, class T>
void check() {
    for (int n = 1; n <= grid::lanes<T>; ++n) {
        check_load<K, T>(nullptr, K, n);
        const long last = GRID_BATCH_LAST + n;
        for (long stride : {0L, long(K), K + 1L, 2L * K + 3, last, last + 5, last + 64 - n}) {
            const std::size_t size = std::size_t(index_of(stride, n - 1, K - 1)) + 1;
            guarded memory(size * sizeof(T));
            for (char* place : {memory.first(), memory.last(size * sizeof(T))}) {
                T* base = reinterpret_cast<T*>(place);
                for (std::size_t i = 0; i < size; ++i) base[i] = T(i + 1);
                check_load<K, T>(base, stride, n);
                if (stride == 0) continue;
                for (bool streaming : {false, true}) {
                    check_store<K, T>(base, stride, n, size, streaming);
                    check_places<K, 0, T>(base, stride, n, size, streaming);
                    check_places<K, 1, T>(base, stride, n, size, streaming);
                    check_places<K, 2, T>(base, stride, n, size, streaming);
                }
            }
        }
    }
}

template <class T, int... K>
void check_all() {
    (check<K, T>(), ...);
}

// Large outputs of long rows are streamed, whoever evaluates which part of them.
static_assert(grid::outgrows_caches<double, 2450>(1024) && !grid::outgrows_caches<float, 2450>(1024));
static_assert(grid::outgrows_caches<double, 300, 2450>(1024));
static_assert(!grid::outgrows_caches<double, 7>(1 << 30) && !grid::outgrows_caches<double, 2450>(0));

int main() {
    check_all<double, 1, 2, 3, 4, 5, 6, 7, 8, 9, 14, 18, 19, 35, 49, 490, 600>();
    check_all<float, 1, 2, 3, 4, 5, 6, 7, 8, 9, 14, 16, 18, 19, 35, 49, 490, 600>();
    return failures ? 1 : 0;
}
