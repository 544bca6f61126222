import { describe, expect, test } from 'vitest'
import type { HistoryItem } from '../../../engine/core/model.ts'
import { describeSnapshot } from '../../../engine/run/files-at-hand.ts'
import { builtInTools } from '../../../engine/app/built-in-tools.ts'
import { openPath } from '../../support/call-path.ts'
import { call, say } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'

const entry = (id: string, status: string, content = `do ${id}`) => ({ id, content, status })
const open = ['-s', 'danger-full-access', '--json']
const lists = ({ events }: Exec) =>
  events.flatMap((event) =>
    event.type === 'item.completed' && event.item.type === 'todo_list' ? [event.item.items] : [],
  )

describe('todo', () => {
  test('writes the whole list, shows it to the user, and shows it again if called without a list', async () => {
    const { call, events } = await openPath({ tools: builtInTools })
    const todos = [entry('a', 'completed'), entry('b', 'in_progress')]
    const said = { ok: true, output: 'The list is now:\n[x] a: do a\n[>] b: do b' }
    expect(await call('todo', { todos })).toEqual(said)
    expect(await call('todo', {})).toEqual(said)
    expect(events.filter((event) => 'item' in event && event.item.type === 'todo_list').at(-1)).toEqual({
      type: 'item.completed',
      item: {
        id: 'item_0',
        type: 'todo_list',
        items: [
          { id: 'a', text: 'do a', completed: true, status: 'completed' },
          { id: 'b', text: 'do b', completed: false, status: 'in_progress' },
        ],
      },
    })
  })

  test('names unfinished entries that were left off the list', async () => {
    const { call } = await openPath({ tools: builtInTools })
    await call('todo', { todos: [entry('a', 'completed'), entry('b', 'pending')] })
    expect(await call('todo', { todos: [] })).toEqual({
      ok: true,
      output: 'The list is empty.\nRemoved although not completed:\n[ ] b: do b',
    })
  })

  test.each([
    ['two entries in progress', [entry('a', 'in_progress'), entry('b', 'in_progress')], 'more than one step'],
    ['an id twice', [entry('a', 'pending'), entry('a', 'pending')], "the id 'a' occurs twice"],
    ['an id that is none', [entry('a b', 'pending')], 'must be 1 to 32 letters'],
    ['an entry of two lines', [entry('a', 'pending', 'x\ny')], 'more than one line'],
  ])('refuses %s, and keeps the list it had', async (_, todos, why) => {
    const { call, path } = await openPath({ tools: builtInTools })
    await call('todo', { todos: [entry('z', 'pending')] })
    expect(await call('todo', { todos })).toMatchObject({ ok: false, output: expect.stringContaining(why) })
    expect(path.context.state.todo.entries).toEqual([entry('z', 'pending')])
  })
})

describe('the list of a session', () => {
  test('is restored when it is resumed, for the user and for the tool', async () => {
    const [home, cwd] = [tempDir(), repository()]
    const todos = [entry('a', 'completed'), entry('b', 'pending')]
    await exec([[call('todo', { todos })], [say('later')]], [...open, 'begin'], { cwd, home })
    const second = await exec([[call('todo', {})], [say('ok')]], [...open, 'resume', '--last', 'go on'], { cwd, home })
    expect(lists(second)).toEqual([
      [
        { id: 'a', text: 'do a', completed: true, status: 'completed' },
        { id: 'b', text: 'do b', completed: false, status: 'pending' },
      ],
    ])
    expect(JSON.stringify(second.requests[1]?.body)).toContain('[ ] b: do b')
  })

  test('that is all done is not shown again', async () => {
    const [home, cwd] = [tempDir(), repository()]
    const todos = [entry('a', 'completed')]
    await exec([[call('todo', { todos })], [say('done')]], [...open, 'begin'], { cwd, home })
    const second = await exec([[say('ok')]], [...open, 'resume', '--last', 'go on'], { cwd, home })
    expect(lists(second)).toEqual([])
  })

  test('is that of the last call that was not refused, also through execute_tool, and survives a compaction', () => {
    const written = (id: string, name: string, input: unknown, ok: boolean): readonly HistoryItem[] => [
      { type: 'tool_call', call: { id, name, kind: 'function', input: JSON.stringify(input) } },
      { type: 'tool_result', callId: id, output: '', ok },
    ]
    const history = [
      ...written('1', 'todo', { todos: [entry('a', 'pending')] }, true),
      ...written('2', 'execute_tool', { name: 'todo', input: { todos: [entry('a', 'in_progress')] } }, true),
      ...written('3', 'todo', { todos: [entry('a', 'completed'), entry('a', 'completed')] }, false),
    ]
    expect(describeSnapshot(history)).toContain('## Tasks\n[>] a: do a')
    expect(describeSnapshot([])).not.toContain('to be done')
  })
})
