// Fourier transforms, random numbers and the libraries that show GPUs, compared with the CPU and with HIP.
// The argument names a part; the exit code is the number of results and statuses that are wrong. Prototypes are
// written after the public documentation; handles and enumerations are plain numbers, as they are in a call.
#include <hip/hip_runtime.h>
#include "checking.h"
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
int hipfftPlan1d(void **, int, int, int);
int hipfftPlan3d(void **, int, int, int, int);
int hipfftPlanMany(void **, int, int *, int *, int, int, int *, int, int, int, int);
int hipfftExecC2C(void *, const void *, void *, int);
int hipfftExecZ2Z(void *, const void *, void *, int);
int hipfftExecR2C(void *, const void *, void *);
int hipfftExecC2R(void *, const void *, void *);
int hipfftDestroy(void *);
int hipfftXtMalloc(void *, void **, int);
int rocfft_setup();
int rocfft_plan_create(void **, int, int, int, size_t, const size_t *, size_t, void *);
int rocfft_plan_destroy(void *);
int rocfft_plan_description_create(void **);
int rocfft_plan_description_set_scale_factor(void *, double);
int rocfft_plan_description_set_data_layout(void *, int, int, const size_t *, const size_t *, size_t, const size_t *, size_t, size_t, const size_t *, size_t);
int rocfft_plan_get_work_buffer_size(void *, size_t *);
int rocfft_execution_info_create(void **);
int rocfft_execution_info_set_stream(void *, void *);
int rocfft_execute(void *, void **, void **, void *);
int rocfft_get_version_string(char *, size_t);
int hiprandCreateGenerator(void **, int);
int hiprandCreateGeneratorHost(void **, int);
int hiprandSetPseudoRandomGeneratorSeed(void *, unsigned long long);
int hiprandGenerate(void *, unsigned *, size_t);
int hiprandGenerateUniform(void *, float *, size_t);
int hiprandGenerateNormalDouble(void *, double *, size_t, double, double);
int hiprandGenerateLogNormal(void *, float *, size_t, float, float);
int hiprandGeneratePoisson(void *, unsigned *, size_t, double);
int hiprandDestroyGenerator(void *);
int hsa_init();
int hsa_iterate_agents(int (*)(uint64_t, void *), void *);
int hsa_agent_get_info(uint64_t, int, void *);
int hsa_agent_iterate_isas(uint64_t, int (*)(uint64_t, void *), void *);
int hsa_isa_get_info_alt(uint64_t, int, void *);
int hsa_queue_create(uint64_t, uint32_t, uint32_t, void *, void *, uint32_t, uint32_t, void **);
int rsmi_init(uint64_t);
int rsmi_num_monitor_devices(uint32_t *);
int rsmi_dev_name_get(uint32_t, char *, size_t);
int rsmi_dev_memory_total_get(uint32_t, int, uint64_t *);
int rsmi_dev_power_ave_get(uint32_t, uint32_t, uint64_t *);
int amdsmi_init(uint64_t);
int amdsmi_get_socket_handles(uint32_t *, void **);
int amdsmi_get_processor_handles(void *, uint32_t *, void **);
int amdsmi_get_gpu_device_uuid(void *, unsigned *, char *);
int roctxRangePushA(const char *);
int roctxRangePop();
int miopenCreate(void **);
int miopenDestroy(void *);
int miopenCreateRNNDescriptor(void **);
}

typedef std::complex<double> Number;

// The transform of three axes by its definition, axis by axis.
static std::vector<Number> transform(std::vector<Number> x, const int (&sizes)[3], int sign) {
  size_t inner = x.size();
  for (int axis = 0; axis < 3; axis++) {
    int n = sizes[axis];
    inner /= n;
    std::vector<Number> y(x.size());
    for (size_t i = 0; i < x.size(); i++) {
      size_t k = i / inner % n, first = i - k * inner;
      for (int j = 0; j < n; j++) y[i] += x[first + j * inner] * std::polar(1.0, sign * 2 * M_PI * double(j * k % n) / n);
    }
    x = y;
  }
  return x;
}
static double scale(const std::vector<Number> &x) {
  double most = 1;
  for (Number it : x) most = std::max(most, std::abs(it));
  return most;
}

template <class T, class Exec> static void complex_transform(Exec exec, int kind, const int (&sizes)[3], int sign, double by) {
  size_t count = size_t(sizes[0]) * sizes[1] * sizes[2];
  std::vector<Number> x(count);
  std::vector<std::complex<T>> stored(count);
  for (size_t i = 0; i < count; i++) stored[i] = {T(next()), T(next())}, x[i] = Number(stored[i]);
  Array<std::complex<T>> a(stored);
  void *plan;
  check(hipfftPlan3d(&plan, sizes[0], sizes[1], sizes[2], kind) == 0, "plan");
  check(exec(plan, a.gpu, a.gpu, sign) == 0, "exec");
  std::vector<Number> expected = transform(x, sizes, sign);
  std::vector<std::complex<T>> got = a.get();
  bool ok = true;
  for (size_t i = 0; i < count; i++) ok &= std::abs(Number(got[i]) - expected[i]) < by * scale(expected);
  std::string what = "transform of " + std::to_string(sizes[0]) + " " + std::to_string(sizes[1]) + " " + std::to_string(sizes[2]);
  check(ok, what.c_str());
  check(hipfftDestroy(plan) == 0 && hipfftDestroy(plan) == 1, "destroy");
}

static void transforms() {
  enum { C2C = 0x29, R2C = 0x2a, C2R = 0x2c, Z2Z = 0x69 };
  for (int sign : {-1, 1}) {
    complex_transform<float>(hipfftExecC2C, C2C, {1, 1, 256}, sign, 1e-5);
    complex_transform<float>(hipfftExecC2C, C2C, {4, 6, 35}, sign, 1e-5);
    complex_transform<double>(hipfftExecZ2Z, Z2Z, {3, 1, 97}, sign, 1e-12);
  }
  // Real ones, three batches with distances of their own, and back.
  for (int n : {16, 15}) {
    int half = n / 2 + 1, batches = 3, in_distance = n + 4, out_distance = half + 1, embed[1] = {n};
    std::vector<float> x(batches * in_distance);
    for (float &it : x) it = float(next());
    Array<float> real(x), back(batches * in_distance);
    Array<std::complex<float>> made(batches * out_distance);
    void *forward, *backward;
    check(hipfftPlanMany(&forward, 1, &n, embed, 1, in_distance, embed, 1, out_distance, R2C, batches) == 0, "plan many");
    check(hipfftPlanMany(&backward, 1, &n, embed, 1, out_distance, embed, 1, in_distance, C2R, batches) == 0, "plan back");
    check(hipfftExecR2C(forward, real.gpu, made.gpu) == 0 && hipfftExecC2R(backward, made.gpu, back.gpu) == 0, "real");
    std::vector<std::complex<float>> got = made.get();
    std::vector<float> again = back.get();
    bool ok = true;
    for (int batch = 0; batch < batches; batch++) {
      std::vector<Number> line(n);
      for (int i = 0; i < n; i++) line[i] = x[batch * in_distance + i];
      std::vector<Number> expected = transform(line, {1, 1, n}, -1);
      for (int k = 0; k < half; k++) ok &= std::abs(Number(got[batch * out_distance + k]) - expected[k]) < 1e-5 * n;
      for (int i = 0; i < n; i++) ok &= std::fabs(again[batch * in_distance + i] / n - x[batch * in_distance + i]) < 1e-5;
    }
    check(ok, "real transform and back");
  }
  // In place, rows have room for the transform.
  int n = 12, half = 7;
  std::vector<float> rows(2 * half * 2);
  for (float &it : rows) it = float(next());
  Array<float> place(rows);
  void *plan;
  check(hipfftPlan1d(&plan, n, R2C, 2) == 0 && hipfftExecR2C(plan, place.gpu, place.gpu) == 0, "in place");
  std::vector<float> got = place.get();
  bool ok = true;
  for (int batch = 0; batch < 2; batch++) {
    std::vector<Number> line(n);
    for (int i = 0; i < n; i++) line[i] = rows[batch * 2 * half + i];
    std::vector<Number> expected = transform(line, {1, 1, n}, -1);
    for (int k = 0; k < half; k++) ok &= std::abs(Number(got[batch * 2 * half + 2 * k], got[batch * 2 * half + 2 * k + 1]) - expected[k]) < 1e-5 * n;
  }
  check(ok, "in place");
  check(hipfftPlan1d(&plan, 0, C2C, 1) == 8 && hipfftPlan1d(&plan, 8, 5, 1) == 4, "no size, no type");
  void *nothing;
  check(hipfftXtMalloc(nullptr, &nothing, 0) == 16, "not supported");
}

// rocFFT's own interface: lengths with the fastest first, a factor, offsets and distances, in place and not.
static void native() {
  enum { IN_PLACE, APART };
  enum { FORWARD, INVERSE, REAL_FORWARD };
  char version[32];
  check(rocfft_setup() == 0 && rocfft_get_version_string(version, sizeof version) == 0 && rocfft_get_version_string(version, 2) != 0, "version");
  // Rows of 5 elements, 3 of them, 2 batches; the input begins at element 7, a column is 2 elements from the next.
  size_t lengths[] = {5, 3}, offset = 7, strides[] = {2, 12}, packed[] = {1, 5};
  std::vector<std::complex<double>> x(7 + 2 * 40);
  for (auto &it : x) it = {next(), next()};
  Array<std::complex<double>> from(x), to(30), back(30);
  void *description, *plan, *again, *info;
  check(rocfft_plan_description_create(&description) == 0, "description");
  check(rocfft_plan_description_set_scale_factor(description, 0.5) == 0, "factor");
  check(rocfft_plan_description_set_data_layout(description, 0, 0, &offset, nullptr, 2, strides, 40, 2, packed, 15) == 0, "layout");
  check(rocfft_plan_create(&plan, APART, FORWARD, 1, 2, lengths, 2, description) == 0, "plan");
  check(rocfft_plan_create(&again, IN_PLACE, INVERSE, 1, 2, lengths, 2, nullptr) == 0, "plan back");
  check(rocfft_execution_info_create(&info) == 0 && rocfft_execution_info_set_stream(info, nullptr) == 0, "info");
  size_t bytes = 1;
  check(rocfft_plan_get_work_buffer_size(plan, &bytes) == 0 && bytes == 0, "no work buffer");
  void *in[] = {from.gpu}, *out[] = {to.gpu};
  check(rocfft_execute(plan, in, out, info) == 0, "execute");
  auto got = to.get();
  check(rocfft_execute(again, out, nullptr, nullptr) == 0, "execute back");
  auto returned = to.get();
  bool ok = true;
  for (int batch = 0; batch < 2; batch++) {
    std::vector<Number> rows(15);
    for (int r = 0; r < 3; r++) for (int c = 0; c < 5; c++) rows[r * 5 + c] = x[7 + batch * 40 + r * 12 + c * 2];
    std::vector<Number> expected = transform(rows, {1, 3, 5}, -1);
    for (int i = 0; i < 15; i++) ok &= std::abs(got[batch * 15 + i] - 0.5 * expected[i]) < 1e-12 && std::abs(returned[batch * 15 + i] - 7.5 * rows[i]) < 1e-12;
  }
  check(ok, "transform and back");
  // Real rows in place have room for the transform.
  size_t length = 12;
  std::vector<float> row(14);
  for (float &it : row) it = float(next());
  Array<float> place(row);
  void *real, *at[] = {place.gpu};
  check(rocfft_plan_create(&real, IN_PLACE, REAL_FORWARD, 0, 1, &length, 1, nullptr) == 0 && rocfft_execute(real, at, at, nullptr) == 0, "real");
  std::vector<Number> expected = transform(std::vector<Number>(row.begin(), row.begin() + 12), {1, 1, 12}, -1);
  auto made = place.get();
  for (int k = 0; k < 7; k++) ok &= std::abs(Number(made[2 * k], made[2 * k + 1]) - expected[k]) < 1e-4;
  check(ok, "real in place");
  check(rocfft_plan_create(&real, APART, FORWARD, 2, 1, &length, 1, nullptr) != 0 && rocfft_plan_destroy(plan) == 0 && rocfft_plan_destroy(plan) != 0, "refused");
}

// Mean and deviation.
template <class T> static void moments(const std::vector<T> &x, double mean, double deviation, double by, const char *what) {
  double sum = 0, squares = 0;
  for (T it : x) sum += it;
  for (T it : x) squares += (it - sum / x.size()) * (it - sum / x.size());
  double got = sum / x.size(), spread = std::sqrt(squares / x.size());
  if (std::fabs(got - mean) > by || std::fabs(spread - deviation) > by) printf("%s: %g +- %g, not %g +- %g\n", what, got, spread, mean, deviation);
  check(std::fabs(got - mean) <= by && std::fabs(spread - deviation) <= by, what);
}

static void random_numbers() {
  size_t n = 20001;
  void *generator, *again, *on_host;
  Array<float> f(n), g(n);
  Array<double> d(n);
  Array<unsigned> u(n);
  check(hiprandCreateGenerator(&generator, 400) == 0 && hiprandCreateGenerator(&again, 401) == 0, "generators");
  check(hiprandSetPseudoRandomGeneratorSeed(generator, 7) == 0 && hiprandSetPseudoRandomGeneratorSeed(again, 7) == 0, "seeds");
  check(hiprandGenerateUniform(generator, f.gpu, n) == 0 && hiprandGenerateUniform(again, g.gpu, n) == 0, "uniform");
  std::vector<float> x = f.get();
  check(x == g.get(), "equal seeds give equal numbers");
  check(*std::min_element(x.begin(), x.end()) > 0 && *std::max_element(x.begin(), x.end()) <= 1, "range");
  moments(x, 0.5, std::sqrt(1 / 12.0), 0.01, "uniform");
  check(hiprandGenerateUniform(generator, g.gpu, n) == 0 && g.get() != x, "numbers go on");
  check(hiprandGenerateNormalDouble(generator, d.gpu, n, 3, 2) == 0, "normal");
  std::vector<double> normal = d.get();
  moments(normal, 3, 2, 0.05, "normal");
  double within = std::count_if(normal.begin(), normal.end(), [](double it) { return std::fabs(it - 3) < 2; });
  check(std::fabs(within / n - 0.6827) < 0.01, "normal within one deviation");
  check(hiprandGenerateLogNormal(generator, f.gpu, n, 0.5f, 0.25f) == 0, "log normal");
  std::vector<float> logs = f.get();
  for (float &it : logs) it = std::log(it);
  moments(logs, 0.5, 0.25, 0.01, "log normal");
  check(hiprandGeneratePoisson(generator, u.gpu, n, 6.5) == 0, "poisson");
  moments(u.get(), 6.5, std::sqrt(6.5), 0.08, "poisson");
  check(hiprandGenerate(generator, u.gpu, n) == 0, "words");
  double bits = 0;
  for (unsigned it : u.get()) bits += __builtin_popcount(it);
  check(std::fabs(bits / n - 16) < 0.1, "words");
  std::vector<float> host(n);
  check(hiprandCreateGeneratorHost(&on_host, 400) == 0 && hiprandSetPseudoRandomGeneratorSeed(on_host, 7) == 0, "host");
  check(hiprandGenerateUniform(on_host, host.data(), n) == 0 && host == x, "numbers for the host");
  check(hiprandCreateGenerator(&again, 500) == 1000, "quasi-random numbers are not supported");
  check(hiprandDestroyGenerator(generator) == 0 && hiprandGenerateUniform(generator, f.gpu, n) == 101, "destroyed");
}

static int agent(uint64_t agent, void *to) {
  auto &names = *(std::vector<std::string> *)to;
  char name[64];
  int kind;
  if (hsa_agent_get_info(agent, 0, name) || hsa_agent_get_info(agent, 17, &kind)) return 1;
  if (kind != 1) return 0;
  names.push_back(name);
  uint32_t units = 0;
  hipDeviceProp_t properties;
  hipGetDeviceProperties(&properties, 0);
  check(hsa_agent_get_info(agent, 0xA002, &units) == 0 && int(units) == properties.multiProcessorCount, "compute units");
  return hsa_agent_iterate_isas(agent, [](uint64_t isa, void *to) {
    uint32_t length;
    if (hsa_isa_get_info_alt(isa, 0, &length)) return 1;
    std::vector<char> name(length);
    if (hsa_isa_get_info_alt(isa, 1, name.data())) return 1;
    ((std::vector<std::string> *)to)->push_back(name.data());
    return 0;
  }, to);
}

static void presence() {
  hipDeviceProp_t properties;
  hipGetDeviceProperties(&properties, 0);
  int devices;
  hipGetDeviceCount(&devices);
  std::vector<std::string> names;
  check(hsa_init() == 0 && hsa_iterate_agents(agent, &names) == 0, "agents");
  check(int(names.size()) == 2 * devices && names[1] == "amdgcn-amd-amdhsa--" + std::string(properties.gcnArchName), "names");
  void *queue;
  check(hsa_queue_create(2, 64, 0, nullptr, nullptr, 0, 0, &queue) == 0x1000, "queues are not supported");
  uint32_t count = 0, sockets = 0, processors = 8;
  check(rsmi_init(0) == 0 && rsmi_num_monitor_devices(&count) == 0 && int(count) == devices, "rocm_smi");
  char name[64];
  uint64_t bytes, power;
  check(rsmi_dev_name_get(0, name, sizeof name) == 0 && name == std::string(properties.name), "name");
  check(rsmi_dev_memory_total_get(0, 0, &bytes) == 0 && bytes == properties.totalGlobalMem, "memory");
  check(rsmi_dev_power_ave_get(0, 0, &power) == 2 && rsmi_dev_name_get(99, name, sizeof name) == 1, "power, other GPU");
  check(amdsmi_init(2) == 0 && amdsmi_get_socket_handles(&sockets, nullptr) == 0 && sockets == 1, "sockets");
  void *socket, *handles[8];
  char uuids[2][64] = {"", ""};
  check(amdsmi_get_socket_handles(&sockets, &socket) == 0 && amdsmi_get_processor_handles(socket, &processors, handles) == 0, "processors");
  check(int(processors) == devices, "processors");
  for (unsigned i = 0; i < processors && i < 2; i++) {
    unsigned length = 64;
    check(amdsmi_get_gpu_device_uuid(handles[i], &length, uuids[i]) == 0 && strlen(uuids[i]) + 1 == length, "uuid");
  }
  check(processors < 2 || strcmp(uuids[0], uuids[1]) != 0, "uuids differ");
  check(roctxRangePushA("outer") == 0 && roctxRangePushA("inner") == 1 && roctxRangePop() == 1 && roctxRangePop() == 0 && roctxRangePop() == -1, "ranges");
  void *handle;
  int size;
  check(miopenCreate(&handle) == 0 && miopenCreateRNNDescriptor(&handle) == 6 && miopenDestroy(handle) == 0, "miopen");
}

int main(int count, char **arguments) {
  std::string part = count > 1 ? arguments[1] : "";
  if (part == "transforms") transforms();
  else if (part == "native") native();
  else if (part == "random") random_numbers();
  else if (part == "presence") presence();
  else check(false, "no such part");
  return wrong;
}
