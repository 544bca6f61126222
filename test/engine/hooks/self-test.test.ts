import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { loadHooks } from '../../../engine/hooks/load-hooks.ts'
import { testHooks } from '../../../engine/hooks/self-test.ts'
import { openSandbox, parsePolicy } from '../../../sandbox/index.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { commands } from './hooks-support.ts'
import { done, items, run, withHooks } from './run-support.ts'

/** What the self-test of hooks reports about one handler. The default event is one whose handlers can refuse calls. */
async function saidOf(handler: object, event = 'PreToolUse'): Promise<readonly string[]> {
  const home = tempDir({ 'hooks/there.sh': 'exit 0', 'hooks/it is.py': '' })
  const settings = tempDir({ 'settings.json': JSON.stringify({ hooks: { [event]: [{ hooks: [handler] }] } }) })
  const set = loadHooks([{ path: join(settings, 'settings.json'), layer: 'user', pluginRoot: join(home, 'hooks') }])
  const sandbox = await openSandbox(parsePolicy({ mode: 'workspace-write', workspace: home }))
  onTestFinished(() => sandbox.close())
  return testHooks(set, {
    workspace: home,
    home,
    sandboxFor: () => Promise.resolve(sandbox),
    forbidsHost: ({ hostname }) => (hostname === 'far.example' ? 'a rule forbids it' : undefined),
    missingServer: (name) => (name === 'gone' ? 'there is no MCP server gone' : undefined),
  })
}

const command = (line: string, more: object = {}): object => ({ type: 'command', command: line, ...more })

describe.skipIf(needsBubblewrap())('the test of hooks at the start', () => {
  const broken: Readonly<Record<string, readonly [object, string]>> = {
    'a program that is not there': [command('/nowhere/guard --strict'), "'/nowhere/guard' does not exist"],
    'a program that no folder of PATH has': [command('no-such-guard'), "'no-such-guard' does not exist"],
    'a script that lacks its x bit': [command('~/hooks/there.sh'), 'is not executable; run chmod +x on it'],
    'a script that its interpreter will not find': [command('python3 ~/hooks/gone.py'), "gone.py' does not exist"],
    "one in the project's folder": [
      command('"$CLAUDE_PROJECT_DIR"/hooks/gone.sh -v'),
      "/hooks/gone.sh' does not exist",
    ],
    "one in a plugin's folder": [command('${CLAUDE_PLUGIN_ROOT}/gone.sh'), "/hooks/gone.sh' does not exist"],
    'one with arguments that no shell reads': [command('/nowhere/guard', { args: ['a b'] }), "'/nowhere/guard'"],
    'a host that a rule forbids': [{ type: 'http', url: 'http://far.example/hook' }, 'a rule forbids it'],
    'a server that is not there': [{ type: 'mcp_tool', server: 'gone', tool: 'check' }, 'no MCP server gone'],
  }
  for (const [name, [handler, says]] of Object.entries(broken)) {
    test(`names ${name}`, async () => {
      const [said = '', ...more] = await saidOf(handler)
      expect(more).toEqual([])
      expect(said).toMatch(
        /settings\.json:1:\d+: this PreToolUse hook can't work, so the actions that it guards will be refused: /,
      )
      expect(said).toContain(says)
    })
  }

  test('only warns about a hook that forbids nothing', async () => {
    for (const said of [
      ...(await saidOf(command('/nowhere/log'), 'PostToolUse')),
      ...(await saidOf(command('/nowhere/log', { onError: 'continue' }))),
      ...(await saidOf(command('/nowhere/log', { async: true }))),
    ]) {
      expect(said).toContain('it will fail: ')
    }
  })

  const sound = [
    'sh ~/hooks/there.sh',
    'python3 "$HOME/hooks/it is.py"',
    'cd /tmp && ./whatever',
    'if command -v no-such-tool; then no-such-tool; fi',
    'jq -r .tool_name | no-such-tool',
    '$UNKNOWN/guard.sh',
    'python3 -c "import sys"',
    'f() { true; }; f',
  ]
  for (const line of sound) {
    test(`reports nothing about: ${line}`, async () => {
      expect(await saidOf(command(line))).toEqual([])
    })
  }

  test('is reported in the first events, and the guard still forbids', async () => {
    const ended = await withHooks({ PreToolUse: [commands('Bash', '~/.claude/guard.sh')] }, [run('touch ran'), done])
    const at = ended.events.findIndex((event) => event.type === 'turn.started')
    expect(ended.events[at + 1]).toMatchObject({
      type: 'item.completed',
      item: { type: 'error', message: expect.stringContaining(`'${ended.home}/.claude/guard.sh' does not exist`) },
    })
    expect(ended.stderr).toContain('the actions that it guards will be refused')
    expect(existsSync(join(ended.cwd, 'ran'))).toBe(false)
    expect(items(ended)).toContainEqual(expect.objectContaining({ type: 'hook', status: 'failed' }))
  })

  test('reports nothing if there is no fault', async () => {
    const ended = await withHooks({ PreToolUse: [commands('Bash', 'true')] }, [run('true'), done])
    expect(items(ended).filter(({ type }) => type === 'error')).toEqual([])
  })
})
