import * as z from 'zod'
import type { Contradiction, RunRecord } from '../core/events.ts'
import type { OutputSchema } from './output-contract.ts'

/** Facts that a model is asked for at the end, so that they can be compared with the record. No sentence of a message is read for this. */
const claims = z.strictObject({
  message: z.string().min(1).describe('The final message, for somebody who has not followed your work.'),
  tests: z
    .array(z.strictObject({ command: z.string().min(1), passed: z.boolean() }))
    .describe('Each command with which you ran tests, as you ran it, with its last result. Empty if you ran none.'),
  pushed: z.boolean().describe('Whether you pushed or published anything.'),
  files: z
    .array(z.string().min(1))
    .describe('Each file that you created, changed or deleted, relative to the directory in which you began.'),
})

type Claims = z.infer<typeof claims>

/** What `--claims` needs from a run, and what it does with the claims. */
export type ClaimsCheck = {
  /** Makes the model deliver its final message together with the facts. */
  readonly output: OutputSchema
  /** Compares the delivered facts with the record. None if nothing was delivered. */
  readonly contradictions: (record: RunRecord, run: RunFacts) => readonly Contradiction[]
  /** Whether a contradiction makes the run fail. */
  readonly fails: boolean
}

/** What the record of a run doesn't contain. */
type RunFacts = {
  /** The last outcome of any command, whether or not it runs tests; undefined if it never ran. */
  readonly outcomeOf: (command: string) => 'passed' | 'failed' | 'refused' | undefined
  /** Whether a file was written since the run began. The list of changes isn't enough, because it leaves out files that git ignores. */
  readonly isWritten: (path: string) => boolean
}

const mostTold = 20

/** Creates the check of one run's claims. */
export function checkClaims(fails: boolean): ClaimsCheck {
  let made: Claims | undefined
  return {
    fails,
    output: {
      schema: z.toJSONSchema(claims),
      validate: (value) =>
        claims.safeParse(value).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [],
      delivery: {
        name: 'finish',
        description:
          'Ends the task: delivers your final message, and the facts about your work, which are compared with the record of the run. Call it once, when everything else is done.',
        take: (value) => {
          made = claims.parse(value)
          return Promise.resolve({ message: made.message })
        },
      },
    },
    contradictions: (record, run) => (made === undefined ? [] : compare(made, record, run).slice(0, mostTold)),
  }
}

function compare({ tests, pushed, files }: Claims, record: RunRecord, run: RunFacts): readonly Contradiction[] {
  const done = record.pushed.filter(({ outcome }) => outcome === 'done')
  const isPushed = done.length > 0 || record.pushed.some(({ outcome }) => outcome === 'unknown')
  const [last] = record.tests.slice(-1)
  const isLeftOut = last?.outcome === 'failed' && tests.every(({ command }) => !isSame(command, last.command))
  return [
    ...tests.flatMap((claim) => compareTest(claim, record, run)),
    ...(isLeftOut ? [{ about: 'tests', claimed: 'no failed tests', record: `${last.command} failed` } as const] : []),
    ...(pushed && !isPushed ? [{ about: 'pushed', claimed: 'pushed', record: 'nothing was pushed' } as const] : []),
    ...(!pushed && done[0] !== undefined
      ? [{ about: 'pushed', claimed: 'nothing was pushed', record: `${done[0].command} succeeded` } as const]
      : []),
    ...files.flatMap((file) => compareFile(file, record, run)),
  ]
}

function compareTest(
  { command, passed }: Claims['tests'][number],
  { tests, verified }: RunRecord,
  { outcomeOf }: RunFacts,
): readonly Contradiction[] {
  const test = tests.findLast((each) => isSame(command, each.command))
  const verify = verified.find((each) => isSame(command, each.command))
  const checked = verify && (verify.passed ? 'passed' : 'failed')
  const outcome = test?.outcome ?? checked ?? outcomeOf(command)
  const claimed = `${command} ${passed ? 'passed' : 'failed'}`
  if (outcome === undefined) return [{ about: 'tests', claimed, record: 'the command never ran' }]
  if (outcome === 'unknown' || (passed ? outcome === 'passed' : outcome !== 'passed')) return []
  return [{ about: 'tests', claimed, record: outcome === 'no-tests' ? 'it found no tests' : outcomeWords[outcome] }]
}

const outcomeWords = { passed: 'it passed', failed: 'it failed', refused: 'it was refused' } as const

function compareFile(file: string, { files }: RunRecord, { isWritten }: RunFacts): readonly Contradiction[] {
  const path = file.replace(/^(?:\.\/)+/, '')
  const isKnown = [...files.created, ...files.changed, ...files.deleted].includes(path)
  if (isKnown || files.not_counted !== undefined || isWritten(path)) return []
  return [{ about: 'files', claimed: `${path} was changed`, record: 'the file is as it was before the run' }]
}

/** Whether two texts are the same command, or one is a part of the other's line: `npm test` and `cd app && npm test 2>&1 | tail`. */
function isSame(claimed: string, ran: string): boolean {
  const [one, other] = [claimed, ran].map((text) => text.trim().replace(/\s+/g, ' '))
  return one !== undefined && other !== undefined && (one === other || ` ${other} `.includes(` ${one} `))
}
