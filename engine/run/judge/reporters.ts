/**
 * The reporter for node:test. A file name of its own for each process lets a command start the runner several times. Events of suites are left out:
 * their tests are reported too.
 */
export const nodeReporter = `import { appendFileSync } from 'node:fs'
const file = new URL('node-' + process.pid + '.jsonl', import.meta.url)
export default async function* (events) {
  const names = []
  for await (const { type, data } of events) {
    if (type === 'test:start') {
      names.length = data.nesting
      names[data.nesting] = data.name
    }
    if ((type !== 'test:pass' && type !== 'test:fail') || data.details?.type === 'suite') continue
    const isSet = (value) => value !== undefined && value !== false
    const isOff = isSet(data.skip) || isSet(data.todo) || isSet(data.expectFailure)
    const outcome = isOff ? 'skipped' : type === 'test:pass' ? 'passed' : 'failed'
    const path = [...names.slice(0, data.nesting), data.name]
    appendFileSync(file, JSON.stringify({ path, name: data.name, file: data.file, outcome }) + '\\n')
  }
}
`

/** The name of the plugin for pytest, which Python imports from a file with this name. */
export const pytestPlugin = 'portcullis_judge'

/**
 * The plugin for pytest. Neither a file that can't be loaded nor a failure keeps other tests from being seen. A test passes only if its call passes, and it fails if its setup or teardown does. One whose failure is expected counts as
 * skipped even if it passes.
 */
export const pytestReporter = `import json
import os

_file = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pytest-%d.jsonl" % os.getpid())
_root = [os.getcwd()]


def pytest_configure(config):
    _root[0] = str(getattr(config, "rootpath", None) or config.rootdir)
    config.option.continue_on_collection_errors = True
    config.option.maxfail = 0


def pytest_runtest_logreport(report):
    if report.when != "call" and report.outcome == "passed":
        return
    outcome = "skipped" if hasattr(report, "wasxfail") else report.outcome
    if outcome not in ("passed", "failed", "skipped"):
        return
    parts = report.nodeid.split("::")
    record = {
        "path": parts[1:],
        "name": parts[-1].split("[")[0],
        "file": os.path.join(_root[0], parts[0]),
        "outcome": outcome,
    }
    with open(_file, "a") as out:
        out.write(json.dumps(record) + "\\n")
`
