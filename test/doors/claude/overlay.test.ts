import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, say, type Reply } from '../../support/mock-model.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'
import { codexExec } from '../codex/door.ts'
import { claude, resultIn, startClaude, streaming, userMessage } from './door.ts'

const overlay = { '.config/portcullis/config.toml': 'view = "overlay"\n' }
const touch: readonly Reply[] = [[call('exec_command', { cmd: 'touch made' })], [say('ok')]]

describe.skipIf(needsBubblewrap())('a view that is an overlay', () => {
  test('claude -p and codex exec, started by their paths, start again in it, and what they change lands', async () => {
    const [one, other] = [repository(), repository()]
    const args = ['-p', '--output-format', 'stream-json', '--verbose', '--dangerously-skip-permissions', 'go']
    const printed = await claude(args, { replies: touch, cwd: one, home: tempDir(overlay) })
    expect([printed.code, resultIn(printed.messages)['result']]).toEqual([0, 'ok'])
    const codex = ['--sandbox', 'workspace-write', 'go']
    const { code } = await codexExec(codex, {
      replies: touch,
      cwd: other,
      home: tempDir({ '.codex/.keep': '', ...overlay }),
    })
    expect([code, existsSync(join(one, 'made')), existsSync(join(other, 'made'))]).toEqual([0, true, true])
  })

  test('a client at the standard streams, whose process works on several runs, gets an error that says what helps', async () => {
    const { write, next, child, cwd, ended } = await startClaude(streaming, { replies: touch, home: tempDir(overlay) })
    write(userMessage('go'))
    const result = await next(({ type }) => type === 'result')
    child.stdin.end()
    await ended
    expect(String(result['errors'])).toContain('an overlay needs a process that only this run uses')
    expect(existsSync(join(cwd, 'made'))).toBe(false)
  })
})
