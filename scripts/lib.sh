# What scripts/chat, scripts/test and .ci/run share. Sourced, never run.
#
# Output: progress goes to stderr, one line a step; the long output of a step goes to a file under
# build/log, whose end is shown when the step fails.

kvik_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
kvik_log=$kvik_root/build/log

# What one clone has compiled another need not compile again.
export CCACHE_BASEDIR=$kvik_root CCACHE_NOHASHDIR=1

say() { printf 'kvik: %s\n' "$*" >&2; }

die() {
    say "$*"
    exit 1
}

# quietly NAME COMMAND...: runs the command with its output in build/log/NAME.log.
quietly() {
    local name=$1 status=0
    shift
    mkdir -p "$kvik_log"
    "$@" >"$kvik_log/$name.log" 2>&1 </dev/null || status=$?
    if [ "$status" -ne 0 ]; then
        say "$name failed with status $status; the end of build/log/$name.log:"
        tail -n 40 "$kvik_log/$name.log" >&2
    fi
    return "$status"
}

# build PRESET TARGET...: configures and builds; ninja does nothing where nothing changed.
build() {
    local preset=$1 started=$SECONDS
    shift
    local first=
    [ -e "$kvik_root/build/$preset/build.ninja" ] || first=", minutes the first time"
    say "building $* (build/$preset)$first"
    (cd "$kvik_root" &&
        quietly "configure-$preset" cmake --preset "$preset" &&
        quietly "build-$preset" cmake --build --preset "$preset" --target "$@") || return 1
    local took=$((SECONDS - started))
    [ "$took" -lt 5 ] || say "built in $took s"
}
