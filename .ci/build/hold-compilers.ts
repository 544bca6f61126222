/**
 * Code that switches V8's optimizing compilers off at the start of a run: their threads take a fifth of the run's processor time, and a short run
 * ends before it can use the optimized code. After two seconds the compilers are switched on again, because the run is then expected to be long. V8
 * rejects stored code that was compiled under other flags, including the code of Node's own modules. Therefore, the necessary modules are loaded
 * before the flags change: for `agent sandbox`, the few modules that the program doesn't load when it begins; for a run, also those that a request to
 * a model needs. If the user passed flags to Node, or if Node is older than version 26, with which this was tested, no flag is changed.
 *
 * Saves 30 ms of processor time and 8 MiB at the start of `agent exec` (182 instead of 213 ms, minimum of 14 alternating runs, compared with
 * switching the compilers off only at the first request), and 15 ms at the start of `agent sandbox`.
 *
 * For the same two seconds, the young generation of the heap keeps its initial size. V8 doubles that size whenever many objects survive a collection,
 * and nearly all objects that are created at the start survive. Peak memory is 86 instead of 94 MiB for one reply, and 101 instead of 111 MiB for 20
 * commands, with the same processor time.
 *
 * In addition, V8 doesn't begin to mark the old generation during these two seconds, because a short run doesn't benefit from that. This saves 50 ms
 * of processor time in the first run with a new home directory (275 instead of 325 ms, medians of 15 alternating runs). Later runs stay just below
 * the heap size at which marking begins: without this setting, one more megabyte in memory would cost them 25 to 45 ms; with it, 2 to 8 ms. For 20
 * commands, the time and the peak memory are the same as before.
 *
 * A run with MCP servers switches the compilers on again when it loads the code for these servers. It takes longer anyway, and a server that is reached over HTTP
 * needs Node's `fetch`, which is then loaded 24 ms sooner (62 instead of 86 ms from the start of Node, minimum of 4).
 *
 * For a run that may copy thousands of files before its first request, nothing is switched off: with 5,000 files, `--view=copy` adds 161 and
 * 170 instead of 194 and 211 ms (two alternating pairs of benchmarks, medians of 9). A run with `--view=overlay` copies nothing, and the
 * compilers' threads would take the processor from its first command: ten times `git status` took 104 to 112 instead of 84 to 94 ms.
 *
 * The supervisor and the workers of a batch keep the initial size of the young generation until they exit: they wait most of the time, and the data
 * that each child run leaves in memory soon becomes garbage.
 */
export const holdCompilers = `const shortMs = 2000
const commandModules = ['os', 'stream/consumers', 'stream/promises', 'timers/promises', 'tty']
const runModules = ['crypto', 'https', 'path/win32', 'perf_hooks', 'string_decoder', 'worker_threads']
function holdCompilers() {
  if (process.uptime() * 1000 > shortMs) return
  const { setFlagsFromString } = require('node:v8')
  const set = (how) => {
    for (const part of ['sparkplug', 'maglev', 'turbofan', 'incremental-marking']) setFlagsFromString(how + part)
  }
  set('--no-')
  setFlagsFromString('--semi-space-growth-factor=1')
  releaseCompilers = () => {
    releaseCompilers = () => undefined
    set('--')
    setFlagsFromString('--semi-space-growth-factor=2')
  }
  setTimeout(() => releaseCompilers(), shortMs).unref()
}
function boundYoungGeneration() {
  const { setFlagsFromString } = require('node:v8')
  setFlagsFromString('--semi-space-growth-factor=1')
  releaseCompilers = () => setFlagsFromString('--semi-space-growth-factor=2')
}
function expectShortRun([command, ...words]) {
  if (major < 26 || process.execArgv.length > 0 || process.env.NODE_OPTIONS) return
  if (command === 'batch' && ['run', 'worker'].includes(words[0])) return boundYoungGeneration()
  const isRun = ['exec', 'e', 'codex', 'claude'].includes(command) && !words.includes('--help') && !words.includes('-h')
  if ((!isRun && command !== 'sandbox') || words.some((word) => /^--(view|transactional)=(copy|reflink)$/.test(word))) return
  for (const name of [...commandModules, ...(isRun ? runModules : [])]) require('node:' + name)
  holdCompilers()
}`
