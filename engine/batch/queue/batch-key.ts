import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { UserError } from '../../core/user-error.ts'

/** The environment variable from which a coordinator and its workers read the key of their batches. */
export const keyVariable = 'PORTCULLIS_BATCH_KEY'

const [keyBytes, saltBytes, tagBytes] = [32, 32, 16]
const form = /^[\w-]{43}$/

/** Creates a new key, as text. */
export function makeBatchKey(): string {
  return randomBytes(keyBytes).toString('base64url')
}

/** Thrown if sealed data can't be opened, because it was changed or truncated, or was sealed with another key or for another place. */
export class NotAuthentic extends Error {}

/**
 * Seals (encrypts and authenticates) data that passes through a store that others can read and write. Each seal uses a new key, derived from the
 * batch key with a random salt (HKDF-SHA256), so no pair of key and nonce is ever used twice. Each seal is also bound to its place in the store and
 * can't be opened anywhere else (AES-256-GCM with the place as associated data).
 */
export class BatchKey {
  readonly #key: Buffer
  /** A name for the key. The key can't be computed from it. */
  readonly id: string

  /** Parses the text of a key. @throws UserError `usage` if the text is not a key */
  constructor(text: string) {
    if (!form.test(text) || Buffer.from(text, 'base64url').length !== keyBytes)
      throw new UserError('usage', `${keyVariable}: expected the 43 characters that agent batch key prints.`)
    this.#key = Buffer.from(text, 'base64url')
    this.id = Buffer.from(hkdfSync('sha256', this.#key, '', 'portcullis batch key id', 12)).toString('hex')
  }

  /** Seals bytes. @param place where the data belongs: the batch, the object and the part. `open` must be called with the same place */
  seal(place: readonly (string | number)[], bytes: Uint8Array): Buffer {
    const salt = randomBytes(saltBytes)
    const cipher = createCipheriv('aes-256-gcm', ...this.#forSalt(salt))
    cipher.setAAD(Buffer.from(JSON.stringify(place)))
    const sealed = Buffer.concat([cipher.update(bytes), cipher.final()])
    return Buffer.concat([salt, sealed, cipher.getAuthTag()])
  }

  /** Decrypts sealed bytes. @throws NotAuthentic if they were not sealed with this key and for the same `place` */
  open(place: readonly (string | number)[], sealed: Uint8Array): Buffer {
    if (sealed.length < saltBytes + tagBytes) throw new NotAuthentic('it is cut')
    const end = sealed.length - tagBytes
    const decipher = createDecipheriv('aes-256-gcm', ...this.#forSalt(sealed.subarray(0, saltBytes)), {
      authTagLength: tagBytes,
    })
    decipher.setAAD(Buffer.from(JSON.stringify(place)))
    decipher.setAuthTag(sealed.subarray(end))
    try {
      return Buffer.concat([decipher.update(sealed.subarray(saltBytes, end)), decipher.final()])
    } catch (error) {
      throw new NotAuthentic('it was changed', { cause: error })
    }
  }

  /** Seals a value and returns it as text. */
  sealValue(place: readonly (string | number)[], value: unknown): string {
    return this.seal(place, Buffer.from(JSON.stringify(value))).toString('base64')
  }

  /** Opens a value that `sealValue` returned. @throws NotAuthentic if it was not sealed with this key for this place */
  openValue(place: readonly (string | number)[], sealed: string): unknown {
    return JSON.parse(this.open(place, Buffer.from(sealed, 'base64')).toString())
  }

  /** Derives from a value's salt the key and the nonce that seal this one value. */
  #forSalt(salt: Uint8Array): readonly [Buffer, Buffer] {
    const derived = Buffer.from(hkdfSync('sha256', this.#key, salt, 'portcullis batch seal', keyBytes + 12))
    return [derived.subarray(0, keyBytes), derived.subarray(keyBytes)]
  }
}

/**
 * Reads the key from its environment variable and removes that variable, so that no child process inherits the key.
 *
 * @returns undefined if there is no key
 * @throws UserError `usage` if the variable contains no valid key
 */
export function takeBatchKey(environment: NodeJS.ProcessEnv): BatchKey | undefined {
  const text = environment[keyVariable]
  delete environment[keyVariable]
  return text === undefined || text === '' ? undefined : new BatchKey(text)
}
