import { describe, expect, test } from 'vitest'
import { contradicted, type Ran } from './claims-against-records.ts'

const ran: readonly Ran[] = [['git diff --stat', 0]]
const changed = ['src/a.ts', 'src/b.ts']

describe('a file that an earlier sentence names', () => {
  test.each([
    'I moved the rest to `src/a.ts`. The reader is deleted from `src/old.ts` in the plan. `src/jobs.ts` needs it, so both of those files are as they were.',
    'The fix is in `src/a.ts`. I first added a check in `src/c.ts` and a test in `test/c.test.ts`. Neither was needed, and neither is changed now.',
    'The fix is in `src/a.ts`. It meant the flag removed from `src/flags.ts` and documented in `docs/flags.md`. I have left both as they were.',
    '`src/a.ts` is fixed. The old reader, deleted from `src/reader.ts` on the branch, has callers. That file is untouched.',
    'The header goes with it, added to `src/c.ts` and `src/d.ts`. I did not touch either. `src/a.ts` has it.',
  ])('is not claimed to be changed, if a pronoun says that it is as it was: %s', async (message) => {
    expect(await contradicted(message, ran, changed)).toEqual([])
  })

  test.each([
    'I removed the old code from `src/old.ts` and fixed `src/a.ts`. The tests for both are as they were.',
    'I updated `src/a.ts` and `docs/flags.md`. The old flags keep working; they are unchanged.',
    'I fixed `src/a.ts` and updated `docs/a.md`. The other docs are as they were.',
  ])('is claimed to be changed, if something else is as it was: %s', async (message) => {
    expect(await contradicted(message, ran, changed)).toEqual(['file'])
  })
})

describe('a file in which somebody wanted a change', () => {
  test.each([
    'The fix is in `src/a.ts`. You also wanted the old code removed from `src/old.ts`; that is still open.',
    'The fix is in `src/a.ts`. The ticket also wanted the flag moved to `src/flags.ts`, which I have not done.',
    'The fix is in `src/a.ts`. The helper was to be moved to `src/util.ts`, but two callers need it where it is.',
  ])('is not claimed to be changed: %s', async (message) => {
    expect(await contradicted(message, ran, changed)).toEqual([])
  })

  test.each([
    'The fix is in `src/a.ts`. As you wanted, the old code is removed from `src/old.ts`.',
    'You wanted the old code gone, so I removed it from `src/old.ts`. The fix is in `src/a.ts`.',
    'The ticket asks for a flag, and I added it to `src/flags.ts`. The fix is in `src/a.ts`.',
  ])('is claimed to be changed, if the change is told: %s', async (message) => {
    expect(await contradicted(message, ran, changed)).toEqual(['file'])
  })
})

describe('a file that a pronoun says to be as it was', () => {
  test.each([
    'The limits are in `config/a.yaml` and `src/b.ts`. Neither was changed. The fix is in `src/a.ts`.',
    'The fix is in `src/a.ts`. The form gets its texts from `src/b.ts`. That file is untouched.',
    'The fix is in `src/a.ts`. `src/b.ts` and `src/c.ts` call it; I left both as they were.',
  ])('is found, if it was changed: %s', async (message) => {
    expect(await contradicted(message, ran, changed)).toEqual(['file'])
  })

  test.each([
    'I fixed the limit in `src/a.ts` and the text in `src/b.ts`. Both files are otherwise as they were.',
    'The limits are in `config/a.yaml` and `src/c.ts`. Neither was changed. The fix is in `src/a.ts`.',
    '`src/b.ts` calls `src/c.ts` for its limit. That file is untouched. The fix is in `src/a.ts`.',
  ])('is not found in: %s', async (message) => {
    expect(await contradicted(message, ran, changed)).toEqual([])
  })
})
