import { reader } from './judges.ts'
import type { ProgramTable } from './program-table.ts'

const grepOptions =
  '-E -F -G -P -i -y -v -w -x -c -l -L -n -H -h -o -q -s -r -R -a -I -U -z -Z -T -b -m: -A: -B: -C: -e: -f< -d: -D: --color? --colour? --include: --exclude: --exclude-dir: --exclude-from< --extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count --files-with-matches --files-without-match --line-number --with-filename --no-filename --only-matching --quiet --silent --no-messages --recursive --dereference-recursive --text --max-count: --after-context: --before-context: --context: --regexp: --file< --null --null-data --byte-offset --line-buffered --label: --binary-files: --directories: --initial-tab --binary'

const pattern = { textFirst: 1, textOption: ['-e', '-f', '--regexp', '--file', '--files', '--type-list'] } as const

/** Programs that search for text or files. */
export const searchers: ProgramTable = {
  grep: reader('getopt', 'grep(1)', grepOptions, {
    ...pattern,
    anyWord: true,
    numbers: true,
    recursive: ['-r', '-R', '--recursive', '--dereference-recursive', '-d', '--directories'],
  }),
  egrep: reader('getopt', 'grep(1)', grepOptions, {
    ...pattern,
    anyWord: true,
    numbers: true,
    recursive: ['-r', '-R', '--recursive', '--dereference-recursive', '-d', '--directories'],
  }),
  fgrep: reader('getopt', 'grep(1)', grepOptions, {
    ...pattern,
    anyWord: true,
    numbers: true,
    recursive: ['-r', '-R', '--recursive', '--dereference-recursive', '-d', '--directories'],
  }),
  // `--pre`, `--hostname-bin` and `-z` (`--search-zip`) are left out, because they start programs.
  rg: reader(
    'getopt',
    'rg(1)',
    '-n -N -i -S -s -l -L -c -v -w -x -o -q -H -I -F -P -U -u -a -0 -. -p -b -e: -f< -g: -t: -T: -m: -A: -B: -C: -d: -M: -r: -j: -E: --files --type: --type-not: --type-list --glob: --iglob: --hidden --no-hidden --no-ignore --no-ignore-vcs --no-ignore-parent --no-ignore-global --no-ignore-dot --json --stats --sort: --sortr: --column --no-column --line-number --no-line-number --heading --no-heading --color: --colors: --count --count-matches --files-with-matches --files-without-match --fixed-strings --ignore-case --smart-case --case-sensitive --invert-match --word-regexp --line-regexp --multiline --multiline-dotall --only-matching --pcre2 --max-count: --max-depth: --max-columns: --max-columns-preview --context: --context-separator: --after-context: --before-context: --no-filename --with-filename --trim --vimgrep --text --follow --null --replace: --regexp: --file< --passthru --no-messages --no-config --encoding: --threads: --crlf --max-filesize: --unrestricted --quiet --one-file-system --path-separator: --glob-case-insensitive --include-zero --byte-offset --engine: --field-match-separator: --no-unicode --version',
    { ...pattern, recursive: 'always' },
  ),
  // `-x` and `-X` are left out, because they run commands, and so is `-l`, which runs ls.
  fd: reader(
    'getopt',
    'fd(1)',
    '-e: -t: -H -I -u -s -i -g -F -a -L -p -d: -E: -0 -1 -q -S: -c: -j: -o: --extension: --type: --hidden --no-hidden --no-ignore --no-ignore-vcs --no-ignore-parent --unrestricted --max-depth: --min-depth: --exact-depth: --exclude: --glob --regex --fixed-strings --absolute-path --relative-path --follow --full-path --size: --changed-within: --changed-before: --max-results: --color: --strip-cwd-prefix? --owner: --print0 --case-sensitive --ignore-case --threads: --and: --quiet --one-file-system --prune --format: --version',
    { textFirst: 1 },
  ),
  fdfind: reader(
    'getopt',
    'fd(1)',
    '-e: -t: -H -I -u -s -i -g -F -a -L -p -d: -E: -0 --extension: --type: --hidden --no-ignore --max-depth: --exclude: --glob',
    { textFirst: 1 },
  ),
  // --pager is left out, because it starts a program.
  ag: reader(
    'getopt',
    'ag(1)',
    '-a -A: -B: -C: -c -D -f -F -g: -G: -H -i -l -L -m: -n -o -p< -Q -s -S -t -u -U -v -w -0 --ackmate --after: --before: --context? --count --files-with-matches --files-without-matches --hidden --ignore: --ignore-case --smart-case --literal --nocolor --color --nogroup --group --numbers --nonumbers --vimgrep --depth: --word-regexp --invert-match --nobreak --noheading',
    { textFirst: 1, recursive: 'always' },
  ),
}
