import { execa } from 'execa'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { exampleIn, entryPoints, valuesOf, type Documented, type EntryPoint } from '../architecture/exports.ts'
import { needsBubblewrap } from '../support/needs.ts'
import { tempDir } from '../support/temp-dir.ts'

const root = new URL('../../', import.meta.url).pathname
const notRun = (code: string): boolean => code.startsWith('// Not run: ')

/** A program that runs each example of an entry point in its own empty folder, unless the example says "Not run", and prints those that failed. */
function programOf(
  names: readonly string[],
  entryPoint: EntryPoint,
  examples: readonly (readonly [string, string])[],
): string {
  const acts = examples.map(([name, code]) => `await example('${name}', ${notRun(code)}, async () => {\n${code}\n})`)
  return `import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import * as z from 'zod'
import { ${names.join(', ')} } from 'portcullis/${entryPoint}'
const example = async (name: string, skip: boolean, act: () => Promise<void>): Promise<void> => {
  if (skip) return
  process.chdir(mkdtempSync(process.env['FOLDER'] + '/'))
  await act().catch((error: unknown) => process.stderr.write('FAILED ' + name + ': ' + String(error) + '\\n'))
}
${acts.join('\n')}
process.exit()
`
}

const folder = join(root, 'api-examples')

const documented = new Map<EntryPoint, readonly Documented[]>()
beforeAll(async () => {
  for (const entryPoint of entryPoints) documented.set(entryPoint, await valuesOf(entryPoint))
})

describe.each(entryPoints)('the exports of %s', (entryPoint) => {
  test.skipIf(entryPoint === 'sandbox' && needsBubblewrap())(
    'does what the example says, with the built package',
    async () => {
      const all = documented.get(entryPoint) ?? []
      const examples = all.flatMap(({ name, comment }) => {
        const code = exampleIn(comment)
        return code === undefined ? [] : [[name, code] as const]
      })
      mkdirSync(folder, { recursive: true })
      const file = join(folder, `${entryPoint}.ts`)
      onTestFinished(() => rmSync(file, { force: true }))
      writeFileSync(
        file,
        programOf(
          all.map(({ name }) => name),
          entryPoint,
          examples,
        ),
      )
      const home = tempDir()
      const env = { PATH: process.env['PATH'], HOME: home, FOLDER: tempDir() }
      const [types, ran] = await Promise.all([
        execa(join(root, 'node_modules/.bin/tsc'), ['--ignoreConfig', ...strict, file], { cwd: root, reject: false }),
        execa(process.execPath, [file], { env, extendEnv: false, reject: false, stdin: 'ignore' }),
      ])
      expect(types.stdout).toBe('')
      expect({ code: ran.exitCode, said: ran.stderr.split('\n').filter((line) => line.startsWith('FAILED')) }).toEqual({
        code: 0,
        said: [],
      })
      expect(existsSync(file)).toBe(true)
    },
  )
})

const strict = [
  ...['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2024', '--lib', 'es2024,esnext.disposable'],
  ...['--module', 'nodenext', '--moduleDetection', 'force', '--types', 'node', '--allowImportingTsExtensions'],
]
