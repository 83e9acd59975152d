// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dataset.hpp"
#include "kernels.hpp"

#include <rondo/graph/task_graph.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

/// The network 64-32-10 as two graphs of the same kernels: one takes a training step, the other classifies.
namespace digits {

inline constexpr std::size_t hidden = 32;

/// The weights of the network on the host; those on the device are Layers.
struct Weights {
  std::vector<float> w1, b1, w2, b2;
  friend bool operator==(const Weights&, const Weights&) = default;
};

/// Random weights, smaller for wider layers (initialisation of He), and biases of 0.
inline Weights random_weights(Random random) {
  const auto draw = [&random](std::size_t inputs, std::size_t outputs) {
    std::vector<float> w(inputs * outputs);
    for (float& each : w) each = random.uniform(std::sqrt(6.0F / static_cast<float>(inputs)));
    return w;
  };
  Weights weights;
  weights.w1 = draw(pixels_per_digit, hidden);
  weights.b1.assign(hidden, 0.0F);
  weights.w2 = draw(hidden, classes);
  weights.b2.assign(classes, 0.0F);
  return weights;
}

/// The weights of the network on the device, which stay there from round to round.
struct Layers {
  rondo::Resident<float> w1, b1, w2, b2;

  explicit Layers(rondo::TaskGraph& graph)
      : w1{graph.resident<float>("w1", {pixels_per_digit, hidden})},
        b1{graph.resident<float>("b1", {hidden})},
        w2{graph.resident<float>("w2", {hidden, classes})},
        b2{graph.resident<float>("b2", {classes})} {}
};

/// Adds the forward pass for `rows` digits, from `pixels` to `p`. Returns the output of the hidden layer.
template <class Probabilities>
rondo::Workspace<float> add_forward(rondo::TaskGraph& graph, const Layers& net, std::size_t rows,
                                    rondo::Input<float> pixels, Probabilities p) {
  const auto z1 = graph.workspace<float>("z1", {rows, hidden});
  const auto h = graph.workspace<float>("h", {rows, hidden});
  const auto z2 = graph.workspace<float>("z2", {rows, classes});
  graph.add<MatMul>(pixels, net.w1, z1);
  graph.add<BiasRelu>(z1, net.b1, h);
  graph.add<MatMul>(h, net.w2, z2);
  graph.add<BiasSoftmax>(z2, net.b2, p);
  return h;
}

/// The gradients of the mean loss with respect to the inputs of each layer's activation: rows × the layer's outputs.
struct ActivationGradients {
  rondo::Workspace<float> dz1, dz2;
};

/// Adds the backward pass for the same digits, from their probabilities `p` and the output `h` of the hidden layer.
inline ActivationGradients add_backward(rondo::TaskGraph& graph, const Layers& net, std::size_t rows,
                                        rondo::Input<std::int32_t> labels, rondo::Workspace<float> h,
                                        rondo::Workspace<float> p) {
  const auto dz2 = graph.workspace<float>("dz2", {rows, classes});
  const auto dh = graph.workspace<float>("dh", {rows, hidden});
  const auto dz1 = graph.workspace<float>("dz1", {rows, hidden});
  graph.add<LossGradient>(p, labels, dz2);
  graph.add<MatMulBt>(dz2, net.w2, dh);
  graph.add<ReluGradient>(h, dh, dz1);
  return {dz1, dz2};
}

/// One step of stochastic gradient descent on a batch: 16 tasks, of which main.cpp has a picture. The edges follow from
/// what tasks read and write: for example, w2 is updated only after the backward pass has read it.
struct TrainingStep {
  rondo::TaskGraph graph;
  rondo::Input<float> pixels;
  rondo::Input<std::int32_t> labels;
  rondo::Input<float> rate;
  rondo::Output<float> loss;
  Layers net;

  explicit TrainingStep(std::size_t batch)
      : pixels{graph.input<float>("pixels", {batch, pixels_per_digit})},
        labels{graph.input<std::int32_t>("labels", {batch})},
        rate{graph.input<float>("rate", {1})},
        loss{graph.output<float>("loss", {1})},
        net{graph} {
    const auto p = graph.workspace<float>("p", {batch, classes});
    const auto h = add_forward(graph, net, batch, pixels, p);
    graph.add<CrossEntropy>(p, labels, loss);
    const auto [dz1, dz2] = add_backward(graph, net, batch, labels, h, p);

    const auto dw2 = graph.workspace<float>("dw2", {hidden, classes});
    const auto db2 = graph.workspace<float>("db2", {classes});
    const auto dw1 = graph.workspace<float>("dw1", {pixels_per_digit, hidden});
    const auto db1 = graph.workspace<float>("db1", {hidden});
    graph.add<MatMulAt>(h, dz2, dw2);
    graph.add<ColumnSum>(dz2, db2);
    graph.add<MatMulAt>(pixels, dz1, dw1);
    graph.add<ColumnSum>(dz1, db1);

    graph.add<Descend>(net.w2, dw2, rate);
    graph.add<Descend>(net.b2, db2, rate);
    graph.add<Descend>(net.w1, dw1, rate);
    graph.add<Descend>(net.b1, db1, rate);
  }
};

/// Computes the probability of each class from the pixels, for `rows` digits at once.
struct Inference {
  rondo::TaskGraph graph;
  rondo::Input<float> pixels;
  rondo::Output<float> probabilities;
  Layers net;

  explicit Inference(std::size_t rows)
      : pixels{graph.input<float>("pixels", {rows, pixels_per_digit})},
        probabilities{graph.output<float>("probabilities", {rows, classes})},
        net{graph} {
    add_forward(graph, net, rows, pixels, probabilities);
  }
};

}  // namespace digits
