import { dollars, seconds, short } from '../../display/format-values.ts'
import type { ChangedFile, Report, ReportRun } from '../report-types.ts'
import { attentionOf, endingOf, lastRun, verifyLines } from '../run-facts.ts'
import { recordLines } from '../../core/run-record.ts'
import { nextCommands } from '../next-commands.ts'
import { renderDiff } from './render-diff.ts'
import { html, joined, type Html } from './html.ts'
import type { Rich } from './rich-text.ts'
import { counted } from '../../core/text/counted.ts'

const longestTask = 600

/** Renders the top of the page: how the run ended and why, its task, its figures, its verification, and the model's final message. */
export function renderTop(report: Report, rich: Rich): Html {
  const run = lastRun(report)
  const { words, tone } = endingOf(run)
  const { end } = run
  const final = report.steps.findLast(({ kind, agent }) => kind === 'message' && agent === undefined)
  const message = final?.parts[0]?.text
  return html`<header>
    <div class="end ${tone}">
      <h1>${words}</h1>
      ${end !== undefined && html`<p class="dim">exit code ${end.exitCode} · result ${end.result}${refusals(report)}</p>`}
      ${end?.message !== undefined && html`<p>${end.message}</p>`}
    </div>
    ${task(run.prompt)} ${facts(report, run)} ${verified(run)} ${recorded(run)} ${outside(run)}
    ${
      message !== undefined &&
      html`<section>
        <h2>What the model says</h2>
        ${rich.markdown(message)}
      </section>`
    }
  </header>`
}

/** Says how many calls were refused. A run can succeed even though some of its calls were refused. */
function refusals({ totals: { refused } }: Report): string {
  return refused === 0 ? '' : ` · ${counted(refused, 'call was', 'calls were')} refused`
}

function task(prompt: string | undefined): Html | undefined {
  if (prompt === undefined) return undefined
  if (prompt.length <= longestTask)
    return html`<section>
      <h3>Task</h3>
      <pre>${prompt}</pre>
    </section>`
  return html`<section>
    <h3>Task</h3>
    <pre>${prompt.slice(0, longestTask)} …</pre>
    <details>
      <summary>the whole task</summary>
      <pre>${prompt.slice(0, 100_000)}</pre>
    </details>
  </section>`
}

function facts({ totals, files }: Report, run: ReportRun): Html {
  const { end, spending } = run
  const [added, removed] = [
    files.reduce((sum, each) => sum + each.added, 0),
    files.reduce((sum, each) => sum + each.removed, 0),
  ]
  const tokens = end === undefined ? (spending.at(-1)?.tokens ?? 0) : end.inputTokens + end.outputTokens
  const row = (name: string, value: string, small?: string): Html =>
    html`<div>
      <dt>${name}</dt>
      <dd>${value}${small !== undefined && html`<span class="bare"> · </span><small>${small}</small>`}</dd>
    </div>`
  return html`<dl class="facts">
    ${[
      row('Model', run.model ?? 'unknown'),
      row('Cost', dollars(end?.costUsd ?? spending.at(-1)?.costUsd)),
      row(
        'Tokens',
        short(tokens),
        end === undefined
          ? undefined
          : `${short(end.inputTokens)} in, ${short(end.cachedTokens)} of them cached; ${short(end.outputTokens)} out`,
      ),
      row(
        'Time',
        end?.durationMs === undefined ? 'unknown' : seconds(end.durationMs),
        run.began === undefined ? undefined : `${new Date(run.began).toISOString().slice(0, 16).replace('T', ' ')} UTC`,
      ),
      row('Files changed', String(files.length), files.length === 0 ? undefined : `+${added} −${removed} by patches`),
      row(
        'Commands',
        String(totals.commands),
        totals.failedCommands === 0 ? undefined : `${totals.failedCommands} failed`,
      ),
      row('Refused', String(totals.refused)),
    ]}
  </dl>`
}

function verified(run: ReportRun): Html | undefined {
  const lines = verifyLines(run)
  if (lines.length === 0) return undefined
  return html`<section>
    <h3>Verified</h3>
    <ul>
      ${lines.map(
        ({ command, state, words }) =>
          html`<li>
            <span class="badge ${state === 'passed' ? 'ok' : 'failed'}">${state}</span> <code>${command}</code> ${words}
          </li>`,
      )}
    </ul>
  </section>`
}

/** Says what the record says about tests, commits and pushes, next to what the model says. */
function recorded({ end }: ReportRun): Html | undefined {
  if (end?.record === undefined) return undefined
  return html`<section>
    <h3>From the record</h3>
    <ul>
      ${recordLines(end.record).map(({ name, words }) => html`<li>${name}: ${words}</li>`)}
    </ul>
  </section>`
}

function outside({ outside: sentences }: ReportRun): Html | undefined {
  if (sentences.length === 0) return undefined
  return html`<div class="box warn">
    <strong>Outside the sandbox</strong>
    <ul>
      ${sentences.map((each) => html`<li>${each}</li>`)}
    </ul>
  </div>`
}

/** Renders the list of everything that needs attention, or says that nothing does. */
export function renderAttention(report: Report): Html {
  const list = attentionOf(report)
  if (list.length === 0)
    return html`<p>Nothing was refused, nothing failed in the end, and no budget was nearly used up.</p>`
  return html`<ul class="attention">
    ${list.map(
      ({ tone, title, lines, step }) =>
        html`<li class="${tone}">
          <strong>${title}</strong>${lines.map((line) => html`<p class="how">${line}</p>`)}${
            step !== undefined && html`<p><a href="#step-${step}">step ${step}</a></p>`
          }
        </li>`,
    )}
  </ul>`
}

/** Renders the changed files and their diffs. */
export function renderChange({ files }: Report, rich: Rich): Html {
  if (files.length === 0) return html`<p>No file was changed.</p>`
  const isMany = files.length > 12
  return html`<p class="toggle">
      <label><input type="checkbox" id="split" /> old and new side by side</label>
    </p>
    ${files.map((file, at) => renderFile(file, at, isMany, rich))}`
}

function renderFile(file: ChangedFile, at: number, isMany: boolean, rich: Rich): Html {
  const { path, kind, added, removed, diffs, omittedDiffs } = file
  const counts =
    diffs.length === 0
      ? html`<span class="dim"
          >${file.byCommand ? 'changed by a command; the changed lines were not recorded' : 'no diff was recorded'}</span
        >`
      : html`<span class="plus">+${added}</span> <span class="minus">−${removed}</span>`
  const head = html`<summary id="file-${at + 1}">
    <code>${path}</code> <span class="badge">${kind}</span> ${counts}
  </summary>`
  const body = html`${diffs.map(
    ({ step, diff }) =>
      html`${diffs.length > 1 && html`<p class="label">&nbsp; in <a href="#step-${step}">step ${step}</a></p>`}${renderDiff(diff, path, rich)}`,
  )}${omittedDiffs > 0 && html`<p class="label">&nbsp; ${counted(omittedDiffs, 'more patch', 'more patches')} of this file ${omittedDiffs === 1 ? 'is' : 'are'} left out.</p>`}`
  return isMany || diffs.length === 0
    ? html`<details class="file">${head}${body}</details>`
    : html`<details class="file" open>${head}${body}</details>`
}

/** Renders the run's configuration, its notices, and the texts that the model got before its task. */
export function renderConfiguration(run: ReportRun): Html {
  return html`<div class="wide">
      <table class="plain">
        ${run.configuration.map(
          ([name, value]) =>
            html`<tr>
              <th scope="row">${name}</th>
              <td>${value}</td>
            </tr>`,
        )}
      </table>
    </div>
    ${
      run.notes.length > 0 &&
      html`<div class="box">
        <ul>
          ${run.notes.map((note) => html`<li>${note}</li>`)}
        </ul>
      </div>`
    }
    ${run.context.map(
      (text, at) =>
        html`<details class="file">
          <summary>context given before the task, part ${at + 1} of ${run.context.length}</summary>
          <pre>${text}</pre>
        </details>`,
    )}`
}

/** Renders the commands that the user may want to run next, each with a button that copies it. */
export function renderNext(report: Report): Html {
  const list = nextCommands(report)
  if (list.length === 0) return html`<p>Nothing about this run was stored, so it can't be resumed.</p>`
  return joined(
    list.map(
      ({ what, command }) =>
        html`<p class="label">${what}</p>
          <div class="command">
            <pre><code>${command}</code></pre>
            <button type="button" hidden>copy</button>
          </div>`,
    ),
  )
}
