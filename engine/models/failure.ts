import * as z from 'zod'
import type { ModelFailure, Usage } from '../core/model.ts'
import { describeOtherContent, nameOtherContent } from '../core/text/other-content.ts'
import { waitAsked } from './retry-after.ts'

/** A failed request to a model's provider. `respondWithRetries` repeats the request or turns the failure into a `ModelError`. */
export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure'
  readonly kind: ModelFailure
  /** Whether the same request may succeed later. */
  readonly retryable: boolean
  /** The HTTP status, if the failure was an HTTP error. */
  readonly status: number | undefined
  /** How long the provider asks to wait; undefined if it doesn't say. */
  readonly waitMs: number | undefined
  /** For a failure that rarely passes: how often it is retried, and what is said of it until it is final. Undefined: as often as any other. */
  readonly rare: { readonly retries: number; readonly words: string } | undefined
  /** The part of the request that the provider blames. */
  readonly blames: Blamed | undefined
  /** What the attempt cost; undefined if it cost nothing or the provider didn't say. */
  readonly spent: Usage | undefined

  constructor(
    kind: ModelFailure,
    message: string,
    facts: {
      readonly retryable: boolean
      readonly status?: number | undefined
      readonly waitMs?: number | undefined
      readonly rare?: ProviderFailure['rare']
      readonly blames?: Blamed | undefined
      readonly spent?: Usage | undefined
    },
  ) {
    super(message)
    this.kind = kind
    this.retryable = facts.retryable
    this.status = facts.status
    this.waitMs = facts.waitMs
    this.rare = facts.rare
    this.blames = facts.blames
    this.spent = facts.spent
  }

  /** The same failure, of an attempt for which the provider has reported this usage. */
  after(spent: Usage): ProviderFailure {
    return spent.inputTokens + spent.outputTokens === 0
      ? this
      : new ProviderFailure(this.kind, this.message, { ...this, spent })
  }
}

/**
 * A part of a request without which it may be accepted: `seals`, what was sealed in earlier answers and this provider can't read now; `pictures`, which are
 * broken, or which the model can't see; or the schema of a tool, which `words` name or count.
 */
type Blamed = { readonly part: 'seals' | 'pictures' } | { readonly part: 'tool'; readonly words: string }

/** A provider's refusal: an HTTP error or an error inside a stream. */
type Refusal = {
  /** The HTTP status; undefined for an error inside a stream. */
  readonly status?: number | undefined
  /** The provider's machine-readable code or type, if it has one. */
  readonly code?: string | undefined
  /** The field of the request that the provider names. */
  readonly param?: string | undefined
  readonly words: string
  readonly header?: (name: string) => string | null
}

const overflowCodes = ['context_length_exceeded', 'request_too_large']
const overflowWords =
  /context (?:window|length|size)|maximum context|prompt is too long|input is too long|exceed context limit/i
const quotaWords = /credit balance is too low/i
const quotaCodes = ['insufficient_quota', 'billing_hard_limit_reached', 'usage_limit_reached', 'billing_error']
const sealCodes = ['invalid_encrypted_content']
const keyCodes = ['authentication_error', 'permission_error', 'invalid_api_key']
/** Codes for a faulty request. Such a request would fail again if it were repeated. */
const requestCodes = [
  'invalid_prompt',
  'invalid_request_error',
  'invalid_image',
  'bio_policy',
  'cyber_policy',
  'not_found_error',
]

/** Decides what a refusal means: its kind, and whether to try again. */
export function judgeRefusal(refusal: Refusal, now: number): ProviderFailure {
  const { status, code = '' } = refusal
  const words = clip(refusal.words)
  const message = status === undefined ? `failed: ${words}` : `answered ${status}: ${words}`
  const fail = (kind: ModelFailure, retryable: boolean): ProviderFailure =>
    new ProviderFailure(kind, message, {
      retryable: retryable && refusal.header?.('x-should-retry') !== 'false',
      status,
      blames: blamesRequest && kind === 'refused' ? blamedBy(refusal) : undefined,
      waitMs: waitAsked(refusal.header ?? (() => null), words, now),
    })
  const blamesRequest = status === undefined || (status >= 400 && status < 500 && status !== 429)
  if (status === 413 || overflowCodes.includes(code) || (blamesRequest && overflowWords.test(words)))
    return fail('context-overflow', false)
  if (quotaCodes.includes(code) || status === 402 || (blamesRequest && quotaWords.test(words)))
    return fail('quota', false)
  if (status === 401 || status === 403 || keyCodes.includes(code)) return fail('authentication', false)
  if (status === 429 || code.startsWith('rate_limit')) return fail('rate-limit', true)
  if (status === 408 || status === 409) return fail('server', true)
  if (status !== undefined && status < 500) return fail('refused', false)
  if (status === undefined && requestCodes.includes(code)) return fail('refused', false)
  return fail('server', true)
}

function blamedBy({ code = '', param = '', words }: Refusal): Blamed | undefined {
  if (sealCodes.includes(code) || isAboutSeals(words.toLowerCase())) return { part: 'seals' }
  const about = `${param} ${words}`
  if (/schema|function_declaration|\btools[[.]\d/i.test(about)) return { part: 'tool', words: about }
  return /image|\bvision\b|multimodal/i.test(`${code} ${about}`) ? { part: 'pictures' } : undefined
}

function isAboutSeals(words: string): boolean {
  const has = (part: string): boolean => words.includes(part)
  if (has('encrypted content') || has('encrypted_content')) return true
  if (has('thought signature') || has('thought_signature')) return true
  return has('thinking') && (has('signature') || has('cannot be modified'))
}

/** Puts a provider's message on one line and cuts it off if it is too long to read. */
function clip(words: string): string {
  const line = words.replace(/\s+/g, ' ').trim()
  return line.length > 600 ? `${line.slice(0, 600)}… (${line.length} characters)` : line
}

/** Creates the failure for a stream that stopped before its last event. */
export function cutStream(detail: string): ProviderFailure {
  return new ProviderFailure('cut', `cut the stream before its last event${detail === '' ? '' : ` (${detail})`}`, {
    retryable: true,
  })
}

/** Creates the failure for a web page, or another text, in place of an answer. */
export function otherContent(text: string, type: string, url: string): ProviderFailure {
  return new ProviderFailure(
    'malformed',
    `didn't answer: ${describeOtherContent(text, type, url)}. Check the base URL and the proxy.`,
    { retryable: true, rare: { retries: 2, words: `sent ${nameOtherContent(text)} in place of an answer` } },
  )
}

/** Creates the failure for an address that doesn't answer, and to which another one redirects. */
export function afterRedirect(status: number, from: string, to: string): ProviderFailure {
  const [asked, answered] = [from, to].map((url) => url.split('?')[0])
  return new ProviderFailure(
    'refused',
    `answered ${status} at ${answered}, to which ${asked} redirects. Set the base URL to an address that answers.`,
    { retryable: false, status },
  )
}

const errorBody = z.object({
  error: z.union([
    z.string().transform((message) => ({ message, code: undefined, type: undefined })),
    z.object({ message: z.string(), code: z.unknown().optional(), type: z.unknown().optional() }),
  ]),
})

/** Creates the failure for JSON in place of a stream. Some servers report an error that way, with status 200. */
export function jsonInsteadOfStream(json: string): ProviderFailure {
  const error = errorIn(json)
  if (error === undefined) return malformedStream(`JSON in place of events, which begins: ${json.slice(0, 160)}`)
  const { message: words, code, type } = error
  const named = [code, type].find((name) => typeof name === 'string' && name !== '')
  return judgeRefusal({ words, ...(typeof named === 'string' ? { code: named } : {}) }, Date.now())
}

function errorIn(json: string): z.output<typeof errorBody>['error'] | undefined {
  try {
    return errorBody.safeParse(JSON.parse(json)).data?.error
  } catch {
    // What isn't JSON is no error that could be read.
    return undefined
  }
}

/** Creates the failure for a stream that violates its protocol. */
export function malformedStream(detail: string): ProviderFailure {
  return new ProviderFailure('malformed', `sent a malformed stream: ${clip(detail)}`, { retryable: true })
}

/** Creates the failure for an answer that the provider ended early, with the reason that the provider gave. */
export function unfinished(kind: 'filtered' | 'context-overflow', why: string, spent: Usage): ProviderFailure {
  return new ProviderFailure(kind, `ended its response early: ${why}`, { retryable: false, spent })
}
