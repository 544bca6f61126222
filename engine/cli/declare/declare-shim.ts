import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { Argument, type Command } from 'commander'
import { printText, tell } from '../print.ts'
import type { Finish } from './shared-options.ts'
import { exitCodes } from '../../core/exit-codes.ts'
import { UserError } from '../../core/user-error.ts'

/** The programs whose command lines `agent` takes under a command of the same name. */
const programs = ['codex', 'claude'] as const

/** Declares `agent shim`, which puts a script into a folder that is started under another program's name. */
export function declareShim(program: Command, finish: Finish): void {
  program
    .command('shim')
    .description(
      "write a script under another program's name that starts agent, for clients that look for that program",
    )
    .addArgument(new Argument('<program>', 'the name').choices(programs))
    .argument('<dir>', 'the folder, which is made if it is missing')
    .action((name: (typeof programs)[number], directory: string) => {
      const path = join(resolve(directory), name)
      writeShim(path, name)
      printText(`${path}\n`)
      tell(`agent: clients find it if this folder comes first in PATH, or if they are given its path.`)
      finish(exitCodes.done)
    })
}

/** @throws UserError `usage` if there is something at the path already */
function writeShim(path: string, name: string): void {
  const start = [process.execPath, process.argv[1] ?? '', name].map(quoted).join(' ')
  try {
    mkdirSync(resolve(path, '..'), { recursive: true })
    writeFileSync(path, `#!/bin/sh\nexec ${start} "$@"\n`, { flag: 'wx', mode: 0o755 })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'EEXIST' ? "there is something already, and it isn't covered. Name another folder" : message
    throw new UserError('usage', `${path}: ${why}.`, { cause: error })
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
