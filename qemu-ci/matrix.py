"""The cells of the matrix architecture x suite, and their three forms: a table
on the terminal, JUnit, and one self-contained HTML page."""
import collections
import html
import re
import xml.etree.ElementTree as ET

from closing import LEFT, skipped_lines

HOST = "host"  # tests that need no architecture, or several at once

# command: what reproduces it
Result = collections.namedtuple("Result", "suite name arch verdict seconds text command")
# arch -> emulator in words; why an architecture does not run, or ""
Column = collections.namedtuple("Column", "name emulator trouble")


def arch_of(name, text, arches):
    """The architecture a test belongs to: the one its REQUIRES lines or its
    path name, HOST when it is none or more than one."""
    said = set()
    for line in re.findall(r"REQUIRES:(.*)", text):
        for feature in re.findall(r"[\w.-]+", line):
            said.update(a for a in arches if feature.endswith("-" + a))
    if not said:
        parts = re.split(r"[-_/.]", name)
        said.update(a for a in arches if a in parts)
    return said.pop() if len(said) == 1 else HOST


class Matrix:
    def __init__(self, columns, results):
        self.columns, self.results = columns, results
        self.cells = collections.defaultdict(list)
        for r in results:
            self.cells[r.suite, r.arch].append(r)
        self.suites = sorted({r.suite for r in results})

    def count(self, verdict, suite=None, arch=None):
        return sum(r.verdict == verdict and suite in (None, r.suite) and arch in (None, r.arch)
                   for r in self.results)

    def cell(self, suite, arch):
        """(text, verdict) of a cell."""
        rs = self.cells[suite, arch]
        if not rs:
            return "-", "none"
        passed, failed, skipped = (sum(r.verdict == v for r in rs) for v in ("passed", "failed", "skipped"))
        text = "%d" % passed
        if failed:
            text += " %d FAILED" % failed
        if skipped:
            text += " (%d skipped)" % skipped
        verdict = "failed" if failed else "passed" if passed else "skipped"
        return "%s %.0fs" % (text, sum(r.seconds for r in rs)), verdict

    def reasons(self):
        out = collections.defaultdict(list)
        for r in self.results:
            if r.verdict == "skipped":
                out[r.text].append(r.name)
        return out

    def left(self):
        """(reason, number on each architecture) for the tests that other tiers run."""
        for why in sorted({r.text for r in self.results if r.text.startswith(LEFT)}):
            yield why, [sum(r.text == why and r.arch == c.name for r in self.results) for c in self.columns]

    def failures(self):
        return [r for r in self.results if r.verdict == "failed"]

    def summary(self):
        return "%d passed, %d failed, %d skipped" % tuple(map(self.count, ("passed", "failed", "skipped")))


# --- terminal ---------------------------------------------------------------------
def text_table(m, color):
    paint = {"failed": "31", "passed": "32", "skipped": "33"} if color else {}
    heads = [c.name for c in m.columns]
    rows = [[(s, "")] + [m.cell(s, a) for a in heads] for s in m.suites]
    rows += [[(why, "")] + [(str(n or "-"), "") for n in counts] for why, counts in m.left()]
    rows.append([("emulator", "")] + [(c.trouble and "!" or c.emulator, "") for c in m.columns])
    table = [[("suite", "")] + [(h, "") for h in heads]] + rows
    widths = [max(len(row[i][0]) for row in table) for i in range(len(table[0]))]
    lines = []
    for row in table:
        cells = []
        for (text, verdict), width in zip(row, widths):
            padded = text.ljust(width)
            code = paint.get(verdict)
            cells.append("\033[%sm%s\033[0m" % (code, padded) if code else padded)
        lines.append("  ".join(cells).rstrip())
    for c in m.columns:
        if c.trouble:
            lines.append("! %s" % c.trouble)
    return "\n".join(lines)


def text_closing(m):
    lines = list(skipped_lines(m.reasons()))
    lines += ["failed: %s\n  reproduce: %s" % (r.name, r.command) for r in m.failures()]
    return "\n".join(lines + [m.summary()])


# --- JUnit --------------------------------------------------------------------------
def clean(text):
    """Without the control characters that XML does not allow."""
    return re.sub("[^\t\n\r -\uD7FF\uE000-\uFFFD]", "?", text)


def junit(m, path):
    root = ET.Element("testsuites")
    for (suite, arch), rs in sorted(m.cells.items()):
        if not rs:
            continue
        node = ET.SubElement(root, "testsuite", name="%s.%s" % (suite, arch), tests=str(len(rs)),
                             failures=str(m.count("failed", suite, arch)),
                             skipped=str(m.count("skipped", suite, arch)),
                             time="%.2f" % sum(r.seconds for r in rs))
        for r in rs:
            case = ET.SubElement(node, "testcase", classname="%s.%s" % (suite, arch), name=r.name,
                                 time="%.2f" % r.seconds)
            if r.verdict == "failed":
                failure = ET.SubElement(case, "failure", message=r.command)
                failure.text = clean(r.text)
            elif r.verdict == "skipped":
                ET.SubElement(case, "skipped", message=clean(r.text))
    ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


# --- HTML ----------------------------------------------------------------------------
STYLE = """body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em;color:#222}
table{border-collapse:collapse}th,td{padding:.35em .8em;border:1px solid #ccc;text-align:left;vertical-align:top}
th{background:#f3f3f3}td.passed{background:#e2f4e2}td.failed{background:#f9d6d5;font-weight:600}
td.skipped{background:#fdf3d3}td.none{color:#999}pre{background:#f6f6f6;padding:1em;overflow:auto;max-height:32em}
code{background:#f3f3f3;padding:.1em .3em}small{color:#666}"""


def page(m, title, stamp):
    e = html.escape
    out = ["<!doctype html><html lang=en><meta charset=utf-8><title>%s</title><style>%s</style>" % (e(title), STYLE),
           "<h1>%s</h1><p>%s <small>%s</small></p><table><tr><th>suite" % (e(title), e(m.summary()), e(stamp))]
    for c in m.columns:
        out.append("<th>%s<br><small>%s</small>" % (e(c.name), e(c.trouble or c.emulator)))
    for s in m.suites:
        out.append("<tr><th>%s" % e(s))
        for c in m.columns:
            text, verdict = m.cell(s, c.name)
            link = '<a href="#%s.%s">%s</a>' % (e(s), e(c.name), e(text))
            out.append('<td class=%s>%s' % (verdict, link if verdict == "failed" else e(text)))
    for why, counts in m.left():
        out.append("<tr><th>%s" % e(why))
        out += ["<td class=none>%s" % (n or "-") for n in counts]
    out.append("</table><p><small>In a cell: tests passed, failed, (skipped), and their seconds."
               "</small>")
    if m.failures():
        out.append("<h2>Failures</h2>")
    cell = None
    for r in sorted(m.failures(), key=lambda r: (r.suite, r.arch)):
        if cell != (r.suite, r.arch):
            cell = r.suite, r.arch
            out.append('<a id="%s.%s"></a>' % (e(r.suite), e(r.arch)))
        out.append("<h3>%s <small>%s</small></h3><p><code>%s</code></p><pre>%s</pre>"
                   % (e(r.name), e(r.arch), e(r.command), e(clean(r.text))))
    if m.reasons():
        out.append("<h2>Skipped</h2><ul>")
    for why, names in sorted(m.reasons().items()):
        out.append("<li>%s <small>%s</small>" % (e(why), e(" ".join(names))))
    return "\n".join(out) + "\n"
