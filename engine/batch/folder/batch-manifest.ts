import { createHash } from 'node:crypto'
import * as z from 'zod'

/**
 * The definition of a batch, which is fixed when the batch begins. When the batch is started again, everything except `created` and `cwd` must be the
 * same.
 */
export const manifestSchema = z.object({
  version: z.literal(1),
  /** When the batch began, in ISO 8601 format. */
  created: z.string(),
  /** The SHA-256 hash of `tasks.jsonl`. */
  tasks: z.string(),
  models: z.array(z.string()),
  repeat: z.int().min(1),
  /** Additional arguments for each `agent exec`. */
  options: z.array(z.string()),
  /** The directory against which relative paths in `options` are resolved. */
  cwd: z.string(),
  /** The maximum cost of one run, in US dollars. */
  max_cost_per_run: z.number().optional(),
  /** The part of the batch (shard) that runs in this folder. Absent: all trials run in it. */
  shard: z.object({ index: z.int(), of: z.int() }).optional(),
})

export type Manifest = z.infer<typeof manifestSchema>

/** The hash that identifies a manifest. It is the same for all shards of a batch, wherever and whenever they were begun. */
export function hashOf(manifest: Manifest): string {
  const { created: _, cwd: __, shard: ___, ...rest } = manifest
  return createHash('sha256').update(JSON.stringify(rest)).digest('hex')
}

/** The differences between two manifests, named as messages show them; empty if both define the same batch and the same shard. */
export function differences(one: Manifest, other: Manifest): readonly string[] {
  const names: readonly (readonly [keyof Manifest, string])[] = [
    ['tasks', 'the tasks'],
    ['models', '--model'],
    ['repeat', '--repeat'],
    ['options', "the runs' options"],
    ['max_cost_per_run', '--max-cost-per-run'],
    ['shard', '--shard'],
  ]
  return names.flatMap(([key, name]) => (JSON.stringify(one[key]) === JSON.stringify(other[key]) ? [] : [name]))
}
