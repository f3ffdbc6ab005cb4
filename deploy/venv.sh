#!/bin/sh
# Make the virtual environment "$1" with a Python that is new enough, or say in one line what to install.
set -eu

venv=$1
wanted="3.11"

new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

python=""
# PYTHON=… make demo: the one that is asked for, or none.
for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
    if command -v "$candidate" >/dev/null 2>&1 && new_enough "$candidate"; then
        python=$candidate
        break
    fi
done

if [ -z "$python" ]; then
    case "$(uname -s)" in
        Darwin) how="brew install python@3.13" ;;
        *) how="sudo apt install python3 python3-venv" ;;
    esac
    echo "Keryx needs Python $wanted or newer, and none is on the PATH. Install one: $how" >&2
    exit 1
fi

if ! "$python" -c 'import venv, ensurepip' >/dev/null 2>&1; then
    echo "$python lacks the venv module. Install it: sudo apt install python3-venv" >&2
    exit 1
fi

# Made aside and moved would break the scripts' paths; a half-made one is removed instead.
if ! "$python" -m venv "$venv"; then
    rm -rf "$venv"
    echo "$python could not make $venv; the lines above say why." >&2
    exit 1
fi
