import { expect, test } from 'vitest'
import { exampleIn, faces, valuesOf } from './exports.ts'

test.each(faces)(
  'what %s exports has an `@example` in its comment, or `@internal` where only the engine is meant',
  async (face) => {
    const bare = (await valuesOf(face)).filter(
      ({ comment }) => exampleIn(comment) === undefined && !/^ \* @internal$/m.test(comment),
    )
    expect(bare.map(({ name }) => name)).toEqual([])
  },
)
