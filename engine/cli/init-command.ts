import process from 'node:process'
import { findRepository, findWorkspace } from '../app/workspace.ts'
import { exitCodes } from '../core/exit-codes.ts'
import type { ConfigOptions } from './declare/config-options.ts'
import type { Row } from './doctor/doctor-row.ts'
import { exitCodeOf, lookHere } from './doctor/look-here.ts'
import { findRelease } from './init/find-release.ts'
import { modelForCi } from './init/model-for-ci.ts'
import { beginnings, type Where } from './init/beginnings.ts'
import { writeNewFiles } from './init/write-new-files.ts'
import { print, printJson } from './print.ts'

/** The command line of `agent init`, as parsed. */
export type InitOptions = ConfigOptions & {
  readonly [place in Where]?: true
} & { readonly release?: string; readonly check?: true; readonly json?: true }

/**
 * `agent init`: writes the files with which a repository begins, and says what is next. With `--check`, only says what a run here lacks.
 *
 * @returns 0, or with `--check` the exit code of `agent doctor`
 * @throws UserError `usage` if the configuration is broken, or the named release can't be read
 */
export async function runInit(options: InitOptions): Promise<number> {
  if (options.check === true) return checkHere(options)
  const workspace = findWorkspace(options.cd ?? process.cwd())
  const root = findRepository(workspace) ?? workspace
  const model = await modelForCi(options, workspace)
  const release = options.release === undefined ? undefined : await findRelease(options.release)
  const { files, next } = beginnings({ ...options, model, release })
  const { written, kept } = await writeNewFiles(root, files)
  const { checks } = await lookHere(options)
  const steps = [...toMend(checks).map(stepOf), ...next(written)]
  if (options.json === true) printJson({ root, written, kept, next: steps })
  else
    print(
      ...written.map((path) => `wrote ${path}`),
      ...kept.map((path) => `kept ${path}, which was there`),
      ...numbered('next:', steps),
    )
  return exitCodes.done
}

async function checkHere(options: InitOptions): Promise<number> {
  const { checks, needed } = await lookHere(options)
  const found = toMend(checks)
  const ready = checks.every(({ state }) => state !== 'missing')
  if (options.json === true) printJson({ ready, missing: found })
  else {
    const steps = found.map((row) => (row.state === 'missing' ? stepOf(row) : `(only for some tasks) ${stepOf(row)}`))
    print(...numbered('to mend, in this order:', steps))
    print(ready ? 'agent exec has all it needs here' : 'agent exec would not start here')
  }
  return exitCodeOf(checks, needed)
}

/** The order in which to mend: what is broken hides what comes after it. */
const order: readonly Row['group'][] = ['configuration', 'model', 'sandbox', 'git', 'files', 'credentials']

/** What a run lacks, and then what git lacks for commits, in the order in which to mend it. */
function toMend(checks: readonly Row[]): readonly Row[] {
  const inOrder = order.flatMap((group) => checks.filter((row) => row.group === group))
  const missing = inOrder.filter(({ state }) => state === 'missing')
  const wanted = inOrder.filter(({ group, state, next }) => group === 'git' && state === 'note' && next !== undefined)
  return [...missing, ...wanted]
}

function stepOf({ check, found, next }: Row): string {
  return `${check}: ${found}${next === undefined ? '' : `\n${next}`}`
}

function numbered(title: string, steps: readonly string[]): readonly string[] {
  if (steps.length === 0) return []
  return [
    title,
    ...steps.flatMap((step, at) =>
      step.split('\n').map((line, part) => `${part === 0 ? `${at + 1}. ` : '   '}${line}`),
    ),
  ]
}
