/** What a worker's machine has to have for a task, such as `docker`: names, sorted, each once. Empty: nothing. */
export type Labels = readonly string[]

const label = /^[\w.-]{1,64}$/

/**
 * @param said names, joined by commas or spaces, or a list of them
 * @returns undefined for what is no such list
 */
export function parseLabels(said: unknown): Labels | undefined {
  const names: unknown = typeof said === 'string' ? said.split(/[,\s]/).filter((name) => name !== '') : said
  if (!Array.isArray(names)) return undefined
  const known = names.filter((name): name is string => typeof name === 'string' && label.test(name))
  return known.length === names.length ? [...new Set(known)].toSorted() : undefined
}

/** Whether a worker with these labels may do a task that needs those. */
export function hasLabels(own: Labels, needed: Labels): boolean {
  return needed.every((name) => own.includes(name))
}

/** The labels that tasks need, each set of them once. */
export function labelSetsOf(tasks: readonly { readonly labels: Labels }[]): readonly Labels[] {
  return [...new Map(tasks.map(({ labels }) => [labels.join(), labels])).values()]
}
