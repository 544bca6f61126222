import type { BatchFolder } from '../folder/batch-folder.ts'
import type { Trial } from '../trials.ts'
import { renderJunit } from './batch-junit.ts'
import { renderBatchPage } from './batch-page.ts'
import { predictionsOf } from './predictions.ts'
import { compareModels } from '../statistics/compare-models.ts'
import { renderCsv } from '../statistics/table.ts'
import { renderResults, resultsOf, summaryOf, type Summary, type TrialResult } from './results.ts'

/** Writes all files of a batch that are computed from its runs: results, summary, statistics, predictions, the JUnit file and the page. */
export function writeDerived(
  folder: BatchFolder,
  trials: readonly Trial[],
): { readonly results: readonly TrialResult[]; readonly summary: Summary } {
  const results = resultsOf(folder, trials)
  const summary = summaryOf(folder, results)
  folder.derive('results.jsonl', renderResults(results))
  folder.derive('summary.json', `${JSON.stringify(summary, undefined, 2)}\n`)
  for (const { name, predictions } of predictionsOf(folder, results)) {
    folder.derive(name, `${JSON.stringify(predictions, undefined, 2)}\n`)
  }
  folder.derive('statistics.csv', renderCsv(compareModels(results)))
  folder.derive('junit.xml', renderJunit(results))
  folder.derive('report.html', renderBatchPage(folder, results, summary))
  return { results, summary }
}
