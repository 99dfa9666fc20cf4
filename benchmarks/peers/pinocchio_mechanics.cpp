// Measures what Pinocchio has beyond dynamics; see pinocchio_driver.hpp.
#include <pinocchio/algorithm/center-of-mass.hpp>
#include <pinocchio/algorithm/centroidal.hpp>
#include <pinocchio/algorithm/energy.hpp>
#include <pinocchio/algorithm/regressor.hpp>

#include "pinocchio_driver.hpp"

namespace {

const Evaluations evaluations = {
    {"center_of_mass", {[](Robot& r, size_t i) { return jacobianCenterOfMass(r.model, r.data, r.q[i], false)(0, 0); }}},
    {"centroidal_map", {[](Robot& r, size_t i) { return ccrba(r.model, r.data, r.q[i], r.v[i])(0, 0); }}},
    {"centroidal_map_rate", {[](Robot& r, size_t i) { return dccrba(r.model, r.data, r.q[i], r.v[i])(0, 0); }}},
    {"energy", {[](Robot& r, size_t i) { return computeMechanicalEnergy(r.model, r.data, r.q[i], r.v[i]); }}},
    {"torque_regressor",
     {[](Robot& r, size_t i) { return computeJointTorqueRegressor(r.model, r.data, r.q[i], r.v[i], r.a[i])(0, 0); }}},
    {"kinetic_energy_regressor",
     {[](Robot& r, size_t i) { return computeKineticEnergyRegressor(r.model, r.data, r.q[i], r.v[i])(0); }}},
    {"potential_energy_regressor",
     {[](Robot& r, size_t i) { return computePotentialEnergyRegressor(r.model, r.data, r.q[i])(0); }}},
};

}  // namespace

int main(int count, char** arguments) { return answer(count, arguments, evaluations); }
