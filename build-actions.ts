/**
 * Builds the two actions from the output of `npm run build`. The code of each action is a single file, and `run` also contains the engine, so nothing
 * has to be installed on the runner. Git ignores the built files; they are committed only for a release.
 */
import { existsSync, rmSync } from 'node:fs'
import process from 'node:process'
import { build } from 'esbuild'
import { copyPrograms } from './.ci/build/copy-programs.ts'

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
// The runner has another Node than this one.
copyPrograms(`${actions}/run/dist/engine`, { compiled: false })
