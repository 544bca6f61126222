import { TaskFault, type Entry } from './task.ts'

type Row = { readonly line: number; readonly cells: readonly string[] }

/**
 * Reads comma-separated values as in RFC 4180: the first record names the columns, and a cell in double quotes may contain commas, line feeds and
 * doubled quotes. An empty cell leaves its field undefined. A column `variables.NAME` contains a variable for the prompt; an empty cell in such a
 * column is an empty text.
 *
 * @throws TaskFault for a record with more or fewer cells than there are columns, a repeated column name, and a quote that isn't closed
 */
export function parseCsv(text: string): readonly Entry[] {
  const [header, ...rows] = recordsOf(text)
  if (header === undefined) return []
  const columns = header.cells.map((name) => name.trim())
  const repeated = columns.find((name, at) => columns.indexOf(name) !== at)
  if (repeated !== undefined) throw new TaskFault(header.line, `the column '${repeated}' occurs twice`)
  return rows.map(({ line, cells }) => {
    if (cells.length !== columns.length) {
      throw new TaskFault(line, `this record has ${cells.length} cells, but there are ${columns.length} columns`)
    }
    return { line, value: asObject(columns, cells) }
  })
}

function asObject(columns: readonly string[], cells: readonly string[]): Readonly<Record<string, unknown>> {
  const fields: Record<string, unknown> = {}
  const variables: Record<string, string> = {}
  for (const [at, name] of columns.entries()) {
    const cell = cells[at] ?? ''
    if (name.startsWith('variables.')) variables[name.slice('variables.'.length)] = cell
    else if (cell !== '') fields[name] = cell
  }
  return Object.keys(variables).length === 0 ? fields : { ...fields, variables }
}

function recordsOf(text: string): readonly Row[] {
  const rows: Row[] = []
  let [line, startLine] = [1, 1]
  let cells: string[] = []
  let cell = ''
  let [isQuoted, wasQuoted] = [false, false]
  const endCell = (): void => {
    cells.push(cell)
    cell = ''
    wasQuoted = false
  }
  const endRow = (): void => {
    const isEmpty = cells.length === 0 && cell === '' && !wasQuoted
    if (!isEmpty) {
      endCell()
      rows.push({ line: startLine, cells })
    }
    cells = []
    startLine = line
  }
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '\n') line++
    if (isQuoted) {
      if (character !== '"') cell += character
      else if (text.charAt(at + 1) === '"') {
        cell += '"'
        at++
      } else isQuoted = false
    } else if (character === '"' && cell === '' && !wasQuoted) {
      isQuoted = true
      wasQuoted = true
    } else if (character === ',') endCell()
    else if (character === '\n') endRow()
    else if (character !== '\r') cell += character
  }
  if (isQuoted) throw new TaskFault(startLine, 'a cell of this record begins with a double quote that is not closed')
  endRow()
  return rows
}
