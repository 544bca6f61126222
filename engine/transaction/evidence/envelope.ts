import { createPublicKey, type KeyObject } from 'node:crypto'
import * as z from 'zod'
import { derOf, isSignedBy, keyId, signBytes } from './keys.ts'
import { statement, type Statement } from './statement.ts'

const payloadType = 'application/vnd.in-toto+json'

const envelope = z.strictObject({
  payload: z.string(),
  payloadType: z.literal(payloadType),
  /**
   * The signature of the payload. `publicKey` is an addition to the DSSE format: it lets anyone detect changes without obtaining the key separately,
   * but it doesn't prove who signed.
   */
  signatures: z.tuple([z.strictObject({ keyid: z.string(), sig: z.string(), publicKey: z.string() })]),
})

/** The bytes that are signed: the type and the payload, each with its length (DSSE v1.0, pre-authentication encoding). */
function encoded(payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `), payload])
}

/** Signs a statement and puts it in an envelope (DSSE). Returns the text of the file. */
export function sealStatement(content: Statement, key: KeyObject): string {
  const payload = Buffer.from(JSON.stringify(content))
  return render({
    payload: payload.toString('base64'),
    payloadType,
    signatures: [
      {
        keyid: keyId(key),
        sig: signBytes(encoded(payload), key).toString('base64'),
        publicKey: derOf(key).toString('base64'),
      },
    ],
  })
}

function render(content: z.infer<typeof envelope>): string {
  return `${JSON.stringify(content, undefined, 2)}\n`
}

/** The result of opening an envelope. */
type Opened =
  | { readonly type: 'whole'; readonly statement: Statement; readonly keyId: string; readonly isTrusted: boolean }
  | { readonly type: 'broken'; readonly why: string }

/**
 * Opens an envelope, and verifies that none of its bytes have changed.
 *
 * @param trusted one of these keys must have signed the envelope. If the list is empty, the signature must match the key in the envelope itself
 */
export function openEnvelope(text: string, trusted: readonly KeyObject[]): Opened {
  const broken = (why: string): Opened => ({ type: 'broken', why })
  const parsed = envelope.safeParse(jsonOf(text))
  if (!parsed.success || render(parsed.data) !== text) return broken('it is not evidence, or it was changed')
  const { payload, signatures } = parsed.data
  const [{ keyid, sig, publicKey }] = signatures
  const [body, signature, der] = [payload, sig, publicKey].map((each) => Buffer.from(each, 'base64'))
  const areExact = [body, signature, der].every(
    (bytes, index) => bytes?.toString('base64') === [payload, sig, publicKey][index],
  )
  if (!areExact || body === undefined || signature === undefined || der === undefined) {
    return broken('it was changed')
  }
  const key = keyOf(der)
  if (key === undefined || keyId(key) !== keyid) return broken('its public key does not match its key id')
  const signer = trusted.length === 0 ? key : trusted.find((each) => keyId(each) === keyid)
  if (signer === undefined) return broken(`it was signed by ${keyid}, which is not one of the given keys`)
  if (!isSignedBy(encoded(body), signature, signer)) return broken('the signature does not match the content')
  const content = statement.safeParse(jsonOf(body.toString()))
  if (!content.success)
    return broken('the signed content is not an evidence statement, or its version is not supported')
  return { type: 'whole', statement: content.data, keyId: keyid, isTrusted: trusted.length > 0 }
}

function keyOf(der: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' })
  } catch {
    return undefined
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
