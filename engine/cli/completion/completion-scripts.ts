import { shellJoin } from '../../core/text/shell-join.ts'
import { allOf, stepsOf, type Node } from './command-tree.ts'

type Shell = 'bash' | 'zsh' | 'fish'

/** Returns the script that makes a shell complete the program's command lines. It contains everything, so that nothing is started while somebody types. */
export function completionScript(shell: Shell, tree: Node): string {
  switch (shell) {
    case 'bash':
      return bash(tree)
    case 'zsh':
      return zsh(tree)
    case 'fish':
      return fish(tree)
    default:
      return shell satisfies never
  }
}

/** Branches of `case`, in bash and zsh, that follow the words typed so far to the command that they name. */
function stepCases(tree: Node): string {
  return stepsOf(tree)
    .map(({ from, by, to }) => `      ${quoted(`${from} ${by}`)}) at=${quoted(to)} ;;`)
    .join('\n')
}

/** Branches of `case`, in bash and zsh, for the options that accept only some values. */
function valueCases(tree: Node, assign: (values: readonly string[]) => string): string {
  return allOf(tree)
    .flatMap(({ path, values }) =>
      [...values].map(([word, each]) => `    ${quoted(`${path.join(' ')} ${word}`)}) ${assign(each)} ;;`),
    )
    .join('\n')
}

function bash(tree: Node): string {
  const [name = ''] = tree.path
  const words = allOf(tree).map(
    (node) => `    ${quoted(node.path.join(' '))}) words=${quoted(node.words.map(({ word }) => word).join(' '))} ;;`,
  )
  return `# ${name} completion bash > ~/.local/share/bash-completion/completions/${name}
_${name}() {
  local at=${name} words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
${stepCases(tree)}
    esac
  done
  case "$at" in
${words.join('\n')}
  esac
  case "$at \${COMP_WORDS[COMP_CWORD - 1]}" in
${valueCases(tree, (values) => `words=${quoted(values.join(' '))}`)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _${name} ${name}
`
}

function zsh(tree: Node): string {
  const [name = ''] = tree.path
  // In this list, a colon separates a word from what it does.
  const listed = (node: Node): string =>
    node.words.map(({ word, about }) => quoted(`${word.replaceAll(':', '\\:')}:${about}`)).join(' ')
  const words = allOf(tree).map((node) => `    ${quoted(node.path.join(' '))}) words_here=(${listed(node)}) ;;`)
  return `#compdef ${name}
# ${name} completion zsh > a folder of $fpath/_${name}
_${name}() {
  local at=${name} i
  local -a words_here
  for ((i = 2; i < CURRENT; i++)); do
    case "$at $words[i]" in
${stepCases(tree)}
    esac
  done
  case "$at" in
${words.join('\n')}
  esac
  case "$at $words[CURRENT-1]" in
${valueCases(tree, (values) => `words_here=(${values.map(quoted).join(' ')})`)}
  esac
  _describe ${name} words_here || _files
}
if [ "$funcstack[1]" = "_${name}" ]; then _${name} "$@"; else compdef _${name} ${name}; fi
`
}

function fish(tree: Node): string {
  const [name = ''] = tree.path
  const steps = stepsOf(tree).map(
    ({ from, by, to }) => `            case ${fishText(`${from} ${by}`)}
                set at ${fishText(to)}`,
  )
  const lines = allOf(tree).flatMap((node) => {
    const at = `-n ${fishText(`test (__${name}_at) = ${fishText(node.path.join(' '))}`)}`
    const inner = new Set(node.inner.map(({ node: each }) => each.path.at(-1) ?? ''))
    return node.words.map(({ word, about }) => {
      const values = node.values.get(word)
      const takes = values === undefined ? '' : ` -x -a ${fishText(values.join(' '))}`
      const what = inner.has(word) ? `-a ${fishText(word)}` : flagOf(word)
      return `complete -c ${name} ${at} ${what} -d ${fishText(about)}${takes}`
    })
  })
  return `# ${name} completion fish > ~/.config/fish/completions/${name}.fish
function __${name}_at
    set -l at ${name}
    for word in (commandline -opc)[2..-1]
        switch "$at $word"
${steps.join('\n')}
        end
    end
    echo $at
end
${lines.join('\n')}
`
}

function flagOf(word: string): string {
  return word.startsWith('--') ? `-l ${word.slice(2)}` : `-s ${word.slice(1)}`
}

function quoted(text: string): string {
  return shellJoin([text])
}

/** A text in single quotes, in which fish reads backslashes. */
function fishText(text: string): string {
  return `'${text.replaceAll(/[\\']/g, (sign) => `\\${sign}`)}'`
}
