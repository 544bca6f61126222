import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, freeform, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { exec, repository } from '../../support/workspace.ts'

const run = (cmd: string) => call('exec_command', { cmd })
const untrusted = ['--json', '--ask-for-approval', 'untrusted', 'x']

describe.skipIf(needsBubblewrap())('a model that keeps asking for what is refused, with nobody there', () => {
  test('ends the run at the third way it tries, with exit code 3', async () => {
    const cwd = repository()
    const patch = '*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n'
    const { code, events, requests } = await exec(
      [[run('touch a')], [freeform('apply_patch', patch)], [run(`python3 -c 'open("a", "w")'`)], [say('never')]],
      untrusted,
      { cwd },
    )
    expect(code).toBe(3)
    expect(requests).toHaveLength(3)
    expect(events.at(-1)).toMatchObject({ type: 'turn.failed', reason: 'stoppedByGuardian', denied: 3 })
    expect(existsSync(join(cwd, 'a'))).toBe(false)
  })

  test('goes on as long as something in between is done', async () => {
    const { code } = await exec(
      [
        [run('touch a')],
        [run('touch b')],
        [run('touch c'), run('ls')],
        [run('touch d')],
        [run('touch e')],
        [say('ok')],
      ],
      untrusted,
      { cwd: repository() },
    )
    expect(code).toBe(0)
  })

  test('may have many calls of one response refused: none of them knew of the others', async () => {
    const calls = Array.from({ length: 12 }, (_, at) => run(`touch a${at}`))
    const { code, events } = await exec([calls, [say('ok')]], untrusted, { cwd: repository() })
    expect(code).toBe(0)
    expect(events.at(-1)).toMatchObject({ type: 'turn.completed', denied: 12 })
  })
})
