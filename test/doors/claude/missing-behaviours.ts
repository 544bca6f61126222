import { expect } from 'vitest'
import { say } from '../../support/mock-model.ts'
import { claude, streaming } from './door.ts'

type Missing = { readonly name: string; readonly here: string; readonly run: () => Promise<void> }

const option = (name: string, args: readonly string[], instead: string): Missing => ({
  name: `the option ${name}`,
  here: `missing: ${instead}`,
  run: async () => {
    const { code, stderr, requests } = await claude(['-p', ...args, '--', 'go'], { replies: [[say('Hi!')]] })
    expect([code, requests]).toEqual([2, []])
    expect(stderr).toContain(args[0])
  },
})

const control = (subtype: string, instead: string): Missing => ({
  name: `the control request ${subtype}`,
  here: `missing: ${instead}`,
  run: async () => {
    const asked = { type: 'control_request', request_id: 'r', request: { subtype } }
    const { code, messages } = await claude(streaming, { replies: [], stdin: `${JSON.stringify(asked)}\n` })
    expect([code, messages]).toMatchObject([0, [{ response: { subtype: 'error', request_id: 'r' } }]])
  },
})

/** What clients of Claude Code may ask for in vain: each is refused, with a message. */
export const missingBehaviours: readonly Missing[] = [
  option(
    '--permission-prompt-tool with a tool of an MCP server',
    ['--permission-prompt-tool', 'mcp__a__b'],
    'the client answers at its streams (stdio)',
  ),
  option('--resume-drops-turn', ['--resume-drops-turn', 'x'], '--resume-session-at leaves out whatever came later'),
  option('--worktree', ['--worktree'], 'each run has a private view'),
  option('--bare', ['--bare'], '--setting-sources and --strict-mcp-config leave out what is configured'),
  control('rewind_files', '`agent undo` undoes what a run has landed'),
  control('get_settings', '`agent config show` prints the settings'),
  control('mcp_reconnect', 'a lost server is reached again by the next call'),
  control('stop_task', 'interrupt ends the turn'),
]
