import { place } from './place.ts'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { pathVariables } from '../../sandbox/misread-start.ts'
import { holdCompilers } from './hold-compilers.ts'

/**
 * Writes the launcher of a program: the file that Node runs first. Node 15 and newer can parse
 * it. A version that is too old for the program therefore prints an error of one line; a bundle would fail with a stack trace.
 */
export async function writeLauncher(name: string, start: string): Promise<void> {
  const text = `#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 12)) {
  process.stderr.write('${name}: needs Node 22.12 or newer, this is ' + process.version + ' (' + process.execPath + ')\\n')
  process.exit(2)
}
${start}`
  await writeFile(`${place}/bin/${name}.js`, text)
  await chmod(`${place}/bin/${name}.js`, 0o755)
}

/**
 * Code that determines the folder for compiled code. By default, Node would use the temporary directory, to which other users can write: if one of
 * them creates the folder first, they could put their own code there. Nothing is stored if neither `XDG_CACHE_HOME` nor `HOME` is an absolute path, or if
 * the program refuses to start (see `whyRefused`), because the misread path could then be that of another user's folder.
 */
const compiledFolder = `// Node's recursive mkdir never returns for a path below /proc, because mkdir(2) fails there with ENOENT, as if the parent were missing.
function make(folder) {
  const { mkdirSync, statSync } = process.getBuiltinModule('node:fs')
  const made = () => {
    try {
      mkdirSync(folder, 0o700)
    } catch (error) {
      if (error.code === 'ENOENT' && folder.length > 1) return false
      if (!statSync(folder).isDirectory()) throw error
    }
    return true
  }
  if (made()) return
  make(process.getBuiltinModule('node:path').dirname(folder))
  if (!made()) throw new Error('no directory can be made there')
}
function here() {
  try {
    return process.cwd()
  } catch {
    return '/'
  }
}
function compiledFolder() {
  if (refusal !== undefined) return undefined
  const { XDG_CACHE_HOME: cache, HOME: home } = process.env
  const folder = cache?.startsWith('/') ? cache : home?.startsWith('/') ? home + '/.cache' : undefined
  // If the folder is in the current directory, commands may be able to write to it, so no code is loaded from there.
  if (folder === undefined || (folder + '/').startsWith(here().replace(/\\/?$/, '/'))) return undefined
  return folder + '/portcullis/compiled'
}`

/**
 * Code that defines `whyRefused` (see `findMisread`). The module with the reasons is loaded only if Node may have misread a value, so that other starts
 * cost nothing.
 */
const whyRefused = `async function whyRefused(words) {
  const values = [...words, ...${JSON.stringify(pathVariables)}.map((name) => process.env[name]), here()]
  if (!values.some((text) => text?.includes('\\ufffd'))) return undefined
  return (await import('../chunks/misread-start.js')).findMisread(words)
}`

/** Code that makes Node store what it compiles for the modules that are imported after this point. */
const compileCache = `${compiledFolder}
function cacheCompiled() {
  const folder = compiledFolder()
  if (folder === undefined) return
  try {
    make(folder)
    process.getBuiltinModule('node:module').enableCompileCache?.(folder)
  } catch {
    // Without the cache, Node compiles at each start.
  }
}`

/** Code that defines `entry`, which imports a module by its name. A name that begins with a dot is relative to the program at `filename`. */
const makeEntry = `const entry = (name) =>
  import(name.startsWith('.') ? new URL(name, process.getBuiltinModule('node:url').pathToFileURL(filename)).href : name)`

/** The code that starts `apply-patch`. */
export const startOfPatch = runPatch(2)

/** Code that runs `apply-patch` with the command-line arguments from index `first` on. */
function runPatch(first: number): string {
  return `${whyRefused}
const words = process.argv.slice(${first})
// If the only argument is a patch that isn't UTF-8, the program itself reports this, as Codex's program does.
const refusal = await whyRefused(words.length === 1 && !words[0].startsWith('-') ? [] : words)
if (refusal !== undefined) {
  process.stderr.write('apply-patch: ' + refusal + '.\\n')
  process.exit(2)
}
${loadPatchProgram('import.meta.dirname')}
// Modules that are needed only for options are in other files.
${compileCache}
if (process.argv.some((word) => word.startsWith('--'))) cacheCompiled()
// All output is written by now. Exiting at once saves the time for Node's teardown.
process.exit(await run(words))
`
}

/**
 * The start and the end of a function around a program that Node reads as a script. The function's parameter `$entry` imports modules for the
 * program, because a script itself can import modules only through an experimental interface, and Node then prints a two-line warning. The name
 * `$entry` has the same length as the word `import` that it replaces, so that positions in source maps stay correct.
 */
export const givenEntry = { head: '(function($entry', tail: '})' } as const

/** Changes a built program so that it imports modules through `$entry`. Only `await import(…)` is replaced, so `import` in other text stays. */
export async function importByEntry(file: string): Promise<void> {
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replaceAll(/\bawait import\((?=["\w$(])/g, 'await $entry('))
}

/**
 * Code that defines `run`, the function that contains the whole program `apply-patch`. V8 compiles a function when it is first called, but Node's own
 * compile cache contains only functions that were compiled before the module was evaluated. Compiling the rest again at each start takes as long as
 * all the work for a small patch. Therefore, the package contains the code that V8 compiled when the program applied a patch during the build. Other
 * versions of V8 reject that code and compile the program themselves.
 *
 * @param directory an expression for the folder of `bin`
 */
export function loadPatchProgram(directory: string): string {
  return `const { readFileSync } = process.getBuiltinModule('node:fs')
const { Script } = process.getBuiltinModule('node:vm')
const filename = ${directory} + '/../apply-patch/program.js'
const script = new Script(readFileSync(filename, 'latin1'), {
  filename,
  cachedData: readIfThere(filename + '.cache'),
})
${makeEntry}
const run = script.runInThisContext()(entry)
function readIfThere(file) {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}`
}

/**
 * Code that ends an interrupted program with the documented exit code. It is used before a command begins to handle signals itself, and after the
 * command stops doing so. As during a run, the exit code for SIGHUP is 143, the same as for SIGTERM. A signal that arrives before Node runs the first
 * line of a program has the system's default effect.
 */
const endBySignal = `for (const [signal, code] of [['SIGINT', 130], ['SIGTERM', 143], ['SIGHUP', 143]])
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(code)
  })`

/**
 * Returns the code that starts `agent`. `programs` are the names of two programs in the folder `engine`: one for all commands, and one only for
 * `agent sandbox`.
 */
export function startOfAgent(
  programs: readonly ['main', 'sandbox-main'],
  bundles: readonly string[],
  name = 'agent',
): string {
  return `${endBySignal}
${compiledFolder}
${whyRefused}
const refusal = await whyRefused(process.argv.slice(2))
${loadAgentProgram('import.meta.dirname', programs, bundles)}
${holdCompilers}
const program = load(process.argv[2] === 'sandbox' ? 'sandbox-main' : 'main')
expectShortRun(process.argv.slice(2))
const code = await program.run(process.argv.slice(2), '${name}', refusal)
process.exitCode = code
// Exits as soon as all output is written, even if a pipe or a timer is still open.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)))
`
}

/**
 * Returns a program for clients that want the path of another program: `agent` with the command that takes its command lines. It looks as if `agent` had been
 * started, because a run may start the program again.
 */
export function startOfDoor(command: string): string {
  const words = `\`\${import.meta.dirname}/agent.js\`, '${command}'`
  return `#!/usr/bin/env node\nprocess.argv.splice(1, 1, ${words}) && import('./agent.js')\n`
}

/** Returns the code that starts `portcullis`. This program acts as `apply-patch` if that is its first argument, and otherwise as `agent`. */
export function startOfBoth(programs: readonly ['main', 'sandbox-main'], bundles: readonly string[]): string {
  return `if (process.argv[2] === 'apply-patch') {
${runPatch(3)}}
${startOfAgent(programs, bundles, 'portcullis')}`
}

/**
 * Code that defines `load`, which loads one of the programs (as the function `run`) with the code that was compiled during the build (see
 * `loadPatchProgram`). If V8 rejects that code, or there is none, the code that this process has compiled by its end is stored for the next one:
 * these programs run for longer than it takes to apply a patch. The user's own folder has one file per program, command, build and version of Node.
 *
 * If the package is located in the workspace, commands may have changed the files of `bundles` before one of them is loaded. Therefore, a bundle is
 * evaluated only if its bytes are exactly those that the build wrote, and packages that aren't part of the bundles are not searched for.
 */
export function loadAgentProgram(directory: string, programs: readonly string[], bundles: readonly string[]): string {
  const digests = programs.map((name) => [name, digestOf(`${place}/engine/${name}.js`)])
  const built = bundles.map((file) => [`../chunks/${basename(file)}`, sha256(file)])
  return `const fs = process.getBuiltinModule('node:fs')
const { Script } = process.getBuiltinModule('node:vm')
const built = ${JSON.stringify(Object.fromEntries(built))}
function require(name) {
  if (name in built) return (loaded[name] ??= loadBundle(name))
  const found = process.getBuiltinModule(name)
  if (found === undefined) throw Object.assign(new Error(name + ' is not part of this program'), { code: 'MODULE_NOT_FOUND' })
  return found
}
const loaded = {}
let releaseCompilers = () => undefined
async function entry(name) {
  return name in built ? require(name) : import(name)
}
function loadBundle(name) {
  if (name === '../chunks/mcp.js') releaseCompilers()
  const filename = process.getBuiltinModule('node:path').join(${directory}, name)
  const source = fs.readFileSync(filename)
  if (process.getBuiltinModule('node:crypto').hash('sha256', source) !== built[name])
    throw new Error(filename + ' is not the file that this program came with: it was changed, perhaps by a command. Reinstall the program.')
  return new Script(source.utf8Slice(), { filename }).runInThisContext()(entry, require, { exports: {} })
}
function load(name) {
  const filename = ${directory} + '/../engine/' + name + '.js'
  const digest = ${JSON.stringify(Object.fromEntries(digests))}[name]
  const command = /^[a-z-]+$/.exec(process.argv[2] ?? '')?.[0]
  const folder = command && compiledFolder()
  const own = folder && folder + '/' + [name, command, digest, process.version, process.platform, process.arch].join('-')
  const cachedData = (own && readIfThere(own)) ?? readIfThere(filename + '.cache')
  const source = fs.readFileSync(filename)
  const script = new Script(source.latin1Slice(), { filename, cachedData })
  // Each buffer takes several megabytes. Free them now: V8 would otherwise keep them until it collects garbage, which in most runs never happens.
  for (const used of [source, cachedData]) if (used?.length === used?.buffer.byteLength) used?.buffer.transfer(0)
  if (own && script.cachedDataRejected !== false) process.once('exit', () => keep(script, folder, own))
  const { href: url } = process.getBuiltinModule('node:url').pathToFileURL(filename)
  return { run: script.runInThisContext()(entry, require, { exports: {}, url }), script, filename }
}
function readIfThere(file) {
  try {
    return fs.readFileSync(file)
  } catch {
    return undefined
  }
}
function keep(script, folder, file) {
  const fresh = file + '.' + process.pid
  // The cache records V8's flags: restore them first, or the next run rejects it.
  releaseCompilers()
  try {
    make(folder)
    fs.writeFileSync(fresh, script.createCachedData(), { mode: 0o600, flag: 'wx' })
    fs.renameSync(fresh, file)
  } catch {
    // The next run compiles again.
    try {
      fs.unlinkSync(fresh)
    } catch {
      // The file was never created.
    }
  }
}`
}

/** The part of a file's SHA-256 hash that distinguishes this build from others. */
function digestOf(file: string): string {
  return sha256(file).slice(0, 16)
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}
