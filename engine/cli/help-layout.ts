import { Help, type Command, type Option } from 'commander'
import { printText, terminalWidth } from './print.ts'

/** The width from which on a term stands in a line of its own, so that much of a line remains for the descriptions. */
const widestTerm = 26

/**
 * Makes the help of a program and of all its commands fit its reader: it wraps at the width of the terminal, or else at 80. Options that few people need are in
 * groups, which are shown on request. It must be called before commands are declared, because they take their layout from the program.
 *
 * @param all whether to show all groups
 */
export function layOutHelp(program: Command, all: boolean): void {
  const usual = new Help()
  const isShown = ({ helpGroupHeading = '' }: Option): boolean => all || helpGroupHeading === ''
  program.configureHelp({
    visibleOptions: (command) => usual.visibleOptions(command).filter(isShown),
    padWidth(command, help) {
      return Math.min(widestTerm, usual.padWidth.call(this, command, help))
    },
    formatItem(term, width, description, help) {
      if (help.displayWidth(term) <= width) return usual.formatItem.call(this, term, width, description, help)
      const rest = usual.formatItem.call(this, '', width, description, help)
      return description === '' ? `  ${term}` : `  ${term}\n${rest}`
    },
    formatHelp(command, help) {
      const text = usual.formatHelp.call(this, command, help)
      const hidden = usual.visibleOptions(command).filter((option) => !isShown(option))
      if (hidden.length === 0) return text
      return `${text}\n${hidden.length} more options: ${pathOf(command)} --help all\n`
    },
    minWidthToWrap: 20,
  })
}

/** Prints a part of the help. Sentences that follow the options are wrapped too; examples, which are indented, are left whole. */
export function printHelp(text: string): void {
  const help = new Help()
  const width = terminalWidth() ?? 80
  const lines = text.split('\n')
  printText(lines.map((line) => (isExample(line) ? line : hanging(help, line, width))).join('\n'))
}

function isExample(line: string): boolean {
  return line.startsWith(' ') && !/^ *\d/.test(line)
}

function hanging(help: Help, line: string, width: number): string {
  const indent = ' '.repeat(line.length - line.trimStart().length)
  return help
    .boxWrap(line.trimStart(), width - indent.length)
    .split('\n')
    .map((part) => `${indent}${part}`)
    .join('\n')
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}
