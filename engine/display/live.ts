import type { Item, Sink, Spent } from '../events.ts'
import { fit } from './fit.ts'
import { harmless } from './harmless.ts'
import { askUserName } from '../tools/ask-user.ts'
import { createTeller, type Telling } from './teller.ts'
import { dollars, oneLine, progressWords, seconds, short } from './words.ts'

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const frameMs = 100

/** A terminal to draw on. */
type Screen = {
  readonly columns: number
  write(text: string): void
}

/**
 * A calm live view: what has happened scrolls by as lines, and one line at the bottom says what is going on right now, for
 * how long, and what the run has used so far. The bottom line is redrawn in place, so that the terminal's own history stays readable.
 */
export function liveSink(screen: Screen, telling: Telling): Sink {
  const teller = createTeller(telling)
  const running = new Map<string, Doing>()
  let thinking: Doing = { what: 'starting', since: performance.now() }
  let spent: Spent | undefined
  let writing = ''
  let frame = 0
  let drawn = false
  // While a person is asked, the bottom line is theirs.
  const asking = new Set<string>()

  const erase = (): void => {
    if (drawn) screen.write('\r\u001b[2K')
    drawn = false
  }
  const draw = (): void => {
    if (asking.size > 0) return
    const { what, tail } = doingNow(running, thinking)
    const rest = [tail, ...spentWords(spent)].join(' · ')
    const columns = Math.max(10, screen.columns - 1)
    // A long command gives way to the figures behind it, which are what changes.
    const line = `${frames[frame++ % frames.length]} ${fit(what, Math.max(12, columns - rest.length - 3))} ${rest}`
    screen.write(`\r\u001b[2K${teller.paint('cyan', fit(line, columns))}`)
    drawn = true
  }
  const think = (what: string): void => {
    thinking = { what, since: performance.now() }
  }

  // The view must never be what keeps the process alive.
  const timer = setInterval(draw, frameMs).unref()
  return {
    event(event) {
      const lines = teller.event(event)
      if (lines.length > 0) {
        erase()
        screen.write(`${lines.join('\n')}\n`)
      }
      if ('item' in event && asksPerson(event.item)) {
        if (event.type === 'item.started') asking.add(event.item.id)
        else asking.delete(event.item.id)
        erase()
      }
      if (event.type === 'item.started') {
        running.set(event.item.id, { what: harmless(activity(event.item)), since: performance.now() })
      }
      if (event.type === 'item.updated') {
        const since = running.get(event.item.id)?.since ?? performance.now()
        running.set(event.item.id, { what: harmless(activity(event.item)), since })
      }
      if (event.type === 'item.completed') running.delete(event.item.id)
      if (event.type === 'item.completed' || event.type === 'turn.started') {
        writing = ''
        think('the model is thinking')
      }
      draw()
    },
    delta(text) {
      if (writing === '') think('the model is writing')
      writing = harmless(`${writing}${text}`.slice(-200))
      const line = writing.trimEnd().split('\n').at(-1)?.trim() ?? ''
      thinking = { ...thinking, what: line === '' ? 'the model is writing' : `the model writes: ${line.slice(-60)}` }
    },
    spent(soFar) {
      spent = soFar
    },
    end(summary) {
      clearInterval(timer)
      erase()
      screen.write(
        teller
          .summary(summary)
          .map((line) => `${line}\n`)
          .join(''),
      )
    },
  }
}

/** Whether a person is asked as long as an item is open. */
function asksPerson(item: Item): boolean {
  return (
    (item.type === 'guardian_assessment' && item.reviewer === 'human') ||
    (item.type === 'tool_call' && item.tool === askUserName)
  )
}

/** Something that goes on, and since when, as `performance.now()` counts. */
type Doing = { readonly what: string; readonly since: number }

function doingNow(
  running: ReadonlyMap<string, Doing>,
  thinking: Doing,
): { readonly what: string; readonly tail: string } {
  const [first, ...others] = running.values()
  const { what, since } = first ?? thinking
  const more = others.length === 0 ? '' : `and ${others.length} more `
  return { what, tail: `${more}${seconds(performance.now() - since)}` }
}

function spentWords(spent: Spent | undefined): readonly string[] {
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

function activity(item: Item): string {
  switch (item.type) {
    case 'command_execution':
      return oneLine(item.command)
    case 'file_change':
      return 'applying a patch'
    case 'mcp_tool_call':
      return [`${item.server}: ${item.tool}`, ...progressWords(item.progress)].join(' · ')
    case 'tool_call':
      return oneLine(`${item.tool} ${item.input}`)
    case 'guardian_assessment':
      return `waiting for the approval of a ${item.reviewer}`
    case 'context_compaction':
      return 'summing up the conversation'
    case 'hook':
      return `running the ${item.event} hook`
    case 'plan_mode':
      return 'the plan is looked at'
    case 'agent_message':
    case 'reasoning':
    case 'todo_list':
    case 'web_search':
    case 'worktree':
    case 'error':
      return 'the model is thinking'
    default:
      return item satisfies never
  }
}
