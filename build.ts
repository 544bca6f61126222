/**
 * Builds `dist/`: one bundle per public face and program, shared chunks between them, and declarations.
 *
 * Bundled because opening a vendor SDK's hundreds of files costs more than the whole rest of a start; split into
 * chunks so that what stands behind a lazy door (a model SDK, a backend) is read only when the door opens.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { basename, relative } from 'node:path'
import process from 'node:process'
import type { BuildOptions, Plugin } from 'esbuild'
import { startOfAgent, startOfPatch, writeLauncher } from './build-launchers.ts'
import { warmUpAgent, warmUpPatchProgram } from './build-warm-ups.ts'

/** A function that is made when it is called: it stands at the head of every chunk, and few have a use for it. */
const requireForCommonJs =
  "const require=name=>process.getBuiltinModule('node:module').createRequire(import.meta.url)(name);"

const rooms = ['apply-patch', 'engine', 'policies', 'sandbox']

/** The programs behind `agent`: all of it, and what confines one command. */
const agentPrograms = ['main', 'sandbox-main'] as const

/** These load files of their own by path (protocol files, WebAssembly), so they stay packages. */
const external = ['dockerode', '@cf-wasm/photon', 'unpdf']

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

/** The same of `agent`, packages among them. */
const agentDoors = ['@anthropic-ai/sdk', 'turndown', 'engine/skills/parse-yaml.ts']

/** The name of a door's own bundle. */
const bundleOf = (door: string): string => basename(door, '.ts')

/** Keeps a dynamic import of a door, while everything else that is imported so becomes part of the bundle. */
const doors = (kept: readonly string[]): Plugin => ({
  name: 'doors',
  setup(setup) {
    setup.onResolve({ filter: /^/ }, ({ path, kind }) => {
      if (kind !== 'dynamic-import') return undefined
      const door = kept.find((one) => one === path || (path.startsWith('.') && basename(one) === basename(path)))
      return door === undefined ? undefined : { path: `../chunks/${bundleOf(door)}.js`, external: true }
    })
  },
})

/** What a module of ours computes from nothing but its sources is computed here, and bundled as data. */
const prepared: Plugin = {
  name: 'prepared',
  setup(setup) {
    setup.onLoad({ filter: /policies\/rules\/shipped-rules\.ts$/ }, async () => {
      const { shippedRules } = await import('./policies/rules/shipped-rules.ts')
      return { contents: `const rules = ${JSON.stringify(shippedRules())}\nexport const shippedRules = () => rules\n` }
    })
    setup.onLoad({ filter: /engine\/tools\/prepared-schemas\.ts$/ }, async () => {
      const { builtInTools } = await import('./engine/tools/index.ts')
      const schemas = builtInTools.map(({ name, declaration }) => [name, declaration?.parameters])
      const text = JSON.stringify(Object.fromEntries(schemas))
      return { contents: `const schemas = ${text}\nexport const preparedSchemas = () => schemas\n` }
    })
  },
}

/**
 * OpenAI's client makes an object for each of the hundred resources of the API, of which we use none: requests go through the client's own
 * `post`. Empty classes in their place save half a megabyte at every start that asks a model.
 */
const emptyResources: Plugin = {
  name: 'empty-resources',
  setup(setup) {
    setup.onResolve({ filter: /\.mjs$/ }, async ({ path, importer, resolveDir, kind, pluginData }) => {
      if (pluginData !== undefined || !/\/node_modules\/openai\/.*\.mjs$/.test(importer)) return undefined
      const { path: found } = await setup.resolve(path, { importer, resolveDir, kind, pluginData: { seen: true } })
      return { path: found, sideEffects: false }
    })
    setup.onLoad({ filter: /\/node_modules\/openai\/resources\/.*\.mjs$/ }, async ({ path }) => {
      const names = Object.keys((await import(path)) as object)
      return { contents: names.map((name) => `export class ${name} {}\n`).join('') }
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
  entryPoints: rooms.map((room) => `${room}/index.ts`),
  outdir: 'dist',
  outbase: '.',
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  external,
  plugins: [prepared, emptyResources, mixins, builtins(true)],
  // Vendor packages in CommonJS call `require` for Node's own modules; an ES module has none.
  banner: { js: requireForCommonJs },
})
// A program is one file for the same reason, and to be kept as compiled with all its functions (see build-launchers.ts).
await build({
  ...common,
  entryPoints: agentPrograms.map((name) => `engine/${name}.ts`),
  outdir: 'dist/engine',
  format: 'cjs',
  external,
  plugins: [doors(agentDoors), prepared, emptyResources, mixins, builtins(false)],
  banner: { js: '(function(require,module){' },
  footer: { js: 'return module.exports.main})' },
})
await build({
  ...common,
  entryPoints: Object.fromEntries(agentDoors.map((door) => [bundleOf(door), door])),
  outdir: 'dist/chunks',
  plugins: [builtins(false)],
  banner: { js: requireForCommonJs },
})
// apply-patch starts for every single patch, and every file that Node opens for it costs: so it is one, built on its own.
const ofPatch = {
  ...common,
  minifyIdentifiers: true,
  plugins: [doors(patchDoors), mixins, builtins(false)],
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
await writeLauncher('agent', startOfAgent(agentPrograms))
await writeLauncher('apply-patch', startOfPatch)
await Promise.all([warmUpAgent(agentPrograms), warmUpPatchProgram()])

if (!process.argv.includes('--no-types')) {
  const types = spawnSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' })
  process.exitCode = types.status ?? 1
}
