import { readFileSync } from 'node:fs'
import { call, freeform, say, search, think, type Output, type Reply } from './mock-model.ts'

type Lines = string | readonly string[]
type Recorded = {
  readonly type: string
  readonly id?: string
  readonly name?: string
  readonly text?: Lines
  readonly arguments?: object | Lines
  readonly input?: Lines
  readonly action?: { readonly query?: string }
}

/**
 * Turns a recording into replies for a provider's mock. Each response begins with a thought, because providers are strictest about thinking.
 *
 * @param replaced replacements for texts in the recording
 */
export function repliesOf(path: string, replaced: Readonly<Record<string, string>> = {}): readonly Reply[] {
  const text = Object.entries(replaced).reduce(
    (whole, [from, to]) => whole.replaceAll(from, to),
    readFileSync(path, 'utf8'),
  )
  return text
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line, at) => {
      const { events } = JSON.parse(line) as { readonly events: readonly Recorded[] }
      return [think(`Step ${at}.`, `sealed-${path}-${at}`), ...events.map(outputOf)]
    })
}

function outputOf({ type, id, name = '', text = '', arguments: args, input, action }: Recorded): Output {
  switch (type) {
    case 'message':
      return say(joined(text))
    case 'reasoning':
      return think(joined(text))
    case 'web_search':
      return search(action?.query ?? 'something')
    default:
      if (input !== undefined) return freeform(name, joined(input), id)
      return call(name, typeof args === 'string' || Array.isArray(args) ? joined(args as Lines) : (args ?? {}), id)
  }
}

function joined(lines: Lines): string {
  return typeof lines === 'string' ? lines : lines.join('\n')
}
