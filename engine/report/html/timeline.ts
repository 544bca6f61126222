import { dollars, seconds, short } from '../../display/format-values.ts'
import type { Part, Report, Step } from '../report-types.ts'
import { html, joined, type Html } from './html.ts'
import type { Rich } from './rich-text.ts'
import { counted } from '../../core/text/counted.ts'

const names: Readonly<Record<Step['kind'], string>> = {
  ...{ message: 'message', reasoning: 'reasoning', command: 'command', patch: 'patch', tool: 'tool', mcp: 'MCP' },
  ...{ review: 'review', compaction: 'summary', hook: 'hook', todo: 'to-dos', plan: 'plan', search: 'search' },
  ...{ verify: 'verify', retry: 'repeated', finding: 'finding', error: 'notice' },
}

/** Renders the steps in order, with those of sub-agents nested. */
export function renderTimeline(report: Report, rich: Rich): Html {
  const parts: Html[] = []
  let agent: string | undefined
  let group: Html[] = []
  const close = (): void => {
    if (group.length > 0) {
      parts.push(
        agent === undefined
          ? joined(group)
          : html`<section class="agent">
              <h3>agent ${agent}</h3>
              ${group}
            </section>`,
      )
    }
    group = []
  }
  let before = 0
  for (const step of report.steps) {
    if (step.agent !== agent) close()
    agent = step.agent
    if (step.number > before + 1)
      group.push(html`<p class="dim">${counted(step.number - before - 1, 'step')} left out here.</p>`)
    before = step.number
    group.push(renderStep(step, rich))
  }
  close()
  return joined(parts)
}

function renderStep(step: Step, rich: Rich): Html {
  const { number, kind, title, status, outcome, durationMs, spent } = step
  const isOpen = status === 'refused' || status === 'failed'
  const isCode = kind === 'command' || kind === 'patch' || kind === 'tool' || kind === 'mcp' || kind === 'verify'
  const badge = outcome ?? (status === 'ok' || status === 'note' ? undefined : status)
  const took = [
    ...(durationMs === undefined ? [] : [seconds(durationMs)]),
    ...(spent === undefined || spent.tokens <= 0 ? [] : [`${short(spent.tokens)} tokens`]),
    ...(spent?.costUsd === undefined || spent.costUsd <= 0 ? [] : [dollars(spent.costUsd)]),
  ].join(' · ')
  const head = html`<summary>
    <a class="num" href="#step-${number}">${number}</a> <span class="kind">${names[kind]}</span>
    <span class="what${isCode && ' mono'}">${title}</span>
    ${badge !== undefined && html`<span class="bare"> · </span><span class="badge ${toneOf(status, badge)}">${badge}</span>`}
    ${took !== '' && html`<span class="bare"> · </span><span class="took">${took}</span>`}
  </summary>`
  const body = html`<div class="in" id="step-${number}">
    ${verdictOf(step)}${step.parts.map((part) => renderPart(part, kind, rich))}${filesOf(step)}
  </div>`
  if (kind === 'message') return renderMessage(step, took, rich)
  // Steps that were refused or failed are open from the start, so that readers see them without a click.
  return isOpen
    ? html`<details class="step ${status}" open>${head}${body}</details>`
    : html`<details class="step ${status}">${head}${body}</details>`
}

/** Renders the model's text between its calls. It isn't collapsed, because few readers would open it. */
function renderMessage({ number, status, parts }: Step, took: string, rich: Rich): Html {
  return html`<div class="step words ${status}" id="step-${number}">
    <a class="num" href="#step-${number}">${number}</a>
    <div>${parts.map(({ text }) => rich.markdown(text))}</div>
    <span class="took">${took}</span>
  </div>`
}

function renderPart({ label, text, format, whole }: Part, kind: Step['kind'], rich: Rich): Html {
  const where =
    whole === undefined ? undefined : html`<p class="label">cut; the full text is in <code>${whole}</code></p>`
  if (format === 'markdown') return html`${rich.markdown(text)}${where}`
  const isOnlyPart = kind === 'error' || kind === 'todo'
  const code =
    format === 'shell'
      ? rich.code(text, 'bash')
      : format === 'json' && text.startsWith('{')
        ? rich.code(text, 'json')
        : html`${text}`
  return html`${!isOnlyPart && html`<p class="label">${label}</p>`}
    <pre><code>${code}</code></pre>
    ${where}`
}

function verdictOf({ verdict, denials, granted }: Step): Html {
  return html`${
    verdict !== undefined &&
    html`<p class="say">
      <span class="badge ${verdict.decision === 'allow' ? 'ok' : 'refused'}">${verdict.decision}</span>
      ${verdict.reason} <span class="dim">${verdict.decidedBy}</span>${
        verdict.rule !== undefined && html`<br /><span class="dim">rule <code>${verdict.rule}</code></span>`
      }
    </p>`
  }${granted.length > 0 && html`<p class="say">Granted beyond the sandbox: ${granted.join('; ')}</p>`}${denials.map(
    ({ subject, rule, howToAllow, certain }) =>
      html`<p class="say">
        <span class="badge warn">${certain ? 'refused by the sandbox' : 'perhaps refused by the sandbox'}</span>
        ${subject} <span class="dim">(${rule})</span><br /><span class="how">${howToAllow}</span>
      </p>`,
  )}`
}

function filesOf({ files, kind }: Step): Html | undefined {
  if (kind !== 'patch' || files.length === 0) return undefined
  return html`<ul>
      ${files.map(({ path, kind: change }) => html`<li>${change} <code>${path}</code></li>`)}
    </ul>
    <p><a href="#change">The change itself</a></p>`
}

/** The tone of a badge: `bad` or `warn` for a finding of at least medium severity; otherwise the tone of the step's status. */
function toneOf(status: string, badge: string): string {
  if (badge === 'critical' || badge === 'high') return 'bad'
  return badge === 'medium' ? 'warn' : status
}
