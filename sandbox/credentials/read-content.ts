import type { IncomingMessage } from 'node:http'
import type { Operation } from './allow-row.ts'
import type { ReadCredential } from './credential.ts'
import { faultOfForm, formOf } from './form-names.ts'
import { refusalOf, repositoryOf, type RequestKind } from './judge-request.ts'
import { mostCommandBytes, readPush, type PushRequest } from './push-commands.ts'
import type { Target } from './request-target.ts'

/** Says whether `to` is `from` or descends from it, by commits whose hashes are checked; if that isn't known, why. */
export type FastForward = (from: string, to: string) => Promise<true | string>

/** The verdict about a request. */
type Content =
  | {
      readonly verdict: 'allowed'
      readonly operations: readonly Operation[]
      /** The bytes of the body that were read; the others follow. */
      readonly first: Buffer | undefined
      /** Whether the names in the rest of the body are still to be judged. */
      readonly isForm: boolean
      /** The headers that say where the body ends, and what is in it if that was judged. */
      readonly framing: Readonly<Record<string, string>>
    }
  /** `push` is present if the refusal can be told in git's own protocol. */
  | { readonly verdict: 'refused'; readonly rule: string; readonly push?: PushRequest | undefined }

/** The longest body of a GraphQL request. */
const mostGraphqlBytes = 1024 * 1024

/** The longest form whose names are read. */
const mostFormBytes = 4 * 1024 * 1024

/** Judges a request, for which it reads as much of its body as is necessary. */
export async function readContent(
  credential: ReadCredential,
  kind: RequestKind,
  target: Target,
  message: IncomingMessage,
  isFastForward: FastForward,
): Promise<Content> {
  const refused = (why: string, push?: PushRequest): Content => ({
    verdict: 'refused',
    rule: `credentials.${credential.name}: ${why}`,
    push,
  })
  if (kind.kind === 'operation') {
    const refusal = refusalOf(credential, kind.operation)
    if (refusal !== undefined) return { verdict: 'refused', rule: refusal }
    const framing = framingOf(message)
    const allowed = {
      verdict: 'allowed',
      operations: [kind.operation],
      first: undefined,
      isForm: false,
      framing,
    } as const
    if ((framing['content-length'] ?? '0') === '0' && framing['transfer-encoding'] === undefined) return allowed
    // Servers that expect no body would take it for the next request.
    if (message.method === 'GET' || message.method === 'HEAD')
      return refused(`a ${message.method} must not have a body`)
    const form = kind.isGit ? undefined : formOf(message.headers['content-type'])
    if (form === undefined) return allowed
    if ((message.headers['content-encoding'] ?? 'identity') !== 'identity')
      return refused('its form must not be compressed')
    if (form === 'multipart') return { ...allowed, isForm: true }
    const first = await readBody(message, mostFormBytes, () => false)
    if (first === undefined) return refused('its form is too long or incomplete')
    const fault = faultOfForm(first.toString('latin1'))
    return fault === undefined ? { ...allowed, first } : refused(fault)
  }
  if ((message.headers['content-encoding'] ?? 'identity') !== 'identity')
    return refused('its body must not be compressed')
  if (kind.kind === 'graphql') {
    if (!/^application\/json(?:;|$)/i.test(message.headers['content-type'] ?? ''))
      return refused('a GraphQL request must be JSON')
    const body = await readBody(message, mostGraphqlBytes, () => false)
    if (body === undefined) return refused('its body is too long or incomplete')
    // The parser is loaded only if there is something to parse.
    const { readGraphql } = await import('./graphql-operations.ts')
    const read = readGraphql(body.toString('utf8'))
    if ('why' in read) return refused(read.why)
    for (const operation of read.operations) {
      const refusal = refusalOf(credential, operation)
      if (refusal !== undefined) return { verdict: 'refused', rule: refusal }
    }
    const first = Buffer.from(read.body)
    const framing = { 'content-length': `${first.length}`, 'content-type': 'application/json' }
    return { verdict: 'allowed', operations: read.operations, first, isForm: false, framing }
  }
  if (message.headers['content-type'] !== 'application/x-git-receive-pack-request')
    return refused('a push must have its content type')
  const first = await readBody(message, mostCommandBytes + 64 * 1024, (bytes) => readPush(bytes) !== 'more')
  const read = first === undefined ? 'more' : readPush(first)
  if (read === 'more') return refused('its list of references is too long or incomplete')
  if ('why' in read) return refused(read.why)
  const path = repositoryOf(target)
  const operations = read.commands.map(({ ref }): Operation => ({ kind: 'git-push', path, ref }))
  // Git sends a push of nothing to find out whether it is authorized.
  for (const operation of operations.length === 0
    ? [{ kind: 'git-push', path, ref: undefined } as const]
    : operations) {
    const refusal = refusalOf(credential, operation)
    if (refusal !== undefined) return { verdict: 'refused', rule: refusal, push: read }
  }
  for (const { ref, from, to } of read.commands) {
    const known = from === undefined || (await isFastForward(from, to))
    if (known !== true) return refused(`${ref} may only move forward: ${known}`, read)
  }
  return {
    verdict: 'allowed',
    operations: operations.length === 0 ? [{ kind: 'git-push', path, ref: undefined }] : operations,
    first,
    isForm: false,
    framing: framingOf(message),
  }
}

/** Reads the beginning of a body until `isEnough`, or all of it; undefined if it is longer than `most`, or cut off. */
async function readBody(
  message: IncomingMessage,
  most: number,
  isEnough: (bytes: Buffer) => boolean,
): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let [length, tried] = [0, 0]
  return new Promise((resolve) => {
    const finish = (result: Buffer | undefined): void => {
      message.off('data', read).off('end', ended).off('close', failed).pause()
      resolve(result)
    }
    const read = (chunk: Buffer): void => {
      chunks.push(chunk)
      length += chunk.length
      // Chunks may be as small as the command likes, so that looking at all of them each time would take very long.
      if (length < 2 * tried && length <= most) return
      tried = length
      const bytes = Buffer.concat(chunks)
      if (isEnough(bytes)) finish(bytes)
      else if (length > most) finish(undefined)
    }
    const ended = (): void => finish(Buffer.concat(chunks))
    const failed = (): void => finish(undefined)
    message.on('data', read).once('end', ended).once('close', failed)
  })
}

/** A body that is sent as it came keeps its length; one of unknown length is sent in chunks, whatever the method. */
function framingOf({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  if (headers['transfer-encoding'] !== undefined) return { 'transfer-encoding': 'chunked' }
  const length = headers['content-length']
  return length === undefined ? {} : { 'content-length': length }
}
