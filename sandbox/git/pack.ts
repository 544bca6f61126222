import { text } from 'node:stream/consumers'
import type { Command, SandboxProcess } from '../sandbox.ts'
import { shownPath, type View } from '../views/view-paths.ts'
import type { RunPack } from './import-types.ts'

/** Limits that allow a process ten minutes and any amount of output. A pack may be large, and the code that reads it limits its size. */
export const unlimitedOutput = { outputBytes: Number.MAX_SAFE_INTEGER, timeoutMs: 600_000 }

/**
 * A script that packs the objects in the repository itself, but not those that it borrows from other repositories. It lists all loose and packed
 * objects, without following the history.
 */
const script = `cd "$GIT_DIR/objects" || exit 3
{
  for file in [0-9a-f][0-9a-f]/*; do
    name=\${file%/*}\${file#*/}
    case $name in *[!0-9a-f]*) ;; *) echo "$name" ;; esac
  done
  for index in pack/*.idx; do
    [ -f "$index" ] && git show-index --object-format="$0" < "$index" | while read -r _ name _; do echo "$name"; done
  done
} | git -c core.fsmonitor=false pack-objects -q --local --stdout`

/** A script that packs only what refs, reflogs and the index lead to: the rest may contain objects that the host's git refuses. */
const reachable = `git -c core.fsmonitor=false pack-objects -q --local --stdout --all --reflog --indexed-objects </dev/null`

/**
 * Makes packs with git in the sandbox. There, files that a command left can do no more harm than the command itself.
 *
 * @param start starts one of our own programs in the sandbox
 * @param views the policy's private views, which give a repository another path in the sandbox. Default: none
 */
export function packWith(start: (command: Command) => SandboxProcess, views: readonly View[] = []): RunPack {
  return (git, oidBytes, isReachable = false) => {
    const child = start({
      argv: ['/bin/sh', '-c', isReachable ? reachable : script, oidBytes === 32 ? 'sha256' : 'sha1'],
      cwd: '/',
      readOnly: true,
      env: { GIT_DIR: shownPath(git, views), GIT_NO_LAZY_FETCH: '1', LC_ALL: 'C' },
    })
    const complaint = text(child.stderr)
    const done = async (): Promise<string | undefined> => {
      const [result, said] = await Promise.all([child.result, complaint])
      return result.status === 'exited' && result.code === 0 ? undefined : said.trim() || `git ${result.status}`
    }
    return { stdout: child.stdout, done: done().catch((error: unknown) => String(error)) }
  }
}
