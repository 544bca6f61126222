import { codeThatRunsLater, protectedTable, renderDoctor, type ProtectedPlace } from '../../sandbox/index.ts'
import { exitCodes } from '../core/exit-codes.ts'
import type { ConfigOptions } from './declare/config-options.ts'
import { renderRows, type Row } from './doctor/doctor-row.ts'
import { exitCodeOf, lookHere } from './doctor/look-here.ts'
import { renderTree } from './doctor/render-tree.ts'
import { treeHere } from './doctor/tree-here.ts'
import { statement } from '../app/no-sandbox.ts'
import { print, printText, printJson } from './print.ts'

/** The command line of `agent doctor`, as parsed. */
export type DoctorOptions = ConfigOptions & {
  readonly json?: true
  readonly protected?: true
  readonly view?: true
  readonly skipGitRepoCheck?: true
}

/**
 * `agent doctor`: prints what this machine can enforce and whether a run here would have what
 * it needs. Sends nothing over the network. With `--protected`, it only prints the table of protected paths, and with `--view`, what commands see.
 *
 * @returns 0 if `agent exec` would have everything it needs, or with `--protected` or `--view`; the exit code for an unavailable sandbox if the sandbox is
 *   missing; otherwise 1
 */
export async function runDoctor(options: DoctorOptions): Promise<number> {
  if (options.protected === true) {
    if (options.json === true) printJson(placesTold())
    else print(...renderProtected())
    return exitCodes.done
  }
  if (options.view === true) {
    const tree = await treeHere(options)
    if (options.json === true) printJson(tree === undefined ? { home: 'open' } : { home: 'closed', ...tree })
    else print(...(tree === undefined ? [openTree] : renderTree(tree)))
    return exitCodes.done
  }
  const { report, needed, checks } = await lookHere(options)
  const ready = checks.every(({ state }) => state !== 'missing')
  const advice = report.chosen === undefined ? `${statement}\n` : ''
  if (options.json === true) printJson({ ...report, ready, checks })
  else {
    printText(`${renderDoctor(report)}${advice}`)
    print(...renderRows(checks), verdict(checks))
  }
  return exitCodeOf(checks, needed)
}

const openTree =
  'Commands see this whole machine, in a sandbox without the places where credentials are kept (`agent doctor --protected` lists them).'

function verdict(checks: readonly Row[]): string {
  const missing = checks.filter(({ state }) => state === 'missing')
  if (missing.length === 0) return 'agent exec has all it needs here'
  return `agent exec would not start here: see ${missing.map(({ group, check }) => `${group}, ${check}`).join('; ')}`
}

type Told = Omit<ProtectedPlace, 'what'> & { readonly what: ProtectedPlace['what'] | 'runs-later' }

function placesTold(): readonly Told[] {
  const later = codeThatRunsLater().flatMap(({ program, source, names }) =>
    names.map((name) => ({ at: `**/${name}`, what: 'runs-later' as const, program, source })),
  )
  return [...protectedTable(), ...later]
}

const meanings: Readonly<Record<Told['what'], string>> = {
  'runs-later': 'is not protected, but a change by a run is reported at the end of that run',
  settings: "can't be written in any directory of the workspace",
  startup: "can't be written in a home directory or at the top of the workspace",
  home: "can't be written in your own home directories",
  credentials: 'can be neither read nor written',
}

/** Renders a line for each path that is protected or whose changes are reported: the path, how it is treated, the program that uses it, a source. */
function renderProtected(): readonly string[] {
  return placesTold().map(({ at, what, program, source }) => `${at}\t${meanings[what]}\t${program}\t${source}`)
}
