import { closeSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { openRegular } from '../../sandbox/index.ts'

/** What the first record of a session says; a field is undefined if the record is missing or can't be read. */
type SessionBeginning = { readonly threadId: string | undefined; readonly workspace: string | undefined }

/** Reads where a session began, from the first line of its rollout. */
export function sessionBeginning(directory: string): SessionBeginning {
  const first = firstRecord(join(directory, 'rollout.jsonl'))
  return {
    threadId: 'thread_id' in first && typeof first.thread_id === 'string' ? first.thread_id : undefined,
    workspace: 'workspace' in first && typeof first.workspace === 'string' ? first.workspace : undefined,
  }
}

/** The number of bytes to read for the first line. The first line of a rollout is always shorter. */
const firstBytes = 16 * 1024

/** The first record of a session's rollout; an empty object if the rollout is missing or its first line can't be read. */
function firstRecord(path: string): object {
  try {
    const first: unknown = JSON.parse(firstLine(path))
    return typeof first === 'object' && first !== null ? first : {}
  } catch {
    // The rollout may be missing or incomplete. The log alone is enough.
    return {}
  }
}

function firstLine(path: string): string {
  const descriptor = openRegular(path, true)
  try {
    const bytes = Buffer.alloc(firstBytes)
    const length = readSync(descriptor, bytes, 0, firstBytes, 0)
    return bytes.toString('utf8', 0, length).split('\n', 1)[0] ?? ''
  } finally {
    closeSync(descriptor)
  }
}
