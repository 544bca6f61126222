import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { call, say, type Reply } from '../../support/mock-model.ts'
import { needsBubblewrap, testUnlessOnCi } from '../../support/needs.ts'
import { repository } from '../../support/workspace.ts'
import { ask, drain, sdk, whyNoSdk } from './sdk.ts'

const test = testUnlessOnCi(whyNoSdk())

describe.skipIf(needsBubblewrap())('a run on a view', () => {
  test('a PostToolUse callback gets the contents of the file it is told of, which lands before the result', async () => {
    const seen: unknown[] = []
    const started = await ask('go', [[call('write_file', { path: 'made', content: 'text' })], [say('ok')]], {
      permissionMode: 'acceptEdits',
      hooks: {
        PostToolUse: [
          {
            matcher: 'Write',
            hooks: [
              ({
                tool_input: { file_path: path, content },
              }: {
                tool_input: { file_path: string; content: string }
              }) => {
                // The file is in the run's view, so who reads the disk finds nothing yet.
                seen.push([path, content, existsSync(path)])
                return Promise.resolve({})
              },
            ],
          },
        ],
      },
    })
    for await (const message of started.query)
      if (message.type === 'result') seen.push(readFileSync(join(started.cwd, 'made'), 'utf8'))
    expect(seen).toEqual([[join(started.cwd, 'made'), 'text', false], 'text'])
  })

  test('with --land each, the callback of the next call finds the file on the disk', async () => {
    const seen: unknown[] = []
    const note = ({ cwd }: { readonly cwd: string }) => {
      seen.push(existsSync(join(cwd, 'made')))
      return Promise.resolve({})
    }
    const replies: readonly Reply[] = [
      [call('write_file', { path: 'made', content: 'text' })],
      [call('exec_command', { cmd: 'ls' })],
      [say('ok')],
    ]
    await drain(
      await ask('go', replies, {
        permissionMode: 'acceptEdits',
        extraArgs: { land: 'each' },
        hooks: { PreToolUse: [{ hooks: [note] }], PostToolUse: [{ hooks: [note] }] },
      }),
    )
    // It lands after the call's own callbacks.
    expect(seen).toEqual([false, false, true, true])
  })

  test('what a server in the client’s process writes stays, beside what the run lands', async () => {
    const { createSdkMcpServer, tool } = await sdk()
    const cwd = repository()
    const note = tool('note', 'Writes a note.', {}, () => {
      writeFileSync(join(cwd, 'note'), 'by the server')
      return Promise.resolve({ content: [{ type: 'text', text: 'written' }] })
    })
    const replies: readonly Reply[] = [
      [call('mcp__notes__note', {})],
      [call('write_file', { path: 'made', content: 'by the run' })],
      [say('ok')],
    ]
    await drain(
      await ask('go', replies, {
        cwd,
        mcpServers: { notes: createSdkMcpServer({ name: 'notes', tools: [note] }) },
        permissionMode: 'bypassPermissions',
        allowDangerouslySkipPermissions: true,
      }),
    )
    expect(readFileSync(join(cwd, 'note'), 'utf8')).toBe('by the server')
    expect(readFileSync(join(cwd, 'made'), 'utf8')).toBe('by the run')
  })
})
