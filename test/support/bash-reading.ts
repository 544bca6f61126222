import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** How bash reads each text: as it prints it back, or undefined where it is no whole script to it. Nothing of a text is run. */
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
 * Only what is a script by itself is put into a function, which is defined, printed and never called. A line feed before the closing brace ends
 * comments; a text that swallows the brace all the same is no function.
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
