import { expect, test } from 'vitest'
import { Closing } from '../../../engine/app/closing.ts'
import type { Feature, Opened } from '../../../engine/app/feature.ts'
import { openFeatures } from '../../../engine/app/open-features.ts'

/** Opens features that add two resources each. The feature named `failing` fails after adding the first one. */
function openAll(names: readonly string[]) {
  const told: string[] = []
  const closing = new Closing()
  const features = names.map((name): Feature => ({
    name,
    open: ({ closing: own }) => {
      own.add(() => void told.push(`${name} 1 closed`))
      if (name === 'failing') throw new Error('the self-test fails')
      own.add(() => void told.push(`${name} 2 closed`))
      return { notices: [name] }
    },
  }))
  // The features of this test use only the field `closing`.
  const opening = openFeatures(features, { closing } as unknown as Opened, ({ notices = [] }) => told.push(...notices))
  return { opening, closing, told }
}

test('resources of features are closed in reverse order', async () => {
  const { opening, closing, told } = openAll(['a', 'b'])
  await opening
  await closing.close()
  expect(told).toEqual(['a', 'b', 'b 2 closed', 'b 1 closed', 'a 2 closed', 'a 1 closed'])
})

test('if the last feature fails, all resources are closed, including its own', async () => {
  const { opening, closing, told } = openAll(['a', 'failing'])
  await expect(opening).rejects.toThrow('the self-test fails')
  await closing.close()
  expect(told).toEqual(['a', 'failing 1 closed', 'a 2 closed', 'a 1 closed'])
})
