/** Reports an invalid command line of `agent exec` as events, if the command line asks for events. */
export async function tellUsageError(argv: readonly string[], message: string): Promise<void> {
  if (!wantsEvents(argv)) return
  const { tellFailure } = await import('./report-startup-failure.ts')
  tellFailure('usage', message)
}

/** Whether an invalid command line is one of `agent exec` that asks for events. */
function wantsEvents([command = '', ...words]: readonly string[]): boolean {
  if (command === 'codex') return wantsEvents(words)
  const end = words.indexOf('--')
  const options = end === -1 ? words : words.slice(0, end)
  return ['exec', 'e'].includes(command) && options.some((word) => word === '--json' || word === '--experimental-json')
}
