import type { Denial } from '../sandbox.ts'
import type { LimitName } from './denial-remedy.ts'

/** The denial for a limit that a command reached. `value` is the limit itself, for example the largest number of bytes. */
export function limitDenial(limit: LimitName, value: number, certainty: Denial['certainty']): Denial {
  return {
    kind: 'limit',
    subject: subjects[limit](value),
    rule: `limits.${limit}`,
    certainty,
    remedy: { kind: 'raise-limit', limit, value },
  }
}

const subjects: Readonly<Record<LimitName, (value: number) => string>> = {
  wallTimeMs: (value) => `more than ${value / 1000} s of running time; the command was stopped`,
  outputBytes: (value) => `more than ${bytes(value)} of output; the command was stopped`,
  memoryBytes: (value) => `more than ${bytes(value)} of memory`,
  processes: (value) => `more than ${value} processes and threads at a time`,
  cpus: (value) => `more than ${value} processors`,
  diskBytes: (value) => `more than ${bytes(value)} of disk space while the command ran, so it was stopped`,
  files: (value) => `more than ${value} new files on one disk while the command ran, so it was stopped`,
  fileSizeBytes: (value) => `a file of more than ${bytes(value)}`,
  openFiles: (value) => `more than ${value} open files in one process`,
}

/** Formats a size in the largest unit in which it is at least 1, with at most one decimal place. */
function bytes(value: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'] as const
  const power = Math.min(Math.floor(Math.log2(value) / 10), units.length - 1)
  return `${Number((value / 1024 ** power).toFixed(1))} ${units[power]}`
}
