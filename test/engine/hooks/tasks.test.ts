import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'
import { commands } from './hooks-support.ts'

/** Runs `agent exec --json` with these hooks in the user's Claude Code settings. */
async function withHooks(hooks: object, replies: Parameters<typeof exec>[0]): Promise<Exec & { readonly cwd: string }> {
  const home = tempDir({ '.claude/settings.json': JSON.stringify({ hooks }) })
  const cwd = repository()
  return { ...(await exec(replies, ['--json', 'go'], { cwd, home })), cwd }
}

const begin = (cmd: string) => call('task_create', { title: 'build it', description: 'until it is green', cmd })
const wait = call('task_output', { task_id: 'task-1', wait_ms: 60_000 })
const done = [say('done')]
const told = ({ requests }: Exec): string => JSON.stringify(requests.at(-1)?.body)
const heard = ({ events }: Exec): readonly string[] =>
  events.flatMap((event) => (event.type === 'item.completed' && event.item.type === 'hook' ? [event.item.event] : []))

describe.skipIf(needsBubblewrap())('hooks of background tasks', () => {
  test('get the fields that Claude Code’s scripts read', async () => {
    const keep = (name: string) => [commands(undefined, `cat > "$CLAUDE_PROJECT_DIR/${name}.json"`)]
    const ended = await withHooks({ TaskCreated: keep('created'), TaskCompleted: keep('completed') }, [
      [begin('true'), wait],
      done,
    ])
    expect(ended.stderr).not.toContain('never run')
    for (const [file, name] of [
      ['created', 'TaskCreated'],
      ['completed', 'TaskCompleted'],
    ]) {
      expect(JSON.parse(readFileSync(join(ended.cwd, `${file}.json`), 'utf8'))).toEqual({
        session_id: expect.any(String),
        transcript_path: expect.stringContaining('rollout.jsonl'),
        cwd: ended.cwd,
        permission_mode: expect.any(String),
        hook_event_name: name,
        task_id: 'task-1',
        task_subject: 'build it',
        task_description: 'until it is green',
      })
    }
    expect(heard(ended)).toEqual(['TaskCreated', 'TaskCompleted'])
  })

  test('learn which agent started the task', async () => {
    const ended = await withHooks({ TaskCreated: [commands(undefined, 'cat > "$CLAUDE_PROJECT_DIR/created.json"')] }, [
      [call('agent', { title: 'build', prompt: 'build it' })],
      [begin('true'), wait],
      [say('built')],
      done,
    ])
    expect(JSON.parse(readFileSync(join(ended.cwd, 'created.json'), 'utf8'))).toMatchObject({
      task_id: 'task-1',
      agent_id: 'agent-1',
      agent_type: 'general',
    })
  })

  test('a TaskCreated hook that exits with 2 prevents the task, and the model reads why', async () => {
    const no = [commands(undefined, 'echo "say what for" >&2; exit 2')]
    const ended = await withHooks({ TaskCreated: no }, [[begin('touch made')], done])
    expect(existsSync(join(ended.cwd, 'made'))).toBe(false)
    expect(told(ended)).toContain('a TaskCreated hook refused it. say what for')
  })

  test('if a TaskCompleted hook exits with 2, the model is told its objection once', async () => {
    const no = [commands(undefined, 'echo "the tests are red" >&2; exit 2')]
    const ended = await withHooks({ TaskCompleted: no }, [
      [begin('true'), wait],
      [call('exec_command', { cmd: 'true' })],
      done,
    ])
    expect(told(ended)).toContain('a TaskCompleted hook does not accept it as done. the tests are red')
    expect(told(ended).split('the tests are red')).toHaveLength(2)
  })

  test('a failing hook of either event forbids, like every guard', async () => {
    const ended = await withHooks({ TaskCreated: [commands(undefined, 'exit 1')] }, [[begin('touch made')], done])
    expect(existsSync(join(ended.cwd, 'made'))).toBe(false)
    expect(told(ended)).toContain('A guard hook that fails blocks the action that it guards')
  })

  test('one that says continue: false ends the run', async () => {
    const halt = [commands(undefined, `echo '{"continue": false, "stopReason": "too many tasks"}'`)]
    const ended = await withHooks({ TaskCreated: halt }, [[begin('true')], done])
    expect(ended.code).toBe(3)
    expect(ended.stderr).toContain('too many tasks')
  })

  test('a guard of Bash also guards the commands of tasks', async () => {
    const guard = { PreToolUse: [commands('Bash', 'grep -q "touch made" && { echo "not that" >&2; exit 2; } || true')] }
    const ended = await withHooks(guard, [[begin('touch made')], done])
    expect(existsSync(join(ended.cwd, 'made'))).toBe(false)
    expect(told(ended)).toContain('not that')
  })
})
