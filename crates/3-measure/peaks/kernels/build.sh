#!/usr/bin/env bash
# Builds the code objects of peaks.hip with clang 22 (no ROCm needed).
set -euo pipefail
cd "$(dirname "$0")"
for pair in cdna1:gfx908 cdna2:gfx90a cdna3:gfx942 cdna4:gfx950; do
  generation=${pair%:*} target=${pair#*:}
  clang++-22 -x hip --cuda-device-only --offload-arch="$target" -nogpulib -nogpuinc -O3 --no-gpu-bundle-output \
    peaks.hip -o "peaks.$generation.hsaco"
done
