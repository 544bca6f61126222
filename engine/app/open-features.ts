import type { Contribution, Feature, Opened } from './feature.ts'

/**
 * Opens features in order. Rejects with the first failure. By then, `context.closing` contains the cleanup functions of everything that was opened.
 *
 * @param add receives each feature's contribution before the next feature is opened
 */
export async function openFeatures(
  features: readonly Feature[],
  context: Opened,
  add: (contribution: Contribution) => void,
): Promise<void> {
  for (const feature of features) add(await feature.open(context))
}
