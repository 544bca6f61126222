import process from 'node:process'
import { readHostFile } from '../../sandbox/index.ts'

const largestMap = 64 * 1024 * 1024

/**
 * Converts a stack trace from the built programs, in which names are shortened, so that it shows positions in the source files. A position in a file without a
 * source map stays unchanged; a frame of the bundler's own code, which no source contains, is left out.
 *
 * @internal
 */
export function traceInSources(trace: string): string {
  // The module is loaded only here, because only a crash needs it.
  const { SourceMap } = process.getBuiltinModule('node:module')
  type Map = InstanceType<typeof SourceMap>
  const maps: Record<string, Map | undefined> = {}
  const readMap = (file: string): Map | undefined => {
    try {
      return new SourceMap(JSON.parse(readHostFile(`${file}.map`, { maxBytes: largestMap })?.toString() ?? ''))
    } catch {
      return undefined
    }
  }
  // A frame ends with its position, usually in parentheses: ` at name (/folder/file.js:line:column)`.
  const inSource = (frame: string): string | readonly [] => {
    const [start, end] = [frame.indexOf('/'), frame.endsWith(')') ? frame.length - 1 : frame.length]
    const [file = '', line, column] = start === -1 ? [] : frame.slice(start, end).split(':')
    if (!file.endsWith('.js')) return frame
    maps[file] ??= readMap(file)
    const entry = maps[file]?.findEntry(Number(line) - 1, Number(column) - 1)
    if (entry === undefined || !('originalSource' in entry)) return maps[file] === undefined ? frame : []
    const place = `${entry.originalSource.replaceAll('../', '')}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
    return frame.slice(0, start) + place + frame.slice(end)
  }
  return trace.split('\n').flatMap(inSource).join('\n')
}
