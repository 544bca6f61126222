/**
 * Labels, such as `docker`: sorted names without duplicates. A task's labels say what the task requires of a machine; a worker's labels say what the
 * worker's machine has.
 */
export type Labels = readonly string[]

const label = /^[\w.-]{1,64}$/

/**
 * Parses labels, sorts them and removes duplicates.
 *
 * @param said names separated by commas or spaces, or a list of names
 * @returns undefined if `said` is neither of these, or if one of the names is not a valid label
 */
export function parseLabels(said: unknown): Labels | undefined {
  const names: unknown = typeof said === 'string' ? said.split(/[,\s]/).filter((name) => name !== '') : said
  if (!Array.isArray(names)) return undefined
  const known = names.filter((name): name is string => typeof name === 'string' && label.test(name))
  return known.length === names.length ? [...new Set(known)].toSorted() : undefined
}

/** Whether a worker with the labels `own` may run a task that needs the labels `needed`. */
export function hasLabels(own: Labels, needed: Labels): boolean {
  return needed.every((name) => own.includes(name))
}

/** The distinct sets of labels that tasks need. */
export function labelSetsOf(tasks: readonly { readonly labels: Labels }[]): readonly Labels[] {
  return [...new Map(tasks.map(({ labels }) => [labels.join(), labels])).values()]
}
