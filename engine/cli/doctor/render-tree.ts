import type { TreeDescription } from '../../../sandbox/index.ts'
import { sanitizeForTerminal } from '../../display/sanitize-for-terminal.ts'

const accesses = { 'read-only': '', writable: ', writable', kept: ', writable until the run ends' } as const

/** Renders the tree that commands see, and what is left out of it, a line for each place. */
export function renderTree(tree: TreeDescription): readonly string[] {
  const { shown, leftOut } = sanitizeForTerminal(tree)
  const measured = leftOut
    .filter(({ bytes }) => bytes !== undefined)
    .toSorted((one, other) => (other.bytes ?? 0) - (one.bytes ?? 0))
  const others = leftOut.filter(({ bytes }) => bytes === undefined).map(({ path }) => path)
  return [
    'Commands see:',
    ...shown.map(({ path, source, access, why }) => {
      const from = source === undefined ? '' : `, which is ${source}`
      return `  ${path}\t${why}${accesses[access]}${from}`
    }),
    '',
    'They don’t see, of home directories:',
    ...measured.map(
      ({ path, bytes = 0, isComplete }) => `  ${isComplete === false ? 'at least ' : ''}${sizeOf(bytes)}\t${path}`,
    ),
    '',
    'And elsewhere, except for what is listed above:',
    ...others.map((path) => `  ${path}`),
    '',
    '`--allow-read PATH` shows what you name, `--open-home` everything without credentials.',
  ]
}

function sizeOf(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), units.length - 1)
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`
}
