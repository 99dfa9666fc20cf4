"""The core of grid-rbd: robot model, tracer, kernels, code generation, plugins, toolchains, planner and builder."""
