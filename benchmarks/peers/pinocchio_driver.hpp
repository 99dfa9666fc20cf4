// What the programs that measure Pinocchio share. Each answers requests on one robot, one at a time, so that the caller
// can alternate with its own measurements.
//
//   PROGRAM ROBOT.urdf BATCH [floating]
//
// prints a line `VERSION NQ NV`, then answers each line `NAME PASSES` from stdin by the mean nanoseconds per sample of
// PASSES passes over the batch. An empty line or the end of the input ends it.
#pragma once

#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/parsers/urdf.hpp>

#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

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

// Where there are several ways to a result, the fastest one counts.
using Evaluations = std::map<std::string, std::vector<Evaluation>>;

inline double nanoseconds(Robot& robot, const Evaluation& evaluation, int passes) {
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

inline int answer(int count, char** arguments, const Evaluations& evaluations) {
    if (count < 3) {
        std::cerr << "usage: PROGRAM ROBOT.urdf BATCH [floating]\n";
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
    return 0;
}
