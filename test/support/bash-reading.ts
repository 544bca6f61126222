import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** How bash parses each text: the text as bash prints it, or undefined if it isn't a complete script or ends in a backslash. Nothing is run. */
export function readByBash(texts: readonly string[]): readonly (string | undefined)[] {
  const folder = mkdtempSync(join(tmpdir(), 'bash-reading-'))
  try {
    const { stdout } = spawnSync('/bin/bash', ['--norc', '--noprofile', '-c', reader], {
      cwd: folder,
      env: { LC_ALL: 'C.UTF-8' },
      input: texts.map((text) => `${text}\0`).join(''),
      maxBuffer: 1024 ** 3,
    })
    return stdout
      .toString()
      .split('\0')
      .slice(0, texts.length)
      .map((shown) => (shown === '' ? undefined : shown.slice(shown.indexOf('\n{') + 2, shown.lastIndexOf('}'))))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * A bash script that reads texts and prints how bash parses them. Each text that is a complete script is put into a function, which is defined and
 * printed, but never called. A line feed before the closing brace ends comments; a text that ends in a backslash would escape this line feed, so
 * nothing is printed for it. If a text swallows the brace nevertheless, no function is defined, and nothing is printed either.
 */
const reader = `
while IFS= read -r -d '' text; do
  if /bin/bash -n -c "$text" 2>/dev/null && [[ $text != *'\\' ]]; then
    ( eval "__read() {
$text
}" && declare -f __read ) 2>/dev/null
  fi
  printf '\\0'
done
`
