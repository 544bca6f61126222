import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, type Exec } from '../../support/workspace.ts'

/** A reviewer that allows everything. Before it answers, it runs the command line `meanwhile`, as a running command could do during a review. */
function thinking(cwd: string, meanwhile: string, scope: 'once' | 'run' = 'once'): readonly string[] {
  const directory = tempDir({
    'answer.mjs': `
import { execFileSync } from 'node:child_process'
import { createInterface } from 'node:readline'
for await (const line of createInterface({ input: process.stdin })) {
  const { id } = JSON.parse(line)
  execFileSync('/bin/sh', ['-c', ${JSON.stringify(meanwhile)}], { cwd: ${JSON.stringify(cwd)} })
  process.stdout.write(JSON.stringify({ id, outcome: 'allow', reason: 'said so', scope: '${scope}' }) + '\\n')
}`,
  })
  return ['--approval-program', `"${process.execPath}" "${join(directory, 'answer.mjs')}"`]
}

/** A repository with `build/out` in it, and next to it a folder that commands can read but not write to. */
function tree() {
  const base = tempDir()
  const [cwd, outside] = [join(base, 'repository'), join(base, 'outside')]
  mkdirSync(join(cwd, 'build/out'), { recursive: true })
  mkdirSync(join(outside, 'out'), { recursive: true })
  execFileSync('git', ['init', '--quiet', cwd])
  return { cwd, outside, flags: ['-c', `sandbox_read.allow=[${JSON.stringify(base)}]`] }
}

const asking = (write: string) => ({
  sandbox_permissions: 'require_escalated',
  justification: 'the report goes there',
  additional_permissions: { write: [write] },
})
const run = (cmd: string, more: object = {}) => call('exec_command', { cmd, ...more })
const onRequest = ['--json', '--ask-for-approval', 'on-request']
const answerTo = ({ requests }: Exec, index: number): string => JSON.stringify(requests[index]?.body)
const replace = (outside: string): string => `mv build b2; mkdir build; ln -s ${outside}/out build/out`

describe.skipIf(needsBubblewrap())('what was approved is a place, not a name', () => {
  test('a directory replaced by a link while the reviewer thinks is not written through', async () => {
    const { cwd, outside, flags } = tree()
    const ended = await exec(
      [[run('echo pwned > build/out/made', asking(join(cwd, 'build/out')))], [say('ok')]],
      [...onRequest, ...flags, ...thinking(cwd, replace(outside)), 'x'],
      { cwd },
    )
    expect(existsSync(join(outside, 'out/made'))).toBe(false)
    // The command worked in the view, where nobody had replaced anything.
    expect(ended.events.at(-1)).toMatchObject({ type: 'turn.failed', transaction: { outcome: 'conflict' } })
  })

  test('neither is one whose parent was replaced by another directory', async () => {
    const { cwd, outside, flags } = tree()
    const meanwhile = `mv ${outside}/out ${outside}/old; mkdir ${outside}/out`
    const ended = await exec(
      [[run(`echo pwned > ${outside}/out/made`, asking(join(outside, 'out')))], [say('ok')]],
      [...onRequest, ...flags, ...thinking(cwd, meanwhile), 'x'],
      { cwd },
    )
    expect(existsSync(join(outside, 'out/made'))).toBe(false)
    expect(answerTo(ended, 1)).toContain('no longer what was configured or approved')
  })

  test('neither is a file that appears where one was to be created', async () => {
    const { cwd, outside, flags } = tree()
    writeFileSync(join(outside, 'theirs'), 'theirs\n')
    const ended = await exec(
      [[run(`echo pwned > ${outside}/new`, asking(join(outside, 'new')))], [say('ok')]],
      [...onRequest, ...flags, ...thinking(cwd, `ln ${outside}/theirs ${outside}/new`), 'x'],
      { cwd },
    )
    expect(readFileSync(join(outside, 'theirs'), 'utf8')).toBe('theirs\n')
    expect(answerTo(ended, 1)).toContain('no longer what was configured or approved')
  })

  test('a grant for the run covers only what it named; if that is gone, the run reports it once and continues', async () => {
    const { cwd, outside, flags } = tree()
    const write = 'echo pwned > build/out/made'
    const ended = await exec(
      [
        [run('echo first > build/out/first', asking(join(cwd, 'build/out')))],
        [run(replace(outside))],
        [run(write)],
        [run(`${write}; echo went on`)],
        [say('ok')],
      ],
      [...onRequest, ...flags, ...thinking(cwd, 'true', 'run'), 'x'],
      { cwd },
    )
    expect(readFileSync(join(cwd, 'b2/out/first'), 'utf8')).toBe('first\n')
    expect(existsSync(join(outside, 'out/made'))).toBe(false)
    expect(answerTo(ended, 3)).toContain(`${cwd}/build/out is no longer what was configured or approved`)
    expect(answerTo(ended, 4)).toContain('went on')
  })

  test('a writable root that commands replaced is left out of wider sandboxes, and the run continues', async () => {
    const { cwd, outside, flags } = tree()
    writeFileSync(join(outside, 'note'), 'old\n')
    const ended = await exec(
      [
        [run(replace(outside))],
        [run(`echo pwned > build/out/made; echo new > ${outside}/note`, asking(join(outside, 'note')))],
        [say('ok')],
      ],
      [...onRequest, ...flags, '--add-dir', join(cwd, 'build/out'), ...thinking(cwd, 'true'), 'x'],
      { cwd },
    )
    expect(existsSync(join(outside, 'out/made'))).toBe(false)
    expect(readFileSync(join(outside, 'note'), 'utf8')).toBe('new\n')
    expect(answerTo(ended, 2)).not.toContain('no longer what was configured or approved')
  })

  test('a denied file stays denied in wider sandboxes, wherever it was moved', async () => {
    const { cwd, outside, flags } = tree()
    mkdirSync(join(cwd, 'cfg/private'), { recursive: true })
    writeFileSync(join(cwd, 'cfg/private/key'), 'secret-of-the-user\n')
    writeFileSync(join(outside, 'note'), 'old\n')
    const ended = await exec(
      [
        [run('mv cfg c2')],
        [run(`cat c2/private/key; echo new > ${outside}/note`, asking(join(outside, 'note')))],
        [say('ok')],
      ],
      [...onRequest, ...flags, '-c', `sandbox_read.deny=["${cwd}/cfg/private"]`, ...thinking(cwd, 'true'), 'x'],
      { cwd },
    )
    expect(readFileSync(join(outside, 'note'), 'utf8')).toBe('new\n')
    expect(answerTo(ended, 2)).not.toContain('secret-of-the-user')
  })
})
