import type { Redirection } from './shell-syntax.ts'
import type { FileRedirection, StandardInput } from './simple-command.ts'
import { choicesOf } from './variants.ts'
import { readText, readWord } from './walk-words.ts'
import type { WordContext } from './word-context.ts'

type Opened = { readonly files: readonly FileRedirection[]; readonly input: StandardInput }

/** Reads redirections: the files that they open, and where standard input comes from after them. */
export function readRedirections(
  redirects: readonly Redirection[],
  outer: StandardInput,
  context: WordContext,
): Opened {
  const files: FileRedirection[] = []
  let input = outer
  for (const redirect of redirects) {
    const { descriptor } = redirect
    context.coverage.expect(redirect.operator)
    if (descriptor?.type === 'FileDescriptor') context.coverage.claim('descriptor', descriptor)
    if (descriptor?.type === 'FileDescriptorVariable') context.problem(`{${descriptor.name}} holds a descriptor`)
    const toInput = descriptor === undefined || (descriptor.type === 'FileDescriptor' && descriptor.value === 0)
    switch (redirect.type) {
      case 'HereDoc': {
        const { delimiter, body, closing } = redirect
        if (delimiter === undefined || closing === undefined) {
          context.problem('a heredoc has no end')
          break
        }
        context.coverage.claim('delimiter', delimiter)
        context.coverage.claim('body', body)
        context.coverage.claim('closing', closing)
        const parts = delimiter.quoted ? undefined : body.parts
        const text = redirect.operator === '<<-' ? body.text.replace(/^\t+/gm, '') : body.text
        // If the delimiter isn't quoted, the shell removes some backslashes from the text, so a text that contains any is not known exactly.
        const isPlain = delimiter.quoted || !text.includes('\\')
        const { text: read, ...revealing } = readText(parts, text, context)
        if (toInput) input = { from: 'text', text: isPlain ? read : undefined, ...revealing }
        break
      }
      case 'HereString': {
        const words = redirect.target === undefined ? [] : readWord(redirect.target, context)
        const [word] = words
        const revealing = word?.kind === 'dynamic' && word.from === 'environment'
        const text = words.length === 1 && word?.kind === 'static' ? word.text : undefined
        if (toInput) input = { from: 'text', text, ...(revealing ? { reveals: word.text } : {}) }
        break
      }
      case 'Redirect': {
        const file = readFile(redirect, context)
        files.push(...file)
        if (toInput && (redirect.operator === '<' || redirect.operator === '<>')) input = { from: 'file' }
        if (toInput && redirect.operator === '<&') input = { from: 'pipe' }
        break
      }
      default:
        context.problem(`${(redirect satisfies never as { type: string }).type} is an unknown kind of redirection`)
    }
  }
  return { files, input }
}

function readFile(
  redirect: Extract<Redirection, { type: 'Redirect' }>,
  context: WordContext,
): readonly FileRedirection[] {
  const { operator } = redirect
  const targets = redirect.target === undefined ? [] : readWord(redirect.target, context)
  if (targets.length !== 1) context.problem('a redirection whose target is not clear')
  return targets.flatMap(choicesOf).flatMap((target): readonly FileRedirection[] => {
    const isNumber = target.kind === 'static' && /^(?:[0-9]+-?|-)$/.test(target.text)
    if (operator === '<&' || operator === '>&') {
      if (isNumber) return []
      if (operator === '<&') context.problem(`<& ${target.text} copies a descriptor that isn't a number`)
    }
    if (operator === '<') return [{ access: 'read', target }]
    if (operator === '<>')
      return [
        { access: 'read', target },
        { access: 'write', target },
      ]
    return [{ access: 'write', target }]
  })
}
