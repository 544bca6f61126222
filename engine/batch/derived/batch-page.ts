import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { dollars, seconds, short } from '../../display/format-values.ts'
import { renderDocument } from '../../report/html/document.ts'
import { html, joined, type Html } from '../../report/html/html.ts'
import type { BatchFolder } from '../folder/batch-folder.ts'
import { isAnswer } from '../outcome.ts'
import { compareModels } from '../statistics/compare-models.ts'
import { tableNotes, tableOf } from '../statistics/table.ts'
import type { Summary, TrialResult } from './results.ts'
import { counted } from '../../core/text/counted.ts'

/**
 * Renders `report.html`: the results of a batch, and a matrix of its trials with a row for each task and a column for each model. Each settled trial
 * links to the page of the run that settled it, if that page exists.
 */
export function renderBatchPage(folder: BatchFolder, results: readonly TrialResult[], summary: Summary): string {
  const { settled, trials, answers, outcomes, cost_usd: cost, tokens, attempts } = summary
  const done = outcomes.done ?? 0
  const isOver = settled === trials
  const tone = !isOver ? 'warn' : done === trials ? 'ok' : 'bad'
  const head = isOver ? `${done} of ${trials} done` : `${settled} of ${trials} settled, ${trials - settled} still open`
  const content = html`<div class="end ${tone}">
      <h1>Batch: ${head}</h1>
      <p>
        ${counted(answers, 'run has', 'runs have')} an
        answer${settled > answers && `; ${counted(settled - answers, 'run')} ended without an answer and ${settled - answers === 1 ? 'is' : 'are'} not counted in the statistics`}.
      </p>
    </div>
    <dl class="facts">
      <div>
        <dt>Outcomes</dt>
        <dd>
          ${Object.entries(outcomes)
            .map(([name, count]) => `${count} ${name}`)
            .join(', ')}
        </dd>
      </div>
      <div>
        <dt>Cost</dt>
        <dd>
          ${dollars(cost)}<span class="bare"> · </span
          ><small>${counted(attempts, 'attempt')}, including those without an answer</small>
        </dd>
      </div>
      <div>
        <dt>Tokens</dt>
        <dd>${short(tokens.input)} in, ${short(tokens.output)} out</dd>
      </div>
    </dl>
    <main>
      ${renderStatistics(results)}
      <h2>Runs</h2>
      <div class="wide">${renderMatrix(folder, results)}</div>
    </main>
    <footer><p>Batch ${folder.hash.slice(0, 12)}. This page loads nothing.</p></footer>`
  return renderDocument(`Batch: ${head}`, content)
}

/** Renders the table of the models. The result is empty as long as no trial has an answer. */
function renderStatistics(results: readonly TrialResult[]): Html {
  const models = compareModels(results)
  if (models.every(({ answers }) => answers === 0)) return joined([])
  const [heads = [], ...rows] = tableOf(models)
  return html`<h2>Models</h2>
    <div class="wide">
      <table class="numbers">
        <thead>
          <tr>
            ${heads.map((head) => html`<th>${head}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            ([name = '', ...cells]) =>
              html`<tr>
                <th>${name}</th>
                ${cells.map((cell) => html`<td>${cell}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${joined(tableNotes.map((note) => html`<p class="dim">${note}</p>`))}
    <p><a href="statistics.csv">statistics.csv</a></p>`
}

function renderMatrix(folder: BatchFolder, results: readonly TrialResult[]): Html {
  const { models } = folder.manifest
  const columns = models.length === 0 ? [undefined] : models
  const byTask = new Map<string, TrialResult[]>()
  for (const result of results) {
    const row = byTask.get(result.trial.task)
    if (row === undefined) byTask.set(result.trial.task, [result])
    else row.push(result)
  }
  const rows = [...byTask].map(
    ([task, row]) =>
      html`<tr>
        <th>${task}</th>
        ${columns.map((model) =>
          renderCell(
            folder,
            row.filter(({ trial }) => trial.model === model),
            columns.length > 1 ? (model ?? '') : undefined,
          ),
        )}
      </tr>`,
  )
  return html`<table class="matrix">
    <thead>
      <tr>
        <th>Task</th>
        ${columns.map((model) => html`<th>${model ?? 'result'}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`
}

/**
 * Renders a cell of the matrix.
 *
 * @param row the trials of one task with one model
 * @param model the model's name, which is shown in the cell on narrow pages, because these have no column headings; undefined if there is only one
 * column
 */
function renderCell(folder: BatchFolder, row: readonly TrialResult[], model: string | undefined): Html {
  const trials = joined(row.map((result) => html`<div>${renderTrial(folder, result)}</div>`))
  return model === undefined ? html`<td>${trials}</td>` : html`<td data-model="${model}">${trials}</td>`
}

function renderTrial(folder: BatchFolder, { trial, settled }: TrialResult): Html {
  if (settled === undefined) return html`<span class="badge open">open</span>`
  const { outcome, total_cost_usd: cost, duration_ms: duration, attempts, error } = settled
  const tone = outcome === 'done' ? 'ok' : isAnswer(outcome) ? 'bad' : 'warn'
  const page = `runs/${encodeURIComponent(trial.key)}/${settled.attempt}/report.html`
  const badge = html`<span class="badge ${tone}">${outcome}</span>`
  const isThere = existsSync(join(folder.attemptPath(trial.key, settled.attempt), 'report.html'))
  const facts = [
    ...(cost === undefined ? [] : [dollars(cost)]),
    seconds(duration),
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
    ...(settled.files > 0 ? [counted(settled.files, 'file')] : []),
  ].join(' · ')
  return html`${isThere ? html`<a href="${page}">${badge}</a>` : badge} <small class="dim">${facts}</small>${
      outcome === 'done' || error === undefined ? undefined : html`<div class="why">${error.slice(0, 200)}</div>`
    }`
}
