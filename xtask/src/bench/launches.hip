// Launches an empty kernel many times: launches.hip COUNT same|other. Prints the microseconds of a launch, and KiB of memory of
// the process after a tenth of the launches and at the end.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

__global__ void empty(int) {}

static double seconds() {
  timespec now;
  // The time of the computer, whatever clock the program sees.
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

static long resident() {
  char line[256];
  long found = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file)) sscanf(line, "VmRSS: %ld", &found);
  if (file) fclose(file);
  return found;
}

int main(int, char **words) {
  int count = atoi(words[1]);
  bool other = !strcmp(words[2], "other");
  int *memory;
  (void)hipMalloc(&memory, 1 << 20);
  double start = 0;
  long before = 0;
  for (int i = 0; i < count; i++) {
    if (i == count / 10) start = seconds(), before = resident();
    empty<<<1, 64>>>(other ? i : 0);
  }
  (void)hipDeviceSynchronize();
  printf("%.1f %ld %ld\n", (seconds() - start) * 1e6 / (count - count / 10), before, resident());
  return hipGetLastError() != hipSuccess;
}
