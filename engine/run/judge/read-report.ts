import type { NamedReport } from '../../core/verification-settings.ts'
import type { SeenTest } from './test-results.ts'

/** The formats of reports that are read. `lines`: what our own reporters write. */
type ReportFormat = NamedReport['format'] | 'lines'

/** Reads the tests in a report. What can't be read is left out: a test that isn't in a report wasn't seen to pass. */
export function readReport(format: ReportFormat, text: string): readonly SeenTest[] {
  switch (format) {
    case 'lines':
      return jsonLines(text).flatMap(readLine)
    case 'go-json':
      return jsonLines(text).flatMap(readGoEvent)
    case 'jest-json':
      return readJest(text)
    case 'junit':
      return readJunit(text)
    case 'tap':
      return readTap(text)
    default:
      return format satisfies never
  }
}

type Fields = Readonly<Record<string, unknown>>

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

function parse(text: string): Fields {
  try {
    return fieldsOf(JSON.parse(text))
  } catch {
    return {}
  }
}

function jsonLines(text: string): readonly Fields[] {
  return text.split('\n').flatMap((line) => (line.startsWith('{') ? [parse(line)] : []))
}

function seen(file: string, path: readonly string[], name: string, outcome: unknown): readonly SeenTest[] {
  if (outcome !== 'passed' && outcome !== 'failed' && outcome !== 'skipped') return []
  const id = [...(file === '' ? [] : [file]), ...path].join(' > ')
  return [{ id, name, file: file === '' ? undefined : file, outcome }]
}

function readLine({ file, path, name, outcome }: Fields): readonly SeenTest[] {
  return seen(textOf(file), listOf(path).map(textOf), textOf(name), outcome)
}

const goOutcomes: Readonly<Record<string, SeenTest['outcome']>> = { pass: 'passed', fail: 'failed', skip: 'skipped' }

function readGoEvent({ Action, Package, Test }: Fields): readonly SeenTest[] {
  const name = textOf(Test)
  const outcome = goOutcomes[textOf(Action)]
  return name === '' || outcome === undefined
    ? []
    : [{ id: `${textOf(Package)} > ${name}`, name, file: undefined, outcome }]
}

function readJest(text: string): readonly SeenTest[] {
  return listOf(parse(text)['testResults']).flatMap((each) => {
    const { name, assertionResults } = fieldsOf(each)
    return listOf(assertionResults).flatMap((one) => {
      const { status, title, ancestorTitles } = fieldsOf(one)
      const outcome = status === 'passed' || status === 'failed' ? status : 'skipped'
      return seen(textOf(name), [...listOf(ancestorTitles).map(textOf), textOf(title)], textOf(title), outcome)
    })
  })
}

function readTap(text: string): readonly SeenTest[] {
  return text.split('\n').flatMap((line) => {
    const found = /^ {0,40}(not )?ok \d{0,9} ?-? ?(.{0,1000})$/.exec(line.trimEnd())
    if (found === null) return []
    const [name = '', directive = ''] = (found[2] ?? '').split(' # ')
    const isOff = /^(?:skip|todo)/i.test(directive)
    return seen('', [name], name, isOff ? 'skipped' : found[1] === undefined ? 'passed' : 'failed')
  })
}

/** Reads the elements `testcase` and those in them. Their order in the text is enough, so no tree is built. */
function readJunit(text: string): readonly SeenTest[] {
  const tests: SeenTest[] = []
  let open: { readonly attributes: ReadonlyMap<string, string>; outcome: SeenTest['outcome'] } | undefined
  const end = (): void => {
    if (open === undefined) return
    const { attributes, outcome } = open
    const name = attributes.get('name') ?? ''
    const group = attributes.get('classname') ?? ''
    tests.push(...seen(attributes.get('file') ?? '', group === '' ? [name] : [group, name], name, outcome))
    open = undefined
  }
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at + 1)) {
    if (text.startsWith('<![CDATA[', at)) {
      const after = text.indexOf(']]>', at)
      if (after < 0) break
      at = after
      continue
    }
    const tag = text.slice(at + 1, text.indexOf('>', at))
    if (/^testcase\s/.test(tag)) {
      end()
      open = { attributes: attributesOf(tag), outcome: 'passed' }
      if (tag.endsWith('/')) end()
    } else if (tag === '/testcase') end()
    else if (open !== undefined && /^(?:failure|error)\b/.test(tag)) open.outcome = 'failed'
    else if (open !== undefined && /^skipped\b/.test(tag) && open.outcome === 'passed') open.outcome = 'skipped'
  }
  return tests
}

function attributesOf(tag: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const parts = tag.split('"')
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const name = (parts[index] ?? '').replace('=', '').trim().split(/\s/).at(-1) ?? ''
    found.set(name, parts[index + 1] ?? '')
  }
  return found
}
