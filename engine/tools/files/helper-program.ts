import { findFiles, searching, searchFiles, type HelperAnswer } from './helper-search.ts'
import type { DirectoryEntry, FileAnswer, FileOperation, FileRequest } from './protocol.ts'

/**
 * Returns the program that reads files for the file tools. It runs inside the sandbox, so that the tools see what a command would see. The program is
 * passed to Node as text, so that none of Portcullis's files has to be visible in the sandbox. The text consists of functions of this file and
 * of `helper-search.ts`, so they must not use anything else, such as constants, and each only functions of its own file.
 */
export function helperProgram(): string {
  const operations = { read: readBytes, list: listDirectory, find: findFiles, search: searchFiles }
  // The functions' own `name`s are used for the call, because a bundler may have renamed the functions.
  const table = Object.entries(operations).map(([op, { name }]) => `${op}: ${name}`)
  const functions = [explain, readBytes, listDirectory, ...searching, answerRequest, serve].map(String)
  return [...functions, `${serve.name}({ ${table.join(', ')} })`].join('\n')
}

type Operations = Readonly<Record<FileOperation['op'], (request: never) => HelperAnswer>>

/** Answers the requests on standard input until the input ends. */
function serve(operations: Operations): void {
  let pending = Buffer.alloc(0)
  process.stdin.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk])
    for (let end = pending.indexOf(10); end !== -1; end = pending.indexOf(10)) {
      const line = pending.toString('utf8', 0, end)
      pending = pending.subarray(end + 1)
      const { header, payload } = answerRequest(JSON.parse(line), operations)
      process.stdout.write(Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), payload]))
    }
  })
}

function answerRequest(
  request: FileRequest,
  operations: Operations,
): { readonly header: FileAnswer; readonly payload: Uint8Array } {
  try {
    const { value, payload = Buffer.alloc(0) } = operations[request.op](request as never)
    return { header: { id: request.id, ok: true, value, bytes: payload.length }, payload }
  } catch (error) {
    return { header: { id: request.id, ok: false, bytes: 0, ...explain(error) }, payload: Buffer.alloc(0) }
  }
}

function explain(error: unknown): Pick<Extract<FileAnswer, { ok: false }>, 'code' | 'message'> {
  const { code = '', message } = error as NodeJS.ErrnoException
  const codes = {
    ENOENT: 'absent',
    ENOTDIR: 'not-a-directory',
    EISDIR: 'directory',
    EACCES: 'refused',
    EPERM: 'refused',
    ENOTFILE: 'not-a-file',
    EPATTERN: 'pattern',
  } as const
  return { code: codes[code as keyof typeof codes] ?? 'failed', message }
}

function readBytes({ path, limit }: Extract<FileOperation, { op: 'read' }>): HelperAnswer {
  const fs = process.getBuiltinModule('node:fs')
  const stat = fs.statSync(path)
  if (stat.isDirectory()) throw Object.assign(new Error('it is a directory'), { code: 'EISDIR' })
  // Opening a pipe or a device could block forever.
  if (!stat.isFile()) throw Object.assign(new Error('it is not a regular file'), { code: 'ENOTFILE' })
  const descriptor = fs.openSync(path, 'r')
  try {
    const payload = Buffer.alloc(Math.min(limit, stat.size === 0 ? limit : stat.size))
    let length = 0
    while (length < payload.length) {
      const read = fs.readSync(descriptor, payload, length, payload.length - length, null)
      if (read === 0) break
      length += read
    }
    return { value: { size: Math.max(stat.size, length) }, payload: payload.subarray(0, length) }
  } finally {
    fs.closeSync(descriptor)
  }
}

function listDirectory({ path, limit }: Extract<FileOperation, { op: 'list' }>): HelperAnswer {
  const fs = process.getBuiltinModule('node:fs')
  const most = 100_000
  const all = []
  // Names are read one after the other, because a directory with very many of them would fill the memory.
  const opened = fs.opendirSync(path, { bufferSize: 1000 })
  let entry = opened.readSync()
  for (; entry !== null && all.length < most; entry = opened.readSync()) all.push(entry)
  opened.closeSync()
  all.sort((a, b) => (a.name < b.name ? -1 : 1))
  const stopped = entry === null ? undefined : `after ${most} entries`
  const entries = all.slice(0, limit).map((entry): DirectoryEntry => {
    const kind = entry.isDirectory()
      ? 'directory'
      : entry.isSymbolicLink()
        ? 'symlink'
        : entry.isFile()
          ? 'file'
          : 'other'
    const stat = kind === 'file' ? fs.statSync(`${path}/${entry.name}`, { throwIfNoEntry: false }) : undefined
    return { name: entry.name, kind, size: stat?.size ?? 0 }
  })
  return { value: { entries, total: all.length, stopped } }
}
