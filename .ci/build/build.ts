/**
 * Builds `${place}/`: a bundle for each public interface and for each program, the chunks that the interfaces share, the bundles that programs load only
 * when they need them, the launchers, the compiled code, and the type declarations.
 *
 * The code is bundled because opening the hundreds of files of a vendor SDK takes longer than everything else that happens when a program starts. It is split
 * into chunks so that lazily imported code (such as a model SDK or a sandbox backend) is read only when it is used.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import process from 'node:process'
import type { BuildOptions } from 'esbuild'
import { asciiOnly, assertAscii } from './ascii-only.ts'
import { builtins } from './builtins.ts'
import { writeBundled } from './bundled.ts'
import { dropForeignMaps } from './drop-foreign-maps.ts'
import { emptyResources } from './empty-resources.ts'
import {
  givenEntry,
  importByEntry,
  startOfAgent,
  startOfBoth,
  startOfDoor,
  startOfPatch,
  writeLauncher,
} from './launchers.ts'
import { bundleOf, keepLazy, lazyAgentModules, lazyPatchModules } from './lazy-modules.ts'
import { localDocker } from './local-docker.ts'
import { bundleVendors, takeVendors, vendorsApart } from './separate-bundles.ts'
import { plainHeaders } from './plain-headers.ts'
import { place, swapIn } from './place.ts'
import { prepared } from './prepared.ts'
import { warmUpAgent, warmUpPatchProgram } from './compiled-code.ts'

/**
 * Code that defines a `require` that finds only Node's own modules. It doesn't look for packages in folders outside this package, because commands
 * may be able to write to those folders.
 */
const requireForCommonJs =
  'const require=name=>{const found=process.getBuiltinModule(name);if(!found)throw Object.assign(new Error(name),{code:"MODULE_NOT_FOUND"});return found};'

const packages = ['apply-patch', 'engine', 'policies', 'sandbox']

/** The two programs behind `agent`: the complete one, and a smaller one for `agent sandbox`, which runs a single command in a sandbox. */
const agentPrograms = ['main', 'sandbox-main'] as const

// With `--if-buildable`, this script exits at once if there are no build tools, as in a production installation, which needs no build.
if (process.argv.includes('--if-buildable') && !existsSync('node_modules/esbuild')) process.exit(0)

const { build } = await import('esbuild')

/** Wraps a bundle in a function that returns the value of `exported`. The function's parameters supply what a script lacks, such as `require`. */
function asScript(exported: string): Pick<BuildOptions, 'banner' | 'footer'> {
  return {
    banner: { js: `${givenEntry.head},require,module){` },
    footer: { js: `return ${exported}${givenEntry.tail}` },
  }
}

const common = {
  bundle: true,
  minifySyntax: true,
  // If white space weren't removed, Node would have to read it at every start. Without `minifyWhitespace` and `minifySyntax`, `agent exec` takes 26
  // ms more processor time (221 instead of 195 ms, medians of 25 alternating runs). Identifiers in the libraries, which other programs load, keep
  // their names, so that stack traces can show them.
  minifyWhitespace: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.12',
  legalComments: 'linked',
  // With source maps, stack traces name lines of the source files. Including the sources themselves would triple the size of the package.
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
  metafile: true,
} satisfies BuildOptions

process.on('exit', () => rmSync(place, { recursive: true, force: true }))
const library = await build({
  ...common,
  entryPoints: packages.map((name) => `${name}/index.ts`),
  outdir: place,
  outbase: '.',
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  plugins: [prepared, emptyResources, localDocker, builtins(true)],
  // Vendor packages in CommonJS call `require` for Node's own modules, but an ES module has no `require`.
  banner: { js: requireForCommonJs },
})
// Each program is a single file, because opening files takes time, and because compiled code with all functions can be stored only for a single file.
const agent = await build({
  ...common,
  entryPoints: agentPrograms.map((name) => `engine/${name}.ts`),
  // Stack traces name positions in the sources (trace-in-sources.ts), so identifiers can be shortened. This makes `main.js`, whose text stays in
  // memory, a third smaller, and its compiled code 5 % smaller. `agent sandbox` takes 2 ms less (98 instead of 100), and an `agent exec` with one
  // reply takes 50 ms less (192 instead of 245, medians of 10 alternating runs), because its heap stays below the size at which V8 does a full
  // garbage collection.
  minifyIdentifiers: true,
  outdir: `${place}/engine`,
  format: 'cjs',
  define: { 'import.meta.url': 'module.url' },
  plugins: [
    keepLazy(lazyAgentModules),
    takeVendors,
    plainHeaders,
    prepared,
    emptyResources,
    builtins(false),
    asciiOnly,
  ],
  ...asScript('module.exports.main'),
})
const wholes = Object.keys(vendorsApart).map((name) => [name, `apart:${name}`] as const)
const bundled = [...lazyAgentModules.map((module) => [bundleOf(module), module] as const), ...wholes]
const bundles = bundled.map(([name]) => `${place}/chunks/${name}.js`)
const apart = await build({
  ...common,
  entryPoints: Object.fromEntries(bundled),
  outdir: `${place}/chunks`,
  plugins: [bundleVendors, plainHeaders, localDocker, builtins(false)],
})
// The bundles were built as ES modules and are converted to scripts here. If they were built directly as scripts, a CommonJS package in them would
// not have its default export.
await build({
  ...common,
  bundle: false,
  entryPoints: bundles,
  outdir: `${place}/chunks`,
  allowOverwrite: true,
  format: 'cjs',
  // A CommonJS script has no `import.meta.url`, and none of these bundles looks for files next to itself, so any URL will do.
  define: { 'import.meta.url': '"file:///"' },
  ...asScript('module.exports'),
})
// `apply-patch` is started for every single patch, and opening a file takes time. Therefore, `apply-patch` is built separately, as a single file.
const ofPatch = {
  ...common,
  // Error reports don't show the names of this program's functions and variables. Shortening them makes the file a third smaller and each start 1 ms
  // faster.
  minifyIdentifiers: true,
  plugins: [keepLazy(lazyPatchModules), builtins(false), asciiOnly],
} satisfies BuildOptions
const patch = await build({
  ...ofPatch,
  entryPoints: ['apply-patch/cli/run-program.ts'],
  outfile: `${place}/apply-patch/program.js`,
  format: 'iife',
  globalName: 'applyPatch',
  banner: { js: `${givenEntry.head}){` },
  footer: { js: `return applyPatch.runProgram${givenEntry.tail}` },
})
const ofOptions = await build({
  ...ofPatch,
  entryPoints: [...lazyPatchModules, 'sandbox/misread-start.ts'],
  entryNames: '[name]',
  outdir: `${place}/chunks`,
})

writeBundled(
  place,
  [library, agent, apart, patch, ofOptions].map(({ metafile }) => metafile),
)

const programs = [...agentPrograms.map((name) => `${place}/engine/${name}.js`), `${place}/apply-patch/program.js`]
await Promise.all(programs.map(importByEntry))
await Promise.all(programs.map(assertAscii))

await mkdir(`${place}/bin`, { recursive: true })
await writeLauncher('agent', startOfAgent(agentPrograms, bundles))
for (const door of ['codex', 'claude']) await writeFile(`${place}/bin/${door}.js`, startOfDoor(door), { mode: 0o755 })
await writeLauncher('apply-patch', startOfPatch)
await writeLauncher('portcullis', startOfBoth(agentPrograms, bundles))
await Promise.all([warmUpAgent(agentPrograms, bundles), warmUpPatchProgram()])

dropForeignMaps(place)

if (!process.argv.includes('--no-types')) {
  const declarations = ['-p', 'tsconfig.build.json', '--outDir', `${place}/types`]
  const types = spawnSync('node_modules/.bin/tsc', declarations, { stdio: 'inherit' })
  process.exitCode = types.status ?? 1
}
if ((process.exitCode ?? 0) === 0) await swapIn()
