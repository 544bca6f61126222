import { posix } from 'node:path'
import type { Argument, Expression, RuleStatement } from './grammar.ts'
import { RuleError, type Position } from './rule-error.ts'
import type { HostExecutable, NetworkRule, PrefixRule, RuleLayer, RuleOrigin } from './rule.ts'
import { splitWords } from './split-words.ts'

/** What one rule file says. */
export type EvaluatedRules = {
  readonly prefixRules: readonly PrefixRule[]
  readonly networkRules: readonly NetworkRule[]
  readonly hostExecutables: readonly HostExecutable[]
}

type Value =
  | { readonly kind: 'string'; readonly value: string; readonly at: Position }
  | { readonly kind: 'list'; readonly items: readonly Value[]; readonly at: Position }

/** Values a file may make in all: `A = B + B` doubles, and must come to an end. */
const budget = 200_000

/** Makes rules of a parsed file. Throws a `RuleError` at the first one that is not exactly right. */
export function evaluateRules(path: string, layer: RuleLayer, statements: readonly RuleStatement[]): EvaluatedRules {
  const evaluation = new Evaluation(path, layer)
  for (const statement of statements) evaluation.statement(statement)
  return evaluation.result
}

class Evaluation {
  readonly prefixRules: PrefixRule[] = []
  readonly networkRules: NetworkRule[] = []
  readonly hostExecutables: HostExecutable[] = []
  readonly #path: string
  readonly #layer: RuleLayer
  readonly #constants = new Map<string, Value>()
  #spent = 0

  constructor(path: string, layer: RuleLayer) {
    this.#path = path
    this.#layer = layer
  }

  get result(): EvaluatedRules {
    const { prefixRules, networkRules, hostExecutables } = this
    return { prefixRules, networkRules, hostExecutables }
  }

  statement(statement: RuleStatement): void {
    if (statement.kind === 'constant') {
      if (this.#constants.has(statement.name)) {
        this.#fail(statement.at, `${statement.name} has a value already`, 'a name that is not used yet')
      }
      this.#constants.set(statement.name, this.#value(statement.value))
      return
    }
    const origin: RuleOrigin = { path: this.#path, line: statement.at.line, layer: this.#layer }
    switch (statement.name) {
      case 'prefix_rule':
        this.prefixRules.push(this.#prefixRule(statement, origin))
        return
      case 'network_rule':
        this.networkRules.push(this.#networkRule(statement, origin))
        return
      case 'host_executable':
        this.hostExecutables.push(this.#hostExecutable(statement, origin))
        return
      default:
        this.#fail(
          statement.at,
          `${statement.name} is not a kind of rule`,
          'prefix_rule, host_executable or network_rule',
        )
    }
  }

  #prefixRule(call: Call, origin: RuleOrigin): PrefixRule {
    const given = this.#arguments(call, ['pattern'], ['decision', 'justification', 'match', 'not_match'])
    const pattern = this.#pattern(given.get('pattern'), call.at)
    const decision = this.#oneOf(given.get('decision'), ['allow', 'prompt', 'forbidden'] as const) ?? 'allow'
    const justification = this.#nonEmpty(given.get('justification'), 'a reason in words')
    const rule: PrefixRule = { pattern, decision, justification, origin }
    for (const { words, at } of this.#examples(given.get('match'))) {
      if (!beginsWith(words, pattern)) {
        this.#fail(
          at,
          `the rule does not match its example ${JSON.stringify(words.join(' '))}`,
          'an example that begins with the pattern',
        )
      }
    }
    for (const { words, at } of this.#examples(given.get('not_match'))) {
      if (beginsWith(words, pattern)) {
        this.#fail(
          at,
          `the rule matches ${JSON.stringify(words.join(' '))}, which not_match says it must not`,
          'an example that does not begin with the pattern',
        )
      }
    }
    return rule
  }

  #networkRule(call: Call, origin: RuleOrigin): NetworkRule {
    const given = this.#arguments(call, ['host', 'protocol', 'decision'], ['justification'])
    const hostValue = given.get('host')
    const host = this.#string(hostValue, 'a host name')
    if (
      !/^(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*|[0-9a-f:]*:[0-9a-f:.]*)$/i.test(
        host,
      )
    ) {
      this.#fail(
        hostValue?.at ?? call.at,
        `${JSON.stringify(host)} is not one host`,
        'a host name or address without scheme, port, path or wildcard',
      )
    }
    const protocol =
      this.#oneOf(given.get('protocol'), ['http', 'https', 'socks5_tcp', 'socks5_udp'] as const) ?? 'https'
    const decision = this.#oneOf(given.get('decision'), ['allow', 'prompt', 'deny', 'forbidden'] as const) ?? 'allow'
    const justification = this.#nonEmpty(given.get('justification'), 'a reason in words')
    return {
      host: host.toLowerCase(),
      protocol,
      decision: decision === 'forbidden' ? 'deny' : decision,
      justification,
      origin,
    }
  }

  #hostExecutable(call: Call, origin: RuleOrigin): HostExecutable {
    const given = this.#arguments(call, ['name', 'paths'], [])
    const nameValue = given.get('name')
    const name = this.#string(nameValue, 'a program name')
    if (!/^[^/\s]+$/.test(name))
      this.#fail(
        nameValue?.at ?? call.at,
        `${JSON.stringify(name)} is not a bare program name`,
        'a name without slashes',
      )
    const paths = this.#list(given.get('paths'), 'a list of paths').map((item) => {
      const path = this.#string(item, 'a path')
      if (!/^(?:\/|~\/)/.test(path))
        this.#fail(item.at, `${JSON.stringify(path)} is not an absolute path`, 'a path that begins with / or ~/')
      if (posix.basename(path) !== name)
        this.#fail(item.at, `${JSON.stringify(path)} is not a path to ${name}`, `a path that ends in /${name}`)
      return path
    })
    return { name, paths, origin }
  }

  #pattern(value: Value | undefined, at: Position): PrefixRule['pattern'] {
    const words = this.#list(value, 'a list of words').map((item) => {
      const alternatives = item.kind === 'string' ? [item] : item.items
      if (alternatives.length === 0) this.#fail(item.at, 'a list of alternatives is empty', 'at least one word')
      return alternatives.map((word) => {
        const text = this.#string(word, 'a word')
        if (text === '') this.#fail(word.at, 'a word of a pattern is empty', 'a word of the command')
        return text
      })
    })
    if (words.length === 0)
      this.#fail(value?.at ?? at, 'the pattern is empty and would match every command', 'at least the program')
    return words
  }

  #examples(value: Value | undefined): readonly { readonly words: readonly string[]; readonly at: Position }[] {
    if (value === undefined) return []
    return this.#list(value, 'a list of example commands').map((example) => {
      if (example.kind === 'list')
        return { words: example.items.map((word) => this.#string(word, 'a word')), at: example.at }
      const words = splitWords(example.value)
      if (words === undefined || words.length === 0)
        this.#fail(example.at, 'the example is not a command', 'words, with quotes closed')
      return { words, at: example.at }
    })
  }

  #arguments(call: Call, needed: readonly string[], optional: readonly string[]): ReadonlyMap<string, Value> {
    const given = new Map<string, Value>()
    for (const argument of call.arguments) {
      const { name, at } = argument
      if (!needed.includes(name) && !optional.includes(name)) {
        this.#fail(at, `${call.name} has no argument ${name}`, [...needed, ...optional].join(', '))
      }
      if (given.has(name)) this.#fail(at, `${name} is given twice`, 'one value for each argument')
      given.set(name, this.#value(argument.value))
    }
    for (const name of needed) if (!given.has(name)) this.#fail(call.at, `${call.name} lacks ${name}`, `${name} = …`)
    return given
  }

  #value(expression: Expression): Value {
    this.#spend(1, expression.at)
    switch (expression.kind) {
      case 'string':
        return { kind: 'string', value: expression.value, at: expression.at }
      case 'list':
        return { kind: 'list', items: expression.items.map((item) => this.#value(item)), at: expression.at }
      case 'name': {
        const value = this.#constants.get(expression.name)
        if (value === undefined)
          this.#fail(expression.at, `${expression.name} has no value`, 'a string, a list or a constant set above')
        return { ...value, at: expression.at }
      }
      case 'sum': {
        const terms = expression.terms.map((term) => this.#value(term))
        const texts = terms.flatMap((term) => (term.kind === 'string' ? [term.value] : []))
        const lists = terms.flatMap((term) => (term.kind === 'list' ? [term.items] : []))
        this.#spend(
          texts.reduce((sum, text) => sum + text.length, 0),
          expression.at,
        )
        this.#spend(
          lists.reduce((sum, items) => sum + items.length, 0),
          expression.at,
        )
        if (lists.length === 0) return { kind: 'string', value: texts.join(''), at: expression.at }
        if (texts.length === 0) return { kind: 'list', items: lists.flat(), at: expression.at }
        return this.#fail(expression.at, 'a string and a list are added', 'only strings or only lists')
      }
      default:
        return expression satisfies never
    }
  }

  #list(value: Value | undefined, expected: string): readonly Value[] {
    if (value?.kind !== 'list') return this.#fail(value?.at ?? { line: 1, column: 1 }, 'this is not a list', expected)
    return value.items
  }

  #string(value: Value | undefined, expected: string): string {
    if (value?.kind !== 'string')
      return this.#fail(value?.at ?? { line: 1, column: 1 }, 'this is not a string', expected)
    return value.value
  }

  #nonEmpty(value: Value | undefined, expected: string): string | undefined {
    if (value === undefined) return undefined
    const text = this.#string(value, expected)
    return text.trim() === '' ? this.#fail(value.at, 'this is empty', expected) : text
  }

  #oneOf<T extends string>(value: Value | undefined, allowed: readonly T[]): T | undefined {
    if (value === undefined) return undefined
    const text = this.#string(value, allowed.join(', '))
    const found = allowed.find((one) => one === text)
    return found ?? this.#fail(value.at, `${JSON.stringify(text)} is not among the possible values`, allowed.join(', '))
  }

  #spend(amount: number, at: Position): void {
    this.#spent += amount
    if (this.#spent > budget) this.#fail(at, 'the file makes too many values', `no more than ${budget}`)
  }

  #fail(at: Position, message: string, expected: string): never {
    throw new RuleError(this.#path, at, message, expected)
  }
}

type Call = { readonly name: string; readonly arguments: readonly Argument[]; readonly at: Position }

/** Whether words begin with a pattern: what a rule means literally, and what its examples are held to. */
function beginsWith(words: readonly string[], pattern: PrefixRule['pattern']): boolean {
  return pattern.every((alternatives, at) => alternatives.includes(words[at] ?? ''))
}
