import type { Received } from '../sse-server.ts'

/** A rule that a provider documents, or answers 400 by. */
export type Rule<Body> = {
  /** Where the provider says so. */
  readonly source: string
  /** What the provider answers; undefined where the request keeps the rule. */
  readonly broken: (body: Body, request: Received) => string | undefined
}

/** What the provider answers to a request that breaks a rule: its words, and where they are documented. */
export function firstBroken<Body>(rules: readonly Rule<Body>[], request: Received): string | undefined {
  for (const { source, broken } of rules) {
    const words = broken(request.body as Body, request)
    if (words !== undefined) return `${words} [${source}]`
  }
  return undefined
}

/** The data of server-sent events, as a client reads them. */
export function eventsIn(frames: readonly string[]): readonly Readonly<Record<string, unknown>>[] {
  return frames
    .join('')
    .split('\n')
    .flatMap((line) => {
      if (!line.startsWith('data: ')) return []
      try {
        const event: unknown = JSON.parse(line.slice('data: '.length))
        return typeof event === 'object' && event !== null ? [event as Readonly<Record<string, unknown>>] : []
      } catch {
        // Damage that a test sends on purpose, or the word at the end.
        return []
      }
    })
}

/** The first of several that is there twice. */
export function firstTwice(names: readonly string[]): string | undefined {
  return names.find((name, at) => names.indexOf(name) !== at)
}
