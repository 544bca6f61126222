import { truncateMiddle } from '../../core/text/truncate.ts'
import type { Report } from '../report-types.ts'
import { mapTexts, textLengths } from '../step-texts.ts'
import { renderPage } from './report-page.ts'

/** The maximum size of a page in bytes. Mail programs and browsers handle pages up to this size easily. */
const mostBytes = 4_900_000
const mostTries = 8

/** Renders a report as a page of less than 5 MB if possible. While the page is too large, the limit for its texts is halved, at most eight times. */
export function renderBoundedPage(report: Report): string {
  let page = renderPage(report)
  let [shown, limit] = [report, longestText(report)]
  for (let tries = 0; Buffer.byteLength(page) > mostBytes && tries < mostTries; tries++) {
    limit = Math.floor(limit / 2)
    shown = shortened(shown, limit)
    page = renderPage(shown)
  }
  return page
}

function longestText({ steps, files }: Report): number {
  const diffs = files.flatMap((file) => file.diffs.map(({ diff }) => diff.length))
  return [...steps.flatMap(textLengths), ...diffs].reduce((most, length) => Math.max(most, length), 0)
}

function shortened(report: Report, limit: number): Report {
  let left = report.omittedCharacters
  const cut = (text: string, whole?: string): string => {
    const { text: kept, omitted } = truncateMiddle(text, limit, whole)
    left += omitted
    return kept
  }
  const steps = report.steps.map((step) => mapTexts(step, cut))
  const files = report.files.map((file) => ({
    ...file,
    diffs: file.diffs.map(({ step, diff }) => ({ step, diff: cut(diff) })),
  }))
  return { ...report, steps, files, omittedCharacters: left }
}
