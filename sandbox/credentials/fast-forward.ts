import { createHash } from 'node:crypto'
import type { Command, SandboxProcess } from '../sandbox.ts'
import type { FastForward } from './read-content.ts'

/** The most commits that are read to find an older one. */
const mostCommits = 20_000

/**
 * Looks for the history of a push in the repositories in which a command may have made it. Git runs in the sandbox, because the repository is the command's,
 * and so may answer anything: a commit counts only if the hash of what git prints is its name.
 */
export function fastForwardIn(
  start: (command: Command) => SandboxProcess,
  directories: readonly string[],
): FastForward {
  return async (from, to) => {
    const reasons: string[] = []
    for (const cwd of new Set(directories)) {
      const found = await descends(from, to, start, cwd)
      if (found === true) return true
      reasons.push(found)
    }
    return reasons[0] ?? 'its history is not known'
  }
}

async function descends(
  from: string,
  to: string,
  start: (command: Command) => SandboxProcess,
  cwd: string,
): Promise<true | string> {
  const env = { GIT_NO_REPLACE_OBJECTS: '1', GIT_NO_LAZY_FETCH: '1', GIT_OPTIONAL_LOCKS: '0' }
  const git = start({
    argv: ['git', 'cat-file', '--batch'],
    cwd,
    env,
    stdin: 'pipe',
    readOnly: true,
    timeoutMs: 60_000,
  })
  const input = git.stdin
  input?.on('error', () => undefined)
  git.stderr.resume()
  git.result.catch(() => undefined)
  const ask = (ids: readonly string[]): unknown => ids.length > 0 && input?.write(`${ids.join('\n')}\n`)
  const seen = new Set([to])
  let waiting = 1
  let isMissing = false
  ask([to])
  try {
    for await (const { id, commit } of commitsIn(git.stdout)) {
      waiting -= 1
      if (commit === undefined || hashOf(commit, id) !== id) isMissing = true
      else {
        const parents = parentsOf(commit)
        if (parents.includes(from)) return true
        const unread = parents.filter((parent) => !seen.has(parent))
        if (seen.size > mostCommits) return `${from.slice(0, 10)} is too far back`
        for (const parent of unread) seen.add(parent)
        waiting += unread.length
        ask(unread)
      }
      if (waiting === 0) break
    }
    if (waiting > 0) return `git could not read its commits in ${cwd}; push from the repository's own directory`
    return isMissing
      ? `some of its commits are not in ${cwd}; push from the repository's own directory, and fetch before`
      : `${from.slice(0, 10)} is not among its ancestors`
  } finally {
    input?.end()
    git.kill()
  }
}

/** Reads what `git cat-file --batch` prints. */
async function* commitsIn(output: AsyncIterable<Buffer>): AsyncIterable<{ id: string; commit: Buffer | undefined }> {
  let held = Buffer.alloc(0)
  for await (const chunk of output) {
    held = Buffer.concat([held, chunk])
    for (let end = held.indexOf('\n'); end !== -1; end = held.indexOf('\n')) {
      const [id = '', type, size] = held.toString('latin1', 0, end).split(' ')
      const length = size === undefined ? -1 : Number(size)
      if (length > mostCommitBytes) return
      if (held.length < end + 1 + length + 1) break
      const body = length === -1 ? undefined : held.subarray(end + 1, end + 1 + length)
      held = held.subarray(end + 1 + length + 1)
      yield { id, commit: type === 'commit' ? body : undefined }
    }
  }
}

const mostCommitBytes = 4 * 1024 * 1024

function hashOf(commit: Buffer, id: string): string {
  const hash = createHash(id.length === 64 ? 'sha256' : 'sha1')
  return hash.update(`commit ${commit.length}\0`).update(commit).digest('hex')
}

/** The parents of a commit: they come directly after its tree. */
function parentsOf(commit: Buffer): readonly string[] {
  const [, ...lines] = commit.toString('latin1').split('\n')
  const end = lines.findIndex((line) => !line.startsWith('parent '))
  return lines.slice(0, end === -1 ? undefined : end).map((line) => line.slice('parent '.length))
}
