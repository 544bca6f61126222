import type { Program, ProgramTable } from './program.ts'
import { privileges } from './privileges.ts'
import { readers } from './readers.ts'
import { shells } from './shells.ts'
import { writers } from './writers.ts'

const tables: readonly ProgramTable[] = [readers, shells, privileges, writers]

const programs: ReadonlyMap<string, Program> = new Map(tables.flatMap((table) => Object.entries(table)))

/** The row for a program's bare name, or undefined: then nothing is known about it. */
export function findProgram(name: string): Program | undefined {
  return programs.get(name)
}
