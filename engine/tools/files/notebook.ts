import * as z from 'zod'
import { counted } from '../../core/text/counted.ts'

const multiline = z
  .union([z.string(), z.array(z.string())])
  .transform((text) => (typeof text === 'string' ? text : text.join('')))

const output = z.looseObject({
  output_type: z.string(),
  text: multiline.optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  ename: z.string().optional(),
  evalue: z.string().optional(),
})

const cell = z.looseObject({
  id: z.string().optional(),
  cell_type: z.enum(['code', 'markdown', 'raw']),
  source: multiline,
  outputs: z.array(output).optional(),
})

/** The parts of a Jupyter notebook that are needed here. All other fields are preserved. */
const Notebook = z.looseObject({ cells: z.array(cell), nbformat: z.int(), nbformat_minor: z.int() })

type Notebook = z.infer<typeof Notebook>

/** A change to one cell. `cell` is the cell's number, starting at 1, or its id. */
type CellEdit =
  | {
      readonly mode: 'replace'
      readonly cell: number | string
      readonly source: string
      readonly type?: CellType | undefined
    }
  /** Inserts a cell after the given one; 0 inserts at the beginning. */
  | {
      readonly mode: 'insert'
      readonly cell: number | string
      readonly source: string
      readonly type?: CellType | undefined
    }
  | { readonly mode: 'delete'; readonly cell: number | string }

type CellType = 'code' | 'markdown' | 'raw'

/** Parses a notebook, or returns why the text is not a notebook. */
function parseNotebook(text: string): Notebook | { readonly problem: string } {
  try {
    const parsed = Notebook.safeParse(JSON.parse(text))
    return parsed.success ? parsed.data : { problem: z.prettifyError(parsed.error) }
  } catch (error) {
    return { problem: (error as Error).message }
  }
}

/**
 * Renders a notebook as text for the model: each cell with its number, type, id, source and output. Undefined if the text is not a notebook.
 */
export function renderNotebook(text: string): string | undefined {
  const notebook = parseNotebook(text)
  if ('problem' in notebook) return undefined
  return notebook.cells
    .map(({ id, cell_type: type, source, outputs = [] }, index) => {
      const name = id === undefined ? '' : ` id=${id}`
      const printed = outputs.map(renderOutput).filter((part) => part !== '')
      return [`[cell ${index + 1}: ${type}${name}]`, source, ...printed.map((part) => `[output]\n${part}`)].join('\n')
    })
    .join('\n\n')
}

function renderOutput({ text, data, ename, evalue }: z.infer<typeof output>): string {
  if (text !== undefined) return text
  if (ename !== undefined) return `${ename}: ${evalue ?? ''}`
  const plain = multiline.safeParse(data?.['text/plain'])
  if (plain.success) return plain.data
  return data === undefined ? '' : `(${Object.keys(data).join(', ')})`
}

/**
 * Changes one cell in a notebook's text, or returns why that is impossible. A cell whose source is replaced loses its outputs and its execution
 * count.
 */
export function editNotebook(text: string, edit: CellEdit): { readonly text: string } | { readonly problem: string } {
  const notebook = parseNotebook(text)
  if ('problem' in notebook) return { problem: `it is not a notebook: ${notebook.problem}` }
  // The parsed JSON is changed, not the result of `parseNotebook`, so that unknown fields are preserved.
  const document = JSON.parse(text) as { cells: Record<string, unknown>[] }
  const { cells } = document
  const byId = notebook.cells.findIndex(({ id }) => id === edit.cell)
  const at = typeof edit.cell === 'number' ? edit.cell - 1 : byId
  const first = edit.mode === 'insert' ? -1 : 0
  if ((typeof edit.cell === 'string' && byId === -1) || at < first || at >= cells.length) {
    return { problem: `there is no cell ${edit.cell}; the notebook has ${counted(cells.length, 'cell')}` }
  }
  switch (edit.mode) {
    case 'delete':
      cells.splice(at, 1)
      break
    case 'insert': {
      const type = edit.type ?? 'code'
      const hasIds = notebook.nbformat > 4 || (notebook.nbformat === 4 && notebook.nbformat_minor >= 5)
      const id = hasIds ? { id: freeId(notebook) } : {}
      cells.splice(at + 1, 0, { cell_type: type, ...id, metadata: {}, ...contentOf(type, edit.source) })
      break
    }
    case 'replace': {
      const { outputs: _, execution_count: __, ...kept } = cells[at] ?? {}
      const type = edit.type ?? notebook.cells[at]?.cell_type ?? 'code'
      cells[at] = { ...kept, cell_type: type, ...contentOf(type, edit.source) }
      break
    }
    default:
      return edit satisfies never
  }
  const indent = /^\{\r?\n( +|\t)/.exec(text)?.[1] ?? 1
  return { text: `${JSON.stringify(document, null, indent)}${text.endsWith('\n') ? '\n' : ''}` }
}

function contentOf(type: CellType, source: string): Readonly<Record<string, unknown>> {
  const lines = source.split(/(?<=\n)/)
  return type === 'code' ? { execution_count: null, outputs: [], source: lines } : { source: lines }
}

function freeId({ cells }: Notebook): string {
  for (let number = cells.length + 1; ; number++) {
    if (!cells.some(({ id }) => id === `cell-${number}`)) return `cell-${number}`
  }
}
