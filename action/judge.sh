#!/usr/bin/env bash
# Judges the artefacts of a change: report, annotations, SARIF, and the exit code of the gate as an output.
# The inputs of action.yml are ROCKHOUND and ROCKHOUND_*.
set -euo pipefail

work=$(mktemp -d "${RUNNER_TEMP:-/tmp}/rockhound.XXXXXX")
report=$work/report.md

fail() {
    echo "::error title=Rockhound::$1"
    exit 1
}

# Makes the command available: from an archive, a wheel, or as it is.
install() {
    case $ROCKHOUND in
    *.tar.gz | *.tgz)
        [ -f "$ROCKHOUND" ] || fail "no archive $ROCKHOUND"
        tar -xzf "$ROCKHOUND" -C "$work"
        rockhound=$(find "$work" -path '*/bin/rockhound' -type f | head -n 1)
        [ -n "$rockhound" ] || fail "$ROCKHOUND has no bin/rockhound"
        ;;
    *.whl)
        [ -f "$ROCKHOUND" ] || fail "no wheel $ROCKHOUND"
        python3 -m venv "$work/venv"
        "$work/venv/bin/python" -m pip install --quiet --no-index --no-deps "$ROCKHOUND"
        rockhound=$work/venv/bin/rockhound
        ;;
    *)
        rockhound=$(command -v "$ROCKHOUND") || fail "no command $ROCKHOUND"
        ;;
    esac
}

install
# Lists are separated by spaces and line ends; file names with spaces are given through a folder.
read -r -d '' -a head <<<"$ROCKHOUND_HEAD" || true
read -r -d '' -a base <<<"${ROCKHOUND_BASE:-}" || true
read -r -d '' -a args <<<"${ROCKHOUND_ARGS:-}" || true
read -r -d '' -a conditions <<<"${ROCKHOUND_FAIL_ON:-}" || true
read -r -a command <<<"${ROCKHOUND_COMMAND:-inspect}"
[ ${#head[@]} -gt 0 ] || fail "the input head is empty"

inputs=("${head[@]}")
compare=()
case ${command[0]} in
inspect)
    if [ ${#base[@]} -gt 0 ]; then
        [ ${#base[@]} -eq 1 ] && [ ${#head[@]} -eq 1 ] ||
            fail "a comparison of code needs one file or folder in base and one in head"
        compare=(diff "${base[0]}" "${head[0]}")
        [ -z "${ROCKHOUND_THRESHOLDS:-}" ] || compare+=(--thresholds "$ROCKHOUND_THRESHOLDS")
    fi
    ;;
analyze)
    inputs=()
    for path in "${base[@]}" "${head[@]}"; do inputs+=(-p "$path"); done
    ;;
trace | comm)
    [ ${#base[@]} -eq 0 ] || inputs=(--base "${base[0]}" "${head[@]}")
    ;;
judge)
    # The base runs on the same inputs as the candidates; it is no list of known findings.
    [ ${#base[@]} -eq 1 ] || fail "judge needs one variant in base, and candidates in head"
    inputs=("${base[0]}" "${head[@]}")
    base=()
    ;;
tunedb | doctor) ;;
*) fail "unknown command ${command[*]}" ;;
esac

# Without a baseline the findings of the base are known, so that only those of the change fail.
baseline=${ROCKHOUND_BASELINE:-}
if [ -z "$baseline" ] && [ ${#base[@]} -gt 0 ]; then
    known=("${base[@]}")
    if [ "${command[0]}" = analyze ]; then
        known=()
        for path in "${base[@]}"; do known+=(-p "$path"); done
    fi
    "$rockhound" "${command[@]}" "${known[@]}" "${args[@]}" --write-baseline "$work/base.json" \
        >/dev/null 2>"$work/messages" || cat "$work/messages" >&2
    [ ! -f "$work/base.json" ] || baseline=$work/base.json
fi

gate=()
for condition in "${conditions[@]}"; do gate+=(--fail-on "$condition"); done
[ -z "$baseline" ] || gate+=(--baseline "$baseline")
[ -z "${ROCKHOUND_CONFIG:-}" ] || gate+=(--config "$ROCKHOUND_CONFIG")

# The gate itself, with annotations as its output.
code=0
"$rockhound" "${command[@]}" "${inputs[@]}" "${args[@]}" "${gate[@]}" --format github \
    >"$work/annotations" 2>"$work/messages" || code=$?
cat "$work/messages" >&2
[ "$code" -le 2 ] || fail "$(head -n 1 "$work/messages")"
if [ "${ROCKHOUND_ANNOTATE:-true}" = true ]; then
    cat "$work/annotations"
fi

{
    echo '### Rockhound'
    echo
    case $code in
    0) echo 'The gate passes.' ;;
    1) echo 'An input could not be read.' ;;
    2) echo 'The gate **fails**.' ;;
    esac
    if [ -s "$work/messages" ]; then
        echo
        echo '```'
        cat "$work/messages"
        echo '```'
    fi
} >"$report"

if [ ${#compare[@]} -gt 0 ]; then
    changed=0
    "$rockhound" "${compare[@]}" "${args[@]}" --format markdown >"$work/diff.md" 2>"$work/messages" || changed=$?
    cat "$work/messages" >&2
    { echo; cat "$work/diff.md"; } >>"$report"
    # A threshold that is exceeded fails like a finding.
    [ "$changed" -eq 0 ] || [ "$code" -eq 1 ] || code=$changed
fi

{
    echo
    [ ${#compare[@]} -eq 0 ] || printf '<details><summary>all kernels</summary>\n\n'
    # Findings were judged above: this is the table.
    "$rockhound" "${command[@]}" "${inputs[@]}" "${args[@]}" "${gate[@]}" --format markdown 2>"$work/again" || true
    [ ${#compare[@]} -eq 0 ] || printf '\n</details>\n'
} >>"$report"

if [ -n "${ROCKHOUND_SARIF:-}" ]; then
    "$rockhound" "${command[@]}" "${inputs[@]}" "${args[@]}" "${gate[@]}" --format sarif \
        >"$ROCKHOUND_SARIF" 2>"$work/again" || true
fi

cat "$report" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
{
    echo "report=$report"
    echo "code=$code"
} >>"${GITHUB_OUTPUT:-/dev/null}"
