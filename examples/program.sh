#!/usr/bin/env bash
# Builds the program of an example: examples/program.sh NAME [TARGET…] [OPTION…]
#
# The result is target/examples/NAME (or OUTPUT with -o OUTPUT); NAME may be any HIP source file. The hipcc of ROCm builds it if it knows the
# targets. Otherwise Debian's packages do: clang-19 clang-tools-19 lld-19 llvm-15 libamdhip64-dev rocm-device-libs, and clang-22 lld-22 for
# gfx950; what these lack is made beside the result.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
output=
if [ "${1:-}" = -o ]; then output=$2; shift 2; fi
[ $# -gt 0 ] || { sed -n 2p "$0"; exit 64; }
source=$1; shift
[ -f "$source" ] || source=$root/examples/$source/$source.hip
targets=()
while [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; do targets+=("$1"); shift; done
[ ${#targets[@]} -gt 0 ] || targets=(gfx90a gfx942)
name=$(basename "$source"); name=${name%.*}
output=${output:-$root/target/examples/$name}
mkdir -p "$(dirname "$output")"

options=(-w -x hip -O3 -g -munsafe-fp-atomics "$@")
for target in "${targets[@]}"; do options+=("--offload-arch=$target"); done
# A compiler counts if it can build for all targets: an empty kernel, without headers and libraries.
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
echo 'extern "C" __attribute__((global)) void empty() {}' > "$empty/empty.hip"
can_build() {
  local target
  command -v "$1" > /dev/null || return 1
  for target in "${targets[@]}"; do
    "$1" -x hip --cuda-device-only -nogpuinc -nogpulib "--offload-arch=$target" -c "$empty/empty.hip" -o "$empty/empty.o" 2> /dev/null || return 1
  done
}
if can_build hipcc; then
  hipcc "${options[@]}" "$source" -o "$output"
  exit
fi
compiler=
for candidate in clang++-19 clang++-22; do
  if can_build "$candidate"; then compiler=$candidate; break; fi
done
if [ -z "$compiler" ]; then
  echo "no compiler of this machine can build for ${targets[*]}" >&2
  echo "hint: install ROCm, or clang-19 lld-19 clang-22 lld-22" >&2
  exit 1
fi

# Debian's device libraries lack the files of newer targets and of code object 6. They want from the compiler a function
# and a setting (denormals are kept) that clang 22 no longer gives.
# They are named after this script, so that another version makes its own.
bitcode=$(dirname "$output")/bitcode-$(cksum < "$0" | cut -d' ' -f1)
if [ ! -d "$bitcode" ]; then
  making=$(mktemp -d "$bitcode.XXXXXX")
  cp /usr/lib/x86_64-linux-gnu/amdgcn/bitcode/*.bc "$making"
  while read -r file symbol value; do
    echo "@$symbol = linkonce_odr protected local_unnamed_addr addrspace(4) constant i32 $value, align 4" > "$making/$file.ll"
    llvm-as-15 "$making/$file.ll" -o "$making/$file.bc"
  done << END
oclc_isa_version_942 __oclc_ISA_version 9402
oclc_isa_version_950 __oclc_ISA_version 9500
oclc_abi_version_600 __oclc_ABI_version 600
END
  cat > "$making/clang22.h" << 'END'
#include <hip/hip_runtime.h>
extern "C" __constant__ const unsigned char __oclc_daz_opt = 0;
extern "C" __device__ void __atomic_work_item_fence(__cl_mem_fence_flags, __memory_order, __memory_scope) {
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
}
END
  # Another build may have been faster.
  mv -T "$making" "$bitcode" 2> /dev/null || rm -r "$making"
fi
if [ "$compiler" = clang++-22 ]; then
  options+=(-D__AMDGCN_WAVEFRONT_SIZE=64 -include "$bitcode/clang22.h")
fi
"$compiler" "${options[@]}" --rocm-path=/usr "--rocm-device-lib-path=$bitcode" "$source" -o "$output" -lamdhip64
