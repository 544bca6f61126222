import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { makePlaces, secret, type Places } from '../../sandbox/battery/places.ts'
import { useOnHost } from '../../sandbox/git-attacks.ts'
import { makeRows, movedNames, secretNames, type Row } from './rows.ts'
import { handOver, nobody, type User } from './scene.ts'
import { attackBy, surfaces, type ToolCall } from './surfaces.ts'

/** The actors in a run: all parts that run commands, and the file tools. */
export const actors = [...surfaces, 'files'] as const
export type Actor = (typeof actors)[number]

/** The number of rows that one actor tried in a run, and descriptions of what got through. */
export type Tried = { readonly actor: Actor; readonly rows: number; readonly failures: readonly string[] }

type Cell = {
  readonly user: User
  readonly backend: 'bubblewrap' | 'docker' | 'unconfined'
  readonly program: { readonly argv: readonly string[]; readonly node: string }
  /** For each actor, a function that selects the rows that the actor tries. */
  readonly tries: Partial<Readonly<Record<Actor, (rows: readonly Row[]) => readonly Row[]>>>
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Selects one row for each combination of a mechanism and a kind of act (writing, reading, running a script). */
export function onePerMechanism(rows: readonly Row[]): readonly Row[] {
  const key = ({ mechanism, act }: Row): string => `${mechanism} ${act.kind}`
  return rows.filter((row, index) => rows.findIndex((other) => key(other) === key(row)) === index)
}

/** Lets the actors of one run try their rows, all in one workspace, and returns what got through. */
export async function runMatrix({ user, backend, program, tries }: Cell): Promise<readonly Tried[]> {
  const places = await makePlaces()
  try {
    const { base, workspace, home, outside } = places
    const write = (path: string, text: string): void => {
      mkdirSync(dirname(join(base, path)), { recursive: true })
      writeFileSync(join(base, path), text)
    }
    // The credentials get the name that Claude Code uses, because a user's hooks can read the other files in `.claude`.
    renameSync(join(home, '.claude/credentials'), join(home, '.claude/.credentials.json'))
    for (const name of secretNames()) if (!existsSync(join(home, name))) write(`home/${name}`, secret)
    for (const { path } of movedNames()) write(`moved/${path}`, secret)
    for (const name of ['private/key', '.env']) write(`workspace/cfg/${name}`, secret)
    write('workspace/notes.txt', 'nothing secret\n')
    const rows = makeRows(places)
    const acting = actors.filter((actor) => tries[actor] !== undefined)
    const chosen = new Map(acting.map((actor) => [actor, (tries[actor] ?? (() => []))(rows)]))
    for (const row of rows) writePrograms(row, workspace)
    write('workspace/attack.sh', scriptOf(places, chosen, rows))
    handOver(base, user)
    const before = look(outside, home)
    const calls = (chosen.get('files') ?? []).flatMap(toolCalls)
    const ended = await attackBy(
      { workspace, home, write, handOver: () => handOver(home, user) },
      {
        user,
        backend,
        program,
        acting: surfaces.filter((surface) => chosen.has(surface)),
        calls,
        later: `sh ${workspace}/attack.sh later`,
        words: ['-o', join(workspace, 'entry.md')],
        env: {
          PATH: `${workspace}/node_modules/.bin:/usr/local/bin:/usr/bin:/bin`,
          ...Object.fromEntries(movedNames().map(({ variable }) => [variable, `${base}/moved/${variable}`])),
        },
        config: `deny = ["${workspace}/cfg/private", ".env"]`,
      },
    )
    const identity = user === 'root' ? {} : { uid: nobody, gid: nobody }
    const everywhere = [
      ...(ended.code === 0 ? [] : [`the run ended with ${ended.code}: ${ended.stderr}`]),
      ...(ended.said.includes(secret) ? ['a secret was said'] : []),
      ...changes(before, look(outside, home)),
      ...secretsIn(workspace),
    ]
    return [...chosen].map(([actor, its], index) => ({
      actor,
      rows: its.length,
      failures: [
        ...(index === 0 ? everywhere : []),
        ...(actor === 'files' ? [] : finished(workspace, actor)),
        ...its.flatMap((row) => gotThrough(row, actor, places, rows, identity).map((how) => `${row.name}: ${how}`)),
      ],
    }))
  } finally {
    // One of the rows creates directories that are nested too deeply for Node's own removal.
    spawnSync('rm', ['-rf', places.base])
    await places.close()
  }
}

function writePrograms({ act }: Row, workspace: string): void {
  if (act.kind !== 'script') return
  for (const [name, program] of Object.entries(act.programs ?? {}))
    writeFileSync(join(workspace, name), program, { mode: 0o755 })
}

const directoryOf = (row: Row, actor: Actor, { workspace }: Places, rows: readonly Row[]): string =>
  row.act.kind === 'script' && row.act.atTop ? workspace : join(workspace, 'rows', actor, `${rows.indexOf(row)}`)

/** The script that all actors except `files` run. Its first argument names the actor whose attempts it makes, or is `later` for later commands. */
function scriptOf(places: Places, chosen: ReadonlyMap<Actor, readonly Row[]>, rows: readonly Row[]): string {
  const all = [...chosen]
  const run = (row: Row, actor: Actor, text: string): string => {
    const at = directoryOf(row, actor, places, rows)
    const out = `${places.workspace}/out/${actor}.${rows.indexOf(row)}`
    return `mkdir -p ${quoted(at)}; (cd ${quoted(at)} && exec timeout 20 sh -c ${quoted(text)}) >> ${quoted(out)} 2>&1 </dev/null`
  }
  // One process creates all directories. The shell then writes the files itself, without starting processes.
  const directories = (its: readonly Row[]): string =>
    `mkdir -p . ${its.flatMap(({ act }) => (act.kind === 'write' ? [quoted(dirname(act.path))] : [])).join(' ')}`
  const lines = (actor: Actor, its: readonly Row[]): readonly string[] => [
    directories(its),
    ...its.map((row) => {
      switch (row.act.kind) {
        case 'write':
          return `echo planted-by-row >> ${quoted(row.act.path)}`
        case 'read':
          return `for f in ${quoted(row.act.path)} ${quoted(row.act.path)}/*; do read -r line < "$f"; echo "$line"; line=; done`
        case 'script':
          return run(row, actor, row.act.text)
      }
    }),
  ]
  const later = all.flatMap(([actor, its]) =>
    its.flatMap((row) =>
      row.act.kind === 'script' && row.act.later !== undefined ? [run(row, actor, row.act.later)] : [],
    ),
  )
  const turns = all.map(([actor, its]) => `${actor})\n${lines(actor, its).join('\n')}\n;;`)
  return `PATH=/usr/local/bin:/usr/bin:/bin; export PATH; cd '${places.workspace}'; mkdir -p out; {\ncase "$1" in\n${turns.join('\n')}\nlater)\n${later.join('\n')}\n;;\nesac\n} > out/$1.said 2>/dev/null; touch out/$1.done; cat out/$1.said\n`
}

/** The tool calls with which the model tries what a row describes. */
function toolCalls({ act }: Row): readonly ToolCall[] {
  if (act.kind === 'script') return []
  const { path } = act
  const patch = (body: string): ToolCall => ['apply_patch', { input: `*** Begin Patch\n${body}\n*** End Patch\n` }]
  if (act.kind === 'write')
    return [patch(`*** Add File: ${path}\n+planted-by-row`), ['write_file', { path, content: 'planted-by-row\n' }]]
  return [
    ['read_file', { path }],
    ['grep', { path, pattern: '.' }],
    patch(`*** Update File: ${path}\n@@\n-${secret.slice(0, 5)}\n+x`),
  ]
}

/**
 * The state of everything in the directories, by path: modes, the contents of files, and the targets of symlinks. The run's own files are left out.
 */
function look(...directories: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const walk = (directory: string): void => {
    for (const name of readdirSync(directory)) {
      const path = join(directory, name)
      if (/\/\.(?:local\/state|config|cache)\/portcullis$|\/\.claude\/settings\.json$/.test(path)) continue
      const stat = lstatSync(path)
      const what = stat.isSymbolicLink()
        ? readlinkSync(path)
        : stat.isFile()
          ? createHash('sha256').update(readFileSync(path)).digest('hex')
          : ''
      found.set(path, `${stat.mode & 0o7777} ${what}`)
      if (stat.isDirectory()) walk(path)
    }
  }
  directories.forEach(walk)
  return found
}

function changes(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] {
  const mayCome = /\/\.(?:local|config|cache|claude)(?:\/state|\/share)?$/
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((path) =>
    before.get(path) === after.get(path) || (!before.has(path) && mayCome.test(path))
      ? []
      : [`changed outside: ${path}`],
  )
}

function secretsIn(workspace: string): readonly string[] {
  const { stdout } = spawnSync(
    'grep',
    ['-rlaF', '--exclude-dir=private', '--exclude=.env', '--exclude=attack.sh', secret, workspace],
    {
      encoding: 'utf8',
    },
  )
  return stdout.split('\n').flatMap((path) => (path === '' ? [] : [`a secret lies in ${path}`]))
}

/** Returns a failure if an actor did not run the script to its end. At its end, the script creates the file `out/ACTOR.done`. */
function finished(workspace: string, actor: Actor): readonly string[] {
  return existsSync(join(workspace, 'out', `${actor}.done`)) ? [] : [`the script of ${actor} did not end`]
}

function gotThrough(row: Row, actor: Actor, places: Places, rows: readonly Row[], identity: object): readonly string[] {
  const { act } = row
  if (act.kind === 'write') return holds(act.path, 'planted-by-row') ? ['written'] : []
  if (act.kind === 'read' || actor === 'files') return []
  const at = directoryOf(row, actor, places, rows)
  const said = join(places.workspace, 'out', `${actor}.${rows.indexOf(row)}`)
  const found: string[] = []
  if (holds(said, 'GOT')) found.push('it says so')
  if (holds(said, secret)) found.push('it read the secret')
  if (act.seen?.() === true) found.push('seen on the host')
  if (
    act.onHost !== undefined &&
    // A directory that didn't land isn't there.
    existsSync(at) &&
    spawnSync('sh', ['-c', act.onHost], { cwd: at, encoding: 'utf8' }).stdout.includes('GOT')
  ) {
    found.push('found on the host')
  }
  for (const name of act.leaves ?? []) {
    open(join(at, dirname(name)))
    if (holds(join(at, name), 'planted')) found.push(`it left ${name}`)
  }
  if (act.gitIn !== undefined && existsSync(join(at, act.gitIn))) {
    useOnHost(join(at, act.gitIn), identity)
    if ([at, join(at, 'sub'), join(at, 'n'), join(at, act.gitIn)].some((place) => existsSync(join(place, 'sentinel'))))
      found.push('the host’s git ran it')
  }
  return found
}

/** Makes a directory accessible to this process, whatever the directory's mode is. */
function open(directory: string): void {
  if (process.geteuid?.() !== 0 && existsSync(directory)) chmodSync(directory, 0o700)
}

function holds(path: string, text: string): boolean {
  try {
    return readFileSync(path, 'latin1').includes(text)
  } catch {
    return false
  }
}
