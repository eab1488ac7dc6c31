#!/bin/sh
# Make an environment for each framework, and for Dask, in elsewhere/.envs: sh elsewhere/environments.sh [NAME ...]
# It uses uv if it is on PATH, otherwise python3's venv and pip. PYTHON selects the interpreter.
set -eu
cd "$(dirname "$0")"
uv=$(command -v uv || true)
python=${PYTHON:-python3}
for name in ${*:-langgraph agents_sdk pydantic_ai llamaindex adk dbos dask}; do
    folder=.envs/$name
    if [ "$folder/.installed" -nt "$name/requirements.txt" ]; then
        continue
    fi
    echo "Installing $name into elsewhere/$folder."
    if [ -n "$uv" ]; then
        "$uv" venv --quiet --allow-existing --python "$python" "$folder"
        VIRTUAL_ENV=$PWD/$folder "$uv" pip install --quiet --requirement "$name/requirements.txt"
    else
        "$python" -m venv "$folder"
        "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$name/requirements.txt"
    fi
    touch "$folder/.installed"
done
