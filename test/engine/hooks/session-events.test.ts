import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { needsBubblewrap } from '../../support/needs.ts'
import { call, say } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'
import { commands } from './hooks-support.ts'

const run = (cmd: string) => [call('exec_command', { cmd })]
const done = [say('done')]
const items = ({ events }: Exec) => events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : []))
const told = ({ requests }: Exec) => JSON.stringify(requests.at(-1)?.body)

function homeWith(hooks: object): string {
  return tempDir({ '.claude/settings.json': JSON.stringify({ hooks }) })
}

describe.skipIf(needsBubblewrap())('CLAUDE_ENV_FILE', () => {
  const show = run('echo "$PROJECT_ENV:$API_KEY:$LD_LIBRARY_PATH"')

  test('commands get the variables that SessionStart hooks export, except secrets and those that decide what runs', async () => {
    const write = `echo "export PROJECT_ENV='two words'" >> "$CLAUDE_ENV_FILE"`
    const other = `printf 'export API_KEY=abc\\nexport LD_LIBRARY_PATH=/tmp\\n' > "$CLAUDE_ENV_FILE"`
    const home = homeWith({ SessionStart: [commands(undefined, write, other)] })
    const ended = await exec([show, done], ['--json', 'x'], { cwd: repository(), home })
    expect(ended.code, ended.stderr).toBe(0)
    expect(items(ended)).toContainEqual(
      expect.objectContaining({ type: 'command_execution', aggregated_output: 'two words::\n' }),
    )
    expect(items(ended)).toContainEqual(
      expect.objectContaining({ type: 'hook', status: 'completed', message: expect.stringContaining('API_KEY') }),
    )
    const sessions = join(home, '.local/state/portcullis/sessions')
    expect(readdirSync(join(sessions, readdirSync(sessions)[0] ?? '')).join()).not.toContain('hook-variables')
  })

  test('no other event has the file, and neither has a read-only run', async () => {
    const look = `echo "seen:$CLAUDE_ENV_FILE:" >&2; exit 2`
    const ended = await exec([run('true'), done], ['--json', 'x'], {
      cwd: repository(),
      home: homeWith({ PreToolUse: [commands(undefined, look)] }),
    })
    expect(told(ended)).toContain('seen::')
    const readOnly = await exec([show, done], ['--json', '-s', 'read-only', 'x'], {
      cwd: repository(),
      home: homeWith({ SessionStart: [commands(undefined, `echo "file:$CLAUDE_ENV_FILE:"`)] }),
    })
    expect(told(readOnly)).toContain('file::')
  })

  test('a hook that fails sets nothing', async () => {
    const write = `echo "export PROJECT_ENV=x" >> "$CLAUDE_ENV_FILE"; exit 1`
    const home = homeWith({ SessionStart: [commands(undefined, write)] })
    const ended = await exec([show, done], ['--json', 'x'], { cwd: repository(), home })
    expect(items(ended)).toContainEqual(
      expect.objectContaining({ type: 'command_execution', aggregated_output: '::\n' }),
    )
  })
})

describe.skipIf(needsBubblewrap())('ConfigChange', () => {
  /** Runs the program with this hook for `ConfigChange`, and calls `change` when the model is asked for its second response. */
  async function changing(hook: string, change: (home: string, cwd: string) => void, matcher?: string) {
    const home = homeWith({ ConfigChange: [commands(matcher, hook)] })
    const cwd = repository({ '.mcp.json': '{"mcpServers":{}}' })
    let asked = 0
    const ended = await exec(
      (index) => {
        if (index === 1 && asked++ === 0) change(home, cwd)
        return [run('true'), run('true'), run('true'), done][index] ?? done
      },
      ['--json', 'x'],
      { cwd, home },
    )
    return { ...ended, home, cwd }
  }
  const log = 'cat >> ~/.claude/log; echo >> ~/.claude/log'
  const logged = (home: string): readonly object[] => {
    const file = join(home, '.claude/log')
    if (!existsSync(file)) return []
    return readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
  }

  test('reports each configuration file that changes during the run once, in Claude Code’s format', async () => {
    const ended = await changing(log, (home, cwd) => {
      writeFileSync(join(home, '.claude/settings.json'), '{}')
      writeFileSync(join(cwd, '.mcp.json'), '{ "mcpServers": {} }')
      writeFileSync(join(cwd, 'other.json'), '{}')
    })
    expect(ended.code, ended.stderr).toBe(0)
    expect(logged(ended.home)).toMatchObject([
      {
        hook_event_name: 'ConfigChange',
        source: 'user_settings',
        file_path: join(ended.home, '.claude/settings.json'),
        cwd: ended.cwd,
      },
      { source: 'project_settings', file_path: join(ended.cwd, '.mcp.json') },
    ])
  })

  test('a matcher selects by the source of the file', async () => {
    const ended = await changing(
      log,
      (home, cwd) => {
        writeFileSync(join(home, '.claude/settings.json'), '{}')
        writeFileSync(join(cwd, '.mcp.json'), '{ "mcpServers": {} }')
      },
      'project_settings',
    )
    expect(logged(ended.home)).toHaveLength(1)
  })

  test('an objection is reported, and the change has no effect on the run in any case', async () => {
    const rules = '.claude/settings.json'
    const ended = await changing('echo "not during a run" >&2; exit 2', (home) =>
      writeFileSync(join(home, rules), '{"permissions":{"deny":["Bash(true)"]}}'),
    )
    expect(items(ended)).toContainEqual(
      expect.objectContaining({
        type: 'error',
        message: `${join(ended.home, rules)} has changed, but a hook objects to that (not during a run). This run continues with the configuration that it read at the start.`,
      }),
    )
    expect(ended.events.at(-1)).toMatchObject({ type: 'turn.completed', denied: 0 })
  })
})
