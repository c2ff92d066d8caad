// Convolutions and other layers of neural nets, compared with the CPU. The argument names a part; the exit code is the
// number of results and statuses that are wrong. Prototypes are written after the public documentation; handles and
// enumerations are plain numbers, as they are in a call.
#include <hip/hip_runtime.h>
#include "checking.h"
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

struct Algorithm { int which; float time; size_t memory; };
struct Solution { float time; size_t memory; uint64_t number; int algorithm; };
extern "C" {
int miopenCreate(void **);
int miopenCreateTensorDescriptor(void **);
int miopenSetTensorDescriptor(void *, int, int, const int *, const int *);
int miopenSetTensorDescriptorV2(void *, int, int, const size_t *, const size_t *);
int miopenGetTensorDescriptor(void *, int *, int *, int *);
int miopenCreateConvolutionDescriptor(void **);
int miopenInitConvolutionNdDescriptor(void *, int, const int *, const int *, const int *, int);
int miopenSetConvolutionGroupCount(void *, int);
int miopenGetConvolutionNdForwardOutputDim(void *, void *, void *, int *, int *);
int miopenFindConvolutionForwardAlgorithm(void *, void *, const void *, void *, const void *, void *, void *, void *, int, int *, Algorithm *, void *, size_t, bool);
int miopenConvolutionForward(void *, const void *, void *, const void *, void *, const void *, void *, int, const void *, void *, void *, void *, size_t);
int miopenConvolutionBackwardData(void *, const void *, void *, const void *, void *, const void *, void *, int, const void *, void *, void *, void *, size_t);
int miopenConvolutionBackwardWeights(void *, const void *, void *, const void *, void *, const void *, void *, int, const void *, void *, void *, void *, size_t);
int miopenConvolutionForwardGetSolution(void *, void *, void *, void *, void *, size_t, size_t *, Solution *);
int miopenConvolutionForwardImmediate(void *, void *, const void *, void *, const void *, void *, void *, void *, void *, size_t, uint64_t);
int miopenCreatePoolingDescriptor(void **);
int miopenSet2dPoolingDescriptor(void *, int, int, int, int, int, int, int);
int miopenPoolingForward(void *, void *, const void *, void *, const void *, const void *, void *, void *, bool, void *, size_t);
int miopenDeriveBNTensorDescriptor(void *, void *, int);
int miopenBatchNormalizationForwardInference(void *, int, const void *, const void *, void *, const void *, void *, void *, void *, void *, void *, void *, void *, double);
int miopenBatchNormalizationForwardTraining(void *, int, const void *, const void *, void *, const void *, void *, void *, void *, void *, void *, double, void *, void *, double, void *, void *);
int miopenCreateActivationDescriptor(void **);
int miopenSetActivationDescriptor(void *, int, double, double, double);
int miopenActivationForward(void *, void *, const void *, void *, const void *, const void *, void *, void *);
int miopenSoftmaxForward_V2(void *, const void *, void *, const void *, const void *, void *, void *, int, int);
int miopenOpTensor(void *, int, const void *, void *, const void *, const void *, void *, const void *, const void *, void *, void *);
int miopenCreateReduceTensorDescriptor(void **);
int miopenSetReduceTensorDescriptor(void *, int, int, int, int, int);
int miopenReduceTensor(void *, void *, void *, size_t, void *, size_t, const void *, void *, const void *, const void *, void *, void *);
int miopenConvolutionForwardBias(void *, const void *, void *, const void *, const void *, void *, void *);
int miopenCreateFusionPlan(void **, int, void *);
int miopenCreateOpConvForward(void *, void **, void *, void *);
int miopenCreateOpBiasForward(void *, void **, void *);
int miopenCreateOpActivationForward(void *, void **, int);
int miopenCompileFusionPlan(void *, void *);
int miopenCreateOperatorArgs(void **);
int miopenSetOpArgsConvForward(void *, void *, const void *, const void *, const void *);
int miopenSetOpArgsBiasForward(void *, void *, const void *, const void *, const void *);
int miopenSetOpArgsActivForward(void *, void *, const void *, const void *, double, double, double);
int miopenExecuteFusionPlan(void *, void *, void *, const void *, void *, void *, void *);
int miopenCreateRNNDescriptor(void **);
const char *miopenGetErrorString(int);
}

static void *handle;
static const float one = 1, zero = 0;

// A packed tensor of floats.
struct Tensor {
  std::vector<int> sizes;
  void *descriptor;
  float *gpu = nullptr;
  std::vector<float> host;
  Tensor(std::vector<int> sizes, bool random = true) : sizes(sizes) {
    size_t count = 1;
    for (int it : sizes) count *= it;
    host.resize(count);
    for (float &it : host) it = random ? float(next()) : 7;
    (void)hipMalloc(&gpu, 4 * count);
    (void)hipMemcpy(gpu, host.data(), 4 * count, hipMemcpyHostToDevice);
    miopenCreateTensorDescriptor(&descriptor);
    check(miopenSetTensorDescriptor(descriptor, 1, int(sizes.size()), sizes.data(), nullptr) == 0, "a tensor");
  }
  std::vector<float> get() const {
    std::vector<float> out(host.size());
    (void)hipMemcpy(out.data(), gpu, 4 * out.size(), hipMemcpyDeviceToHost);
    return out;
  }
};

static void equal(const std::vector<float> &got, const std::vector<double> &expected, double by, const char *what) {
  double worst = 0;
  for (size_t i = 0; i < got.size(); i++) worst = std::max(worst, std::fabs(got[i] - expected[i]));
  if (!(worst <= by) || got.size() != expected.size()) printf("%s: off by %g\n", what, worst);
  check(worst <= by && got.size() == expected.size(), what);
}

// All triples of image, tap and result of a two-dimensional convolution, by their places in the three tensors.
static void taps(const Tensor &x, const Tensor &w, const Tensor &y, std::array<int, 2> pad, std::array<int, 2> step, std::array<int, 2> apart, int groups, std::function<void(size_t, size_t, size_t)> f) {
  auto at = [](const Tensor &t, int a, int b, int c, int d) { return ((size_t(a) * t.sizes[1] + b) * t.sizes[2] + c) * t.sizes[3] + d; };
  for (int n = 0; n < y.sizes[0]; n++) for (int k = 0; k < y.sizes[1]; k++) for (int i = 0; i < y.sizes[2]; i++) for (int j = 0; j < y.sizes[3]; j++)
    for (int c = 0; c < w.sizes[1]; c++) for (int r = 0; r < w.sizes[2]; r++) for (int s = 0; s < w.sizes[3]; s++) {
      int h = i * step[0] - pad[0] + r * apart[0], v = j * step[1] - pad[1] + s * apart[1];
      if (h < 0 || v < 0 || h >= x.sizes[2] || v >= x.sizes[3]) continue;
      f(at(x, n, k / (y.sizes[1] / groups) * w.sizes[1] + c, h, v), at(w, k, c, r, s), at(y, n, k, i, j));
    }
}

static void convolutions() {
  struct Case { std::vector<int> x, w; std::array<int, 2> pad, step, apart; int groups; };
  for (const Case &it : std::initializer_list<Case>{
           {{2, 3, 9, 7}, {4, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},
           {{1, 4, 8, 10}, {6, 2, 3, 2}, {0, 1}, {2, 1}, {1, 2}, 2},
           {{1, 5, 6, 6}, {5, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 5},
           {{3, 2, 5, 5}, {3, 2, 1, 1}, {0, 0}, {2, 2}, {1, 1}, 1}}) {
    void *convolution;
    miopenCreateConvolutionDescriptor(&convolution);
    check(miopenInitConvolutionNdDescriptor(convolution, 2, it.pad.data(), it.step.data(), it.apart.data(), 0) == 0, "init");
    check(miopenSetConvolutionGroupCount(convolution, it.groups) == 0, "groups");
    Tensor x(it.x), w(it.w);
    int axes = 0, sizes[4];
    check(miopenGetConvolutionNdForwardOutputDim(convolution, x.descriptor, w.descriptor, &axes, sizes) == 0 && axes == 4, "sizes");
    Tensor y(std::vector<int>(sizes, sizes + 4)), again(std::vector<int>(sizes, sizes + 4), false);
    Algorithm found;
    int count = 0;
    check(miopenFindConvolutionForwardAlgorithm(handle, x.descriptor, x.gpu, w.descriptor, w.gpu, convolution, y.descriptor, y.gpu, 1, &count, &found, nullptr, 0, false) == 0 && count == 1 && found.memory == 0, "find");
    // y = 2 conv(x, w) + 0.5 y, and then the same without factors at once.
    float two = 2, half = 0.5f;
    std::vector<double> expected(y.host.begin(), y.host.end()), plain(y.host.size());
    for (double &value : expected) value *= 0.5;
    taps(x, w, y, it.pad, it.step, it.apart, it.groups, [&](size_t i, size_t j, size_t k) { expected[k] += 2.0 * x.host[i] * w.host[j], plain[k] += double(x.host[i]) * w.host[j]; });
    check(miopenConvolutionForward(handle, &two, x.descriptor, x.gpu, w.descriptor, w.gpu, convolution, found.which, &half, y.descriptor, y.gpu, nullptr, 0) == 0, "forward");
    equal(y.get(), expected, 1e-5, "forward");
    Solution solution;
    size_t solutions = 0;
    check(miopenConvolutionForwardGetSolution(handle, w.descriptor, x.descriptor, convolution, again.descriptor, 1, &solutions, &solution) == 0 && solutions == 1, "solution");
    check(miopenConvolutionForwardImmediate(handle, w.descriptor, w.gpu, x.descriptor, x.gpu, convolution, again.descriptor, again.gpu, nullptr, 0, solution.number) == 0, "immediate");
    equal(again.get(), plain, 1e-5, "immediate");
    Tensor dx(it.x, false), dw(it.w, false), dy(y.sizes);
    std::vector<double> to_x(dx.host.size()), to_w(dw.host.size());
    taps(x, w, y, it.pad, it.step, it.apart, it.groups, [&](size_t i, size_t j, size_t k) { to_x[i] += double(dy.host[k]) * w.host[j], to_w[j] += double(dy.host[k]) * x.host[i]; });
    check(miopenConvolutionBackwardData(handle, &one, dy.descriptor, dy.gpu, w.descriptor, w.gpu, convolution, 1, &zero, dx.descriptor, dx.gpu, nullptr, 0) == 0, "backward");
    equal(dx.get(), to_x, 1e-5, "backward to the images");
    check(miopenConvolutionBackwardWeights(handle, &one, dy.descriptor, dy.gpu, x.descriptor, x.gpu, convolution, 1, &zero, dw.descriptor, dw.gpu, nullptr, 0) == 0, "weights");
    equal(dw.get(), to_w, 1e-5, "backward to the weights");
    // Transposed, forward is what backward to the images was.
    miopenInitConvolutionNdDescriptor(convolution, 2, it.pad.data(), it.step.data(), it.apart.data(), 1);
    Tensor transposed(it.x, false);
    check(miopenConvolutionForward(handle, &one, dy.descriptor, dy.gpu, w.descriptor, w.gpu, convolution, 1, &zero, transposed.descriptor, transposed.gpu, nullptr, 0) == 0, "transposed");
    equal(transposed.get(), to_x, 1e-5, "transposed");
  }
}

static void images() {
  Tensor x({2, 3, 5, 6});
  auto value = [&](int n, int c, int h, int w) { return double(x.host[((n * 3 + c) * 5 + h) * 6 + w]); };
  for (int mode : {0, 1, 2}) {
    void *pooling;
    miopenCreatePoolingDescriptor(&pooling);
    check(miopenSet2dPoolingDescriptor(pooling, mode, 3, 2, 1, 0, 2, 2) == 0, "pooling");
    Tensor y({2, 3, 3, 3}, false);
    std::vector<double> expected;
    for (int n = 0; n < 2; n++) for (int c = 0; c < 3; c++) for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) {
      double sum = 0, most = -9;
      int count = 0;
      for (int r = 0; r < 3; r++) for (int s = 0; s < 2; s++) {
        int h = 2 * i - 1 + r, w = 2 * j + s;
        if (h < 0 || h >= 5 || w >= 6) continue;
        sum += value(n, c, h, w), most = std::max(most, value(n, c, h, w)), count++;
      }
      expected.push_back(mode == 0 ? most : sum / (mode == 1 ? count : 6));
    }
    check(miopenPoolingForward(handle, pooling, &one, x.descriptor, x.gpu, &zero, y.descriptor, y.gpu, false, nullptr, 0) == 0, "pooling");
    equal(y.get(), expected, 1e-6, "pooling");
  }
  // Batch normalization with given moments, then with the batch's.
  void *derived;
  miopenCreateTensorDescriptor(&derived);
  int of, sizes[4], steps[4];
  check(miopenDeriveBNTensorDescriptor(derived, x.descriptor, 1) == 0 && miopenGetTensorDescriptor(derived, &of, sizes, steps) == 0 && sizes[0] == 1 && sizes[1] == 3 && sizes[2] == 1, "derived");
  Tensor scale({1, 3, 1, 1}), bias({1, 3, 1, 1}), mean({1, 3, 1, 1}), variance({1, 3, 1, 1}), y({2, 3, 5, 6}, false);
  std::vector<float> positive = {0.5f, 1, 2};
  (void)hipMemcpy(variance.gpu, positive.data(), 12, hipMemcpyHostToDevice);
  std::vector<double> expected, sums(3), squares(3);
  for (size_t i = 0; i < x.host.size(); i++) {
    int c = i / 30 % 3;
    expected.push_back(scale.host[c] * (x.host[i] - mean.host[c]) / std::sqrt(positive[c] + 0.01) + bias.host[c]);
    sums[c] += x.host[i] / 60;
  }
  check(miopenBatchNormalizationForwardInference(handle, 1, &one, &zero, x.descriptor, x.gpu, y.descriptor, y.gpu, derived, scale.gpu, bias.gpu, mean.gpu, variance.gpu, 0.01) == 0, "normalization");
  equal(y.get(), expected, 1e-5, "normalization");
  for (size_t i = 0; i < x.host.size(); i++) squares[i / 30 % 3] += std::pow(x.host[i] - sums[i / 30 % 3], 2) / 60;
  Tensor saved({3}, false), inverse({3}, false);
  check(miopenBatchNormalizationForwardTraining(handle, 1, &one, &zero, x.descriptor, x.gpu, y.descriptor, y.gpu, derived, scale.gpu, bias.gpu, 0.25, mean.gpu, variance.gpu, 0.01, saved.gpu, inverse.gpu) == 0, "training");
  std::vector<double> moved;
  for (size_t i = 0; i < x.host.size(); i++) expected[i] = scale.host[i / 30 % 3] * (x.host[i] - sums[i / 30 % 3]) / std::sqrt(squares[i / 30 % 3] + 0.01) + bias.host[i / 30 % 3];
  for (int c = 0; c < 3; c++) moved.push_back(0.75 * mean.host[c] + 0.25 * sums[c]);
  equal(y.get(), expected, 1e-5, "normalization of a batch");
  equal(mean.get(), moved, 1e-6, "a running mean");
  equal(saved.get(), sums, 1e-6, "a saved mean");
  // Softmax of channels, and of images in logarithms.
  for (int mode : {1, 0}) {
    std::vector<double> soft(x.host.size());
    for (int n = 0; n < 2; n++) for (int p = 0; p < (mode ? 30 : 1); p++) {
      double sum = 0;
      auto line = [&](auto f) { for (int i = 0; i < (mode ? 3 : 90); i++) f(n * 90 + (mode ? i * 30 + p : i)); };
      line([&](int i) { sum += std::exp(x.host[i]); });
      line([&](int i) { soft[i] = mode ? std::exp(x.host[i]) / sum : x.host[i] - std::log(sum); });
    }
    check(miopenSoftmaxForward_V2(handle, &one, x.descriptor, x.gpu, &zero, y.descriptor, y.gpu, mode ? 1 : 2, mode) == 0, "softmax");
    equal(y.get(), soft, 1e-6, "softmax");
  }
}

static void tensors() {
  Tensor x({2, 3, 4}), y({2, 3, 4}, false);
  size_t wide[] = {2, 3, 4}, apart[] = {1, 8, 2};
  int of, sizes[3], steps[3];
  check(miopenSetTensorDescriptorV2(y.descriptor, 1, 3, wide, apart) == 0 && miopenGetTensorDescriptor(y.descriptor, &of, sizes, steps) == 0 && sizes[2] == 4 && steps[1] == 8, "sizes in 64 bits");
  check(miopenSetTensorDescriptorV2(y.descriptor, 1, 3, wide, nullptr) == 0, "packed");
  const double a = 0.7, b = 1.3, c = 2.0;
  std::function<double(double)> functions[] = {
      [](double x) { return x; }, [](double x) { return 1 / (1 + std::exp(-x)); }, [=](double x) { return a * std::tanh(b * x); },
      [](double x) { return x > 0 ? x : 0; }, [](double x) { return std::log1p(std::exp(x)); }, [](double x) { return std::fabs(x); },
      [=](double x) { return a + b * x > 0 ? std::pow(a + b * x, c) : 0; }, [=](double x) { return std::min(a, std::max(0.0, x)); },
      [=](double x) { return x > 0 ? x : a * x; }, [=](double x) { return x > 0 ? x : a * std::expm1(x); }};
  for (int mode = 0; mode < 10; mode++) {
    void *activation;
    miopenCreateActivationDescriptor(&activation);
    miopenSetActivationDescriptor(activation, mode, a, b, c);
    std::vector<double> expected;
    for (float it : x.host) expected.push_back(functions[mode](it));
    check(miopenActivationForward(handle, activation, &one, x.descriptor, x.gpu, &zero, y.descriptor, y.gpu) == 0, "activation");
    equal(y.get(), expected, 1e-6, "activation");
  }
  // A vector along the second axis, repeated along the others.
  Tensor row({1, 3, 1}), biased({2, 3, 4});
  for (int op = 0; op < 4; op++) {
    float two = 2;
    std::vector<double> expected;
    for (int i = 0; i < 24; i++) {
      double p = x.host[i], q = 2.0 * row.host[i / 4 % 3];
      expected.push_back(op == 0 ? p + q : op == 1 ? p * q : op == 2 ? std::min(p, q) : std::max(p, q));
    }
    check(miopenOpTensor(handle, op, &one, x.descriptor, x.gpu, &two, row.descriptor, row.gpu, &zero, y.descriptor, y.gpu) == 0, "operation");
    equal(y.get(), expected, 1e-6, "operation");
  }
  std::vector<double> expected;
  for (int i = 0; i < 24; i++) expected.push_back(biased.host[i] + row.host[i / 4 % 3]);
  check(miopenConvolutionForwardBias(handle, &one, row.descriptor, row.gpu, &zero, biased.descriptor, biased.gpu) == 0, "bias");
  equal(biased.get(), expected, 1e-6, "bias");
  for (int op = 0; op < 8; op++) {
    void *reduction;
    miopenCreateReduceTensorDescriptor(&reduction);
    bool places = op >= 2 && op <= 4;
    miopenSetReduceTensorDescriptor(reduction, op, 1, 0, places, 0);
    Tensor sums({1, 3, 1}, false), at({3}, false);
    std::vector<double> expected(3);
    std::vector<unsigned> best(3);
    for (int c = 0; c < 3; c++) {
      double &sum = expected[c];
      sum = op == 1 ? 1 : op == 2 ? 9 : op == 3 ? -9 : 0;
      for (int i = 0; i < 8; i++) {
        double it = x.host[i / 4 * 12 + c * 4 + i % 4], size = std::fabs(it);
        if (op == 2 ? it < sum : op == 3 ? it > sum : op == 4 && size > sum) sum = op == 4 ? size : it, best[c] = i;
        if (op == 1) sum *= it;
        if (op == 0 || op == 5) sum += it;
        if (op == 6) sum += size;
        if (op == 7) sum += it * it;
      }
      if (op == 5) sum /= 8;
      if (op == 7) sum = std::sqrt(sum);
    }
    check(miopenReduceTensor(handle, reduction, at.gpu, 12, nullptr, 0, &one, x.descriptor, x.gpu, &zero, sums.descriptor, sums.gpu) == 0, "reduction");
    equal(sums.get(), expected, 1e-6, "reduction");
    std::vector<unsigned> found(3);
    (void)hipMemcpy(found.data(), at.gpu, 12, hipMemcpyDeviceToHost);
    check(!places || found == best, "places of a reduction");
  }
}

static void fusion() {
  Tensor x({2, 2, 5, 5}), w({3, 2, 3, 3}), bias({1, 3, 1, 1}), y({2, 3, 3, 3}, false);
  void *convolution, *plan, *first, *second, *third, *values;
  int pads[] = {0, 0}, steps[] = {1, 1};
  miopenCreateConvolutionDescriptor(&convolution);
  miopenInitConvolutionNdDescriptor(convolution, 2, pads, steps, steps, 0);
  check(miopenCreateFusionPlan(&plan, 0, x.descriptor) == 0 && miopenCompileFusionPlan(handle, plan) != 0, "an empty plan");
  check(miopenCreateOpConvForward(plan, &first, convolution, w.descriptor) == 0 && miopenCreateOpBiasForward(plan, &second, bias.descriptor) == 0 && miopenCreateOpActivationForward(plan, &third, 3) == 0, "operations");
  check(miopenCompileFusionPlan(handle, plan) == 0 && miopenCreateOperatorArgs(&values) == 0, "a plan");
  miopenSetOpArgsConvForward(values, first, &one, &zero, w.gpu);
  miopenSetOpArgsBiasForward(values, second, &one, &zero, bias.gpu);
  check(miopenExecuteFusionPlan(handle, plan, x.descriptor, x.gpu, y.descriptor, y.gpu, values) != 0, "values are missing");
  miopenSetOpArgsActivForward(values, third, &one, &zero, 0, 0, 0);
  check(miopenExecuteFusionPlan(handle, plan, x.descriptor, x.gpu, y.descriptor, y.gpu, values) == 0, "execute");
  std::vector<double> expected(y.host.size());
  taps(x, w, y, {0, 0}, {1, 1}, {1, 1}, 1, [&](size_t i, size_t j, size_t k) { expected[k] += double(x.host[i]) * w.host[j]; });
  for (size_t i = 0; i < expected.size(); i++) expected[i] = std::max(0.0, expected[i] + bias.host[i / 9 % 3]);
  equal(y.get(), expected, 1e-5, "convolution, bias and activation");
}

static void refused() {
  void *rnn, *tensor;
  check(miopenCreateRNNDescriptor(&rnn) == 6, "not implemented");
  miopenCreateTensorDescriptor(&tensor);
  int sizes[6] = {1, 1, 1, 1, 1, 1};
  check(miopenSetTensorDescriptor(tensor, 1, 6, sizes, nullptr) == 6 && miopenSetTensorDescriptor(tensor, 3, 2, sizes, nullptr) == 6, "axes and types");
  Tensor x({1, 3, 4, 4}), w({2, 2, 1, 1}), y({1, 2, 4, 4});
  void *convolution;
  miopenCreateConvolutionDescriptor(&convolution);
  int pads[] = {0, 0}, steps[] = {1, 1}, none[] = {0, 1};
  check(miopenInitConvolutionNdDescriptor(convolution, 2, pads, none, steps, 0) == 2, "no step");
  check(miopenInitConvolutionNdDescriptor(convolution, 2, pads, steps, steps, 0) == 0, "init");
  check(miopenConvolutionForward(handle, &one, x.descriptor, x.gpu, w.descriptor, w.gpu, convolution, 1, &zero, y.descriptor, y.gpu, nullptr, 0) == 3, "channels that do not fit");
  check(miopenConvolutionForward(handle, &one, x.descriptor, nullptr, w.descriptor, w.gpu, convolution, 1, &zero, y.descriptor, y.gpu, nullptr, 0) == 3, "no images");
  check(std::string(miopenGetErrorString(6)) == "miopenStatusNotImplemented", "text of a status");
}

int main(int, char **arguments) {
  std::string part = arguments[1];
  check(miopenCreate(&handle) == 0, "handle");
  if (part == "convolutions") convolutions();
  else if (part == "images") images();
  else if (part == "tensors") tensors();
  else if (part == "fusion") fusion();
  else if (part == "refused") refused();
  return wrong;
}
