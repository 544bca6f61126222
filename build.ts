/**
 * Builds `dist/`: one bundle per public face and program, shared chunks between them, and declarations.
 *
 * Bundled because opening a vendor SDK's hundreds of files costs more than the whole rest of a start; split into
 * chunks so that what stands behind a lazy door (a model SDK, a backend) is read only when the door opens.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import process from 'node:process'
import type { BuildOptions, Plugin } from 'esbuild'

/** The programs: file in `dist/bin/`, the module it starts, and the name it goes by in messages. */
const programs = [
  { name: 'agent', entry: '../engine/main.js' },
  { name: 'apply-patch', entry: '../apply-patch/main.js' },
]

const requireForCommonJs =
  "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);"

const rooms = ['apply-patch', 'engine', 'policies', 'sandbox']

// A published package has no build tools in it and needs none: `prepare` must then do nothing.
if (process.argv.includes('--if-buildable') && !existsSync('node_modules/esbuild')) process.exit(0)

const { build } = await import('esbuild')

/**
 * An `import` of one of Node's own modules makes Node read every property of it once, lazy getters included (streams, standard
 * input), which costs a start more than all of our own code. Here only what is used is read.
 */
const builtins: Plugin = {
  name: 'builtins',
  setup(setup) {
    setup.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'require-call' ? undefined : { path, namespace: 'builtin', sideEffects: false },
    )
    setup.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => {
      const names = Object.keys(process.getBuiltinModule(path) ?? {}).filter((name) => /^[a-z_$][\w$]*$/i.test(name))
      const exported = names.map((name) => `const _${name} = /* @__PURE__ */ (() => all.${name})()\n`)
      const list = names.map((name) => `_${name} as ${name}`).join(', ')
      const load = `const all = /* @__PURE__ */ process.getBuiltinModule('${path}')\n`
      return { contents: `${load}export default all\n${exported.join('')}export { ${list} }\n` }
    })
  },
}

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

const common = {
  bundle: true,
  minifySyntax: true,
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
  plugins: [builtins],
  // Vendor packages in CommonJS call `require` for Node's own modules; an ES module has none.
  banner: { js: requireForCommonJs },
})
// apply-patch starts for every single patch, and every file that Node opens for it costs: so it is one, built on its own.
const ofPatch = {
  ...common,
  minifyWhitespace: true,
  minifyIdentifiers: true,
  plugins: [doors, builtins],
} satisfies BuildOptions
await build({ ...ofPatch, entryPoints: ['apply-patch/main.ts'], outfile: 'dist/apply-patch/main.js' })
await build({ ...ofPatch, entryPoints: patchDoors, entryNames: '[name]', outdir: 'dist/chunks' })

await mkdir('dist/bin', { recursive: true })
for (const { name, entry } of programs) {
  await writeFile(`dist/bin/${name}.js`, launcher(name, entry))
  await chmod(`dist/bin/${name}.js`, 0o755)
}

if (!process.argv.includes('--no-types')) {
  const types = spawnSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' })
  process.exitCode = types.status ?? 1
}

/**
 * The text of a program's first file. It must parse on any Node that knows modules, since its job is to
 * refuse an old one in one line instead of a stack trace from inside a bundle.
 */
function launcher(name: string, entry: string): string {
  return `#!/usr/bin/env node
import module from 'node:module'

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 12)) {
  process.stderr.write('${name}: needs Node 22.12 or newer, this is ' + process.version + ' (' + process.execPath + ')\\n')
  process.exit(2)
}
module.enableCompileCache?.()
await import('${entry}')
`
}
