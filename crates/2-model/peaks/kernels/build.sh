#!/usr/bin/env bash
# Builds the code objects of peaks.hip with clang 22 (no ROCm needed).
set -euo pipefail
cd "$(dirname "$0")"
for target in gfx90a gfx942 gfx950; do
  clang++-22 -x hip --cuda-device-only --offload-arch="$target" -nogpulib -nogpuinc -O3 --no-gpu-bundle-output \
    peaks.hip -o "peaks.$target.hsaco"
done
