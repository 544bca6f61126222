/** What a task requires of a worker's machine, such as `docker`, as sorted names without duplicates. Empty: the task requires nothing. */
export type Labels = readonly string[]

const label = /^[\w.-]{1,64}$/

/**
 * Parses labels, sorts them and removes duplicates.
 *
 * @param said names separated by commas or spaces, or a list of names
 * @returns undefined for anything else
 */
export function parseLabels(said: unknown): Labels | undefined {
  const names: unknown = typeof said === 'string' ? said.split(/[,\s]/).filter((name) => name !== '') : said
  if (!Array.isArray(names)) return undefined
  const known = names.filter((name): name is string => typeof name === 'string' && label.test(name))
  return known.length === names.length ? [...new Set(known)].toSorted() : undefined
}

/** Whether a worker with its `own` labels may run a task that has the `needed` labels. */
export function hasLabels(own: Labels, needed: Labels): boolean {
  return needed.every((name) => own.includes(name))
}

/** The distinct sets of labels that tasks need. */
export function labelSetsOf(tasks: readonly { readonly labels: Labels }[]): readonly Labels[] {
  return [...new Map(tasks.map(({ labels }) => [labels.join(), labels])).values()]
}
