/**
 * Returns the files that a sed script reads in addition to its input; or, as a string, the reason why the script might do more than print edited
 * text. The script is read as sed reads it (sed(1), POSIX and GNU). The commands `w`, `W` and `e` and the flags `e` and `w` of `s` are refused. So is
 * everything that isn't understood, or that GNU, busybox and BSD read differently.
 */
export function findSedEffect(script: string): string | readonly string[] {
  const reads: string[] = []
  let rest = script
  while (rest !== '') {
    rest = rest.replace(/^[\s;]+/, '')
    if (rest === '') return reads
    if (rest.startsWith('#')) {
      rest = rest.replace(/^[^\n]*/, '')
      continue
    }
    const addressed = skipAddresses(rest)
    if (addressed === undefined) return `the address at ${excerpt(rest)} is not understood`
    const command = addressed[0] ?? ''
    const after = addressed.slice(1)
    if (/[{}=dDgGhHnNpPxF]/.test(command) && command !== '') rest = after
    else if (/[lqQL]/.test(command) && command !== '') rest = after.replace(/^[ \t]*[0-9]*/, '')
    else if (/[btT:]/.test(command) && command !== '') {
      const label = /^[ \t]*(?:[\w.-]+[ \t]*)?/.exec(after)
      // In some versions of sed, the label after `:` includes any braces and other text that follow it directly.
      const end = command === ':' ? /^(?:[;\n]|$)/ : /^\}*(?:[;\n]|$)/
      if (label === null || !end.test(after.slice(label[0].length)))
        return `the label at ${excerpt(addressed)} is not understood`
      rest = after.slice(label[0].length)
    } else if (/[aic]/.test(command) && command !== '') {
      // The text ends with its line. A line that ends with a backslash continues on the next one.
      rest = after.replace(/^(?:[^\\\n]|\\[^])*\\?/, '')
      if (after.trim() === '') return `the ${command} command has no text`
    } else if (/[rR]/.test(command) && command !== '') {
      const name = /^[^\n]*/.exec(after)?.[0] ?? ''
      reads.push(name.trim())
      rest = after.slice(name.length)
    } else if (command === 's' || command === 'y') {
      const parts = skipParts(after)
      if (parts === undefined) return `the ${command} command at ${excerpt(addressed)} is not understood`
      const flags = /^[ \t]*([A-Za-z0-9]*)/.exec(parts)
      const given = flags?.[1] ?? ''
      if (command === 's' && /e/.test(given)) return 's///e runs a command'
      if (command === 's' && /w/.test(given)) return 's///w writes a file'
      if (!/^[gpiImM0-9]*$/.test(given) || (command === 'y' && given !== ''))
        return `the flags ${given} are not understood`
      rest = parts.slice(flags?.[0].length ?? 0)
    } else {
      const reasons: Readonly<Record<string, string>> = {
        e: 'e runs a command',
        w: 'w writes a file',
        W: 'W writes a file',
      }
      return reasons[command] ?? `the command at ${excerpt(addressed)} is not understood`
    }
    if (!/^[ \t]*(?:[;\n}#]|$)/.test(rest) && !/[{}]/.test(command))
      return `what follows the ${command} command is not understood: ${excerpt(rest)}`
  }
  return reads
}

function excerpt(text: string): string {
  return JSON.stringify(text.slice(0, 20))
}

/** The rest of the script after the addresses and the `!` before a command. */
function skipAddresses(script: string): string | undefined {
  const first = skipAddress(script)
  if (first === undefined) return undefined
  let rest = first.replace(/^[ \t]+/, '')
  if (rest.startsWith(',')) {
    const second = skipAddress(rest.slice(1).replace(/^[ \t]+/, ''), true)
    if (second === undefined) return undefined
    rest = second
  }
  return rest.replace(/^[ \t!]+/, '')
}

function skipAddress(script: string, second = false): string | undefined {
  const line = (second ? /^(?:[+~]?[0-9]+|\$)/ : /^(?:[0-9]+(?:~[0-9]+)?|\$)/).exec(script)
  if (line !== null) return script.slice(line[0].length)
  const custom = script.startsWith('\\')
  if (!custom && !script.startsWith('/')) return second ? undefined : script
  const rest = skipDelimited(script.slice(custom ? 1 : 0))
  return rest?.replace(/^[IM]*/, '')
}

/** The rest of the script after the two parts of a command such as `s/one/two/`, given the script from the first delimiter on. */
function skipParts(script: string): string | undefined {
  const delimiter = script[0] ?? ''
  const afterFirst = skipDelimited(script)
  if (afterFirst === undefined) return undefined
  return skipDelimited(delimiter + afterFirst, false)
}

/** Matches a bracket expression that ends at the same place in every sed, whatever the delimiter is. */
const plainBracket = /\[\^?(?:\[:[a-z]+:\]|[^^[\]\\\n]|\\[tsdw])(?:\[:[a-z]+:\]|[^[\]\\\n]|\\[tsdw])*\]/y

/** The rest of the script after a delimited text. Undefined if the text has no end, or if versions of sed read it or its delimiter differently. */
function skipDelimited(script: string, isPattern = true): string | undefined {
  const delimiter = script[0] ?? ''
  if (delimiter === '' || /[\\\n\w\s[\]{};]/.test(delimiter)) return undefined
  for (let at = 1; at < script.length; at++) {
    const character = script[at] ?? ''
    if (character === '\\') {
      if (script[at + 1] === '\n' && isPattern) return undefined
      at++
    } else if (character === delimiter) return script.slice(at + 1)
    else if (character === '\n') return undefined
    else if (isPattern && character === '[') {
      plainBracket.lastIndex = at
      const bracket = plainBracket.exec(script)?.[0]
      if (bracket === undefined || bracket.includes(delimiter)) return undefined
      at += bracket.length - 1
    }
  }
  return undefined
}
