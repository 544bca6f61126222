import type { Received } from '../sse-server.ts'

/** A rule that a provider documents, or enforces with a 400. */
export type Rule<Body> = {
  /** The provider's documentation of the rule. */
  readonly source: string
  /** Returns the provider's error message if a request breaks the rule; otherwise undefined. */
  readonly broken: (body: Body, request: Received) => string | undefined
}

/** The provider's answer to a request that breaks a rule, and the rule's documentation. Undefined if the request breaks no rule. */
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
        // This is data that a test damaged on purpose, or the end marker.
        return []
      }
    })
}

/** The first name that occurs a second time; undefined if none does. */
export function firstTwice(names: readonly string[]): string | undefined {
  return names.find((name, at) => names.indexOf(name) !== at)
}
