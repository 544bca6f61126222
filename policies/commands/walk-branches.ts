import type { AndOr, Case, CompoundList, If, ParsedScript, PipelineNode, Word } from './shell-syntax.ts'
import type { Route } from './route.ts'
import type { ShellWord } from './shell-word.ts'
import type { SimpleCommand } from './simple-command.ts'
import type { Variables } from './variables.ts'

/**
 * The context in which branches are walked: functions that walk parts of the tree, in the order of the text, and the variables, which record what is
 * certain after each part.
 */
export type BranchContext = {
  readonly variables: Variables
  readonly route: Route
  readonly list: (list: CompoundList) => void
  readonly pipeline: (node: PipelineNode) => void
  /** Called for every word that a `case` compares: its subject and its patterns. */
  readonly compared: (word: Word) => void
}

/**
 * Walks a chain such as `a && b || c`. The first command runs. The commands between it and the first `||` run only if all before them succeeded. Each
 * later command may or may not run.
 */
export function walkChain({ operators, commands }: AndOr, { variables, route, pipeline }: BranchContext): void {
  const [first, ...others] = commands
  if (first !== undefined) pipeline(first)
  const end = operators.indexOf('||')
  const both = end < 0 ? others : others.slice(0, end)
  const follow = (part: PipelineNode, at: number): void => route.after(operators[at], () => pipeline(part))
  variables.apart(() => {
    for (const [at, part] of both.entries()) follow(part, at)
  })
  for (const [at, part] of others.slice(both.length).entries()) variables.apart(() => follow(part, both.length + at))
}

/** Walks an `if`: one of the branches runs if there is an `else`; otherwise, possibly none of them runs. */
export function walkConditional(node: If, { variables, route, list }: BranchContext): void {
  const ends: ReadonlySet<string>[] = []
  const branch = (body: CompoundList): unknown => ends.push(variables.apart(() => list(body)))
  const otherwise = ([next, ...others]: If['elif']): void => {
    if (next === undefined) return node.else === undefined ? undefined : void branch(node.else)
    list(next.clause)
    route.choose(
      () => branch(next.then),
      () => otherwise(others),
    )
  }
  list(node.clause)
  route.choose(
    () => branch(node.then),
    () => void variables.apart(() => otherwise(node.elif)),
  )
  if (node.else !== undefined) variables.joinParts(ends)
}

/** Walks a `case`: if one of its patterns matches everything, one of its branches certainly runs. */
export function walkSelection(node: Case, { variables, route, list, compared }: BranchContext): void {
  compared(node.word)
  const ends: ReadonlySet<string>[] = []
  route.anyOf(
    node.items.map((item) => () => {
      const end = variables.apart(() => {
        for (const pattern of item.pattern) compared(pattern)
        list(item.body)
      })
      ends.push(end)
    }),
  )
  if (node.items.some(({ pattern }) => pattern.some(({ text }) => text === '*'))) variables.joinParts(ends)
}

/** The commands of a substitution that is one pipeline of plain commands; undefined for any other. `added`: what walking it has added. */
export function plainStages(
  { commands }: ParsedScript,
  added: readonly SimpleCommand[],
): readonly (readonly ShellWord[])[] | undefined {
  const command = commands.length === 1 ? commands[0]?.command : undefined
  const parts = command?.type === 'Pipeline' ? command.commands : [command]
  const isPlain = parts.every((part) => part?.type === 'Command') && added.length === parts.length
  const isBare = added.every((one) => one.redirections.length === 0 && one.assignments.length === 0)
  return isPlain && isBare ? added.map(({ words }) => words) : undefined
}
