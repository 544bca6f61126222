import { archives } from './archives.ts'
import { builtins } from './builtins.ts'
import { byteReaders } from './byte-readers.ts'
import { filters } from './sed-awk-jq.ts'
import { find } from './find.ts'
import { git } from './git-program.ts'
import { inspectors } from './inspectors.ts'
import { networkClients } from './network-clients.ts'
import { privileges } from './privileges.ts'
import type { Program, ProgramTable } from './program-table.ts'
import { readers } from './readers.ts'
import { codeRunners } from './runners.ts'
import { searchers } from './search.ts'
import { shells } from './shells.ts'
import { wrappers } from './wrappers.ts'
import { destroyers, writers } from './writers.ts'

/** The known programs. A name that isn't in any of the tables is unknown, so a missing row only leads to more questions. */
const tables: readonly ProgramTable[] = [
  ...[builtins, readers, byteReaders, inspectors, searchers, filters, find, archives, git, shells, wrappers],
  ...[writers, destroyers, networkClients, codeRunners, privileges],
]

const rows = tables.flatMap((table) => Object.entries(table))
const programs: ReadonlyMap<string, Program> = new Map(rows)

/** The row for a program's bare name, or undefined for an unknown program. */
export function findProgram(name: string): Program | undefined {
  // `mkfs.ext4` has the row of `mkfs`, and `python3.12` has the row of `python3`.
  return programs.get(name) ?? programs.get(name.replace(/^(mkfs)\.\w+$|^(python3)\.[0-9]+$/, '$1$2'))
}

/** The names of all known programs, each with the documentation from which its row comes. */
export function knownPrograms(): readonly { readonly name: string; readonly source: string }[] {
  return rows.map(([name, { source }]) => ({ name, source }))
}
