import { makeRedactor, redactDeep, SecretStream } from '../../../policies/index.ts'

/** What only its maker reads, pictures, and what a session is found by: a mask would break them. */
const untouched: ReadonlySet<string> = new Set([
  ...['opaque', 'images', 'image', 'image_url', 'workspace', 'cwd', 'id', 'thread_id', 'session_dir', 'forked_from'],
])

/** By shape alone: the values of our own variables are masked in outputs already, by their names. */
const redact = makeRedactor({})

/**
 * What is written down of a run (events, and so displays and reports; the rollout), with secrets masked by their shape, as in the audit log. What a model is shown is not masked by shape: it could not edit a file that it sees otherwise.
 */
export function maskRecord<T>(record: T): T {
  return redactDeep(record, redact, { untouched, byName: false }) as T
}

/** Masks a text that is told while it is written, as `maskRecord` masks the whole of it. */
export function maskStream(): SecretStream {
  return new SecretStream(redact)
}
