import type { HistoryItem, ModelRequest, ToolDeclaration } from '../core/model.ts'
import type { Endpoint } from './endpoint.ts'
import { ProviderFailure } from './failure.ts'
import { sentence } from './retry.ts'
import type { WireEvent } from './wire.ts'

/**
 * Asks again, without the part of the request that a provider refuses, if the run can do without it. What was refused once is left out of later requests
 * too:
 *
 * - What was sealed in earlier answers. Often it can be read only with the key, account or region of that time.
 * - A tool with a schema that the provider doesn't accept.
 */
export class RequestRepairs {
  readonly #provider: Pick<Endpoint, 'label' | 'secrets'>
  /** Items with something sealed, and the items that are sent in their place. */
  readonly #opened = new WeakMap<HistoryItem, HistoryItem>()
  readonly #refused = new Set<string>()
  /** The tools that are left of a list. The same list gives the same array, because translations are cached by the identity of the list. */
  #left: { readonly of: readonly ToolDeclaration[]; readonly tools: readonly ToolDeclaration[] } | undefined

  constructor(provider: Pick<Endpoint, 'label' | 'secrets'>) {
    this.#provider = provider
  }

  /** @param attempt makes one attempt; throws `ProviderFailure` if it fails */
  async *ask(
    request: ModelRequest,
    attempt: (request: ModelRequest) => AsyncIterable<WireEvent>,
  ): AsyncGenerator<WireEvent> {
    for (;;) {
      let isBegun = false
      try {
        for await (const event of attempt(this.#repaired(request))) {
          isBegun = true
          yield event
        }
        return
      } catch (error) {
        const done = error instanceof ProviderFailure ? this.#repair(error, request) : undefined
        if (!(error instanceof ProviderFailure) || done === undefined) throw error
        const message = `${sentence(this.#provider, error)} (${done})`
        const spent = error.spent === undefined ? {} : { spent: error.spent }
        if (isBegun)
          yield { type: 'retry', attempt: 1, of: 1, reason: message, waitMs: 0, failure: error.kind, ...spent }
        yield { type: 'notice', message }
      }
    }
  }

  /** Leaves out what the provider blames, and says so. Returns undefined if nothing can be left out. */
  #repair({ blames }: ProviderFailure, request: ModelRequest): string | undefined {
    if (blames?.part === 'seals') {
      const sealed = request.history.filter((item) => !this.#opened.has(item) && isSealed(item))
      for (const item of sealed) this.#opened.set(item, withoutOpaque(item))
      return sealed.length === 0 ? undefined : 'asked again without the sealed reasoning of earlier answers'
    }
    const tools = this.#repaired(request).tools
    const tool = blames === undefined ? undefined : blamedTool(blames.words, tools)
    if (tool === undefined) return undefined
    this.#refused.add(tool.name)
    return `asked again without the tool ${tool.name}, which this run can't use`
  }

  #repaired(request: ModelRequest): ModelRequest {
    const isOpened = request.history.some((item) => this.#opened.has(item))
    if (!isOpened && this.#refused.size === 0) return request
    const history = isOpened ? request.history.map((item) => this.#opened.get(item) ?? item) : request.history
    return { ...request, history, tools: this.#accepted(request.tools) }
  }

  #accepted(of: readonly ToolDeclaration[]): readonly ToolDeclaration[] {
    const tools = of.filter(({ name }) => !this.#refused.has(name))
    if (this.#left?.of !== of || this.#left.tools.length !== tools.length) this.#left = { of, tools }
    return this.#left.tools
  }
}

/** Whether an item contains something that only its provider can read: reasoning, the signature of a call, or what a search found. */
function isSealed(item: HistoryItem): boolean {
  if (!('opaque' in item) || item.opaque === undefined) return false
  return item.type === 'reasoning' || /encrypted|signature/i.test(JSON.stringify(item.opaque))
}

function withoutOpaque(item: HistoryItem): HistoryItem {
  if (!('opaque' in item)) return item
  const { opaque: _, ...open } = item
  return open as HistoryItem
}

/** Finds the tool whose schema a message is about: by its place in the list of tools, or else by its name. */
function blamedTool(words: string, tools: readonly ToolDeclaration[]): ToolDeclaration | undefined {
  const place = (/function_declarations?[[.](\d+)/i.exec(words) ?? /\btools[[.](\d+)/i.exec(words))?.[1]
  const counted = place === undefined ? undefined : tools[Number(place)]
  return counted ?? tools.find(({ name }) => marks(name).some((mark) => words.includes(mark)))
}

/** The ways in which a message may name a tool. A name without quotes may be an ordinary word. */
function marks(name: string): readonly string[] {
  return [`'${name}'`, `"${name}"`, `\`${name}\``, `function ${name}`, `tool ${name}`]
}
