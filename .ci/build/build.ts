/**
 * Builds `dist/`: one bundle per public face and program, shared chunks between them, and declarations.
 *
 * Bundled because opening a vendor SDK's hundreds of files costs more than the whole rest of a start; split into
 * chunks so that what is imported lazily (a model SDK, a backend) is read only when it is used.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import process from 'node:process'
import type { BuildOptions } from 'esbuild'
import { builtins } from './builtins.ts'
import { emptyResources } from './empty-resources.ts'
import { givenEntry, importByEntry, startOfAgent, startOfBoth, startOfPatch, writeLauncher } from './launchers.ts'
import { bundleOf, keepLazy, lazyAgentModules, lazyPatchModules } from './lazy-modules.ts'
import { mixins } from './parser-mixins.ts'
import { localDocker } from './local-docker.ts'
import { bundleVendors, takeVendors, vendorsApart } from './separate-bundles.ts'
import { prepared } from './prepared.ts'
import { warmUpAgent, warmUpPatchProgram } from './compiled-code.ts'

/** Of Node's own modules alone: what is no part of this package is not looked for in folders that commands may write to. */
const requireForCommonJs =
  'const require=name=>{const found=process.getBuiltinModule(name);if(!found)throw Object.assign(new Error(name),{code:"MODULE_NOT_FOUND"});return found};'

const packages = ['apply-patch', 'engine', 'policies', 'sandbox']

/** The programs behind `agent`: all of it, and what confines one command. */
const agentPrograms = ['main', 'sandbox-main'] as const

// Where only what runs is installed there are no build tools, and nothing is to be built.
if (process.argv.includes('--if-buildable') && !existsSync('node_modules/esbuild')) process.exit(0)

const { build } = await import('esbuild')

/** What makes of a bundle a function that is given what a script doesn't have, and gives `exported`. */
function asScript(exported: string): Pick<BuildOptions, 'banner' | 'footer'> {
  return {
    banner: { js: `${givenEntry.head},require,module){` },
    footer: { js: `return ${exported}${givenEntry.tail}` },
  }
}

const common = {
  bundle: true,
  minifySyntax: true,
  // The blanks between words are read at every start. Without both of these `agent exec` takes 26 ms more of processor
  // time (221 instead of 195 ms, medians of 25 runs by turns). Names stay in what others load, for the traces of a fault.
  minifyWhitespace: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.12',
  legalComments: 'linked',
  // For the lines of a trace. The sources themselves would be twice the package again.
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
} satisfies BuildOptions

await rm('dist', { recursive: true, force: true })
await build({
  ...common,
  entryPoints: packages.map((name) => `${name}/index.ts`),
  outdir: 'dist',
  outbase: '.',
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  plugins: [prepared, emptyResources, localDocker, mixins, builtins(true)],
  // Vendor packages in CommonJS call `require` for Node's own modules; an ES module has none.
  banner: { js: requireForCommonJs },
})
// A program is one file for the same reason, and to be kept as compiled with all its functions (see launchers.ts).
await build({
  ...common,
  entryPoints: agentPrograms.map((name) => `engine/${name}.ts`),
  // The trace of a fault tells places in the sources (trace-in-sources.ts). Short names take a third off `main.js`, whose text stays in memory, and 5 % off its compiled code. `agent sandbox`
  // takes 2 ms less (98 instead of 100), and a reply of `agent exec` 50 ms less (192 instead of 245, medians of 10 runs by turns): its heap stays
  // below the size at which V8 collects all of it.
  minifyIdentifiers: true,
  outdir: 'dist/engine',
  format: 'cjs',
  define: { 'import.meta.url': 'module.url' },
  plugins: [keepLazy(lazyAgentModules), takeVendors, prepared, emptyResources, mixins, builtins(false)],
  ...asScript('module.exports.main'),
})
const wholes = Object.keys(vendorsApart).map((name) => [name, `apart:${name}`] as const)
const bundled = [...lazyAgentModules.map((module) => [bundleOf(module), module] as const), ...wholes]
const bundles = bundled.map(([name]) => `dist/chunks/${name}.js`)
await build({
  ...common,
  entryPoints: Object.fromEntries(bundled),
  outdir: 'dist/chunks',
  plugins: [bundleVendors, localDocker, builtins(false)],
})
// Only so does a package in CommonJS have its default export.
await build({
  ...common,
  bundle: false,
  entryPoints: bundles,
  outdir: 'dist/chunks',
  allowOverwrite: true,
  format: 'cjs',
  // A script has no place, and none of these looks for anything beside itself.
  define: { 'import.meta.url': '"file:///"' },
  ...asScript('module.exports'),
})
// apply-patch starts for every single patch, and every file that Node opens for it costs: so it is one, built on its own.
const ofPatch = {
  ...common,
  // Nothing tells of a fault by these names. It takes a third of the file, and 1 ms of a start.
  minifyIdentifiers: true,
  plugins: [keepLazy(lazyPatchModules), mixins, builtins(false)],
} satisfies BuildOptions
await build({
  ...ofPatch,
  entryPoints: ['apply-patch/cli/run-program.ts'],
  outfile: 'dist/apply-patch/program.js',
  format: 'iife',
  globalName: 'applyPatch',
  banner: { js: `${givenEntry.head}){` },
  footer: { js: `return applyPatch.runProgram${givenEntry.tail}` },
})
await build({ ...ofPatch, entryPoints: lazyPatchModules, entryNames: '[name]', outdir: 'dist/chunks' })

const programs = [...agentPrograms.map((name) => `dist/engine/${name}.js`), 'dist/apply-patch/program.js']
await Promise.all(programs.map(importByEntry))

await mkdir('dist/bin', { recursive: true })
await writeLauncher('agent', startOfAgent(agentPrograms, bundles))
await writeLauncher('apply-patch', startOfPatch)
await writeLauncher('portcullis', startOfBoth(agentPrograms, bundles))
await Promise.all([warmUpAgent(agentPrograms, bundles), warmUpPatchProgram()])

if (!process.argv.includes('--no-types')) {
  const types = spawnSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' })
  process.exitCode = types.status ?? 1
}
