import { spawnSync } from 'node:child_process'
import { chownSync } from 'node:fs'
import process from 'node:process'
import { call, say, type Reply } from '../../support/mock-openai.ts'
import { exec, type Exec } from '../../support/workspace.ts'

/** The id of the user `nobody`, who owns nothing. In tests without privileges, the program is started as this user. */
const nobody = 65534
export const asNobody: readonly string[] = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups']

const program = new URL('../../../dist/bin/agent.js', import.meta.url).pathname

/** Why the program can't be started as a different user; undefined if it can. */
export function whyNotAsNobody(): string | undefined {
  if (process.geteuid?.() !== 0) return 'only root can start the program as somebody else'
  const found = spawnSync(asNobody[0] ?? '', [...asNobody.slice(1), process.execPath, program, '--version'])
  return found.status === 0 ? undefined : "an ordinary user can't read the directory of this repository"
}

/** Why root can't mount an overlay here; undefined if it can. */
export function whyNoOverlay(): string | undefined {
  const found = spawnSync(
    'unshare',
    [
      '--mount',
      'sh',
      '-c',
      'mount -t tmpfs none /mnt && cd /mnt && mkdir l u w m && mount -t overlay o -o lowerdir=l,upperdir=u,workdir=w,userxattr m',
    ],
    { encoding: 'utf8' },
  )
  return found.status === 0 ? undefined : `no overlay can be mounted here: ${found.stderr?.trim() ?? ''}`
}

/** Makes the user `nobody` the owner of these directories and of everything in them. */
export function giveToNobody(...directories: readonly string[]): void {
  for (const directory of directories) {
    spawnSync('chown', ['-hR', `${nobody}:${nobody}`, directory])
    chownSync(directory, nobody, nobody)
  }
}

export const cmd = (text: string): Reply => [call('exec_command', { cmd: text })]

type Options = {
  readonly home?: string
  readonly how?: string
  readonly args?: readonly string[]
  readonly startedBy?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** Performs a transactional run with these steps: on an overlay, unless `how` names another strategy. */
export function onOverlay(cwd: string, steps: readonly Reply[], options: Options = {}): Promise<Exec> {
  const { how = 'overlay', args = [], ...rest } = options
  const replies = (index: number): Reply => steps[index] ?? [say('done')]
  return exec(replies, ['--json', `--view=${how}`, ...args, 'x'], { cwd, ...rest })
}

/** The outcome of a run's changes. */
export function reportOf({ events }: Exec) {
  const last = events.at(-1)
  return last?.type === 'turn.completed' || last?.type === 'turn.failed' ? last.transaction : undefined
}

/** What the commands of a run printed. */
export function outputOf({ events }: Exec): string {
  return events
    .flatMap((event) =>
      event.type === 'item.completed' && 'aggregated_output' in event.item
        ? [String(event.item.aggregated_output)]
        : [],
    )
    .join('')
}
