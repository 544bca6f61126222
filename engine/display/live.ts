import type { Item, Sink } from '../events.ts'
import { createTeller, oneLine, seconds } from './lines.ts'

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const frameMs = 100

/** A terminal to draw on. */
type Screen = {
  readonly columns: number
  write(text: string): void
}

/**
 * A calm live view: what has happened scrolls by as lines, and one line at the bottom says what is going on right now and
 * for how long. The bottom line is redrawn in place, so that the terminal's own history stays readable.
 */
export function liveSink(screen: Screen, colour: boolean): Sink {
  const teller = createTeller(colour)
  let doing = 'starting'
  let since = performance.now()
  let frame = 0
  let drawn = false
  // While a person is asked, the bottom line is theirs.
  let isAsking = false

  const erase = (): void => {
    if (drawn) screen.write('\r\u001b[2K')
    drawn = false
  }
  const draw = (): void => {
    if (isAsking) return
    const line = `${frames[frame++ % frames.length]} ${doing} ${seconds(performance.now() - since)}`
    screen.write(`\r\u001b[2K${teller.paint('cyan', line.slice(0, Math.max(10, screen.columns - 1)))}`)
    drawn = true
  }
  const now = (what: string): void => {
    doing = what
    since = performance.now()
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
      if ('item' in event && event.item.type === 'guardian_assessment' && event.item.reviewer === 'human') {
        isAsking = event.type === 'item.started'
        erase()
      }
      if (event.type === 'item.started') now(activity(event.item))
      if (event.type === 'item.completed' || event.type === 'turn.started') now('the model is thinking')
      draw()
    },
    delta() {
      if (doing !== 'the model is writing') now('the model is writing')
    },
    end(summary) {
      clearInterval(timer)
      erase()
      screen.write(`${teller.summary(summary).join('\n')}\n`)
    },
  }
}

function activity(item: Item): string {
  if (item.type === 'guardian_assessment') return `waiting for the approval of a ${item.reviewer}`
  if (item.type === 'context_compaction') return 'summing up the conversation'
  return item.type === 'command_execution' ? oneLine(item.command) : 'applying a patch'
}
