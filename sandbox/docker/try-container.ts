import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { lstatSync, rmSync } from '../host-paths.ts'
import { fenceVersionIn, nameFence, type SecondFence } from '../second-fence.ts'
import { SandboxError } from '../sandbox-error.ts'
import type { Shell } from '../shell.ts'
import type { WarmContainer } from './client.ts'

/** What is needed to try out a container. */
type Trial = {
  readonly user: string
  /** The arguments to put before our own programs so that they run under the system call filter (see `NetworkPlan`). */
  readonly filtered: readonly string[]
  /** The command that says which fence there is (see `Starts`). */
  readonly fence: readonly string[]
  /** Directories that commands must be able to write to. */
  readonly roots: readonly string[]
  /** The directory that commands must at least be able to read. */
  readonly workspace: string
  /** The run's own directory, which the container sees as `/tmp`. */
  readonly privateTemp: string
}

/**
 * The name of the file that a trial creates in the container's `/tmp`. The file then appears in the run's directory on the
 * host, which is mounted at that path.
 */
const mark = '.portcullis-trial'

const script = `
echo > /tmp/${mark} || exit 3
[ -x /bin/bash ] && echo bash
want=w
for path; do
  shift
  if [ "$path" = --- ]; then break; fi
  if [ "$path" = -- ]; then want=r; continue; fi
  if ! [ -d "$path" ] || ! [ -x "$path" ] || ! [ -r "$path" ]; then echo "read $path"
  elif [ $want = w ] && ! [ -w "$path" ]; then echo "write $path"; fi
done
[ $# = 0 ] || "$@"
exit 0`

/**
 * Checks that commands in a container can use the mounts as the policy allows, and that the files they create belong to the caller. Throws
 * `unavailable` if one of these checks fails. If all succeed, no files are left behind.
 *
 * @returns the shell of the image, and the fence that the kernel puts up in containers
 */
export async function tryContainer(
  container: WarmContainer,
  trial: Trial,
): Promise<{ readonly shell: Shell; readonly fence: SecondFence }> {
  const { stdout, stderr, code } = container.exec({
    argv: [
      ...trial.filtered,
      '/bin/sh',
      '-c',
      script,
      'sh',
      ...trial.roots,
      '--',
      trial.workspace,
      '---',
      ...trial.fence,
    ],
    cwd: '/',
    variables: {},
    user: trial.user,
    stdin: false,
    terminal: false,
  })
  const [said, complaint, ended] = await Promise.all([text(stdout), text(stderr), code])
  const [, want, path] = /^(read|write) (.+)$/m.exec(said) ?? []
  if (path !== undefined) {
    throw refuse(
      `in a container that this daemon starts, commands run as user ${trial.user} and can't ${want} ${path}`,
      ownerAdvice(path),
    )
  }
  if (ended === 126 || ended === 127) {
    throw refuse(
      `commands can't be run in the container's image (${(said + complaint).trim()})`,
      'The image must have /bin/sh.',
    )
  }
  const file = join(trial.privateTemp, mark)
  const made = lstatSync(file, { throwIfNoEntry: false })
  rmSync(file, { force: true })
  if (ended !== 0 || made === undefined) {
    throw refuse(
      `in a container that this daemon starts, commands can't write to ${trial.privateTemp} on this machine${complaint.trim() === '' ? '' : ` (${complaint.trim()})`}`,
      'Use a daemon that runs on this machine and may mount its directories; with SELinux, the daemon must also be able to label them.',
    )
  }
  if (made.uid !== process.geteuid?.()) {
    throw refuse(
      `files that commands create would belong to user ${made.uid}, not to you (${process.geteuid?.()})`,
      "Use a daemon of your own (rootless docker or podman), or one that runs as root and doesn't remap user ids.",
    )
  }
  return { shell: /^bash$/m.test(said) ? '/bin/bash' : '/bin/sh', fence: nameFence(fenceVersionIn(said)) }
}

/** Advice for a path that commands can't access: how to get access if another user owns the path; otherwise, what the daemon must be able to do. */
function ownerAdvice(path: string): string {
  const owner = lstatSync(path, { throwIfNoEntry: false })?.uid
  const own = process.geteuid?.()
  if (owner === undefined || owner === own)
    return 'Use a daemon that runs on this machine and may mount this directory; with SELinux, the daemon must also be able to label it.'
  return `It belongs to user ${owner}: run this program as that user, or make your user its owner (chown -R ${own} ${path}).`
}

function refuse(reason: string, remedy: string): SandboxError {
  return new SandboxError('unavailable', { backend: 'docker', reason, remedy })
}
