import { constants } from 'node:os'
import { Writable, type Readable } from 'node:stream'
import { getSystemErrorMap } from 'node:util'
import { SandboxError } from '../sandbox-error.ts'

/** The first message of the helper as a sandbox's first program. It means that the engine may answer (`start.c` says why that is safe). */
const readyMark = '!'
/** The engine's answer to the ready mark. The helper waits for it before it starts the command. */
export const goAhead = '.'

/** The first words of the helper's reports of a failure. */
const failures = {
  gone: 'gone ',
  changed: 'changed ',
  failed: 'failed ',
  fence: 'fence ',
  program: 'program ',
  directory: 'directory ',
} as const

/** The number of bytes after which the rest of a report is ignored. A genuine report consists of a word and a path. */
const mostBytes = 16 * 1024

/** The report of a sandbox's first program. It contains more than the ready mark only if the program failed. */
type StartReport = {
  /**
   * Resolves with the reason why the command was never started, or with undefined if it was started. `code` is the exit code of the first program.
   * Call this only after that program has ended.
   */
  failure(code: number | null): Promise<SandboxError | undefined>
}

/**
 * Reads the report from the engine's end of the descriptor. When the ready mark has arrived, and no failure with it, sends the go-ahead: without it,
 * the first program doesn't start the command.
 */
export function readReport(source: Readable | Writable | null | undefined): StartReport {
  const chunks: Buffer[] = []
  let size = 0
  if (source === null || source === undefined || !('read' in source)) return { failure: async () => undefined }
  let isReleased = false
  let isUnread = false
  const release = (): void => {
    // If more than the mark has arrived by now, the program has failed and needs no answer.
    if (source instanceof Writable && source.writable && size === readyMark.length) source.write(goAhead)
  }
  source.on('data', (chunk: Buffer) => {
    // The answer waits until the event loop has looked for more data: a failed write would close the source, and a report that has arrived would be lost.
    if (!isReleased) setImmediate(() => setImmediate(release))
    isReleased = true
    if (size < mostBytes) chunks.push(chunk)
    size += chunk.length
  })
  // Only one thing can cause an error: the first program ended without reading the answer, so it can't have started the command.
  source.on('error', () => (isUnread = true))
  const closed = new Promise<void>((resolve) => source.once('close', resolve))
  return {
    failure: async (code) => {
      // This doesn't wait long: the other end is held only by bwrap and its first program, and both have already ended.
      await closed
      return failureOf(withoutMark(Buffer.concat(chunks).toString()), code ?? 0, isUnread)
    },
  }
}

/** Removes the ready mark from the beginning of a report. With this mark, the first program reports that it is ready. */
export function withoutMark(report: string): string {
  return report.startsWith(readyMark) ? report.slice(readyMark.length) : report
}

const foreign =
  ". A directory on this path belongs to another user, and commands can't enter it, even if root runs them. Choose a workspace that doesn't contain that directory"

function failureOf(text: string, code: number, isUnread: boolean): SandboxError | undefined {
  const backend = 'bubblewrap'
  const named = getSystemErrorMap().get(-code)?.[1]
  if (text === '') {
    // If the answer wasn't read and the exit code is an error number, the report was lost. Otherwise the command was started, or the program
    // was killed, which is not a failure of the sandbox.
    if (!isUnread || named === undefined) return undefined
    return new SandboxError('setup-failed', { backend, detail: `the first program in the sandbox failed: ${named}` })
  }
  for (const word of [failures.gone, failures.changed]) {
    if (text.startsWith(word)) return new SandboxError('path-changed', { backend, path: text.slice(word.length) })
  }
  // Another entry is at the path of a root.
  if (text.startsWith(failures.fence) && code === constants.errno.ESTALE) {
    return new SandboxError('path-changed', { backend, path: text.slice(failures.fence.length) })
  }
  const why = named ?? `error ${code}`
  return new SandboxError('setup-failed', { backend, detail: detailOf(text, why, code) })
}

function detailOf(text: string, why: string, code: number): string {
  if (text.startsWith(failures.failed))
    return `can't mount ${text.slice(failures.failed.length)}: ${why}${code === constants.errno.EACCES ? foreign : ''}`
  if (text === failures.fence)
    return `the second fence around commands (Landlock) can't be put up as in the trial of bwrap: ${why}. The next run tries again what this machine can enforce`
  if (text.startsWith(failures.fence)) return `can't confine writes to ${text.slice(failures.fence.length)}: ${why}`
  if (text.startsWith(failures.program)) return `can't start the program: ${why}`
  if (text.startsWith(failures.directory)) return `can't change to the working directory: ${why}`
  return `the first program in the sandbox can't set up the confinement: ${why}`
}
