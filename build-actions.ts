/**
 * Builds the two actions from the output of `npm run build`. The code of each action is a single file, and `run` also contains the engine, so nothing
 * has to be installed on the runner. Git ignores the built files; they are committed only for a release.
 */
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import process from 'node:process'
import { build } from 'esbuild'

const actions = '.github/actions'

if (!existsSync('dist/bin/agent.js')) {
  process.stderr.write('The engine is not built: run `npm run build` first.\n')
  process.exit(1)
}
for (const name of ['run', 'apply']) {
  rmSync(`${actions}/${name}/dist`, { recursive: true, force: true })
  await build({
    entryPoints: [`${actions}/${name}/main.ts`],
    outfile: `${actions}/${name}/dist/index.js`,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    legalComments: 'linked',
    logLevel: 'warning',
  })
}
const engine = `${actions}/run/dist/engine`
mkdirSync(engine, { recursive: true })
cpSync('package.json', `${engine}/package.json`)
// Copy only the programs. The library and its type declarations are not needed.
for (const part of ['bin', 'chunks', 'engine']) {
  cpSync(`dist/${part}`, `${engine}/dist/${part}`, { recursive: true, filter: (path) => !path.endsWith('.map') })
}
