// Measures the dynamics of Pinocchio; see pinocchio_driver.hpp.
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "pinocchio_driver.hpp"

namespace {

// The mass matrix and ABA come in two conventions.
const Evaluations evaluations = {
    {"inverse_dynamics", {[](Robot& r, size_t i) { return rnea(r.model, r.data, r.q[i], r.v[i], r.a[i])[0]; }}},
    {"aba",
     {[](Robot& r, size_t i) { return aba(r.model, r.data, r.q[i], r.v[i], r.a[i], pinocchio::Convention::LOCAL)[0]; },
      [](Robot& r, size_t i) {
          return aba(r.model, r.data, r.q[i], r.v[i], r.a[i], pinocchio::Convention::WORLD)[0];
      }}},
    {"crba",
     {[](Robot& r, size_t i) { return crba(r.model, r.data, r.q[i], pinocchio::Convention::LOCAL)(0, 0); },
      [](Robot& r, size_t i) { return crba(r.model, r.data, r.q[i], pinocchio::Convention::WORLD)(0, 0); }}},
    {"minv", {[](Robot& r, size_t i) { return computeMinverse(r.model, r.data, r.q[i])(0, 0); }}},
    {"nonlinear_effects", {[](Robot& r, size_t i) { return nonLinearEffects(r.model, r.data, r.q[i], r.v[i])[0]; }}},
    {"generalized_gravity", {[](Robot& r, size_t i) { return computeGeneralizedGravity(r.model, r.data, r.q[i])[0]; }}},
    {"coriolis_matrix",
     {[](Robot& r, size_t i) { return computeCoriolisMatrix(r.model, r.data, r.q[i], r.v[i])(0, 0); }}},
    {"inverse_dynamics_gradient",
     {[](Robot& r, size_t i) {
         computeRNEADerivatives(r.model, r.data, r.q[i], r.v[i], r.a[i]);
         return r.data.dtau_dq(0, 0);
     }}},
    {"forward_dynamics_gradient",
     {[](Robot& r, size_t i) {
         computeABADerivatives(r.model, r.data, r.q[i], r.v[i], r.a[i]);
         return r.data.ddq_dq(0, 0);
     }}},
};

}  // namespace

int main(int count, char** arguments) { return answer(count, arguments, evaluations); }
