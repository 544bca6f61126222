import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'

/**
 * Writes a program's first file. It must parse on any Node that knows modules, since its job is to refuse an old one in one
 * line instead of a stack trace from inside a bundle.
 */
export async function writeLauncher(name: string, start: string): Promise<void> {
  const text = `#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 12)) {
  process.stderr.write('${name}: needs Node 22.12 or newer, this is ' + process.version + ' (' + process.execPath + ')\\n')
  process.exit(2)
}
${start}`
  await writeFile(`dist/bin/${name}.js`, text)
  await chmod(`dist/bin/${name}.js`, 0o755)
}

/**
 * Node would keep compiled code in the temporary directory, which others can write too: whoever made that folder first could put code of
 * their own there. Without a home nothing is kept.
 */
const compiledFolder = `function compiledFolder() {
  const { XDG_CACHE_HOME: cache, HOME: home } = process.env
  const folder = cache?.startsWith('/') ? cache : home?.startsWith('/') ? home + '/.cache' : undefined
  return folder === undefined ? undefined : folder + '/portcullis/compiled'
}`

/** Has Node keep what it compiles of the modules that are imported from here on. */
const compileCache = `${compiledFolder}
function cacheCompiled() {
  const folder = compiledFolder()
  if (folder !== undefined) process.getBuiltinModule('node:module').enableCompileCache?.(folder)
}`

/** The start of `apply-patch`. */
export const startOfPatch = `${loadPatchProgram('import.meta.dirname')}
// What only options need is in other files.
${compileCache}
if (process.argv.some((word) => word.startsWith('--'))) cacheCompiled()
// All is written by now; leaving at once saves taking Node apart.
process.exit(await run(process.argv.slice(2)))
`

/**
 * Code that makes `run`, the program's function. V8 compiles a function when it is first called, and Node's own cache keeps
 * only what was compiled before that: compiling again at each start takes as long as all the work on a small patch. So
 * the program brings what V8 compiled for a patch at the build. Another version of V8 refuses it, and compiles.
 *
 * @param directory an expression for the folder of `bin`
 */
export function loadPatchProgram(directory: string): string {
  return `const { readFileSync } = process.getBuiltinModule('node:fs')
const { Script, constants } = process.getBuiltinModule('node:vm')
const filename = ${directory} + '/../apply-patch/program.js'
const script = new Script(readFileSync(filename, 'latin1'), {
  filename,
  cachedData: readIfThere(filename + '.cache'),
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
})
const run = script.runInThisContext()
function readIfThere(file) {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}`
}

/** The start of `agent`, whose `programs` are in the folder `engine`: one for all commands, and one for that command alone. */
export function startOfAgent(programs: readonly ['main', 'sandbox-main']): string {
  return `${compiledFolder}
${loadAgentProgram('import.meta.dirname', programs)}
const code = await load(process.argv[2] === 'sandbox' ? 'sandbox-main' : 'main').run(process.argv.slice(2))
process.exitCode = code
// Leaves once what was written is out, whatever else still holds a pipe or a timer.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)))
`
}

/**
 * Code that makes `load`, which gives one of the programs as a function, compiled as at the build (see `loadPatchProgram`). A program runs
 * for longer than a patch takes, so where V8 refuses that, what this one has compiled by the end is kept for the next run: in the
 * user's own folder, under a name that no other program, no other command and no other version of Node has.
 */
export function loadAgentProgram(directory: string, programs: readonly string[]): string {
  const digests = programs.map((name) => [name, digestOf(`dist/engine/${name}.js`)])
  return `const fs = process.getBuiltinModule('node:fs')
const { Script, constants } = process.getBuiltinModule('node:vm')
function load(name) {
  const filename = ${directory} + '/../engine/' + name + '.js'
  const digest = ${JSON.stringify(Object.fromEntries(digests))}[name]
  const command = /^[a-z-]+$/.exec(process.argv[2] ?? '')?.[0]
  const folder = command && compiledFolder()
  const own = folder && folder + '/' + [name, command, digest, process.version, process.platform, process.arch].join('-')
  const cachedData = (own && readIfThere(own)) ?? readIfThere(filename + '.cache')
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
  const source = fs.readFileSync(filename)
  const script = new Script(source.latin1Slice(), { filename, cachedData, importModuleDynamically })
  // Each is some megabytes, which would stay until V8 looks for garbage: in most runs, to the end.
  for (const used of [source, cachedData]) if (used?.length === used?.buffer.byteLength) used?.buffer.transfer(0)
  if (own && script.cachedDataRejected !== false) process.once('exit', () => keep(script, folder, own))
  const require = (name) =>
    process.getBuiltinModule(name) ?? process.getBuiltinModule('node:module').createRequire(filename)(name)
  return { run: script.runInThisContext()(require, { exports: {} }), script, filename }
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
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
    fs.writeFileSync(fresh, script.createCachedData(), { mode: 0o600, flag: 'wx' })
    fs.renameSync(fresh, file)
  } catch {
    // The next run compiles again.
    fs.rmSync(fresh, { force: true })
  }
}`
}

/** What tells a build of a program from every other. */
function digestOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 16)
}
