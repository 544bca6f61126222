/**
 * Builds `dist/`: one bundle per public face and program, shared chunks between them, and declarations.
 *
 * Bundled because opening a vendor SDK's hundreds of files costs more than the whole rest of a start; split into
 * chunks so that what stands behind a lazy door (a model SDK, a backend) is read only when the door opens.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, relative, resolve } from 'node:path'
import process from 'node:process'
import type { BuildOptions, Plugin } from 'esbuild'

/** A function that is made when it is called: it stands at the head of every chunk, and few have a use for it. */
const requireForCommonJs =
  "const require=name=>process.getBuiltinModule('node:module').createRequire(import.meta.url)(name);"

/**
 * Node would keep compiled code in the temporary directory, which others can write too: whoever made that folder first could put code of
 * their own there. Without a home nothing is kept.
 */
const compileCache = `function cacheCompiled() {
  const { XDG_CACHE_HOME: cache, HOME: home } = process.env
  const folder = cache?.startsWith('/') ? cache : home?.startsWith('/') ? home + '/.cache' : undefined
  if (folder !== undefined) process.getBuiltinModule('node:module').enableCompileCache?.(folder + '/portcullis/compiled')
}`

const rooms = ['apply-patch', 'engine', 'policies', 'sandbox']

// A published package has no build tools in it and needs none: `prepare` must then do nothing.
if (process.argv.includes('--if-buildable') && !existsSync('node_modules/esbuild')) process.exit(0)

const { build } = await import('esbuild')

/**
 * What nobody here uses of `node:util`, and Node loads only when it is read. A vendor SDK exports the whole module under a name, so
 * all of it would be.
 */
const lazyUtilities = ['MIMEType', 'MIMEParams', 'diff']

/**
 * An `import` of one of Node's own modules makes Node read every property of it once, lazy getters included (streams, standard
 * input), which costs a start more than all of our own code. Here only what is used is read. `apart` gives each file that imports one
 * its own: what chunks share would be a dozen files of a few lines more to open, and what one of them reads, all would.
 */
const builtins = (apart: boolean): Plugin => ({
  name: 'builtins',
  setup(setup) {
    setup.onResolve({ filter: /^node:/ }, ({ path, kind, importer }) => {
      if (kind === 'require-call') return undefined
      const suffix = apart ? `?${relative('.', importer)}` : ''
      return { path, suffix, namespace: 'builtin', sideEffects: false }
    })
    setup.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => {
      const names = Object.keys(process.getBuiltinModule(path) ?? {}).filter(
        (name) => /^[a-z_$][\w$]*$/i.test(name) && !(path === 'node:util' && lazyUtilities.includes(name)),
      )
      const exported = names.map((name) => `const _${name} = /* @__PURE__ */ (() => all.${name})()\n`)
      const list = names.map((name) => `_${name} as ${name}`).join(', ')
      const load = `const all = /* @__PURE__ */ process.getBuiltinModule('${path}')\n`
      return { contents: `${load}export default all\n${exported.join('')}export { ${list} }\n` }
    })
  },
})

/**
 * What `apply-patch` loads only when it is needed, for the vendor packages behind it. Nothing of ours in them is shared with
 * the program, so each is a bundle by itself.
 */
const patchDoors = ['apply-patch/cli/parse-arguments.ts', 'apply-patch/files/journal-schema.ts']

/** Keeps a dynamic import of a door, while everything else that is imported so becomes part of the bundle. */
const doors: Plugin = {
  name: 'doors',
  setup(setup) {
    setup.onResolve({ filter: /^\.{1,2}\// }, ({ path, kind }) => {
      const door = kind === 'dynamic-import' ? patchDoors.find((one) => basename(one) === basename(path)) : undefined
      return door === undefined ? undefined : { path: `../chunks/${basename(door, '.ts')}.js`, external: true }
    })
  },
}

/**
 * Chevrotain puts its parser together from 200 methods, one by one, and V8 copies the table of an object's properties each time:
 * two thirds of a megabyte at every start, which is a garbage collection. An object that a property was deleted from keeps
 * them in a dictionary, which grows in place.
 */
const mixins: Plugin = {
  name: 'mixins',
  setup(setup) {
    setup.onLoad({ filter: /chevrotain\/lib\/src\/parse\/parser\/utils\/apply_mixins\.js$/ }, () => ({
      contents: `
        export function applyMixins({ prototype }, mixins) {
          prototype.first = prototype.second = undefined
          delete prototype.first
          delete prototype.second
          for (const mixin of mixins) {
            const { constructor: _, ...methods } = Object.getOwnPropertyDescriptors(mixin.prototype)
            Object.defineProperties(prototype, methods)
          }
        }`,
    }))
  },
}

const common = {
  bundle: true,
  minifySyntax: true,
  // Names stay, for the traces of a fault; the blanks between are read at every start.
  minifyWhitespace: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.12',
  legalComments: 'linked',
  logLevel: 'warning',
} satisfies BuildOptions

await rm('dist', { recursive: true, force: true })
await build({
  ...common,
  entryPoints: [...rooms.map((room) => `${room}/index.ts`), 'engine/main.ts'],
  outdir: 'dist',
  outbase: '.',
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  // These load files of their own by path (protocol files, WebAssembly), so they stay packages.
  external: ['dockerode', '@cf-wasm/photon', 'unpdf'],
  plugins: [mixins, builtins(true)],
  // Vendor packages in CommonJS call `require` for Node's own modules; an ES module has none.
  banner: { js: requireForCommonJs },
})
// apply-patch starts for every single patch, and every file that Node opens for it costs: so it is one, built on its own.
const ofPatch = {
  ...common,
  minifyIdentifiers: true,
  plugins: [doors, mixins, builtins(false)],
} satisfies BuildOptions
await build({
  ...ofPatch,
  entryPoints: ['apply-patch/cli/run-program.ts'],
  outfile: 'dist/apply-patch/program.js',
  format: 'iife',
  globalName: 'applyPatch',
  footer: { js: 'applyPatch.runProgram' },
})
await build({ ...ofPatch, entryPoints: patchDoors, entryNames: '[name]', outdir: 'dist/chunks' })

await mkdir('dist/bin', { recursive: true })
await writeLauncher(
  'agent',
  `${compileCache}
cacheCompiled()
await import('../engine/main.js')
`,
)
await writeLauncher(
  'apply-patch',
  `${loadPatchProgram('import.meta.dirname')}
// What only options need is in other files.
${compileCache}
if (process.argv.some((word) => word.startsWith('--'))) cacheCompiled()
// All is written by now; leaving at once saves taking Node apart.
process.exit(await run(process.argv.slice(2)))
`,
)
warmUpPatchProgram()

if (!process.argv.includes('--no-types')) {
  const types = spawnSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' })
  process.exitCode = types.status ?? 1
}

/**
 * Writes a program's first file. It must parse on any Node that knows modules, since its job is to refuse an old one in one
 * line instead of a stack trace from inside a bundle.
 */
async function writeLauncher(name: string, start: string): Promise<void> {
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
 * Code that makes `run`, the program's function. V8 compiles a function when it is first called, and Node's own cache keeps
 * only what was compiled before that: compiling again at each start takes as long as all the work on a small patch. So
 * the program brings what V8 compiled for a patch at the build. Another version of V8 refuses it, and compiles.
 *
 * @param directory an expression for the folder of `bin`
 */
function loadPatchProgram(directory: string): string {
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

/** Applies a patch that goes through all that most patches do, and keeps what V8 compiled for it beside the program. */
function warmUpPatchProgram(): void {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-build-'))
  try {
    const tree = join(folder, 'tree')
    mkdirSync(tree)
    for (const name of ['updated', 'moved', 'deleted']) writeFileSync(join(tree, name), 'one\ntwo\nthree\nfour\nfive\n')
    const input = `*** Begin Patch
*** Update File: updated
@@ one
 two
-three
+III
 four
@@
-five
+V
*** Update File: moved
*** Move to: new/moved
@@
-one
+I
*** Delete File: deleted
*** Add File: new/added
+one
*** End Patch
`
    const code = `${loadPatchProgram(JSON.stringify(resolve('dist/bin')))}
      process.exitCode = await run([])
      process.getBuiltinModule('node:fs').writeFileSync(filename + '.cache', script.createCachedData())`
    const env = { ...process.env, XDG_STATE_HOME: folder, NODE_OPTIONS: '' }
    const given = ['--input-type=module', '--eval', code]
    const { status, stderr } = spawnSync(process.execPath, given, { cwd: tree, env, input })
    if (status !== 0) throw new Error(`the warm-up of apply-patch failed: ${stderr.toString()}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
