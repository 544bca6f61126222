import { Help, type Command, type Option } from 'commander'
import type { EventEmitter } from 'node:events'
import { version } from '../../core/version.ts'

/** Returns the manual pages of a program and its commands, by the name of the file. */
export function manPages(program: Command): ReadonlyMap<string, string> {
  return new Map(pagesOf(program, []))
}

function pagesOf(command: Command, before: readonly string[]): readonly (readonly [string, string])[] {
  const path = [...before, command.name()]
  const inner = command.commands.filter((one) => one.name() !== 'help')
  return [[`${path.join('-')}.1`, pageOf(command, path, inner)], ...inner.flatMap((one) => pagesOf(one, path))]
}

function pageOf(command: Command, path: readonly string[], inner: readonly Command[]): string {
  const help = new Help()
  const name = path.join('-')
  const groups = Map.groupBy(help.visibleOptions(command), ({ helpGroupHeading = '' }: Option) => helpGroupHeading)
  const words = help.visibleArguments(command)
  const more = afterHelp(command)
  return [
    `.TH ${name.toUpperCase()} 1 "" "Portcullis ${version}"`,
    '.SH NAME',
    `${roff(name)} \\- ${roff(command.description())}`,
    '.SH SYNOPSIS',
    roff(`${path.join(' ')} ${command.usage()}`),
    ...(words.length === 0 ? [] : ['.SH ARGUMENTS']),
    ...words.flatMap((word) => item(help.argumentTerm(word), help.argumentDescription(word))),
    '.SH OPTIONS',
    ...[...groups].flatMap(([heading, options]) => [
      ...(heading === '' ? [] : [`.SS ${roff(heading.replace(/:$/, ''))}`]),
      ...options.flatMap((option) => item(help.optionTerm(option), help.optionDescription(option))),
    ]),
    ...(inner.length === 0 ? [] : ['.SH COMMANDS']),
    ...inner.flatMap((one) => item(`${name}-${one.name()}(1)`, one.description())),
    ...(more === '' ? [] : ['.SH NOTES', '.nf', ...more.split('\n').map(roff), '.fi']),
    '',
  ].join('\n')
}

/** The text that a command's declaration adds after the list of its options. */
function afterHelp(command: Command): string {
  let text = ''
  // Commander's types leave out that a command is an emitter.
  const emitter = command as unknown as EventEmitter
  emitter.emit('afterHelp', { error: false, command, write: (part: string) => void (text += part) })
  return text.trim()
}

function item(term: string, about: string): readonly string[] {
  return ['.TP', `.B ${roff(term)}`, roff(about)]
}

/** A line of text, in which no sign is a request to the formatter. */
function roff(text: string): string {
  const escaped = text.replaceAll('\\', '\\e').replaceAll('-', '\\-')
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped
}
