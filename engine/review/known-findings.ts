import * as z from 'zod'
import { UserError } from '../core/user-error.ts'
import { fingerprintName } from './fingerprint-name.ts'

/** What a report file says about a finding from an earlier run. Some files contain only the fingerprint. */
export type KnownFinding = {
  readonly fingerprint: string
  readonly path?: string | undefined
  readonly title?: string | undefined
  readonly linePrints: readonly string[]
}

const ownReport = z.object({
  findings: z.array(
    z.object({
      fingerprint: z.string(),
      path: z.string().optional(),
      title: z.string().optional(),
      review: z.object({ linePrints: z.array(z.string()) }).optional(),
    }),
  ),
})

const sarif = z.object({
  runs: z.array(
    z.object({
      results: z
        .array(
          z.object({
            message: z.object({ text: z.string().optional() }).optional(),
            partialFingerprints: z.record(z.string(), z.string()).optional(),
            properties: z.object({ linePrints: z.array(z.string()).optional() }).optional(),
            locations: z
              .array(
                z.object({
                  physicalLocation: z
                    .object({ artifactLocation: z.object({ uri: z.string().optional() }).optional() })
                    .optional(),
                }),
              )
              .optional(),
          }),
        )
        .optional(),
    }),
  ),
})

const codeQuality = z.array(
  z.object({
    fingerprint: z.string(),
    description: z.string().optional(),
    location: z.object({ path: z.string() }).optional(),
  }),
)

/**
 * Reads the findings of an earlier report: our JSON, our SARIF, or our code quality file.
 *
 * @param name the file's name in error messages
 * @throws UserError `usage` if the file has none of these formats
 */
export function readKnownFindings(text: string, name: string): readonly KnownFinding[] {
  const value = parseJson(text, name)
  const own = ownReport.safeParse(value)
  if (own.success) {
    return own.data.findings.map(({ review, ...rest }) => ({ ...rest, linePrints: review?.linePrints ?? [] }))
  }
  const log = sarif.safeParse(value)
  if (log.success) return log.data.runs.flatMap(({ results = [] }) => results.flatMap(ofSarif))
  const entries = codeQuality.safeParse(value)
  if (entries.success) {
    return entries.data.map(({ fingerprint, description, location }) => ({
      fingerprint,
      path: location?.path,
      title: description?.split(': ', 1)[0],
      linePrints: [],
    }))
  }
  throw new UserError(
    'usage',
    `--known ${name}: this is not a review report. Give a .json, .sarif or codequality.json file that was written by --report or with "agent report".`,
  )
}

type SarifResult = NonNullable<z.infer<typeof sarif>['runs'][number]['results']>[number]

function ofSarif({ partialFingerprints = {}, message, properties, locations }: SarifResult): readonly KnownFinding[] {
  const fingerprint = partialFingerprints[fingerprintName]
  if (fingerprint === undefined) return []
  const uri = locations?.[0]?.physicalLocation?.artifactLocation?.uri
  return [
    {
      fingerprint,
      path: uri === undefined ? undefined : decoded(uri),
      title: message?.text?.split('\n', 1)[0],
      linePrints: properties?.linePrints ?? [],
    },
  ]
}

function decoded(uri: string): string {
  try {
    return decodeURIComponent(uri)
  } catch {
    return uri
  }
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UserError('usage', `--known ${name}: not JSON: ${(error as Error).message}.`, { cause: error })
  }
}

/** Words in a title that say nothing about its subject. */
const common = new Set(
  'a an the is are be of to in on for and or not no it its this that with when by as from'.split(' '),
)

/**
 * Whether a finding is already known: either its fingerprint is known, or a known finding in the same file has a similar title and at least one line in common.
 * The second condition is needed because a model words the same finding differently each time, and names slightly different lines.
 */
export function isKnown(
  finding: {
    readonly fingerprint: string
    readonly path: string
    readonly title: string
    readonly linePrints: readonly string[]
  },
  known: readonly KnownFinding[],
): boolean {
  return known.some(({ fingerprint, path, title, linePrints }) => {
    if (fingerprint === finding.fingerprint) return true
    if (path !== finding.path || title === undefined) return false
    return linePrints.some((print) => finding.linePrints.includes(print)) && isAlike(title, finding.title)
  })
}

function isAlike(one: string, other: string): boolean {
  const [a, b] = [wordsOf(one), wordsOf(other)]
  const both = [...a].filter((word) => b.has(word)).length
  return both > 0 && both / Math.min(a.size, b.size) >= 0.5
}

function wordsOf(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []
  return new Set(words.filter((word) => !common.has(word)))
}
