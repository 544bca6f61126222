import type { WriteStream } from 'node:tty'
import type { Progress } from '../batch/run/progress.ts'
import { harmlessLine } from '../core/text/harmless.ts'
import { fit } from '../display/fit.ts'
import { columnsOf, ScreenRegion } from '../display/screen-region.ts'
import { tell } from './print.ts'

const liveMs = 500
const linesMs = 30_000
const mostRows = 20

/** Shows the progress of a batch: in a terminal as a table that is redrawn, otherwise as a line every thirty seconds. */
export function watchBatch(output: WriteStream): {
  readonly watch: (progress: Progress) => void
  readonly close: () => void
} {
  let timer: NodeJS.Timeout | undefined
  let region: ScreenRegion | undefined
  const draw = (progress: Progress): void => {
    const columns = Math.max(20, columnsOf(output) - 1)
    const lines = [...progress.rows(Math.min(mostRows, (output.rows ?? mostRows) - 3)), progress.line()]
    region?.draw(lines.map((line) => fit(harmlessLine(line), columns)).map((line) => [line, line] as const))
  }
  return {
    watch: (progress) => {
      if (output.isTTY) {
        region = new ScreenRegion(output)
        timer = setInterval(() => draw(progress), liveMs)
      } else {
        tell(progress.line())
        timer = setInterval(() => tell(progress.line()), linesMs)
      }
      timer.unref()
    },
    close: () => {
      clearInterval(timer)
      region?.erase()
      region = undefined
    },
  }
}
