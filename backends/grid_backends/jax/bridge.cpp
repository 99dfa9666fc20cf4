// The call from XLA: hands the buffers of a custom call to the runner, which knows the function by its key.
// Compiled once per version of jaxlib, whose headers it includes.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "grid_bridge.h"
#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

namespace {

const grid_bridge* bridge = nullptr;

grid_buffer view(const ffi::AnyBuffer& buffer) {
    return {buffer.untyped_data(), static_cast<int64_t>(buffer.element_count())};
}

ffi::Error call(ffi::RemainingArgs arguments, ffi::RemainingRets results, std::string_view key,
                const grid_place& place) {
    std::vector<grid_buffer> in, out;
    in.reserve(arguments.size());
    out.reserve(results.size());
    for (size_t i = 0; i < arguments.size(); ++i) in.push_back(view(*arguments.get<ffi::AnyBuffer>(i)));
    for (size_t i = 0; i < results.size(); ++i) out.push_back(view(**results.get<ffi::AnyBuffer>(i)));
    const char* const said =
        bridge->call(key.data(), static_cast<int64_t>(key.size()), in.data(), static_cast<int32_t>(in.size()),
                     out.data(), static_cast<int32_t>(out.size()), &place);
    return said == nullptr ? ffi::Error::Success() : ffi::Error(ffi::ErrorCode::kFailedPrecondition, said);
}

ffi::Error call_on_cpu(ffi::RemainingArgs arguments, ffi::RemainingRets results, std::string_view key,
                       int64_t threads) {
    return call(arguments, results, key, {0, static_cast<int32_t>(threads), nullptr});
}

ffi::Error call_on_cuda(void* stream, ffi::RemainingArgs arguments, ffi::RemainingRets results, std::string_view key,
                        int64_t threads) {
    return call(arguments, results, key, {1, static_cast<int32_t>(threads), stream});
}

}  // namespace

#pragma GCC visibility push(default)

extern "C" void grid_connect(const grid_bridge* table) { bridge = table; }

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    grid_call_on_cpu, call_on_cpu,
    ffi::Ffi::Bind().RemainingArgs().RemainingRets().Attr<std::string_view>("key").Attr<int64_t>("threads"));

// XLA could record the call into CUDA graphs of its own; it would record anew at each run, as arrays move, which takes longer.
XLA_FFI_DEFINE_HANDLER_SYMBOL(grid_call_on_cuda, call_on_cuda,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::PlatformStream<void*>>()
                                  .RemainingArgs()
                                  .RemainingRets()
                                  .Attr<std::string_view>("key")
                                  .Attr<int64_t>("threads"));

#pragma GCC visibility pop
