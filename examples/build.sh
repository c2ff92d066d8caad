#!/usr/bin/env bash
# Builds the code objects of an example with clang 22 (no ROCm needed): examples/build.sh [NAME…]
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- tiled_matmul vector_copy
for name in "$@"; do
  for target in gfx90a gfx942 gfx950; do
    clang++-22 -x hip --cuda-device-only --offload-arch="$target" -nogpulib -nogpuinc -O3 -g \
      -fdebug-compilation-dir=. --no-gpu-bundle-output \
      "examples/$name/$name.hip" -o "examples/$name/$name.$target.hsaco"
  done
done
