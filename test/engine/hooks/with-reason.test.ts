import { expect, test } from 'vitest'
import { withReason } from '../../../engine/hooks/with-reason.ts'

test('a decision of a hook is followed by its reason, or else by a full stop', () => {
  expect(withReason('A hook refused the prompt', 'it is empty')).toBe('A hook refused the prompt: it is empty')
  for (const none of [undefined, '', '\n'])
    expect(withReason('A hook refused the prompt', none)).toBe('A hook refused the prompt.')
})
