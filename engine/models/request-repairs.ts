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
 * - The pictures so far. One of them may be broken, or the model may not see pictures at all.
 */
export class RequestRepairs {
  readonly #provider: Pick<Endpoint, 'label' | 'secrets'>
  /** Items with something that was refused, and the items that are sent in their place. */
  readonly #replaced = new WeakMap<HistoryItem, HistoryItem>()
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
    switch (blames?.part) {
      case undefined:
        return undefined
      case 'seals':
        return this.#replace(request, isSealed, withoutOpaque)
          ? 'asked again without the sealed reasoning of earlier answers'
          : undefined
      case 'pictures':
        return this.#replace(request, hasPictures, withoutPictures)
          ? "asked again without the pictures so far, which the model doesn't see"
          : undefined
      case 'tool': {
        const tool = blamedTool(blames.words, this.#repaired(request).tools)
        if (tool === undefined) return undefined
        this.#refused.add(tool.name)
        return `asked again without the tool ${tool.name}, which this run can't use`
      }
      default:
        return blames satisfies undefined
    }
  }

  /** @returns whether there was anything to replace */
  #replace(
    { history }: ModelRequest,
    isRefused: (item: HistoryItem) => boolean,
    without: (item: HistoryItem) => HistoryItem,
  ): boolean {
    const refused = history.filter((item) => isRefused(this.#replaced.get(item) ?? item))
    for (const item of refused) this.#replaced.set(item, without(item))
    return refused.length > 0
  }

  #repaired(request: ModelRequest): ModelRequest {
    const isChanged = request.history.some((item) => this.#replaced.has(item))
    if (!isChanged && this.#refused.size === 0) return request
    const history = isChanged ? request.history.map((item) => this.#replaced.get(item) ?? item) : request.history
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

function hasPictures(item: HistoryItem): boolean {
  return 'images' in item && (item.images?.length ?? 0) > 0
}

/** Removes the pictures of an item. Its text says so, because the model would otherwise believe that it has seen them. */
function withoutPictures(item: HistoryItem): HistoryItem {
  if (!('images' in item)) return item
  const { images: _, ...rest } = item
  const note = '[The picture is left out: the provider refused the request that contained it.]'
  return rest.type === 'message'
    ? { ...rest, text: `${rest.text}\n${note}` }
    : { ...rest, output: `${rest.output}\n${note}` }
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
