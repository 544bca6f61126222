import { createHash, createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { UserError } from '../../core/user-error.ts'
import { sshPrivateKey, sshPublicKey } from './ssh-key.ts'

/** Shorter keys of RSA can be factored. */
const shortestRsa = 2048

/**
 * A key to sign with, in PEM or as ssh-keygen writes it: Ed25519, ECDSA or RSA.
 *
 * @param file for what is said of it
 * @throws UserError `usage` for one that can't be used, with what to do
 */
export function readPrivateKey(text: string, file: string): KeyObject {
  if (text.includes('BEGIN OPENSSH PRIVATE KEY')) {
    return checked(createPrivateKey({ key: sshPrivateKey(text, file), format: 'jwk' }), file)
  }
  try {
    return checked(createPrivateKey(text), file)
  } catch (error) {
    if (error instanceof UserError) throw error
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const message =
      code === 'ERR_MISSING_PASSPHRASE' || /ENCRYPTED/.test(text)
        ? 'the key has a passphrase, which nobody is asked for here: openssl pkey -in FILE -out COPY makes one without'
        : 'no private key, in PEM or as ssh-keygen writes it'
    throw new UserError('usage', `${file}: ${message}.`, { cause: error })
  }
}

/**
 * A key to verify with: PEM, or the line of an ssh key.
 *
 * @throws UserError `usage` for what is none
 */
export function readPublicKey(text: string, file: string): KeyObject {
  if (/^(?:ssh-|ecdsa-)/.test(text)) {
    return checked(createPublicKey({ key: sshPublicKey(text, file), format: 'jwk' }), file)
  }
  try {
    return checked(createPublicKey(text), file)
  } catch (error) {
    if (error instanceof UserError) throw error
    throw new UserError('usage', `${file}: no public key, in PEM or as ssh-keygen writes it.`, { cause: error })
  }
}

function checked(key: KeyObject, file: string): KeyObject {
  const type = key.asymmetricKeyType
  if (type === 'ed25519' || type === 'ec') return key
  if (type !== 'rsa') throw new UserError('usage', `${file}: a key of ${type ?? 'no'} kind; use Ed25519, ECDSA or RSA.`)
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
  if (modulusLength >= shortestRsa) return key
  throw new UserError('usage', `${file}: RSA of ${modulusLength} bits is too short: use ${shortestRsa} or more.`)
}

/** What a public key is known by: the SHA-256 of its standard form (SubjectPublicKeyInfo, DER). */
export function keyId(key: KeyObject): string {
  return `SHA256:${createHash('sha256').update(derOf(key)).digest('base64url')}`
}

/** The standard form of a key's public half. */
export function derOf(key: KeyObject): Buffer {
  const open = key.type === 'private' ? createPublicKey(key) : key
  return open.export({ type: 'spki', format: 'der' })
}

/** Signs: Ed25519 as it is, ECDSA and RSA (PKCS #1 v1.5) over SHA-256. */
export function signBytes(bytes: Buffer, key: KeyObject): Buffer {
  return sign(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', bytes, key)
}

/** Whether a signature of `signBytes` is this key's. */
export function isSignedBy(bytes: Buffer, signature: Buffer, key: KeyObject): boolean {
  return verify(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', bytes, key, signature)
}
