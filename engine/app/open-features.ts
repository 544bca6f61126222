import type { Contribution, Feature, Opened } from './feature.ts'

/**
 * Opens features in their order. Rejects with what the first of them fails with; whatever it and those before it have opened is in
 * `context.closing` then.
 *
 * @param add takes what each brings, before the next is opened
 */
export async function openFeatures(
  features: readonly Feature[],
  context: Opened,
  add: (contribution: Contribution) => void,
): Promise<void> {
  for (const feature of features) add(await feature.open(context))
}
