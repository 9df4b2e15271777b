# bounded.py MIB SECONDS COMMAND...: run it; its exit code, or 99 with a reason
# when it used more memory or time, or died of a signal.
import resource, subprocess, sys

mib, seconds, command = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
try:
    code = subprocess.run(command, timeout=seconds).returncode
except subprocess.TimeoutExpired:
    sys.exit(print("bounded: more than %s seconds" % seconds, file=sys.stderr) or 99)
used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
if used > mib:
    sys.exit(print("bounded: %.0f MiB, allowed %d" % (used, mib), file=sys.stderr) or 99)
if code < 0:
    sys.exit(print("bounded: killed by signal %d" % -code, file=sys.stderr) or 99)
sys.exit(code)
