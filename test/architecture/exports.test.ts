import { expect, test } from 'vitest'
import { exampleIn, entryPoints, valuesOf } from './exports.ts'

test.each(entryPoints)(
  'what %s exports has an `@example` in its comment, or `@internal` where only the engine is meant',
  async (entryPoint) => {
    const bare = (await valuesOf(entryPoint)).filter(
      ({ comment }) => exampleIn(comment) === undefined && !/^ \* @internal$/m.test(comment),
    )
    expect(bare.map(({ name }) => name)).toEqual([])
  },
)
