/**
 * Keeps V8's compilers for hot functions from a run from its start: what their threads make is hardly used before it is over, and takes a fifth of
 * its time. They are let go after two seconds, when a run is a long one. V8 takes compiled code for another's under other flags, that of
 * Node's own modules too, so those that are needed are loaded before: for a command the few that the program doesn't load as it begins, and for a run all that
 * a request to a model needs. Not where somebody gave Node flags, and not on versions where this wasn't tried.
 *
 * Gains 30 ms of processor time and 8 MiB at the start of `agent exec` (182 instead of 213 ms, the least of 14 runs by turns, where they were held only
 * from the first request on), and 15 ms at that of `agent sandbox`.
 *
 * For as long, the young generation keeps the size that it begins with: V8 doubles it whenever much of it outlives a collection, which nearly all does that a
 * start makes. 86 instead of 94 MiB at the peak for one reply, and 101 instead of 111 for 20 commands, in the same processor time.
 *
 * And no marking of the old generation is begun, which a run that is over soon has no use for: 50 ms of processor time in the first run of a home (275 instead
 * of 325 ms, medians of 15 by turns). Later runs came just short of where it begins, and one megabyte more cost them 25 to 45 ms; now 2 to 8.
 * For 20 commands time and peak are as before.
 *
 * The supervisor and the workers of a batch keep that size to their end: they wait most of the time, and what each run of a child leaves is soon garbage.
 */
export const holdCompilers = `const shortMs = 2000
const commandModules = ['os', 'stream/consumers', 'stream/promises', 'timers/promises', 'tty']
const runModules = ['assert', 'crypto', 'http', 'http2', 'path/win32', 'perf_hooks', 'readline', 'readline/promises', 'stream/web', 'string_decoder', 'worker_threads', 'zlib']
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
  const isRun = ['exec', 'e'].includes(command) && !words.includes('--help') && !words.includes('-h')
  if (!isRun && command !== 'sandbox') return
  for (const name of [...commandModules, ...(isRun ? runModules : [])]) require('node:' + name)
  // What sends requests is loaded when one of its classes is first asked for.
  if (isRun) void globalThis.Response
  holdCompilers()
}`
