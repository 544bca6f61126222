import { createHash } from 'node:crypto'
import type { Report } from '../report-types.ts'
import { endingOf, lastRun } from '../run-facts.ts'
import { renderChart } from './chart.ts'
import { html, joined, ownElement, type Html } from './html.ts'
import { createRich } from './rich-text.ts'
import { script } from './page-script.ts'
import { renderAttention, renderChange, renderConfiguration, renderNext, renderTop } from './sections.ts'
import { style } from './page-style.ts'
import { renderTimeline } from './timeline.ts'

/** A report as one page that needs nothing beside it, no network, and neither script nor style to be read. */
export function renderPage(report: Report): string {
  const rich = createRich()
  const run = lastRun(report)
  const title = `${endingOf(run).words}: ${(run.prompt ?? report.threadId).slice(0, 80)}`
  const chart = renderChart(run.spending)
  const content = html`${renderTop(report, rich)}
    <nav aria-label="Parts of this page">
      <a href="#attention">What wants attention</a> <a href="#change">The change</a> <a href="#timeline">Timeline</a>
      <a href="#configuration">Configuration</a> <a href="#next">What next</a>
    </nav>
    <main>
      <section id="attention">
        <h2>What wants attention</h2>
        ${renderAttention(report)}
      </section>
      <section id="change">
        <h2>The change</h2>
        ${renderChange(report, rich)}
      </section>
      <section id="timeline">
        <h2>Timeline: ${report.totals.steps} steps${report.runs.length > 1 && ` in ${report.runs.length} runs`}</h2>
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
        Session ${report.threadId}. This page may hold code, prompts and outputs of the workspace; secrets of known
        shapes are masked in it. It loads nothing.
      </p>
    </footer>`
  return page(title, content).toString()
}

function leftOut({ omittedSteps, omittedCharacters, unreadable }: Report): Html {
  return joined([
    ...(omittedSteps > 0 ? [html`<p>${omittedSteps} steps in the middle are left out.</p>`] : []),
    ...(omittedCharacters > 0 ? [html`<p>${omittedCharacters} characters of long outputs are left out.</p>`] : []),
    ...(unreadable > 0 ? [html`<p>${unreadable} lines of the session could not be read.</p>`] : []),
  ])
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/**
 * Nothing may load, run or be sent but this page's own style and script, by their hashes. It stands before all else in the head, so that it holds for all.
 */
const policy = [
  "default-src 'none'",
  `script-src ${hashOf(script)}`,
  `style-src ${hashOf(style)}`,
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

function page(title: string, content: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        ${ownElement('style', style)}
      </head>
      <body>
        ${content} ${ownElement('script', script)}
      </body>
    </html> `
}
