import { createHash, createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { UserError } from '../../core/user-error.ts'
import { sshPrivateKey, sshPublicKey } from './ssh-key.ts'

/** The minimum length of an RSA key, in bits. Shorter keys are considered insecure. */
const shortestRsa = 2048

/**
 * Reads a private key (Ed25519, ECDSA or RSA), in PEM or OpenSSH format.
 *
 * @param file the file's name in messages
 * @throws UserError `usage` if the key can't be used, with advice
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
        ? 'the key has a passphrase, and passphrases are not supported; to make a copy without a passphrase, run openssl pkey -in FILE -out COPY'
        : 'not a private key in PEM or OpenSSH format'
    throw new UserError('usage', `${file}: ${message}.`, { cause: error })
  }
}

/**
 * Reads a public key, in PEM or in the one-line OpenSSH format.
 *
 * @throws UserError `usage` if the text is neither, or if the key's type or length is not supported
 */
export function readPublicKey(text: string, file: string): KeyObject {
  if (/^(?:ssh-|ecdsa-)/.test(text)) {
    return checked(createPublicKey({ key: sshPublicKey(text, file), format: 'jwk' }), file)
  }
  try {
    return checked(createPublicKey(text), file)
  } catch (error) {
    if (error instanceof UserError) throw error
    throw new UserError('usage', `${file}: not a public key in PEM or OpenSSH format.`, { cause: error })
  }
}

function checked(key: KeyObject, file: string): KeyObject {
  const type = key.asymmetricKeyType
  if (type === 'ed25519' || type === 'ec') return key
  if (type !== 'rsa')
    throw new UserError(
      'usage',
      `${file}: the key type ${type ?? 'is unknown, and'} is not supported; use Ed25519, ECDSA or RSA.`,
    )
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
  if (modulusLength >= shortestRsa) return key
  throw new UserError(
    'usage',
    `${file}: an RSA key of ${modulusLength} bits is too short; use ${shortestRsa} bits or more.`,
  )
}

/** The id of a public key: the SHA-256 of its standard form (SubjectPublicKeyInfo, DER). */
export function keyId(key: KeyObject): string {
  return `SHA256:${createHash('sha256').update(derOf(key)).digest('base64url')}`
}

/** The standard form of a key's public half (SubjectPublicKeyInfo, DER). */
export function derOf(key: KeyObject): Buffer {
  const open = key.type === 'private' ? createPublicKey(key) : key
  return open.export({ type: 'spki', format: 'der' })
}

/** Signs bytes. Ed25519 signs them directly; ECDSA and RSA (PKCS #1 v1.5) sign their SHA-256. */
export function signBytes(bytes: Buffer, key: KeyObject): Buffer {
  return sign(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', bytes, key)
}

/** Verifies a signature made by `signBytes`. */
export function isSignedBy(bytes: Buffer, signature: Buffer, key: KeyObject): boolean {
  return verify(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', bytes, key, signature)
}
