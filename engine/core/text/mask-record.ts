import { makeRedactor, redactDeep, SecretStream } from '../../../policies/index.ts'

/** Fields that are not masked, because masking would break them: provider data, images, and the ids and paths by which a session is found. */
const untouched: ReadonlySet<string> = new Set([
  ...['opaque', 'images', 'image', 'image_url', 'workspace', 'cwd', 'id', 'thread_id', 'session_dir', 'forked_from'],
])

/**
 * Masks secrets that can be recognized by their shape. The values of this program's own secret variables need no second masking, because they have
 * already been masked in outputs.
 */
const redact = makeRedactor({})

/**
 * Masks secrets by their shape in everything that is stored about a run: the rollout and the events, and therefore displays and reports. (The audit log is
 * masked too.) What the model sees is not masked by shape, because the model couldn't edit a file whose text it sees altered.
 */
export function maskRecord<T>(record: T): T {
  return redactDeep(record, redact, { untouched, byName: false }) as T
}

/** Masks a text piece by piece as it arrives, as `maskRecord` masks a whole text. What may turn out to be a secret is held back. */
export function maskStream(): SecretStream {
  return new SecretStream(redact)
}
