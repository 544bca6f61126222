import type { MalformedFailure } from '../patch-error.ts'
import { clip } from './clip.ts'

/** Advice on what to write in a place where a patch doesn't have the right format; empty if there is none for this kind of error. */
export function malformedHelp({ code, found = '', after }: MalformedFailure): readonly string[] {
  const line = clip(found, 200)
  switch (code) {
    case 'not-a-header':
      return [general(line) ?? headerHelp(line) ?? placeHelp(after)]
    case 'unexpected-line':
    case 'chunk-expected':
      return [general(line) ?? chunkHelp(line)]
    case 'update-empty':
      return [
        "  below it come chunks ('@@', then lines with ' ', '-' or '+'), or '*** Move to: {path}' to rename the file",
      ]
    case 'chunk-empty':
      return [
        "  below '@@' come the lines to find, with ' ' (to keep) or '-' (to remove), and the lines to add, with '+'",
      ]
    default:
      return []
  }
}

/** Advice for a line of a unified diff, a format that models sometimes use by mistake. */
function general(line: string): string | undefined {
  if (line.startsWith('\\ No newline')) {
    return '  leave this line out: a file keeps its final newline, or the lack of it'
  }
  const diff = /^(?:diff --git a\/|--- (?:a\/)?|\+\+\+ (?:b\/)?)(\S+)/.exec(line)
  if (diff === null) return undefined
  const path = diff[1] === '/dev/null' ? '{path}' : (diff[1] ?? '{path}')
  return `  this is a unified diff; in apply-patch's own format, the section of a file starts with '*** Update File: ${path}' (or Add, Delete), and there are no line numbers`
}

const verbs = [
  ['Add', /^(?:add|create|new|write)\b/i],
  ['Update', /^(?:update|modify|edit|change|patch)\b/i],
  ['Delete', /^(?:delete|remove)\b/i],
] as const

function headerHelp(line: string): string | undefined {
  if (line.startsWith('@@')) return "  a chunk belongs under '*** Update File: {path}'"
  if (!line.startsWith('*')) return undefined
  const words = line.replace(/^\*+/, '').trimStart()
  if (/^(?:move|rename)\b/i.test(words)) {
    return "  to rename a file: '*** Update File: {old path}', and directly below it '*** Move to: {new path}'"
  }
  const verb = verbs.find(([, pattern]) => pattern.test(words))?.[0]
  if (verb === undefined)
    return '  to write a line that starts with stars into a file, put "+", "-" or a space before it'
  const path = words.includes(':') ? words.slice(words.indexOf(':') + 1).trimStart() || undefined : undefined
  return path === undefined
    ? `  the path is missing: write '*** ${verb} File: {path}'`
    : `  write '*** ${verb} File: ${path}'`
}

function placeHelp(after: MalformedFailure['after']): string {
  if (after === 'add') return "  in an added file every line starts with '+', even an empty one"
  if (after === 'delete')
    return '  a delete has no lines below its header; the next operation starts with a header of its own'
  return '  every operation starts with one of these headers'
}

function chunkHelp(line: string): string {
  if (line.startsWith('*** Move to:'))
    return "  '*** Move to:' comes directly below its '*** Update File:' line, and only once"
  if (line.startsWith('***'))
    return "  each file starts with one of the headers '*** Add File: ', '*** Delete File: ', '*** Update File: '"
  if (line.startsWith('@@')) return "  after '@@' comes a space, then a whole line of the file"
  return `  each line of a chunk starts with ' ' (context), '+' (added) or '-' (removed); as context it would be ' ${line}'`
}
