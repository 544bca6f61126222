import { isWithin } from '../../../sandbox/paths.ts'
import type { SeatbeltProfile } from '../../../sandbox/seatbelt/profile.ts'
import { readExpressions, type Expression } from './reader.ts'

/** An operation that a process asks the kernel to perform, as the kernel sees it: symlinks in paths are already resolved. */
export type Request = {
  readonly operation: string
  readonly path?: string
  /** The name that the filters `global-name`, `sysctl-name` and `ipc-posix-name` check. */
  readonly name?: string
  /** An address as profiles spell it: `localhost:8080`, `*:443`. */
  readonly remote?: string
  /** The process that the request concerns: one in the same sandbox, or one outside it. */
  readonly target?: 'same-sandbox' | 'others'
}

type Rule = {
  readonly allow: boolean
  readonly operations: readonly string[]
  readonly filters: readonly ((request: Request) => boolean)[]
}

/**
 * Evaluates a profile. The language has no specification, so each request is evaluated in three ways: the last matching rule wins; a rule for a
 * narrower operation wins over a rule for a wider one; a rule without filters is only a default. Throws if the three ways lead to different
 * decisions.
 */
export function evaluator(profile: SeatbeltProfile): (request: Request) => boolean {
  const [version, base, ...rest] = readExpressions(profile.text)
  if (JSON.stringify([version, base]) !== '[["version","1"],["deny","default"]]')
    throw new Error('not denied by default')
  const rules = rest.map((expression) => readRule(expression, profile.parameters))
  return (request) => {
    const matching = rules.filter(
      ({ operations, filters }) =>
        operations.some((pattern) => covers(pattern, request.operation)) &&
        (filters.length === 0 || filters.some((filter) => filter(request))),
    )
    const width = ({ operations }: Rule): number =>
      Math.max(...operations.filter((pattern) => covers(pattern, request.operation)).map((pattern) => pattern.length))
    const narrowest = Math.max(...matching.map(width))
    const filtered = matching.filter(({ filters }) => filters.length > 0)
    const answers = [
      matching.at(-1)?.allow ?? false,
      matching.findLast((rule) => width(rule) === narrowest)?.allow ?? false,
      (filtered.at(-1) ?? matching.at(-1))?.allow ?? false,
    ]
    if (new Set(answers).size > 1) throw new Error(`ambiguous: ${JSON.stringify(request)} is ${answers.join(', ')}`)
    return answers[0] ?? false
  }
}

/**
 * Whether an operation's name in a rule matches an operation. A name that ends in a star matches every operation that begins with the rest of the
 * name.
 */
function covers(pattern: string, operation: string): boolean {
  return pattern.endsWith('*') ? operation.startsWith(pattern.slice(0, -1)) : pattern === operation
}

function readRule(expression: Expression, parameters: SeatbeltProfile['parameters']): Rule {
  const [action, ...rest] = asList(expression)
  if (action !== 'allow' && action !== 'deny') throw new Error(`not a rule: ${JSON.stringify(expression)}`)
  const operations = rest.filter((part) => typeof part === 'string')
  const filters = rest.filter((part) => typeof part !== 'string').map((part) => readFilter(part, parameters))
  return { allow: action === 'allow', operations, filters }
}

function readFilter(expression: Expression, parameters: SeatbeltProfile['parameters']): (request: Request) => boolean {
  const [kind, ...rest] = asList(expression)
  const nested = (): readonly ((request: Request) => boolean)[] => rest.map((part) => readFilter(part, parameters))
  const text = (): string => textOf(rest[0], parameters)
  switch (kind) {
    case 'require-all': {
      const all = nested()
      return (request) => all.every((filter) => filter(request))
    }
    case 'require-any': {
      const any = nested()
      return (request) => any.some((filter) => filter(request))
    }
    case 'require-not': {
      const none = nested()
      return (request) => !none.some((filter) => filter(request))
    }
    case 'literal': {
      const path = text()
      return (request) => request.path === path
    }
    case 'subpath': {
      const path = text()
      return (request) => request.path !== undefined && isWithin(request.path, path)
    }
    case 'regex': {
      const expression = toRegExp(text())
      return (request) => request.path !== undefined && expression.test(request.path)
    }
    case 'global-name':
    case 'sysctl-name':
    case 'ipc-posix-name': {
      const name = text()
      return (request) => request.name === name
    }
    case 'sysctl-name-prefix': {
      const name = text()
      return (request) => request.name?.startsWith(name) === true
    }
    case 'ipc-posix-name-regex': {
      const expression = toRegExp(text())
      return (request) => request.name !== undefined && expression.test(request.name)
    }
    case 'remote':
    case 'local': {
      if (rest[0] !== 'ip') throw new Error(`unknown address family ${JSON.stringify(rest[0])}`)
      const address = rest[1] === undefined ? undefined : textOf(rest[1], parameters)
      return ({ remote }) => remote !== undefined && (address === undefined || remote === address)
    }
    case 'target':
      return ({ target }) => target === rest[0]
    // Extensions are granted at run time, and only for terminals that were created in the sandbox. No request in these tests contains an fcntl
    // command.
    case 'extension':
    case 'fcntl-command':
      return () => false
    default:
      throw new Error(`unknown filter ${JSON.stringify(kind)}`)
  }
}

function asList(expression: Expression): readonly Expression[] {
  if (!Array.isArray(expression)) throw new Error(`expected a list: ${JSON.stringify(expression)}`)
  return expression as readonly Expression[]
}

function textOf(expression: Expression | undefined, parameters: SeatbeltProfile['parameters']): string {
  if (typeof expression === 'object' && 'text' in expression) return expression.text
  const [head, name] = asList(expression ?? [])
  if (head !== 'param') throw new Error(`expected a string or a parameter: ${JSON.stringify(expression)}`)
  const value = parameters[textOf(name, parameters)]
  if (value === undefined) throw new Error(`no parameter ${JSON.stringify(name)}`)
  return value
}

/** Converts a POSIX regular expression. Throws if it might have a different meaning in JavaScript. */
function toRegExp(source: string): RegExp {
  if (/\\[A-Za-z0-9]|\(\?|\[\[|\{\d/.test(source.replace(/\\\W/g, ''))) throw new Error(`not portable: ${source}`)
  return new RegExp(source, 's')
}
