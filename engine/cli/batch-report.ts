import { resolve } from 'node:path'
import process from 'node:process'
import { predictionsOf } from '../batch/derived/predictions.ts'
import { resultsOf } from '../batch/derived/results.ts'
import { writeDerived } from '../batch/derived/write-derived.ts'
import { BatchFolder } from '../batch/folder/batch-folder.ts'
import { mergeFolders } from '../batch/merge-folders.ts'
import { compareModels, type ModelStatistics } from '../batch/statistics/compare-models.ts'
import { renderCsv, renderMarkdown, renderText, tableNotes, tableOf } from '../batch/statistics/table.ts'
import { inline } from '../report/markdown/escape.ts'
import { batchReportFormats, type BatchReportOptions } from './batch-options.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { counted } from '../core/text/counted.ts'
import { UserError } from '../core/user-error.ts'
import { writeOutputFile } from './output-file.ts'
import { print, printJsonText, printResult, printText } from './print.ts'

/** The options of `agent batch export`: which results to export for an external evaluation, and the file to write. */
export type BatchExportOptions = { readonly output?: string; readonly model?: string; readonly repeat?: number }

/**
 * `agent batch report`: rewrites the files that are computed from the results of the runs, and prints a summary or, with `--format`, the statistics.
 *
 * @throws UserError `usage` if the folder contains no batch
 */
export async function batchReport(directory: string, { format }: BatchReportOptions = {}): Promise<number> {
  const folder = BatchFolder.open(resolve(directory), process.pid)
  if (format === undefined) return tellDerived(folder)
  const { results } = writeDerived(folder, folder.trials(folder.tasks()))
  printResult(renderStatistics(compareModels(results), format), 'text')
  return exitCodes.done
}

function renderStatistics(models: readonly ModelStatistics[], format: (typeof batchReportFormats)[number]): string {
  switch (format) {
    case 'text':
      return renderText(tableOf(models))
    case 'md':
      return `${renderMarkdown(tableOf(models), inline)}\n${tableNotes.join('\n\n')}\n`
    case 'csv':
      return renderCsv(models)
    case 'json':
      return `${JSON.stringify({ models })}\n`
    default:
      return format satisfies never
  }
}

/**
 * `agent batch merge`: merges several folders of one batch into a new folder.
 *
 * @throws UserError `usage` if one of the folders contains no readable batch, if they belong to different batches, or if the new folder is not empty
 */
export function batchMerge(directories: readonly string[], output: string): number {
  const paths = directories.map((directory) => resolve(directory))
  const { folder, superseded } = mergeFolders(paths, resolve(output), process.pid)
  if (superseded > 0)
    print(
      `${counted(superseded, "result doesn't", "results don't")} count, because an earlier folder has a result of the same run.`,
    )
  return tellDerived(folder)
}

function tellDerived(folder: BatchFolder): number {
  const { results, summary } = writeDerived(folder, folder.trials(folder.tasks()))
  print(`${summary.settled} of ${summary.trials} settled`, `${folder.path}/report.html`)
  if (summary.answers > 0) printText(`\n${renderText(tableOf(compareModels(results)))}`)
  return exitCodes.done
}

/**
 * `agent batch export --swebench`: writes the predictions for one model and one repeat.
 *
 * @throws UserError `usage` if the folder contains no batch, if no task has an answer yet, or if the options don't choose exactly one model and one
 * repeat that have answers
 */
export function batchExport(directory: string, { output, model, repeat }: BatchExportOptions): number {
  const folder = BatchFolder.open(resolve(directory), process.pid)
  const files = predictionsOf(folder, resultsOf(folder, folder.trials(folder.tasks())))
  const meant = files.filter(
    (file) => (model === undefined || file.model === model) && (repeat === undefined || file.repeat === repeat),
  )
  const [only, another] = meant
  if (only === undefined || another !== undefined) {
    const there = files.map((file) => `--model ${file.model} --repeat ${file.repeat}`).join('\n  ')
    const why = files.length === 0 ? 'no task has an answer yet' : `choose one of these:\n  ${there}`
    throw new UserError('usage', `${folder.path}: ${why}`)
  }
  const text = `${JSON.stringify(only.predictions, undefined, 2)}\n`
  if (output === undefined) printJsonText(text)
  else writeOutputFile(output, text, 'the predictions')
  return exitCodes.done
}
