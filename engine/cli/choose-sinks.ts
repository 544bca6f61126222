import process from 'node:process'
import { jsonlSink } from '../display/jsonl.ts'
import { liveSink } from '../display/live.ts'
import { plainSink } from '../display/plain.ts'
import type { Sink } from '../events.ts'
import type { ExecOptions } from './declare/exec.ts'

/** Events on stdout for `--json`; what a person reads on stderr, unless both would land on one terminal. */
export function chooseSinks(options: ExecOptions): readonly Sink[] {
  const { stdout, stderr } = process
  const json = jsonlSink((line) => stdout.write(line))
  if (options.json === true && stdout.isTTY) return [json]
  const colour = stderr.isTTY && process.env['NO_COLOR'] === undefined && process.env['TERM'] !== 'dumb'
  const person = stderr.isTTY ? liveSink(stderr, colour) : plainSink((text) => stderr.write(text), colour)
  return options.json === true ? [json, person] : [person]
}
