import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { openAgent as Open } from '../../engine/index.ts'
import { call, say } from '../support/mock-openai.ts'
import { needsBubblewrap } from '../support/needs.ts'
import { calls, says, scriptedModel } from '../support/scripted-run.ts'
import { tempDir } from '../support/temp-dir.ts'
import { exec, repository } from '../support/workspace.ts'

/** A repository with so many files that a second thread copies a part of them. The code of this thread is part of the bundles. */
function largeRepository(): string {
  const tree = repository()
  for (let at = 0; at < 2000; at += 1) {
    mkdirSync(join(tree, `d${at % 10}`), { recursive: true })
    writeFileSync(join(tree, `d${at % 10}`, `f${at}`), `${at}\n`)
  }
  return tree
}

/** Counts the files with different content. */
const cmd = 'grep -rh . d0 d1 d2 d3 d4 d5 d6 d7 d8 d9 | sort -u | wc -l >count'

describe.skipIf(needsBubblewrap())('a private copy of two thousand files', () => {
  test('is complete if the built program makes it', async () => {
    const cwd = largeRepository()
    const args = ['--json', '--view=copy', 'go']
    const { code } = await exec([[call('exec_command', { cmd })], [say('done')]], args, { cwd })
    expect(code).toBe(0)
    expect(readFileSync(join(cwd, 'count'), 'utf8').trim()).toBe('2000')
  })

  test('is complete if the built library makes it', async () => {
    const built = new URL('../../dist/engine/index.js', import.meta.url).href
    const { openAgent } = (await import(built)) as { readonly openAgent: typeof Open }
    const workspace = largeRepository()
    const agent = await openAgent({
      workspace,
      model: scriptedModel([() => [calls('exec_command', { cmd }, 'a')], () => [says('done')]]),
      settings: { view: 'copy' },
      environment: { PATH: process.env['PATH'], HOME: tempDir() },
    })
    onTestFinished(() => agent.close())
    const { exitCode } = await agent.run('go').result
    expect(exitCode).toBe(0)
    expect(readFileSync(join(workspace, 'count'), 'utf8').trim()).toBe('2000')
  })
})
