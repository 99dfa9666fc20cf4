// Runs every function of a unit over ragged batches in buffers without a spare byte; sanitizers watch.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "grid_unit.h"

extern "C" const grid_unit* grid_unit_table(void);

namespace {

int failures = 0;

void expect(bool holds, const char* function, const char* what, int64_t n) {
    if (holds) return;
    std::printf("%s: %s (%lld samples)\n", function, what, static_cast<long long>(n));
    ++failures;
}

// `count` scalars that end where the allocation ends, aligned for T and for nothing wider.
template <class T>
struct Block {
    std::unique_ptr<T[]> memory;
    T* data;
    int64_t count;

    explicit Block(int64_t n) : memory(new T[n + 1]()), data(memory.get() + 1), count(n) {}
};

template <class T>
struct Arguments {
    std::vector<Block<T>> blocks;
    std::vector<int64_t> strides;

    Arguments(const grid_argument* declared, int32_t number, int64_t rows, int64_t padding = 0) {
        for (int32_t i = 0; i < number; ++i) {
            strides.push_back(declared[i].size + padding);
            blocks.emplace_back(rows * strides.back() - (rows > 0 ? padding : 0));
        }
    }
    void fill(uint32_t seed) {
        for (auto& block : blocks)
            for (int64_t k = 0; k < block.count; ++k) {
                seed = seed * 1664525u + 1013904223u;
                block.data[k] = T(seed >> 8) / T(1 << 23) - T(1);
            }
    }
    std::vector<const void*> inputs() const {
        std::vector<const void*> result;
        for (auto& block : blocks) result.push_back(block.data);
        return result;
    }
    std::vector<void*> outputs() {
        std::vector<void*> result;
        for (auto& block : blocks) result.push_back(block.data);
        return result;
    }
};

template <class T>
bool same_rows(const Arguments<T>& a, const Arguments<T>& b, const grid_argument* declared, int64_t first, int64_t last) {
    for (size_t i = 0; i < a.blocks.size(); ++i)
        for (int64_t row = first; row < last; ++row)
            if (std::memcmp(a.blocks[i].data + row * a.strides[i], b.blocks[i].data + row * b.strides[i],
                            sizeof(T) * declared[i].size) != 0)
                return false;
    return true;
}

template <class T>
bool untouched(const Arguments<T>& a, const grid_argument* declared, int64_t first, int64_t last) {
    for (size_t i = 0; i < a.blocks.size(); ++i)
        for (int64_t k = 0; k < a.blocks[i].count; ++k) {
            const int64_t row = k / a.strides[i];
            const bool written = row >= first && row < last && k % a.strides[i] < declared[i].size;
            if (!written && a.blocks[i].data[k] != T(0)) return false;
        }
    return true;
}

template <class T>
void run(const grid_function& f, const Arguments<T>& in, Arguments<T>& out, int64_t begin, int64_t end) {
    f.run(in.inputs().data(), in.strides.data(), out.outputs().data(), out.strides.data(), begin, end);
}

template <class T>
void check(const grid_function& f, int64_t lanes) {
    const int64_t most = 3 * lanes + 1;
    Arguments<T> all(f.inputs, f.num_inputs, most), expected(f.outputs, f.num_outputs, most);
    all.fill(1);
    run(f, all, expected, 0, most);

    for (int64_t n : {int64_t(0), int64_t(1), int64_t(2), lanes - 1, lanes, lanes + 1, 2 * lanes + 3, most}) {
        Arguments<T> in(f.inputs, f.num_inputs, n);
        for (size_t i = 0; i < in.blocks.size(); ++i)
            std::memcpy(in.blocks[i].data, all.blocks[i].data, sizeof(T) * in.blocks[i].count);
        for (int64_t padding : {0, 3}) {
            Arguments<T> out(f.outputs, f.num_outputs, n, padding);
            run(f, in, out, 0, n);
            expect(same_rows(out, expected, f.outputs, 0, n), f.name, "a row depends on the batch", n);
            expect(untouched(out, f.outputs, 0, n), f.name, "something beside the rows was written", n);
        }
        Arguments<T> roomy(f.outputs, f.num_outputs, n + lanes);  // masked stores are not instrumented
        run(f, in, roomy, 0, n);
        expect(untouched(roomy, f.outputs, 0, n), f.name, "rows behind the range were written", n);

        const int64_t first = n / 2;
        Arguments<T> late(f.outputs, f.num_outputs, n);
        run(f, in, late, first, n);
        expect(same_rows(late, expected, f.outputs, first, n), f.name, "a row depends on where the range begins", n);
        expect(untouched(late, f.outputs, first, n), f.name, "rows before the range were written", n);
    }

    Arguments<T> row(f.inputs, f.num_inputs, 1), shared(f.outputs, f.num_outputs, most);
    row.fill(2);
    const std::vector<int64_t> none(row.strides.size(), 0);
    f.run(row.inputs().data(), none.data(), shared.outputs().data(), shared.strides.data(), 0, most);
    for (int64_t k = 1; k < most; ++k)
        for (size_t i = 0; i < shared.blocks.size(); ++i)
            expect(std::memcmp(shared.blocks[i].data, shared.blocks[i].data + k * shared.strides[i],
                               sizeof(T) * shared.strides[i]) == 0,
                   f.name, "a shared row gives different results", k);

    const std::vector<const void*> absent(row.blocks.size(), nullptr);
    f.run(absent.data(), none.data(), shared.outputs().data(), shared.strides.data(), 0, most);
}

}  // namespace

int main() {
    const grid_unit* unit = grid_unit_table();
    for (int32_t i = 0; i < unit->num_functions; ++i) {
        if (unit->scalar_bytes == 4) check<float>(unit->functions[i], unit->lanes);
        else check<double>(unit->functions[i], unit->lanes);
    }
    return failures != 0;
}
