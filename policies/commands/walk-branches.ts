import type { AndOr, Case, CompoundList, If, PipelineNode, Word } from './shell-syntax.ts'
import type { Variables } from './variables.ts'

/**
 * The context in which branches are walked: functions that walk parts of the tree, in the order of the text, and the variables, which record what is
 * certain after each part.
 */
export type BranchContext = {
  readonly variables: Variables
  readonly list: (list: CompoundList) => void
  readonly pipeline: (node: PipelineNode) => void
  /** Called for every word that a `case` compares: its subject and its patterns. */
  readonly compared: (word: Word) => void
}

/**
 * Walks a chain such as `a && b || c`. The first command runs. The commands between it and the first `||` run only if all before them succeeded. Each
 * later command may or may not run.
 */
export function walkChain({ operators, commands }: AndOr, { variables, pipeline }: BranchContext): void {
  const [first, ...others] = commands
  if (first !== undefined) pipeline(first)
  const end = operators.indexOf('||')
  const both = end < 0 ? others : others.slice(0, end)
  variables.apart(() => {
    for (const part of both) pipeline(part)
  })
  for (const part of others.slice(both.length)) variables.apart(() => pipeline(part))
}

/** Walks an `if`: one of the branches runs if there is an `else`; otherwise, possibly none of them runs. */
export function walkConditional(node: If, { variables, list }: BranchContext): void {
  list(node.clause)
  const ends = [variables.apart(() => list(node.then))]
  variables.apart(() => {
    for (const branch of node.elif) {
      list(branch.clause)
      ends.push(variables.apart(() => list(branch.then)))
    }
    const last = node.else
    if (last !== undefined) ends.push(variables.apart(() => list(last)))
  })
  if (node.else !== undefined) variables.joinParts(ends)
}

/** Walks a `case`: if one of its patterns matches everything, one of its branches certainly runs. */
export function walkSelection(node: Case, { variables, list, compared }: BranchContext): void {
  compared(node.word)
  const ends = node.items.map((item) =>
    variables.apart(() => {
      for (const pattern of item.pattern) compared(pattern)
      list(item.body)
    }),
  )
  if (node.items.some(({ pattern }) => pattern.some(({ text }) => text === '*'))) variables.joinParts(ends)
}
