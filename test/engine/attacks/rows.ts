import { protectedTable, movingVariables } from '../../../sandbox/protected/protected-table.ts'
import { probes, type Probe } from '../../sandbox/battery/probes.ts'
import type { Places } from '../../sandbox/battery/places.ts'
import { evil, gitAttacks } from '../../sandbox/git-attacks.ts'
import { scriptedAttacks } from './scripted.ts'

/** One attempt: to write a file, to read a file, or to run a script. */
export type Row = {
  readonly name: string
  /** The mechanism that stops the attempt. Except in the soak test, actors other than the shell try one row for each mechanism and kind of act. */
  readonly mechanism: string
  readonly act:
    | { readonly kind: 'write'; readonly path: string }
    | { readonly kind: 'read'; readonly path: string }
    | {
        readonly kind: 'script'
        /** The script. It prints `GOT` if the attempt succeeds, as far as that can be seen inside the sandbox. */
        readonly text: string
        /** If set, the script starts in the workspace itself. Default: it starts in its own directory in the workspace. */
        readonly atTop?: true
        /** A script that a later command runs. */
        readonly later?: string
        /** Files, relative to the script's directory, in which nothing planted may be found afterwards. */
        readonly leaves?: readonly string[]
        /** Afterwards, the host's git is used in this directory, and must not create a file named `sentinel`. */
        readonly gitIn?: string
        /** A script that the host runs afterwards. It prints `GOT` if the attempt has succeeded. */
        readonly onHost?: string
        readonly seen?: () => boolean
        readonly programs?: Readonly<Record<string, Uint8Array>>
      }
}

/**
 * The paths of credentials below the home directory in the table of protected places, without those that a run itself needs, and without those that
 * contain another one. The tests create files at these paths.
 */
export function secretNames(): readonly string[] {
  const names = protectedTable().flatMap(({ at, what }) =>
    what === 'credentials' && at.startsWith('~/') ? [at.slice(2)] : [],
  )
  // Paths that a run itself needs.
  const own = /^\.(?:config|local\/share|local\/state)\/portcullis$|^\.claude$/
  return [...new Set(names)].filter((name) => !own.test(name) && !names.some((other) => name.startsWith(`${other}/`)))
}

/**
 * Environment variables that make programs keep credentials in a different place, each with the path of a file to create. Variables that do this for
 * files of the run itself are left out.
 */
export function movedNames(): readonly { readonly variable: string; readonly path: string }[] {
  const held = protectedTable().flatMap(({ at, what }) => (what === 'credentials' ? [at] : []))
  return movingVariables().flatMap(({ variable, below, from }) => {
    if (/^XDG_|^CLAUDE_CONFIG_DIR$|^GIT_/.test(variable)) return []
    const inside =
      held.find((at) => at === from || from.startsWith(`${at}/`)) !== undefined
        ? ''
        : held.find((at) => at.startsWith(`${from}/`))?.slice(from.length + 1)
    return inside === undefined
      ? []
      : [{ variable, path: [variable, below, inside].filter((part) => part !== '').join('/') }]
  })
}

const nameOf = (at: string): string => at.replace(/^(?:\*\*|~)\//, '').replace('*', 'x')

/** Returns all rows of the matrix, one for each attempted attack on these locations on a host. */
export function makeRows(places: Places): readonly Row[] {
  const { workspace, home, outside, base } = places
  const write = (mechanism: string, path: string): Row => ({
    name: `write ${path.replace(base, '')}`,
    mechanism,
    act: { kind: 'write', path },
  })
  const read = (mechanism: string, path: string): Row => ({
    name: `read ${path.replace(base, '')}`,
    mechanism,
    act: { kind: 'read', path },
  })
  const table = protectedTable()
  const named = (what: string): readonly string[] => [
    ...new Set(table.flatMap((place) => (place.what === what ? [nameOf(place.at)] : []))),
  ]
  return [
    ...['', 'deep/er/'].flatMap((below) =>
      named('settings').map((name) => write('settings', `${workspace}/${below}${name}`)),
    ),
    ...named('startup').map((name) => write('startup', `${workspace}/${name}`)),
    ...[...named('startup'), ...named('home')].map((name) => write('home', `${home}/${name}`)),
    ...secretNames().map((name) => read('credentials', `${home}/${name}`)),
    ...movedNames().map(({ path }) => read('moved', `${base}/moved/${path}`)),
    write('outside', `${outside}/new`),
    write('outside', `${workspace}/link-to-outside/new`),
    write('outside', `${workspace}-evil/new`),
    write('outside', `${workspace}/../outside/dots`),
    read('links', `${workspace}/link-to-keys/credentials`),
    read('denied', `${workspace}/cfg/private/key`),
    read('denied', `${workspace}/cfg/.env`),
    ...[
      'hooks/pre-commit',
      'config',
      'info/attributes',
      'config.worktree',
      'objects/info/alternates',
      'commondir',
    ].flatMap((name) => ['.git', 'a/b/c/d/e/.git'].map((git) => write('git', `${workspace}/${git}/${name}`))),
    ...gitAttacks.map(([name, text, gitIn]): Row => ({
      name,
      mechanism: 'git',
      act: { kind: 'script', text: evil + text, gitIn },
    })),
    ...probes.filter(isHere).map((probe) => fromProbe(probe, places)),
    ...scriptedAttacks(places),
  ]
}

/** Whether the attacks include a probe. It is included if it must be blocked, covers something that no other row covers, and ends quickly. */
function isHere({ name, expect, cwd }: Probe): boolean {
  if (expect['workspace-write'] !== 'blocked' || cwd !== undefined) return false
  return !/git|hook|repositor|submodule|worktree|placeholders|^make \.|^make a\/|settings behind|leave a process|\d00 |thousand|longer|core dump|move the workspace|be root|^write to ~|^read ~|user namespace$|write in \/dev$/.test(
    name,
  )
}

function fromProbe(probe: Probe, places: Places): Row {
  const { name } = probe
  const mechanism = /connect|socket|datagram|docker/.test(name)
    ? 'network'
    : /read|keys|secrets|uncover/.test(name)
      ? 'hidden'
      : /write|link|hardlink/.test(name)
        ? 'outside'
        : 'kernel'
  return {
    name,
    mechanism,
    act: {
      kind: 'script',
      text: probe.script(places),
      atTop: true,
      ...(probe.seen === undefined ? {} : { seen: () => probe.seen?.(places) === true }),
      ...(probe.programs === undefined ? {} : { programs: probe.programs() }),
    },
  }
}
