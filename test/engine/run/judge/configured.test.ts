import { expect, test } from 'vitest'
import { judge, type Files } from '../../../support/judge-change.ts'
import { configuredFurther } from './configured-further.ts'
import { configuredHelpers } from './configured-helpers.ts'
import { configuredImports } from './configured-imports.ts'
import { configuredPython } from './configured-python.ts'
import { configured } from './configured.ts'
import { cargo, node, vitest, type Project } from './projects.ts'

async function verdictOf(project: Project, change: Files, more: Files, command = project.command): Promise<string> {
  const judged = await judge({
    files: { ...project.files, ...more },
    change,
    command,
    readable: project.readable ?? [],
  })
  return typeof judged === 'string' ? judged : judged.judgement.verdict
}

for (const [title, { project, change, more = {}, command }] of Object.entries({
  ...configured,
  ...configuredFurther,
  ...configuredHelpers,
  ...configuredImports,
  ...configuredPython,
})) {
  test.skipIf(project.isMissing())(`${title} can't make a broken change good`, async () => {
    expect(await verdictOf(project, change, more, command)).toMatch(/^(?:revised|weakened)$/)
  })
}

const setup = {
  'vitest.config.mjs': `export default { test: { cache: false, include: ['src/**/*.test.mjs'], setupFiles: ['./setup.mjs'] } }\n`,
  'setup.mjs': 'globalThis.one = 1\n',
}

test.skipIf(vitest.isMissing())('a setup file may change if everything passes with the old one too', async () => {
  expect(await verdictOf(vitest, { ...vitest.better, 'setup.mjs': 'globalThis.one = 2\n' }, setup)).toBe('kept')
})

test.skipIf(node.isMissing())('a file that the command names is judged even if the old one passes', async () => {
  const command = 'node --require ./src/math.js --test'
  const weaker = (node.files['test/math.test.js'] as string).replace('add(1, 2), expected', 'add(1, 2), -1')
  expect(await verdictOf(node, { ...node.broken, 'test/math.test.js': weaker }, {}, command)).toBe('revised')
  expect(await verdictOf(node, node.better, {}, command)).toBe('kept')
})

test.skipIf(cargo.isMissing())('a crate may get another version and features', async () => {
  const manifest = `${(cargo.files['Cargo.toml'] as string).replace('0.1.0', '0.2.0')}\n[features]\nmore = []\n`
  const lock = (cargo.files['Cargo.lock'] as string).replace('0.1.0', '0.2.0')
  expect(await verdictOf(cargo, { ...cargo.better, 'Cargo.toml': manifest, 'Cargo.lock': lock }, {})).toBe('kept')
})

test.skipIf(node.isMissing())(
  'a runner whose version was changed runs as it is, and the findings name it',
  async () => {
    const runner = (version: string, more = ''): Files => ({
      'package.json': `{"name":"p","scripts":{"test":"tiny"},"devDependencies":{"tiny":"${version}"}}\n`,
      'node_modules/tiny/package.json': `{"name":"tiny","version":"${version}"}\n`,
      'node_modules/tiny/cli.js': `#!/bin/sh\nexec node --test ${more}\n`,
      'node_modules/.bin/tiny': { link: '../tiny/cli.js' },
    })
    const change = { ...node.better, ...runner('2.0.0', '--test-concurrency=1') }
    const judged = await judge({ files: { ...node.files, ...runner('1.0.0') }, change, command: 'npm test' })
    expect(typeof judged === 'string' ? judged : judged.judgement).toMatchObject({
      verdict: 'kept',
      findings: [{ kind: 'note', detail: '2 installed files differ from the base, in node_modules/tiny' }],
    })
  },
)
