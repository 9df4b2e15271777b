# expect.py CODE COMMAND...: the command must exit with CODE; what it wrote to
# standard error comes out on standard output, after its own.
import subprocess, sys

code, command = int(sys.argv[1]), sys.argv[2:]
p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
sys.stdout.buffer.write(p.stdout + p.stderr)
sys.stdout.flush()
if p.returncode != code:
    sys.exit(print("expect: exit code %d, not %d" % (p.returncode, code)) or 1)
