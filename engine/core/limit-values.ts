import type { LimitName } from '../../sandbox/index.ts'

type Unit = 'seconds' | 'bytes' | 'count' | 'processors'

/** The definition of a limit that users can set: its key in the sandbox policy, and the unit of its value. */
type KnownLimit = { readonly limit: LimitName; readonly unit: Unit }

/** The limits, keyed by the names that `--limit` accepts. `sandbox_limits` has the same keys, with `_` instead of `-`, but no key for `time`. */
export const knownLimits: Readonly<Record<string, KnownLimit>> = {
  time: { limit: 'wallTimeMs', unit: 'seconds' },
  output: { limit: 'outputBytes', unit: 'bytes' },
  processes: { limit: 'processes', unit: 'count' },
  memory: { limit: 'memoryBytes', unit: 'bytes' },
  cpus: { limit: 'cpus', unit: 'processors' },
  disk: { limit: 'diskBytes', unit: 'bytes' },
  files: { limit: 'files', unit: 'count' },
  'file-size': { limit: 'fileSizeBytes', unit: 'bytes' },
  'open-files': { limit: 'openFiles', unit: 'count' },
}

const scales: Readonly<Record<string, number>> = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 }

/** Converts a text such as `512M` to the policy's unit. For an invalid text, returns a description of what was expected. */
export function readLimitValue(
  { unit }: KnownLimit,
  text: string,
): { readonly value: number } | { readonly expected: string } {
  if (unit === 'processors') {
    return /^\d+(?:\.\d+)?$/.test(text) ? { value: Number(text) } : { expected: 'a number of processors, e.g. 1.5' }
  }
  const match = /^(?<number>\d+)(?<scale>[KMG]?)$/i.exec(text)?.groups
  const scale = match?.['scale']?.toUpperCase() ?? ''
  if (match === undefined || (scale !== '' && unit !== 'bytes')) {
    return {
      expected: unit === 'bytes' ? 'a number of bytes, optionally followed by K, M or G' : `a whole number (${unit})`,
    }
  }
  return { value: Number(match['number']) * (unit === 'seconds' ? 1000 : (scales[scale] ?? 1)) }
}

/** Returns a limit's name and value as users write them, e.g. `memory` and `512M`. */
export function writeLimit(limit: LimitName, value: number): { readonly name: string; readonly value: string } {
  const [name, known] = Object.entries(knownLimits).find(([, each]) => each.limit === limit) ?? [limit, undefined]
  if (known?.unit === 'seconds') return { name, value: `${Math.ceil(value / 1000)}` }
  const scale =
    known?.unit === 'bytes' ? Object.entries(scales).findLast(([, factor]) => value % factor === 0) : undefined
  return { name, value: scale === undefined ? `${value}` : `${value / scale[1]}${scale[0]}` }
}
