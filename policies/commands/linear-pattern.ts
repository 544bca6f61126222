/**
 * Compiles an untrusted regular expression so that matching takes time proportional to the length of the expression times the length of the text: all
 * alternatives are followed in parallel, without backtracking. Case is ignored. Returns undefined for an expression that is invalid, too long or too
 * deeply nested, and for advanced syntax such as counted repetition, back references, named classes, `(?:…)` and `\w`.
 */
export function linearPattern(source: string): ((text: string) => boolean) | undefined {
  if (source.length > longest) return undefined
  const compiler = new Compiler(source)
  if (!compiler.alternatives(0) || compiler.at !== source.length) return undefined
  const program: readonly Step[] = [...compiler.steps, { kind: 'match' }]
  return (text) => run(program, text.toLowerCase())
}

const longest = 200
const deepest = 20

type Step =
  | { readonly kind: 'character'; readonly fits: (character: string) => boolean }
  | { readonly kind: 'fork'; readonly to: readonly number[] }
  | { readonly kind: 'start' | 'end' | 'match' }

class Compiler {
  steps: Step[] = []
  at = 0
  readonly #source: string

  constructor(source: string) {
    this.#source = source.toLowerCase()
  }

  /** Compiles the alternatives up to a closing parenthesis or the end of the expression. Returns false if something isn't understood. */
  alternatives(depth: number): boolean {
    if (depth > deepest) return false
    const branches: Step[][] = []
    const outer = this.steps
    do {
      if (branches.length > 0) this.at++
      this.steps = []
      while (this.at < this.#source.length && !/[|)]/.test(this.#source[this.at] ?? '')) {
        if (!this.#repeated(depth)) return false
      }
      branches.push(this.steps)
    } while (this.#source[this.at] === '|')
    this.steps = outer
    this.#append(join(branches))
    return true
  }

  #append(steps: readonly Step[]): void {
    const base = this.steps.length
    this.steps.push(...steps.map((step) => shift(step, base)))
  }

  #repeated(depth: number): boolean {
    const outer = this.steps
    this.steps = []
    if (!this.#atom(depth)) return false
    let body = this.steps
    this.steps = outer
    for (;;) {
      const sign = this.#source[this.at] ?? ''
      if (sign === '{') return false
      if (!/[*+?]/.test(sign) || sign === '') break
      this.at++
      const behind = body.length + 1
      if (sign === '+') body = [...body, { kind: 'fork', to: [0, behind] }]
      else {
        const inner = body.map((step) => shift(step, 1))
        const back: readonly Step[] = sign === '*' ? [{ kind: 'fork', to: [0] }] : []
        body = [{ kind: 'fork', to: [1, behind + back.length] }, ...inner, ...back]
      }
      if (body.length > 2_000) return false
    }
    this.#append(body)
    return true
  }

  #atom(depth: number): boolean {
    const character = this.#source[this.at++] ?? ''
    if (character === '(') {
      if (this.#source[this.at] === '?' || !this.alternatives(depth + 1)) return false
      return this.#source[this.at++] === ')'
    }
    if (character === '[') {
      const set = /\[(\^?)([^\]\\[]+)\]/y
      set.lastIndex = this.at - 1
      const found = set.exec(this.#source)
      if (found === null) return false
      this.at += found[0].length - 1
      const fits = memberOf(found[2] ?? '')
      this.steps.push({ kind: 'character', fits: (one) => fits(one) !== (found[1] === '^') })
      return true
    }
    if (character === '\\') {
      const escaped = this.#source[this.at++] ?? ''
      if (!/[^\w\s]/.test(escaped)) return false
      this.steps.push({ kind: 'character', fits: (one) => one === escaped })
    } else if (character === '^') this.steps.push({ kind: 'start' })
    else if (character === '$') this.steps.push({ kind: 'end' })
    else if (/[*+?{]/.test(character)) return false
    else this.steps.push({ kind: 'character', fits: (one) => character === '.' || one === character })
    return true
  }
}

function memberOf(set: string): (character: string) => boolean {
  return (character) => {
    for (let at = 0; at < set.length; at++) {
      const [from = '', to = ''] = [set[at], set[at + 2]]
      if (set[at + 1] === '-' && to !== '') {
        if (character >= from && character <= to) return true
        at += 2
      } else if (character === from) return true
    }
    return false
  }
}

function shift(step: Step, by: number): Step {
  return step.kind === 'fork' ? { kind: 'fork', to: step.to.map((target) => target + by) } : step
}

/** Compiles an alternation: a fork to each branch, and a jump from the end of each branch to the common end. */
function join(branches: readonly (readonly Step[])[]): readonly Step[] {
  const [only] = branches
  if (branches.length === 1 && only !== undefined) return only
  const total = branches.reduce((sum, branch) => sum + branch.length + 1, 1)
  const starts: number[] = []
  const made: Step[] = [{ kind: 'fork', to: starts }]
  for (const branch of branches) {
    const base = made.length
    starts.push(base)
    made.push(...branch.map((step) => shift(step, base)), { kind: 'fork', to: [total] })
  }
  return made
}

function run(program: readonly Step[], text: string): boolean {
  let current = new Set<number>()
  const characters = [...text]
  const add = (states: Set<number>, from: number, at: number): void => {
    const waiting = [from]
    for (let state = waiting.pop(); state !== undefined; state = waiting.pop()) {
      const step = program[state]
      if (step === undefined || states.has(state)) continue
      states.add(state)
      if (step.kind === 'fork') waiting.push(...step.to)
      else if (step.kind === 'start' && at === 0) waiting.push(state + 1)
      else if (step.kind === 'end' && at === characters.length) waiting.push(state + 1)
    }
  }
  for (let at = 0; at <= characters.length; at++) {
    add(current, 0, at)
    if (current.has(program.length - 1)) return true
    const next = new Set<number>()
    for (const state of current) {
      const step = program[state]
      if (step?.kind === 'character' && step.fits(characters[at] ?? '') && at < characters.length)
        add(next, state + 1, at + 1)
    }
    current = next
  }
  return false
}
