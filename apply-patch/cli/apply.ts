import type { ChangeSet, Warning } from '../change-set.ts'
import { commitChangeSet, type Report } from '../files/index.ts'
import { PatchError } from '../patch-error.ts'
import { parsePatch } from '../parse/parse-patch.ts'
import { planAgain, planPatch } from '../plan/plan-patch.ts'
import type { Repair } from '../patch.ts'
import { renderFailure } from '../render/render-failure.ts'
import { renderSummary } from '../render/render-summary.ts'
import { LostOutput } from './input.ts'
import { print, printDiff, printJson, tell, tellText, waits } from './print.ts'
import { describeError } from './describe-error.ts'
import type { Settings } from './apply-settings.ts'
import { more } from '../text/more.ts'

/** The maximum number of notes to print. Any others are only counted, but `--json` lists them all. */
const shownNotes = 20

/**
 * Applies a patch with the given settings, and prints the outcome.
 *
 * @returns the exit code
 */
export async function apply(input: string | Uint8Array, settings: Settings, signal: AbortSignal): Promise<number> {
  let repairs: readonly Repair[] = []
  let warnings: readonly Warning[] = []
  let report: Report | undefined
  try {
    const mode = settings.strict ? 'strict' : 'lenient'
    const { root, unsafePaths, reverse } = settings
    const options = { root, mode, unsafePaths, ambiguous: reverse ? 'refuse' : 'first', signal, waits } as const
    // A commit needs only the plan, so the parsed patch isn't kept.
    const planInput = async (plan: typeof planPatch): Promise<ChangeSet> => {
      const parsed = parsePatch(input, { mode })
      repairs = parsed.repairs
      const { reversePatch } = reverse ? await import('../transform/reverse-patch.ts') : { reversePatch: undefined }
      return plan(reversePatch?.(parsed.patch) ?? parsed.patch, options)
    }
    let changeSet = await planInput(planPatch)
    warnings = changeSet.warnings
    if (!settings.check) {
      const again = async (): Promise<ChangeSet> => (changeSet = await planInput(planAgain))
      report = await commitChangeSet(changeSet, { durable: settings.durable, signal, waits, planAgain: again })
    }
    warnings = report?.warnings ?? warnings
    note(repairs, warnings, report)
    await printOutcome(changeSet, report, repairs, settings)
    return 0
  } catch (error) {
    if (error instanceof LostOutput) {
      tell(`${error.message} ${report === undefined ? 'Nothing was changed.' : 'The patch was applied.'}`)
      return 1
    }
    note(repairs, [], undefined, error)
    const hint = await hintOf(error, settings.patch)
    if (hint !== undefined) tell(`  ${hint}`)
    if (settings.json) {
      printJson({ ok: false, applied: false, repairs, ...describeError(error), hint })
    }
    return 1
  }
}

/**
 * A hint to print with an error: a flag of this program that may help, or, if an argument doesn't even begin like a patch, a guess at what the user meant by
 * it.
 */
async function hintOf(error: unknown, argument: string | undefined): Promise<string | undefined> {
  if (!(error instanceof PatchError)) return undefined
  const { failures } = error
  if (failures.some((failure) => 'reason' in failure && needsUnsafePaths.includes(failure.reason)))
    return "--unsafe-paths would allow changes outside the root and to git's own data"
  const isNoPatch = failures[0]?.code === 'begin-missing'
  return argument !== undefined && isNoPatch ? (await import('./hint.ts')).hintFor(argument) : undefined
}

const needsUnsafePaths: readonly string[] = ['outside-root', 'protected']

/** Prints the result to standard output. If a diff is printed as text, the summary goes to standard error instead. */
async function printOutcome(
  changeSet: ChangeSet,
  report: Report | undefined,
  repairs: readonly Repair[],
  settings: Settings,
): Promise<void> {
  const diff = settings.diff ? (await import('../transform/unified-diff.ts')).unifiedDiff(changeSet) : undefined
  if (settings.json) {
    const { root, summary } = changeSet
    const outcome = { ok: true, applied: report !== undefined, root, summary, repairs }
    const { warnings, madeDirectories, canUndo, recovered } = report ?? (changeSet as Partial<Report>)
    printJson({ ...outcome, warnings, madeDirectories, canUndo, recovered, diff })
    return
  }
  const text = renderSummary(changeSet)
  const told = report === undefined ? text.replace('Success. Updated', 'Would update') : text
  // If a diff is requested, standard output contains nothing else, so that the diff can be piped into another program.
  if (diff === undefined) return print(told)
  printDiff(diff)
  tellText(told)
}

/** Prints the error and all notes (repairs, warnings, recovered runs) to standard error. The error itself comes first, because callers read the first line. */
function note(
  repairs: readonly Repair[],
  warnings: readonly Warning[],
  report: Report | undefined,
  error?: unknown,
): void {
  if (error !== undefined) tellText(`${renderFailure(error)}\n`)
  const notes = [
    ...repairs.map(
      ({ message, patchLine }) => `repaired: ${message}${patchLine === undefined ? '' : ` (patch line ${patchLine})`}`,
    ),
    ...warnings.map(({ message }) => `warning: ${message}`),
    ...(report?.recovered ?? []).map(
      ({ outcome, paths }) => `recovered a crashed run (${outcome}): ${paths.join(', ')}`,
    ),
    ...(report?.recovered ?? [])
      .flatMap(({ leftOver = [] }) => leftOver)
      .map((path) => `warning: ${path} could not be removed, so it stays; it does no harm`),
  ]
  tell(...notes.slice(0, shownNotes))
  if (notes.length > shownNotes) tell(`(${more(notes.length - shownNotes, 'note')}; --json lists them)`)
}
