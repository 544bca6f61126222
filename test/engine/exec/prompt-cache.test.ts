import { describe, expect, onTestFinished, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { call, say, think, type Reply } from '../../support/mock-model.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'
import { wires } from '../models/wires.ts'

/**
 * Actions of a run that could change earlier parts of requests: it updates its to-do list and its plan, searches for tools, and starts a task that
 * ends in the background.
 */
const work: readonly Reply[] = [
  [think('Look first.', 'sealed-1'), call('todo', { todos: [{ id: 'a', content: 'look', status: 'in_progress' }] })],
  [call('update_plan', { plan: [{ step: 'look', status: 'in_progress' }] })],
  [say('Searching.'), call('tool_search', { query: 'select:task_create,js_repl' })],
  [call('execute_tool', { name: 'task_create', input: { title: 'short', cmd: 'true' } })],
  [call('task_output', { id: 'task-1', wait_ms: 5000 })],
  [call('todo', { todos: [{ id: 'a', content: 'look', status: 'completed' }] }), call('list_dir', {})],
  [say('done')],
]

const resumed: readonly Reply[] = [
  [call('update_plan', { plan: [{ step: 'more', status: 'pending' }] })],
  [say('done')],
]

/** The parts of a request that a provider caches, in order, without the cache marks. */
function prefixOf(body: unknown, conversation: string): readonly string[] {
  const { [conversation]: said, tools, system, instructions } = body as Record<string, unknown>
  const parts = [tools, system, instructions, ...(said as readonly unknown[])]
  return parts.map((part) =>
    JSON.stringify(part, (key, value: unknown) => (key === 'cache_control' ? undefined : value)),
  )
}

describe.each(wires)('over $wire', ({ mock, agent: pointedAt, model, conversation }) => {
  test('each request begins with the complete previous one, even after a resume', async () => {
    const server = await mock({ replies: [...work, ...resumed] })
    onTestFinished(() => server.close())
    const { args, env } = pointedAt(server.baseUrl)
    const options = { cwd: repository({ 'a.txt': 'one\n' }), home: tempDir(), env }
    const words = ['-s', 'danger-full-access', '-m', model, ...args]
    const first = await agent(['exec', ...words, 'look around'], options)
    expect(first.code, first.stderr).toBe(0)
    const second = await agent(['exec', ...words, 'resume', '--last', 'and now?'], options)
    expect(second.code, second.stderr).toBe(0)
    const requests = server.requests.map(({ body }) => prefixOf(body, conversation))
    expect(requests).toHaveLength(work.length + resumed.length)
    for (const [at, request] of requests.entries()) {
      const before = requests[at - 1] ?? []
      expect(request.slice(0, before.length), `request ${at + 1}`).toEqual(before)
      expect(request.length).toBeGreaterThan(before.length)
    }
  })
})
