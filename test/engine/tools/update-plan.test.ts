import { expect, test } from 'vitest'
import { builtInTools } from '../../../engine/app/built-in-tools.ts'
import { openPath } from '../../support/call-path.ts'

test('a plan is an item that the user can read, with one step in progress at a time', async () => {
  const { call, events } = await openPath({ tools: builtInTools })
  const plan = [
    { step: 'look', status: 'completed' },
    { step: 'change', status: 'in_progress' },
    { step: 'check', status: 'pending' },
  ]
  expect(await call('update_plan', { plan })).toEqual({
    ok: true,
    output: 'The plan is now:\n[x] look\n[>] change\n[ ] check',
  })
  expect(events.at(-1)).toEqual({
    type: 'item.completed',
    item: {
      id: 'item_0',
      type: 'todo_list',
      items: [
        { text: 'look', completed: true, status: 'completed' },
        { text: 'change', completed: false, status: 'in_progress' },
        { text: 'check', completed: false, status: 'pending' },
      ],
    },
  })
  const two = plan.map(({ step }) => ({ step, status: 'in_progress' }))
  expect(await call('update_plan', { plan: two })).toMatchObject({ ok: false })
})
