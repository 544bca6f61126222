import type { Report } from '../report-types.ts'
import { endingOf, lastRun } from '../run-facts.ts'
import { renderChart } from './chart.ts'
import { renderDocument } from './document.ts'
import { html, joined, type Html } from './html.ts'
import { createRich } from './rich-text.ts'
import { renderAttention, renderChange, renderConfiguration, renderNext, renderTop } from './sections.ts'
import { renderTimeline } from './timeline.ts'
import { counted } from '../../core/text/counted.ts'

/** Renders a report as one self-contained page, which needs no network and is readable without script or style. */
export function renderPage(report: Report): string {
  const rich = createRich()
  const run = lastRun(report)
  const title = `${endingOf(run).words}: ${(run.prompt ?? report.threadId).slice(0, 80)}`
  const chart = renderChart(run.spending)
  const content = html`${renderTop(report, rich)}
    <nav aria-label="Parts of this page">
      <a href="#attention">What needs attention</a> <a href="#change">The change</a> <a href="#timeline">Timeline</a>
      <a href="#configuration">Configuration</a> <a href="#next">What next</a>
    </nav>
    <main>
      <section id="attention">
        <h2>What needs attention</h2>
        ${renderAttention(report)}
      </section>
      <section id="change">
        <h2>The change</h2>
        ${renderChange(report, rich)}
      </section>
      <section id="timeline">
        <h2>
          Timeline: ${counted(report.totals.steps, 'step')}${report.runs.length > 1 && ` in ${report.runs.length} runs`}
        </h2>
        ${chart}
        <div class="tools" hidden>
          <input type="search" placeholder="filter steps ( / )" aria-label="filter steps" /><select aria-label="status">
            <option value="">all</option>
            <option value="failed">failed</option>
            <option value="refused">refused</option>
            <option value="ok">succeeded</option>
            <option value="note">messages and notes</option></select
          ><button type="button">open all</button><button type="button">close all</button><output></output>
        </div>
        ${renderTimeline(report, rich)}
      </section>
      <section id="configuration">
        <h2>Configuration and instructions</h2>
        ${renderConfiguration(run)}
      </section>
      <section id="next">
        <h2>What next</h2>
        ${renderNext(report)}
      </section>
    </main>
    <footer>
      ${leftOut(report)}
      <p>
        Session ${report.threadId}. This page may contain code, prompts and outputs of the workspace; secrets in a known
        form are masked. The page loads no other files.
      </p>
    </footer>`
  return renderDocument(title, content)
}

function leftOut({ omittedSteps, omittedCharacters, unreadable }: Report): Html {
  return joined([
    ...(omittedSteps > 0
      ? [html`<p>${counted(omittedSteps, 'step')} in the middle ${omittedSteps === 1 ? 'is' : 'are'} left out.</p>`]
      : []),
    ...(omittedCharacters > 0
      ? [
          html`<p>
            ${counted(omittedCharacters, 'character')} of long outputs ${omittedCharacters === 1 ? 'is' : 'are'} left
            out.
          </p>`,
        ]
      : []),
    ...(unreadable > 0 ? [html`<p>${counted(unreadable, 'line')} of the session could not be read.</p>`] : []),
  ])
}
