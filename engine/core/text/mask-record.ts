import { makeRedactor, redactDeep, SecretStream } from '../../../policies/index.ts'
import { secretsIn, secretsKnown, withNames, type Mask } from './mask-secrets.ts'

/** Fields that are not masked, because masking would break them: provider data, images, and the ids and paths by which a session is found. */
const untouched: ReadonlySet<string> = new Set([
  ...['opaque', 'images', 'image', 'image_url', 'workspace', 'cwd', 'id', 'thread_id', 'session_dir', 'forked_from'],
])

/** Masks secrets that can be recognized by their shape. */
const redact = makeRedactor({})

/**
 * Masks secrets by their shape in everything that is stored about a run: the rollout and the events, and therefore displays and reports. (The audit log is
 * masked too.) What the model sees is not masked by shape, because the model couldn't edit a file whose text it sees altered.
 *
 * @param mask masks the values of the variables that are withheld from commands. The outputs of commands are masked before the model sees them, but a value may
 *   reach the model in another way, such as in the prompt or encoded in a file, and stand in what the model says. Default: nothing more is masked
 */
export function maskRecord<T>(record: T, mask: Mask = (text) => text): T {
  return redactDeep(record, (text) => redact(mask(text)), { untouched, byName: false }) as T
}

/**
 * Masks a text piece by piece as it arrives, as `maskRecord` masks a whole text. What may turn out to be a secret is held back.
 *
 * @param env the engine's own environment
 */
export function maskStream(env: Readonly<NodeJS.ProcessEnv>): {
  readonly push: (piece: string) => string
  readonly reset: () => void
} {
  const byShape = new SecretStream(redact)
  const secrets = secretsIn(env)
  let held = ''
  return {
    push: (piece) => {
      const known = secretsKnown(secrets)
      const text = withNames(held + piece, known)
      const begun = known.map(({ value }) => sharedEnd(text, value))
      held = text.slice(text.length - Math.max(0, ...begun))
      return byShape.push(text.slice(0, text.length - held.length))
    },
    reset: () => {
      held = ''
      byShape.reset()
    },
  }
}

/** How many characters at the end of a text are the beginning of a value. */
function sharedEnd(text: string, value: string): number {
  let length = Math.min(text.length, value.length - 1)
  while (!text.endsWith(value.slice(0, length))) length--
  return length
}
