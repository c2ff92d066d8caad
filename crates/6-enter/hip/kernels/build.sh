#!/usr/bin/env bash
# Builds the kernels of the stand-in libraries with clang 22 (no ROCm needed): one compressed bundle for all targets.
set -euo pipefail
cd "$(dirname "$0")"
targets=()
for target in gfx908 gfx90a gfx942 gfx950; do targets+=("--offload-arch=$target"); done
for source in blas collectives dnn fft solver sparse; do
  clang++-22 -x hip --cuda-device-only "${targets[@]}" -nogpulib -nogpuinc -O2 -std=c++17 --gpu-bundle-output \
    --offload-compress -ffp-contract=fast-honor-pragmas "$source.hip" -o "$source.bundle"
done
