// Applies one function of gm to the scalars of standard input, a pack at a time: math_driver FUNCTION double|float
// [scalar]. Functions of two arguments pair each pack with the next one. The number of scalars is a multiple of all
// pack sizes.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "pack.hpp"

template <class V>
V apply(const std::string& name, V x, V y) {
    V sine, cosine;
    gm::sincos(x, sine, cosine);
    if (name == "sincos.sin") return sine;
    if (name == "sincos.cos") return cosine;
    if (name == "sin") return gm::sin(x);
    if (name == "cos") return gm::cos(x);
    if (name == "sqrt") return gm::sqrt(x);
    if (name == "abs") return gm::abs(x);
    if (name == "exp") return gm::exp(x);
    if (name == "log") return gm::log(x);
    if (name == "tanh") return gm::tanh(x);
    if (name == "atan2") return gm::atan2(x, y);
    if (name == "min") return gm::min(x, y);
    if (name == "max") return gm::max(x, y);
    return gm::select(x <= y, x * 2, gm::broadcast<V>(0));
}

template <class T, class V>
int run(const std::string& name) {
    std::vector<T> data(1 << 20);
    data.resize(std::fread(data.data(), sizeof(T), data.size(), stdin));
    const std::size_t lanes = sizeof(V) / sizeof(T), packs = data.size() / lanes;
    std::vector<T> result(data.size());
    for (std::size_t i = 0; i < packs; ++i) {
        V x, y;
        std::memcpy(&x, &data[i * lanes], sizeof(V));
        std::memcpy(&y, &data[(i + 1) % packs * lanes], sizeof(V));
        const V value = apply<V>(name, x, y);
        std::memcpy(&result[i * lanes], &value, sizeof(V));
    }
    return std::fwrite(result.data(), sizeof(T), result.size(), stdout) == result.size() ? 0 : 1;
}

int main(int count, char** arguments) {
    if (count < 3) return 2;
    const bool is_double = !std::strcmp(arguments[2], "double");
    if (count > 3) return is_double ? run<double, double>(arguments[1]) : run<float, float>(arguments[1]);
    if (!std::strcmp(arguments[1], "lanes"))
        return std::printf("%d", is_double ? grid::lanes<double> : grid::lanes<float>) > 0 ? 0 : 1;
    return is_double ? run<double, grid::pack<double>>(arguments[1]) : run<float, grid::pack<float>>(arguments[1]);
}
