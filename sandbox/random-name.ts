import { closeSync, readSync } from 'node:fs'
import { openSync } from './host-paths.ts'

/**
 * Returns an unguessable name of hexadecimal digits, made from the system's own source of random bytes. Node's crypto module isn't used, because
 * loading it takes longer than confining a command, and most commands don't need the module for anything else.
 *
 * @param bytes how many random bytes the name encodes
 */
export function randomName(bytes = 16): string {
  const source = openSync('/dev/urandom', 'r')
  try {
    const chance = Buffer.alloc(bytes)
    if (readSync(source, chance) !== bytes) throw new Error('/dev/urandom returned fewer bytes than requested')
    return chance.toString('hex')
  } finally {
    closeSync(source)
  }
}
