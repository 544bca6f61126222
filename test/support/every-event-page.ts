import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import * as z from 'zod'
import { RunEvent } from '../../engine/core/events.ts'
import { collectReport } from '../../engine/report/collect.ts'
import { renderReport } from '../../engine/report/render-report.ts'
import { tempDir } from './temp-dir.ts'

type Schema = {
  readonly [key in 'properties']?: Readonly<Record<string, Schema>>
} & {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
}

/** Values that a schema allows, one for each alternative, with `text` wherever the schema allows any text. */
function filled(schema: Schema, text: string): readonly unknown[] {
  if (schema.const !== undefined) return [schema.const]
  if (schema.enum !== undefined) return [schema.enum.at(-1)]
  const alternatives = schema.oneOf ?? schema.anyOf
  if (alternatives !== undefined) return alternatives.flatMap((each) => filled(each, text))
  if (schema.type === 'string') return [text]
  if (schema.type === 'number' || schema.type === 'integer') return [1]
  if (schema.type === 'boolean') return [true]
  if (schema.type === 'null') return [null]
  if (schema.type === 'array') return [schema.items === undefined ? [text] : filled(schema.items, text)]
  if (schema.type !== 'object') return [{ content: [{ type: 'text', text }], text }]
  const fields = Object.entries(schema.properties ?? {}).map(([name, each]) => [name, filled(each, text)] as const)
  const most = Math.max(1, ...fields.map(([name, values]) => (name === 'item' ? values.length : 1)))
  return Array.from({ length: most }, (_, at) =>
    Object.fromEntries(fields.map(([name, values]) => [name, values[at] ?? values[0]])),
  )
}

const schema = z.toJSONSchema(RunEvent, { io: 'input' }) as Schema

/** Renders the report of a run that contains, for each of `texts`, one event of every kind, with that text in all of the event's strings. */
export function pageOfEveryEvent(texts: readonly string[]): string {
  const beginning = { at: 1, type: 'begin', prompt: texts[0], context: texts, version: texts[0] }
  const events = texts.flatMap((text) => filled(schema, text)) as readonly { readonly type: string }[]
  const order = ['thread.started', 'item.started', 'item.completed']
  const told = [
    ...events
      .filter(({ type }) => order.includes(type))
      .toSorted((a, b) => order.indexOf(a.type) - order.indexOf(b.type)),
    { at: 2, type: 'summary', files: texts.map((path) => ({ path, kind: path, by: 'command' })) },
    ...events.filter(({ type }) => !order.includes(type)),
  ]
  const file = join(tempDir(), 'events.jsonl')
  writeFileSync(file, [beginning, ...told].map((event) => `${JSON.stringify(event)}\n`).join(''))
  const report = collectReport(file)
  return typeof report === 'string' ? expect.fail(report) : renderReport(report, 'html')
}
