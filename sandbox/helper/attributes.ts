// execa isn't used here, because the caller waits for the attributes of files that must not change meanwhile.
import { spawnSync } from 'node:child_process'
import { decodeText } from '../path-bytes.ts'
import { longPatience } from '../process/patience.ts'
import { encodePlan, list, type Value } from './plan.ts'

/**
 * What to do with an entry's extended attributes, or with its modification time. `directory` is the index of an open directory, and `path` leads from there to the entry; empty
 * for the directory itself. Symlinks are not followed. ACLs are the attributes `system.posix_acl_access` and `system.posix_acl_default`.
 *
 * @internal
 */
export type AttributeRequest = { readonly directory: number; readonly path: string } & (
  | { readonly do: 'list' }
  | { readonly do: 'set'; readonly name: string; readonly value: Uint8Array }
  | { readonly do: 'remove'; readonly name: string }
  /** Sets the modification time, in nanoseconds since 1970. Node's own functions round it, and lose some of its digits. */
  | { readonly do: 'set-time'; readonly modified: bigint }
)

/**
 * The reply to a request. `error` is 0 or the error number of the call that failed. `attributes` is empty except for `list`; the value of an attribute
 * that can't be read is undefined.
 *
 * @internal
 */
type AttributeReply = {
  readonly error: number
  readonly attributes: ReadonlyMap<string, Buffer | undefined>
}

const operations = { list: 1, set: 2, remove: 3, 'set-time': 4 } as const
/** A second in nanoseconds. */
const second = 1_000_000_000n
/** The first descriptor of the child after standard input, output and error. */
const firstDirectory = 3
/** The number of requests that one run of the helper gets. Together with their paths and values, they must be far smaller than the largest plan. */
const batch = 10_000

/**
 * Reads and changes the extended attributes and modification times of many entries, in the order of the requests, and returns their replies.
 *
 * @param helper the command that starts the helper: the path of its file (see `installHelper`)
 * @param directories the descriptors of the open directories
 * @internal
 */
export function exchangeAttributes(
  [helper, ...words]: readonly [string, ...string[]],
  directories: readonly number[],
  requests: readonly AttributeRequest[],
): readonly AttributeReply[] {
  const replies: AttributeReply[] = []
  for (let start = 0; start < requests.length; start += batch) {
    const some = requests.slice(start, start + batch)
    const { status, stdout, error } = spawnSync(helper, [...words, 'attributes'], {
      input: encodePlan(list(some.map(encodeRequest))),
      stdio: ['pipe', 'pipe', 'ignore', ...directories],
      env: {},
      maxBuffer: Number.POSITIVE_INFINITY,
      ...longPatience,
    })
    if (error !== undefined || status !== 0) {
      throw new Error(
        `the attributes of files can't be read: the helper ${helper} failed with ${error?.message ?? status}`,
      )
    }
    replies.push(...decodeReplies(stdout, some))
  }
  return replies
}

function encodeRequest(request: AttributeRequest): readonly Value[] {
  const { directory, path } = request
  const start = [operations[request.do], firstDirectory + directory, path]
  switch (request.do) {
    case 'list':
      return start
    case 'set':
      return [...start, request.name, request.value]
    case 'remove':
      return [...start, request.name]
    case 'set-time': {
      const nanoseconds = BigInt.asUintN(64, ((request.modified % second) + second) % second)
      return [...start, BigInt.asUintN(64, (request.modified - nanoseconds) / second), nanoseconds]
    }
    default:
      return request satisfies never
  }
}

function decodeReplies(bytes: Buffer, requests: readonly AttributeRequest[]): readonly AttributeReply[] {
  let at = 0
  const takeNumber = (): number => {
    at += 8
    return Number(bytes.readBigUInt64LE(at - 8))
  }
  const takeBytes = (): Buffer => {
    const length = takeNumber()
    at += length
    return bytes.subarray(at - length, at)
  }
  return requests.map((request) => {
    const error = takeNumber()
    const attributes = new Map<string, Buffer | undefined>()
    if (error !== 0 || request.do !== 'list') return { error, attributes }
    for (let left = takeNumber(); left > 0; left -= 1) {
      const name = decodeText(takeBytes())
      // The NUL at the end of a text
      at += 1
      const value = takeBytes()
      attributes.set(name, takeNumber() === 0 ? value : undefined)
    }
    return { error, attributes }
  })
}
