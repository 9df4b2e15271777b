#!/usr/bin/env python3
"""steps.py action|gitlab FILE TOP OBJECTS ARCH: run the steps of a CI template as the
service would, in the current folder, on the folder OBJECTS. Exit: the first
failing step's."""
import re
import subprocess
import sys

import yaml


def run(name, script, environment):
    print("--- " + name, flush=True)
    done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], env=environment)
    if done.returncode:
        sys.exit(done.returncode)


def action(document, top, inputs, base):
    """GitHub: ${{ inputs.x }} in env; GITHUB_ACTION_PATH is the action's folder."""
    values = {k: str(v.get("default", "")) for k, v in document["inputs"].items()}
    required = {k for k, v in document["inputs"].items() if v.get("required")}
    assert required <= set(inputs), "an input is missing"
    values.update(inputs)
    assert document["runs"]["using"] == "composite"
    for step in document["runs"]["steps"]:
        assert step["shell"] == "bash"
        env = dict(base, GITHUB_ACTION_PATH=top)
        for k, v in step.get("env", {}).items():
            env[k] = re.sub(r"\$\{\{ *inputs\.(\w+) *\}\}", lambda m: values[m.group(1)], v)
            assert "${{" not in env[k], "an expression is not known: " + v
        run(step["name"], step["run"], env)


def gitlab(document, top, inputs, base):
    job = document[".framekit"]
    env = dict(base, **{k: str(v) for k, v in job["variables"].items()})
    env.update(FRAMEKIT=top, OBJECTS=inputs["objects"], ARCH=inputs["arch"])
    run("before_script", "\n".join(job["before_script"]), env)
    run("script", "\n".join(job["script"]), env)
    assert job["artifacts"]["reports"]["junit"] == "framekit.xml"


def main():
    import os
    kind, path, top, objects, arch = sys.argv[1:]
    with open(path) as f:
        document = yaml.safe_load(f)
    {"action": action, "gitlab": gitlab}[kind](document, top, {"objects": objects, "arch": arch},
                                               dict(os.environ))


if __name__ == "__main__":
    main()
