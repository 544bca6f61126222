import process from 'node:process'
import { jsonlSink } from '../display/jsonl.ts'
import { liveSink } from '../display/live.ts'
import { plainSink } from '../display/plain.ts'
import type { Detail } from '../display/style.ts'
import type { Sink } from '../core/events.ts'
import type { ExecOptions } from './exec-options.ts'
import { printJsonText, rawOutput } from './print.ts'

/** Chooses where events are written: as text on stderr and, with `--json`, also as JSON on stdout. If stdout is a terminal, `--json` replaces the text. */
export function chooseSinks(options: ExecOptions): readonly Sink[] {
  const { stdout, stderr } = rawOutput
  const json = jsonlSink(printJsonText)
  if (options.json === true && stdout.isTTY) return [json]
  const canDraw = stderr.isTTY && process.env['TERM'] !== 'dumb'
  const detail: Detail = options.quiet === true ? 'quiet' : options.verbose === true ? 'verbose' : 'normal'
  const telling = {
    colour: colourFor(options.color, canDraw && (process.env['NO_COLOR'] ?? '') === ''),
    detail,
    cwd: process.cwd(),
  }
  const isLive = canDraw && detail !== 'quiet'
  const person = isLive ? liveSink(stderr, telling) : plainSink((text) => stderr.write(text), telling)
  return options.json === true ? [json, person] : [person]
}

function colourFor(wish: ExecOptions['color'], fits: boolean): boolean {
  return wish === undefined || wish === 'auto' ? fits : wish === 'always'
}
