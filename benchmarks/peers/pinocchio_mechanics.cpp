// Measures what Pinocchio has beyond dynamics; see pinocchio_driver.hpp.
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/center-of-mass.hpp>
#include <pinocchio/algorithm/centroidal.hpp>
#include <pinocchio/algorithm/energy.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/kinematics-derivatives.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/regressor.hpp>
#include <pinocchio/algorithm/rnea-second-order-derivatives.hpp>
#include <pinocchio/math.hpp>
#include <pinocchio/spatial.hpp>

#include "pinocchio_driver.hpp"

namespace {

using pinocchio::SE3;
using Jacobian = pinocchio::Data::Matrix6x;
using Pose = Eigen::Matrix<double, 7, 1>;
constexpr auto ALIGNED = pinocchio::LOCAL_WORLD_ALIGNED;

// The end effectors, joints without children, with memory for what is wanted of each.
struct Ends {
    std::vector<pinocchio::JointIndex> joints;
    std::vector<Jacobian> jacobians;
    std::vector<pinocchio::Data::Tensor3x> hessians;
    std::vector<Pose> poses;
    pinocchio::FrameIndex first;
    Eigen::MatrixXd weighted;

    explicit Ends(const Robot& r) : poses(r.model.frames.size()) {
        for (pinocchio::JointIndex j = 1; j < r.model.joints.size(); ++j)
            if (r.model.children[j].empty()) joints.push_back(j);
        jacobians.assign(joints.size(), Jacobian::Zero(6, r.model.nv));
        hessians.assign(joints.size(), pinocchio::Data::Tensor3x(6, r.model.nv, r.model.nv));
        for (auto& hessian : hessians) hessian.setZero();
        first = r.model.getFrameId(r.model.names[joints[0]]);
    }
};

Ends& ends(Robot& r) {
    static Ends found(r);
    return found;
}

double angles(const SE3& m) { return m.translation()[0] + pinocchio::rpy::matrixToRpy(m.rotation()).sum(); }

double quaternion(const SE3& m, Pose& pose) {
    pose << m.translation(), Eigen::Quaterniond(m.rotation()).coeffs();
    return pose[6];
}

// Angular rows become rates of roll, pitch and yaw.
double angle_rates(const SE3& m, Jacobian& j) {
    const Eigen::Vector3d rpy = pinocchio::rpy::matrixToRpy(m.rotation());
    j.bottomRows<3>() = (pinocchio::rpy::computeRpyJacobianInverse(rpy, ALIGNED) * j.bottomRows<3>()).eval();
    return j(5, 0);
}

// Angular rows become rates of the rotation vector.
double log_rates(const SE3& m, Jacobian& j) {
    Eigen::Matrix3d rates;
    pinocchio::Jlog3(m.rotation(), rates);
    j.bottomRows<3>() = (rates * m.rotation().transpose() * j.bottomRows<3>()).eval();
    return j(5, 0);
}

// Something of every end effector's pose.
template <class F>
double of_poses(Robot& r, size_t i, F value) {
    forwardKinematics(r.model, r.data, r.q[i]);
    double sum = 0;
    for (size_t n = 0; n < ends(r).joints.size(); ++n) sum += value(r.data.oMi[ends(r).joints[n]], n);
    return sum;
}

// Something of every end effector's Jacobian.
template <class F>
double of_jacobians(Robot& r, size_t i, F value) {
    computeJointJacobians(r.model, r.data, r.q[i]);
    double sum = 0;
    for (size_t n = 0; n < ends(r).joints.size(); ++n) {
        const auto joint = ends(r).joints[n];
        getJointJacobian(r.model, r.data, joint, ALIGNED, ends(r).jacobians[n]);
        sum += value(r.data.oMi[joint], ends(r).jacobians[n]);
    }
    return sum;
}

double hessians(Robot& r, size_t i) {
    computeJointKinematicHessians(r.model, r.data, r.q[i]);
    for (size_t n = 0; n < ends(r).joints.size(); ++n)
        getJointKinematicHessian(r.model, r.data, ends(r).joints[n], ALIGNED, ends(r).hessians[n]);
    return ends(r).hessians[0].data()[0];
}

double frame_jacobian(Robot& r, size_t i, pinocchio::ReferenceFrame reference) {
    computeFrameJacobian(r.model, r.data, r.q[i], ends(r).first, reference, ends(r).jacobians[0]);
    return ends(r).jacobians[0](0, 0);
}

double frame_jacobian_rate(Robot& r, size_t i) {
    computeJointJacobiansTimeVariation(r.model, r.data, r.q[i], r.v[i]);
    getJointJacobianTimeVariation(r.model, r.data, ends(r).joints[0], ALIGNED, ends(r).jacobians[0]);
    return ends(r).jacobians[0](0, 0);
}

double frames(Robot& r, size_t i) {
    framesForwardKinematics(r.model, r.data, r.q[i]);
    return r.data.oMf.back().translation()[0];
}

double frame_quaternions(Robot& r, size_t i) {
    frames(r, i);
    for (size_t f = 0; f < r.data.oMf.size(); ++f) quaternion(r.data.oMf[f], ends(r).poses[f]);
    return ends(r).poses.back()[6];
}

double operational_inertia(Robot& r, size_t i) {
    computeMinverse(r.model, r.data, r.q[i]);
    r.data.Minv.triangularView<Eigen::StrictlyLower>() = r.data.Minv.transpose().triangularView<Eigen::StrictlyLower>();
    frame_jacobian(r, i, ALIGNED);
    const Jacobian& j = ends(r).jacobians[0];
    ends(r).weighted.noalias() = r.data.Minv * j.transpose();
    const Eigen::Matrix<double, 6, 6> mobility = j * ends(r).weighted;
    return mobility.llt().solve(Eigen::Matrix<double, 6, 6>::Identity())(0, 0);
}

double wrench(const SE3& m, const Vector& numbers) {
    const pinocchio::Force world(numbers.head<6>());
    return SE3(m.rotation().transpose(), Eigen::Vector3d(0.1, 0.2, 0.3)).act(world).angular()[0];
}

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
    {"poses", {[](Robot& r, size_t i) { return of_poses(r, i, [](const SE3& m, size_t) { return angles(m); }); }}},
    {"pose_quaternions",
     {[](Robot& r, size_t i) {
         return of_poses(r, i, [&](const SE3& m, size_t n) { return quaternion(m, ends(r).poses[n]); });
     }}},
    {"pose_logarithms",
     {[](Robot& r, size_t i) {
         return of_poses(r, i, [](const SE3& m, size_t) { return pinocchio::log3(m.rotation())[0]; });
     }}},
    {"first_pose_quaternion",
     {[](Robot& r, size_t i) {
         forwardKinematics(r.model, r.data, r.q[i]);
         return quaternion(r.data.oMi[ends(r).joints[0]], ends(r).poses[0]);
     }}},
    {"pose_gradients", {[](Robot& r, size_t i) { return of_jacobians(r, i, angle_rates); }}},
    {"pose_logarithm_gradients", {[](Robot& r, size_t i) { return of_jacobians(r, i, log_rates); }}},
    {"jacobians",
     {[](Robot& r, size_t i) { return of_jacobians(r, i, [](const SE3&, const Jacobian& j) { return j(0, 0); }); }}},
    {"pose_hessians", {hessians}},
    {"frames", {frames}},
    {"frame_quaternions", {frame_quaternions}},
    {"frame_jacobian", {[](Robot& r, size_t i) { return frame_jacobian(r, i, ALIGNED); }}},
    {"frame_jacobian_local", {[](Robot& r, size_t i) { return frame_jacobian(r, i, pinocchio::LOCAL); }}},
    {"frame_jacobian_rate", {frame_jacobian_rate}},
    {"operational_inertia", {operational_inertia}},
    {"wrenches",
     {[](Robot& r, size_t i) { return of_poses(r, i, [&](const SE3& m, size_t) { return wrench(m, r.a[i]); }); }}},
    {"tool_wrench",
     {[](Robot& r, size_t i) {
         forwardKinematics(r.model, r.data, r.q[i]);
         return wrench(r.data.oMi[ends(r).joints[0]], r.a[i]);
     }}},
    {"second_derivatives",
     {[](Robot& r, size_t i) {
         ComputeRNEASecondOrderDerivatives(r.model, r.data, r.q[i], r.v[i], r.a[i]);
         return r.data.d2tau_dqdq(0, 0, 0);
     }}},
};

}  // namespace

int main(int count, char** arguments) { return answer(count, arguments, evaluations); }
