import { makeRedactor, redactDeep, SecretStream } from '../../../policies/index.ts'

/** Provider data, pictures, and the ids that a session is found by: a mask would break them. */
const untouched: ReadonlySet<string> = new Set([
  ...['opaque', 'images', 'image', 'image_url', 'workspace', 'cwd', 'id', 'thread_id', 'session_dir', 'forked_from'],
])

/** By shape alone: the values of our own variables are masked in outputs already, by their names. */
const redact = makeRedactor({})

/**
 * Masks secrets by their shape in what is stored about a run (events, and so displays and reports; the rollout), as in the audit log. What
 * a model is shown is not masked by shape: it could not edit a file that it sees altered.
 */
export function maskRecord<T>(record: T): T {
  return redactDeep(record, redact, { untouched, byName: false }) as T
}

/** Masks a text piece by piece while it arrives, with the same result as `maskRecord` on the whole. */
export function maskStream(): SecretStream {
  return new SecretStream(redact)
}
