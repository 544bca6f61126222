import type { webcrypto } from 'node:crypto'
import { UserError } from '../../core/user-error.ts'

/** Reads the fields of SSH's binary formats in order (RFC 4251, section 5). */
class Fields {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  take(length: number): Buffer {
    const part = this.#bytes.subarray(this.#at, this.#at + length)
    if (part.length !== length) throw new RangeError('it is cut off')
    this.#at += length
    return part
  }

  number(): number {
    return this.take(4).readUInt32BE()
  }

  bytes(): Buffer {
    return this.take(this.number())
  }

  text(): string {
    return this.bytes().toString('latin1')
  }
}

const magic = 'openssh-key-v1\0'
const curves: Readonly<Record<string, { readonly crv: string; readonly size: number }>> = {
  nistp256: { crv: 'P-256', size: 32 },
  nistp384: { crv: 'P-384', size: 48 },
  nistp521: { crv: 'P-521', size: 66 },
}

/**
 * Converts a private key from the format of `ssh-keygen` (PROTOCOL.key of OpenSSH) into one that Node accepts.
 *
 * @param file the file's name in messages
 * @throws UserError `usage` if the key has a passphrase, or if the text isn't a private key of a supported type in this format
 */
export function sshPrivateKey(text: string, file: string): webcrypto.JsonWebKey {
  try {
    const body = /-----BEGIN OPENSSH PRIVATE KEY-----([^-]+)-----END/.exec(text)?.[1] ?? ''
    const fields = new Fields(Buffer.from(body.replace(/\s/g, ''), 'base64'))
    if (fields.take(magic.length).toString('latin1') !== magic) throw new RangeError('it is not in OpenSSH format')
    const cipher = fields.text()
    if (cipher !== 'none') {
      const hint = `to remove the passphrase from a copy, run ssh-keygen -p -N '' -f COPY`
      throw new UserError('usage', `${file}: the key has a passphrase, and passphrases are not supported; ${hint}.`)
    }
    fields.text()
    fields.bytes()
    if (fields.number() !== 1) throw new RangeError('it contains more than one key')
    fields.bytes()
    const inner = new Fields(fields.bytes())
    if (inner.number() !== inner.number()) throw new RangeError('its checks differ')
    return privateFields(inner.text(), inner)
  } catch (error) {
    if (error instanceof UserError) throw error
    throw new UserError('usage', `${file}: not a readable key: ${(error as Error).message}.`, { cause: error })
  }
}

function privateFields(type: string, fields: Fields): webcrypto.JsonWebKey {
  if (type === 'ssh-ed25519') {
    const x = url(fields.bytes())
    return { kty: 'OKP', crv: 'Ed25519', x, d: url(fields.bytes().subarray(0, 32)) }
  }
  if (type.startsWith('ecdsa-sha2-')) {
    const key = pointOf(fields.text(), fields.bytes())
    return { ...key.jwk, d: url(sized(fields.bytes(), key.size)) }
  }
  if (type === 'ssh-rsa') {
    const [n, e, d, qi, p, q] = Array.from({ length: 6 }, () => fields.bytes())
    const exponent = (prime: Buffer | undefined): string => numberUrl(bytesOf(bigint(d) % (bigint(prime) - 1n)))
    const plain = Object.fromEntries(
      Object.entries({ n, e, d, qi, p, q }).map(([name, value]) => [name, numberUrl(value)]),
    )
    return { kty: 'RSA', ...plain, dp: exponent(p), dq: exponent(q) }
  }
  throw new RangeError(`its type ${type} is not supported; use ed25519, ecdsa or rsa`)
}

/**
 * Reads a public key in the one-line format of `ssh-keygen`.
 *
 * @throws UserError `usage` if the line isn't a public key of a supported type in this format
 */
export function sshPublicKey(line: string, file: string): webcrypto.JsonWebKey {
  try {
    const fields = new Fields(Buffer.from(line.trim().split(/\s+/)[1] ?? '', 'base64'))
    const type = fields.text()
    if (type === 'ssh-ed25519') return { kty: 'OKP', crv: 'Ed25519', x: url(fields.bytes()) }
    if (type.startsWith('ecdsa-sha2-')) return pointOf(fields.text(), fields.bytes()).jwk
    if (type !== 'ssh-rsa') throw new RangeError(`its type ${type} is not supported; use ed25519, ecdsa or rsa`)
    const e = numberUrl(fields.bytes())
    return { kty: 'RSA', e, n: numberUrl(fields.bytes()) }
  } catch (error) {
    throw new UserError('usage', `${file}: the public key can't be used: ${(error as Error).message}.`, {
      cause: error,
    })
  }
}

function pointOf(name: string, point: Buffer): { readonly jwk: webcrypto.JsonWebKey; readonly size: number } {
  const curve = curves[name]
  if (curve === undefined || point[0] !== 4) throw new RangeError(`its curve ${name} is not supported`)
  const { crv, size } = curve
  return { jwk: { kty: 'EC', crv, x: url(point.subarray(1, 1 + size)), y: url(point.subarray(1 + size)) }, size }
}

/**
 * Converts a number from SSH's format to a fixed size: removes the zero byte that SSH puts before a number that would otherwise be negative, and pads a shorter
 * number with zeros.
 */
function sized(bytes: Buffer, size: number): Buffer {
  const plain = bytes.subarray(bytes.findIndex((byte) => byte !== 0))
  return Buffer.concat([Buffer.alloc(Math.max(0, size - plain.length)), plain])
}

function url(bytes: Buffer): string {
  return bytes.toString('base64url')
}

/** Encodes a number for a JWK, without leading zeros. */
function numberUrl(bytes: Buffer | undefined): string {
  return sized(bytes ?? Buffer.alloc(0), 0).toString('base64url')
}

function bigint(bytes: Buffer | undefined): bigint {
  return BigInt(`0x${bytes?.toString('hex') ?? '0'}`)
}

function bytesOf(value: bigint): Buffer {
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
}
