import type { Command, Option } from 'commander'

/** A word that somebody can type after a command, and what it does. */
type Word = { readonly word: string; readonly about: string }

/** A command as its declaration describes it. */
export type Node = {
  /** The words that name the command, the first being the program. */
  readonly path: readonly string[]
  /** Its subcommands and options, with all of their names. */
  readonly words: readonly Word[]
  /** The values of the options that accept only some, by each name of the option. */
  readonly values: ReadonlyMap<string, readonly string[]>
  /** The names by which each subcommand is called. */
  readonly inner: readonly { readonly names: readonly string[]; readonly node: Node }[]
}

/** Returns what a command and its subcommands accept. Hidden options are left out. */
export function treeOf(command: Command, before: readonly string[] = []): Node {
  const path = [...before, command.name()]
  const options = command.options.filter(({ hidden }) => !hidden)
  const inner = command.commands.map((one) => ({ names: [one.name(), ...one.aliases()], node: treeOf(one, path) }))
  return {
    path,
    words: [
      ...command.commands.map((one) => ({ word: one.name(), about: one.description() })),
      ...options.flatMap((option) => namesOf(option).map((word) => ({ word, about: option.description }))),
      { word: '--help', about: 'display help for command' },
    ],
    values: new Map(
      options
        .flatMap((option) => namesOf(option).map((word) => [word, option.argChoices ?? []] as const))
        .filter(hasAny),
    ),
    inner,
  }
}

/** All commands of a tree, the program first. */
export function allOf(node: Node): readonly Node[] {
  return [node, ...node.inner.flatMap(({ node: each }) => allOf(each))]
}

/** The steps from a command to a subcommand, each with a name that leads there. */
export function stepsOf(node: Node): readonly { readonly from: string; readonly by: string; readonly to: string }[] {
  return allOf(node).flatMap(({ path, inner }) =>
    inner.flatMap(({ names, node: to }) => names.map((by) => ({ from: path.join(' '), by, to: to.path.join(' ') }))),
  )
}

function namesOf({ short, long }: Option): readonly string[] {
  return [short, long].filter((name) => name !== undefined)
}

function hasAny([, values]: readonly [string, readonly string[]]): boolean {
  return values.length > 0
}
