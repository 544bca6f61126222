import { posix } from 'node:path'
import { analyseCommand } from '../commands/analyse.ts'
import { matchRules } from './match-rules.ts'
import { makeRuleSet } from './rule-set.ts'
import type { Argument, RuleStatement } from './rules-grammar.ts'
import type { Position } from './rule-error.ts'
import { readHost } from './read-host.ts'
import type { HostExecutable, NetworkRule, PrefixRule, RuleLayer, RuleOrigin } from './rule.ts'
import { splitWords } from './split-words.ts'
import { Values, type Value } from './values.ts'

/** The rules of one rule file, by kind. */
export type EvaluatedRules = {
  readonly prefixRules: readonly PrefixRule[]
  readonly networkRules: readonly NetworkRule[]
  readonly hostExecutables: readonly HostExecutable[]
}

/** Creates the rules of a parsed rule file. Throws a `RuleError` for the first statement that is invalid. */
export function evaluateRules(path: string, layer: RuleLayer, statements: readonly RuleStatement[]): EvaluatedRules {
  const evaluation = new RuleEvaluation(path, layer)
  for (const statement of statements) evaluation.statement(statement)
  return evaluation.result
}

/** Processes the statements of one rule file in order. */
export class RuleEvaluation {
  readonly prefixRules: PrefixRule[] = []
  readonly networkRules: NetworkRule[] = []
  readonly hostExecutables: HostExecutable[] = []
  readonly #path: string
  readonly #layer: RuleLayer
  readonly #values: Values

  constructor(path: string, layer: RuleLayer) {
    this.#path = path
    this.#layer = layer
    this.#values = new Values(path)
  }

  get result(): EvaluatedRules {
    const { prefixRules, networkRules, hostExecutables } = this
    return { prefixRules, networkRules, hostExecutables }
  }

  statement(statement: RuleStatement): void {
    if (statement.kind === 'constant') {
      this.#values.assign(statement)
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
        this.#values.fail(
          statement.at,
          `${statement.name} is not a kind of rule`,
          'prefix_rule, host_executable or network_rule',
        )
    }
  }

  #prefixRule(call: Call, origin: RuleOrigin): PrefixRule {
    const given = this.#arguments(call, ['pattern'], ['decision', 'match', 'not_match', 'justification'])
    const pattern = this.#pattern(given.get('pattern'), call.at)
    const decision = this.#values.oneOf(given.get('decision'), ['allow', 'prompt', 'forbidden'] as const) ?? 'allow'
    const justification = this.#values.nonEmpty(given.get('justification'), 'a reason in words')
    const rule: PrefixRule = { pattern, decision, justification, origin }
    for (const { words, at } of this.#examples(given.get('match'))) {
      if (!beginsWith(words, pattern)) {
        this.#values.fail(
          at,
          `the rule does not match its example ${JSON.stringify(words.join(' '))}`,
          'an example that begins with the pattern',
        )
      }
    }
    for (const { words, at } of this.#examples(given.get('not_match'))) {
      if (covers(rule, words)) {
        this.#values.fail(
          at,
          `the rule matches ${JSON.stringify(words.join(' '))}, but not_match says that it must not`,
          'an example that the rule does not match; a rule that prompts or forbids also matches with options between its words, in another order, or with a folder in front of the program',
        )
      }
    }
    return rule
  }

  #networkRule(call: Call, origin: RuleOrigin): NetworkRule {
    const given = this.#arguments(call, ['host', 'protocol', 'decision'], ['justification'])
    const hostValue = given.get('host')
    const written = this.#values.string(hostValue, 'a host name')
    const read = readHost(written)
    if (read === undefined) {
      this.#values.fail(
        hostValue?.at ?? call.at,
        `${JSON.stringify(written)} is not a single host`,
        'a host name or address, with or without a port; no scheme, path or wildcard',
      )
    }
    const spelt = this.#values.oneOf(given.get('protocol'), networkProtocols) ?? 'https'
    const protocol = spelt === 'https_connect' || spelt === 'http-connect' ? 'https' : spelt
    const decision =
      this.#values.oneOf(given.get('decision'), ['allow', 'prompt', 'deny', 'forbidden'] as const) ?? 'allow'
    const justification = this.#values.nonEmpty(given.get('justification'), 'a reason in words')
    return {
      ...read,
      protocol,
      decision: decision === 'forbidden' ? 'deny' : decision,
      justification,
      origin,
    }
  }

  #hostExecutable(call: Call, origin: RuleOrigin): HostExecutable {
    const given = this.#arguments(call, ['name', 'paths'], [])
    const nameValue = given.get('name')
    const name = this.#values.string(nameValue, 'a program name')
    if (!/^[^/\s]+$/.test(name))
      this.#values.fail(
        nameValue?.at ?? call.at,
        `${JSON.stringify(name)} is not a plain program name: it is empty, or contains a slash or white space`,
        'a name without slashes or white space',
      )
    const paths = this.#values.list(given.get('paths'), 'a list of paths').map((item) => {
      const path = this.#values.string(item, 'a path')
      if (!/^(?:\/|~\/)/.test(path))
        this.#values.fail(item.at, `${JSON.stringify(path)} is not an absolute path`, 'a path that begins with / or ~/')
      if (posix.basename(path) !== name)
        this.#values.fail(item.at, `${JSON.stringify(path)} is not a path to ${name}`, `a path that ends in /${name}`)
      return path
    })
    return { name, paths, origin }
  }

  #pattern(value: Value | undefined, at: Position): PrefixRule['pattern'] {
    const words = this.#values.list(value, 'a list of words').map((item) => {
      const alternatives = item.kind === 'string' ? [item] : item.items
      if (alternatives.length === 0) this.#values.fail(item.at, 'a list of alternatives is empty', 'at least one word')
      return alternatives.map((word) => {
        const text = this.#values.string(word, 'a word')
        if (text === '') this.#values.fail(word.at, 'a word of a pattern is empty', 'a word of the command')
        return text
      })
    })
    if (words.length === 0)
      this.#values.fail(value?.at ?? at, 'the pattern is empty and would match every command', 'at least the program')
    return words
  }

  #examples(value: Value | undefined): readonly { readonly words: readonly string[]; readonly at: Position }[] {
    if (value === undefined) return []
    return this.#values.list(value, 'a list of example commands').map((example) => {
      if (example.kind === 'list')
        return { words: example.items.map((word) => this.#values.string(word, 'a word')), at: example.at }
      const words = splitWords(example.value)
      if (words === undefined || words.length === 0)
        this.#values.fail(example.at, 'the example is not a command', 'words, with quotes closed')
      return { words, at: example.at }
    })
  }

  #arguments(call: Call, needed: readonly string[], optional: readonly string[]): ReadonlyMap<string, Value> {
    const given = new Map<string, Value>()
    const places = [...needed, ...optional]
    for (const [place, argument] of call.arguments.entries()) {
      const { at } = argument
      const name = argument.name ?? places[place]
      if (argument.name === undefined && call.arguments.slice(0, place).some((before) => before.name !== undefined))
        this.#values.fail(at, 'a positional argument follows a named one', `${places[place] ?? 'name'} = …`)
      if (name === undefined)
        this.#values.fail(at, `${call.name} takes at most ${places.length} arguments`, places.join(', '))
      if (!needed.includes(name) && !optional.includes(name)) {
        this.#values.fail(at, `${call.name} has no argument ${name}`, places.join(', '))
      }
      if (given.has(name)) this.#values.fail(at, `${name} is given twice`, 'one value for each argument')
      given.set(name, this.#values.value(argument.value))
    }
    for (const name of needed)
      if (!given.has(name)) this.#values.fail(call.at, `${call.name} lacks ${name}`, `${name} = …`)
    return given
  }
}

/** The protocols of network rules, as Codex spells them. A CONNECT tunnel counts as HTTPS. */
const networkProtocols = ['http', 'https', 'https_connect', 'http-connect', 'socks5_tcp', 'socks5_udp'] as const

type Call = { readonly name: string; readonly arguments: readonly Argument[]; readonly at: Position }

/** Whether a rule applies to a command, judged as it is when the command is to run. */
function covers(rule: PrefixRule, words: readonly string[]): boolean {
  const rules = makeRuleSet([{ ...rule, origin: { ...rule.origin, layer: 'user' } }])
  return analyseCommand(words).commands.some((command) => matchRules(command, rules).length > 0)
}

/** Whether words begin with a pattern. This is the literal meaning of a rule, and the rule's matching examples are checked against it. */
function beginsWith(words: readonly string[], pattern: PrefixRule['pattern']): boolean {
  return pattern.every((alternatives, at) => alternatives.includes(words[at] ?? ''))
}
