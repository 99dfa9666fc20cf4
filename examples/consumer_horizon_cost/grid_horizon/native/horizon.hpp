// The cost of a problem over its horizon, and its gradient along the controls: forwards through the steps, then backwards with
// a costate. A value V is a scalar in a thread of a GPU, and on a CPU a pack: as many problems as a register holds.
#pragma once

#include "grid.hpp"

static_assert(GRID_HEADER_ABI_SERVES(2, 0), "made for version 2.0 of the header");
static_assert(GRID_HAS_INVERSE_DYNAMICS && GRID_PLANT_HAS_STEP && GRID_PLANT_HAS_STEP_GRADIENT && GRID_PLANT_HAS_COST_MENU,
              "name inverse_dynamics, both steps of semi-implicit Euler, and tracking_cost_menu in algorithm_list");
static_assert(grid::dims::nq == grid::dims::nv && grid::dims::nu == grid::dims::nv, "made for robots with a fixed base");

namespace horizon {

using T = GRID_SCALAR;
using namespace grid::dims;

constexpr int larger(int a, int b) { return a > b ? a : b; }

constexpr int SCRATCH =
    larger(larger(grid::inverse_dynamics_scratch(), grid_plant::plant_step_semi_implicit_euler_scratch()),
           larger(grid_plant::plant_step_gradient_semi_implicit_euler_scratch(), grid_plant::tracking_cost_menu_scratch()));
constexpr int NOTHING = larger(mx * (nl + nv), larger(mu * nu, 6 * nb));
constexpr int TASK = 1 + 3 + 3 + 3 + nx + 2 * nv + nu + 9 + GRID_PLANT_TERMS + NOTHING;

// What is wanted, the same for all problems: TASK numbers, one part behind another.
template <class V>
struct Task {
    const V *dt, *gravity, *ee_des, *W, *x_des, *Q, *R, *R_des, *eps, *zeros;

    GRID_HD explicit Task(const V* data)
        : dt(data), gravity(dt + 1), ee_des(gravity + 3), W(ee_des + 3), x_des(W + 3), Q(x_des + nx), R(Q + 2 * nv),
          R_des(R + nu), eps(R_des + 9), zeros(eps + GRID_PLANT_TERMS) {}

    // The menu's parameters; terms that are not wanted have weights of zero.
    GRID_HD grid_plant::cost_menu_params<V> menu(const V* u_des) const {
        grid_plant::cost_menu_params<V> p;
        p.ee_des = ee_des, p.W = W, p.x_des = x_des, p.Q = Q, p.u_des = u_des, p.R = R;
        p.R_des = R_des, p.Wo = zeros, p.v_des = zeros, p.Wv = zeros, p.cf_des = zeros, p.Wcf = zeros, p.eps = eps;
        p.Ax = zeros, p.bx = zeros, p.tx = zeros, p.Wx = zeros, p.Au = zeros, p.bu = zeros, p.tu = zeros, p.Wu = zeros;
        p.mu = zeros;
        return p;
    }
};

// Controls u[steps][nu] from the state x[0]; writes the states x[1] to x[steps], the cost, and its gradient[steps][nu].
template <class V>
GRID_HD void evaluate(const Task<V>& task, int steps, const V* u, V* x, V* cost, V* gradient) {
    V ws[SCRATCH], u_hold[nu], value, grad_x[2 * nv], grad_u[nu], hess_xx[4 * nv * nv], hess_uu[nu * nu];
    V ab[2 * nv * 3 * nv], costate[2 * nv], after[2 * nv];
    grid::inverse_dynamics(task.x_des, task.zeros, task.zeros, task.gravity, u_hold, ws);
    const grid_plant::cost_menu_params<V> menu = task.menu(u_hold);

    for (int k = 0; k < steps; ++k)
        grid_plant::plant_step_semi_implicit_euler(x + k * nx, u + k * nu, task.dt, task.gravity, x + (k + 1) * nx, ws);

    grid_plant::tracking_cost_menu(x + steps * nx, u_hold, menu, cost, costate, grad_u, hess_xx, hess_uu, ws);
    for (int k = steps - 1; k >= 0; --k) {
        grid_plant::plant_step_gradient_semi_implicit_euler(x + k * nx, u + k * nu, task.dt, task.gravity, task.zeros, ab, ws);
        grid_plant::tracking_cost_menu(x + k * nx, u + k * nu, menu, &value, grad_x, grad_u, hess_xx, hess_uu, ws);
        *cost += value;
        for (int i = 0; i < 2 * nv; ++i) after[i] = costate[i];
        for (int column = 0; column < 3 * nv; ++column) {
            V sum = column < 2 * nv ? grad_x[column] : grad_u[column - 2 * nv];
            for (int row = 0; row < 2 * nv; ++row) sum += ab[row * 3 * nv + column] * after[row];
            (column < 2 * nv ? costate[column] : gradient[k * nu + column - 2 * nv]) = sum;
        }
    }
}

}  // namespace horizon
