#!/usr/bin/env bash
# Builds the wheel, installs it into an empty environment, and trains and tags with it, away from the repository:
#   tests/smoke/wheel.sh PYTHON [PYTHON...]
# The first interpreter also tries the lowest version of each dependency that pyproject.toml allows.
set -euo pipefail
repository="$(cd "$(dirname "$0")/../.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

install() { # BIN REQUIREMENT...
  "$1/python" -m pip install -q --no-compile --disable-pip-version-check "${@:2}"
}

train_and_tag() { # BIN
  local folder
  folder="$(mktemp -d -p "$work")"
  (
    cd "$folder"
    "$1/python" -c 'import sys, tagwright; assert tagwright.__file__.startswith(sys.prefix), tagwright.__file__'
    COLUMNS=200 "$1/tagwright" fit --help >help.txt
    grep -q 'Tokens and tags train' help.txt || { echo "no help of arguments" && exit 1; } # older typer drops it
    printf 'text\nan audio cable for the kitchen\n' >mails.csv
    "$1/tagwright" fit shop --encoder bow --epochs 1 --out model >log.txt 2>&1 || { cat log.txt && exit 1; }
    "$1/tagwright" tag model mails.csv --out tagged.csv 2>log.txt || { cat log.txt && exit 1; }
    test -s model.run/report.html
    grep -q '^"an audio cable for the kitchen"' tagged.csv
  )
}

for python in "$@"; do
  environment="$(mktemp -d -p "$work")"
  "$python" -m venv "$environment"
  if [ ! -d "$work/wheel" ]; then
    "$environment/bin/python" -m pip wheel -q --no-deps -w "$work/wheel" "$repository"
  fi
  install "$environment/bin" "$(grep '^torch==' "$repository/constraints.txt")"
  install "$environment/bin" "$work"/wheel/*.whl
  train_and_tag "$environment/bin"
  echo "smoke: $("$python" --version), newest dependencies: good"
  if [ "$python" = "$1" ]; then
    "$environment/bin/python" "$repository/tests/smoke/lowest.py" >"$work/lowest.txt"
    install "$environment/bin" -r "$work/lowest.txt"
    train_and_tag "$environment/bin"
    echo "smoke: $("$python" --version), lowest dependencies: good"
  fi
  rm -rf "$environment"
done
