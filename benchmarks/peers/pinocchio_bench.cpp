// Measures Pinocchio on one robot, one request at a time, so that the caller can alternate with its own measurements.
//
//   pinocchio_bench ROBOT.urdf BATCH [floating]
//
// prints a line `VERSION NQ NV`, then answers each line `ALGORITHM PASSES` from stdin by the mean nanoseconds per
// sample of PASSES passes over the batch. An empty line or the end of the input ends it.
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/parsers/urdf.hpp>

#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Vector = Eigen::VectorXd;
using Samples = std::vector<Vector>;

struct Robot {
    pinocchio::Model model;
    pinocchio::Data data;
    Samples q, v, a;

    Robot(const std::string& path, bool floating, int batch) {
        if (floating) pinocchio::urdf::buildModel(path, pinocchio::JointModelFreeFlyer(), model);
        else pinocchio::urdf::buildModel(path, model);
        data = pinocchio::Data(model);
        model.lowerPositionLimit.setConstant(-1);
        model.upperPositionLimit.setConstant(1);
        for (int i = 0; i < batch; ++i) {
            q.push_back(pinocchio::randomConfiguration(model));
            v.push_back(Vector::Random(model.nv));
            a.push_back(Vector::Random(model.nv));
        }
    }
};

// One evaluation for sample i; the result is read, so that no work can be left out.
using Evaluation = std::function<double(Robot&, size_t)>;

// The mass matrix, its inverse and ABA come in two conventions; the faster one counts.
const std::map<std::string, std::vector<Evaluation>> evaluations = {
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

double nanoseconds(Robot& robot, const Evaluation& evaluation, int passes) {
    static volatile double sink = 0;
    double sum = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (int pass = 0; pass < passes; ++pass) {
        for (size_t i = 0; i < robot.q.size(); ++i) sum += evaluation(robot, i);
    }
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
    sink = sink + sum;
    return spent.count() / passes / double(robot.q.size());
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 3) {
        std::cerr << "usage: pinocchio_bench ROBOT.urdf BATCH [floating]\n";
        return 2;
    }
    Robot robot(arguments[1], count > 3, std::stoi(arguments[2]));
    std::cout << PINOCCHIO_VERSION << " " << robot.model.nq << " " << robot.model.nv << std::endl;
    for (std::string line; std::getline(std::cin, line) && !line.empty();) {
        std::istringstream words(line);
        std::string algorithm;
        int passes = 1;
        words >> algorithm >> passes;
        double best = 1e300;
        for (const Evaluation& evaluation : evaluations.at(algorithm)) {
            best = std::min(best, nanoseconds(robot, evaluation, passes));
        }
        std::cout << best << std::endl;
    }
}
