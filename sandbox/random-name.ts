import { closeSync, openSync, readSync } from 'node:fs'

/**
 * A name of hexadecimal digits that nobody can guess, from the system's own source. Node's crypto, which most commands have no other use for, takes
 * longer to load than a command to be confined.
 *
 * @param bytes how much chance is in it
 */
export function randomName(bytes = 16): string {
  const source = openSync('/dev/urandom', 'r')
  try {
    const chance = Buffer.alloc(bytes)
    if (readSync(source, chance) !== bytes) throw new Error('/dev/urandom gave less than was asked for')
    return chance.toString('hex')
  } finally {
    closeSync(source)
  }
}
