import type { GuardedPlaces } from '../git/guarded-places.ts'
import { depth } from '../paths.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import { spared, splitNested } from '../nested-places.ts'
import { gitExecutables } from '../git/executables.ts'
import { baseRules, deviceRules, networkRules, type NetworkGrant } from './base-rules.ts'
import { planPlaces, type Place, type PlannedPlaces, type SeatbeltMachine } from './plan-places.ts'
import { quoteCaseless, quoteForRegex } from './regex.ts'

/**
 * A profile for sandbox-exec(1): its text, and the values of its parameters (`(param NAME)`). Paths from the policy are passed as parameters, so the
 * text itself never contains them.
 */
export type SeatbeltProfile = { readonly text: string; readonly parameters: Readonly<Record<string, string>> }

/**
 * Names of entries in a git directory that `git init` and `git clone` must be able to create, so the rules deny writing to them only in repositories
 * that already exist. In a new repository's `hooks`, only samples can be written.
 */
const madeByInit: readonly string[] = ['config', 'hooks']

/**
 * The profile that enforces `policy`. No specification describes the profile language. This profile is based on the manual pages sandbox-exec(1) and
 * sandbox(7) for the tools, on the profiles in `/System/Library/Sandbox/Profiles` as examples, and on the "Apple Sandbox Guide" (reverse.put.as,
 * 2011) for operations and filters. It isn't clear which rule wins, the last one that matches or the one for the more specific operation, so the
 * profile uses only rules that mean the same in both cases. `file-link` and `file-clone` are not allowed anywhere, since the rules for a file's first
 * name don't apply to a second name.
 */
export function seatbeltProfile(
  policy: SandboxPolicy,
  guarded: GuardedPlaces,
  network: NetworkGrant,
  machine: SeatbeltMachine,
): SeatbeltProfile {
  const planned = planPlaces(policy, guarded, machine)
  const parameters: Record<string, string> = {}
  const counts = new Map<string, number>()
  const param = (kind: string, value: string): string => {
    const count = counts.get(kind) ?? 0
    counts.set(kind, count + 1)
    const name = `${kind}_${count}`
    parameters[name] = value
    return `(param "${name}")`
  }
  const text = [
    baseRules(),
    placeRules(planned.places, param),
    visibleRule(planned, param),
    pinRule(planned, param),
    gitRules(planned, param),
    nestedRules(planned, param),
    deviceRules(),
    privilegeRules,
    networkRules(network),
  ]
  return { text: text.join(''), parameters }
}

type Param = (kind: string, value: string) => string

/** The rules for places, in one group for each path depth. Places of the same depth don't overlap, so their order doesn't matter. */
function placeRules(places: readonly Place[], param: Param): string {
  const depths = [...new Set(places.map(({ path }) => depth(path)))].toSorted((a, b) => a - b)
  const groups = depths.map((at) => {
    const here = places.filter(({ path }) => depth(path) === at)
    const filters = (as: Place['as']): readonly string[] =>
      here.filter((place) => place.as === as).map(({ path }) => `(subpath ${param(as.toUpperCase(), path)})`)
    const closed = [...filters('hidden'), ...filters('denied')]
    const readable = filters('readable')
    const writable = filters('writable')
    const shielded = here
      .filter(({ as }) => as === 'protected')
      .map(({ path }) => `(regex ${param('PROTECTED', `^${quoteCaseless(path)}(/|$)`)})`)
    return [
      rule('deny file-read* file-write* file-map-executable', closed),
      rule('allow file-read* file-map-executable', [...readable, ...writable]),
      rule('deny file-write*', [...readable, ...shielded]),
      rule('allow file-write*', writable),
    ].join('')
  })
  return `\n; The policy's rules about places, broader places first.\n${groups.join('')}`
}

function visibleRule({ visible }: PlannedPlaces, param: Param): string {
  const filters = visible.map((path) => `(literal ${param('VISIBLE', path)})`)
  return `\n; Programs may see that these paths exist: each of them is denied itself, or is a parent of an allowed path.\n${rule('allow file-read-metadata', filters)}`
}

function pinRule({ pinned }: PlannedPlaces, param: Param): string {
  const filters = pinned.map((path) => `(literal ${param('PINNED', path)})`)
  if (filters.length === 0) return ''
  return `\n; Moving one of these would move entries that the rules name.\n${rule('deny file-write-unlink', filters)}`
}

/**
 * Denies writes to files that git would execute or follow: in existing repositories to all of them, and in any other `.git` directory to those that
 * `git init` and `git clone` don't write.
 */
function gitRules({ roots, gitDirectories, gitLinks }: PlannedPlaces, param: Param): string {
  if (roots.length === 0) return ''
  const inRoots = `(require-any ${roots.map((root) => `(subpath ${param('ROOT', root)})`).join(' ')})`
  const directory = `/${quoteCaseless('.git')}(/${quoteCaseless('modules')}/.+)?`
  const names = gitExecutables.filter((name) => !madeByInit.includes(name)).map(quoteCaseless)
  const known = [
    ...gitDirectories.map((git) => `^${quoteForRegex(git)}/(${gitExecutables.map(quoteCaseless).join('|')})(/|$)`),
    ...gitLinks.map((link) => `^${quoteForRegex(link)}$`),
  ]
  return `
; Files that git would execute or follow. In a new repository's hooks directory, only samples (*.sample) can be written, because git creates them there.
(deny file-write*
  (require-all ${inRoots} (regex #"${directory}/(${names.join('|')})(/|$)"))
  (require-all ${inRoots} (regex #"${directory}/${quoteCaseless('hooks')}/.") (require-not (regex #"[.]sample$"))))
${rule(
  'deny file-write*',
  known.map((expression) => `(regex ${param('GIT', expression)})`),
)}`
}

/**
 * Denies writes to the files that are protected in every directory of a root, whether they exist or not. The rules don't apply inside `node_modules`
 * (see `spared`).
 */
function nestedRules({ nested }: PlannedPlaces, param: Param): string {
  const filters = nested.map((pattern) => {
    const { root, rest } = splitNested(pattern)
    const from = root === '/' ? '' : quoteForRegex(root)
    const inAny = `^${from}/(.+/)?${rest.map(withStars).join('/')}(/|$)`
    return `(require-all (regex ${param('NESTED', inAny)}) (require-not (regex #"/${spared}/")))`
  })
  return rule('deny file-write*', filters)
}

function withStars(name: string): string {
  return name.split('*').map(quoteCaseless).join('[^/]*')
}

/**
 * Denies setting set-user-id and set-group-id bits, mounting and unmounting, and the two commands of fcntl(2) that change a file opened for reading.
 */
const privilegeRules = `
(deny file-write-setugid file-write-mount file-write-umount (subpath "/"))
(deny system-fcntl (fcntl-command 80 110))
`

function rule(head: string, filters: readonly string[]): string {
  return filters.length === 0 ? '' : `(${head}\n${filters.map((filter) => `  ${filter}`).join('\n')})\n`
}
