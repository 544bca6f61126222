import type { Item, Sink, UsageSoFar } from '../core/events.ts'
import { inOneLine } from '../core/text/harmless.ts'
import { fit } from './fit.ts'
import { sanitizeForTerminal } from './sanitize-for-terminal.ts'
import { askUserName } from '../approvals/ask-user.ts'
import { asText, createFormatter, type FormatterOptions } from './formatter.ts'
import { activity } from './activity.ts'
import { columnsOf, ScreenRegion, type Screen } from './screen-region.ts'
import { lastLines } from './tail-lines.ts'
import { dollars, seconds, short } from './format-values.ts'

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const frameMs = 100

/** How many of the last lines of a running command's output are shown. */
const shownTailLines = 3

/**
 * Creates a calm live view: finished items scroll by as lines. Below them, the view shows the last lines of the running command's output, and one
 * line with the current activity, its duration, the usage so far and the total time. Only these lines are redrawn in place, so the lines above stay
 * readable in the terminal's history.
 */
export function liveSink(screen: Screen, options: FormatterOptions): Sink {
  const formatter = createFormatter(options)
  const region = new ScreenRegion(screen)
  const running = new Map<string, Activity>()
  const tails = new Map<string, () => string>()
  const begun = performance.now()
  let thinking: Activity = { what: 'starting', since: begun }
  let spent: UsageSoFar | undefined
  let writing = ''
  let frame = 0
  // The ids of the items that wait for a person's answer. While there are any, nothing is drawn, because the bottom line shows the question.
  const asking = new Set<string>()

  const draw = (): void => {
    if (asking.size > 0) return
    const { what, tail } = doingNow(running, thinking)
    const inAll = `${seconds(performance.now() - begun)} in all`
    const rest = [tail, ...spentWords(spent), inAll].join(' · ')
    const columns = Math.max(10, columnsOf(screen) - 1)
    // A long command is cut off, so that the changing figures after it still fit on the line.
    const line = `${frames[frame++ % frames.length]} ${fit(what, Math.max(12, columns - rest.length - 3))} ${rest}`
    const [read] = tails.values()
    const printed = read === undefined ? [] : lastLines(sanitizeForTerminal(read()), shownTailLines)
    region.draw([
      ...printed
        .map((text) => fit(inOneLine(`  ${text}`), columns))
        .map((text) => [text, formatter.paint('dim', text)] as const),
      ...[fit(inOneLine(line), columns)].map((text) => [text, formatter.paint('cyan', text)] as const),
    ])
  }
  const think = (what: string): void => {
    thinking = { what, since: performance.now() }
  }

  // The timer must never keep the process alive.
  const timer = setInterval(draw, frameMs).unref()
  return {
    event(event) {
      const lines = formatter.event(event)
      if (lines.length > 0) {
        region.erase()
        screen.write(asText(lines))
      }
      if ('item' in event && asksPerson(event.item)) {
        if (event.type === 'item.started') asking.add(event.item.id)
        else asking.delete(event.item.id)
        region.erase()
      }
      if (event.type === 'item.started') {
        running.set(event.item.id, { what: sanitizeForTerminal(activity(event.item)), since: performance.now() })
      }
      if (event.type === 'item.updated') {
        const since = running.get(event.item.id)?.since ?? performance.now()
        running.set(event.item.id, { what: sanitizeForTerminal(activity(event.item)), since })
      }
      if (event.type === 'item.completed') {
        running.delete(event.item.id)
        tails.delete(event.item.id)
      }
      if (event.type === 'item.completed' || event.type === 'turn.started') {
        writing = ''
        think('the model is thinking')
      }
      draw()
    },
    delta(text) {
      if (writing === '') think('the model is writing')
      writing = sanitizeForTerminal(`${writing}${text}`.slice(-200))
      const line = writing.trimEnd().split('\n').at(-1)?.trim() ?? ''
      thinking = { ...thinking, what: line === '' ? 'the model is writing' : `the model writes: ${line.slice(-60)}` }
    },
    tail(id, read) {
      tails.set(id, read)
    },
    spent(soFar) {
      spent = soFar
    },
    end(summary) {
      clearInterval(timer)
      region.erase()
      screen.write(asText(formatter.summary(summary)))
    },
  }
}

/** Whether an item that is in progress is waiting for a person's answer. */
function asksPerson(item: Item): boolean {
  return (
    (item.type === 'guardian_assessment' && item.reviewer === 'human') ||
    (item.type === 'tool_call' && item.tool === askUserName)
  )
}

/** An activity, and its start as a value of `performance.now()`. */
type Activity = { readonly what: string; readonly since: number }

function doingNow(
  running: ReadonlyMap<string, Activity>,
  thinking: Activity,
): { readonly what: string; readonly tail: string } {
  const [first, ...others] = running.values()
  const { what, since } = first ?? thinking
  const more = others.length === 0 ? '' : `and ${others.length} more `
  return { what, tail: `${more}${seconds(performance.now() - since)}` }
}

function spentWords(spent: UsageSoFar | undefined): readonly string[] {
  if (spent === undefined) return []
  const { turns, tokens, costUsd, of } = spent
  const limit = (value: string | undefined): string => (value === undefined ? '' : ` of ${value}`)
  return [
    `${turns}${limit(of.maxTurns?.toString())} ${turns === 1 && of.maxTurns === undefined ? 'turn' : 'turns'}`,
    `${short(tokens)}${limit(of.maxTokens === undefined ? undefined : short(of.maxTokens))} tokens`,
    ...(costUsd === undefined
      ? []
      : [`${dollars(costUsd)}${limit(of.maxCost === undefined ? undefined : dollars(of.maxCost))}`]),
  ]
}
