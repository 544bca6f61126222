import { unknown } from '../commands/facts.ts'
import { mayBeOption } from '../commands/shell-word.ts'
import { reader } from './judges.ts'
import type { Program, ProgramTable } from './program-table.ts'

/** Set for programs whose options only change what is printed, so that an unknown word is harmless even if it turns out to be an option. */
const anyWord = true

/** Programs that read files or standard input and print text. */
export const readers: ProgramTable = {
  cat: reader(
    'getopt',
    'cat(1)',
    '-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting',
    { anyWord },
  ),
  tac: reader('getopt', 'tac(1)', '-b -r -s: --before --regex --separator:', { anyWord }),
  head: reader('getopt', 'head(1)', '-c: -n: -q -v -z --bytes: --lines: --quiet --silent --verbose --zero-terminated', {
    anyWord,
    numbers: true,
    limits: ['-c', '--bytes'],
  }),
  // `-f` is left out, because a tail that follows a file never ends.
  tail: reader(
    'getopt',
    'tail(1)',
    '-c: -n: -q -v -z -r --bytes: --lines: --quiet --silent --verbose --zero-terminated',
    {
      anyWord,
      numbers: true,
    },
  ),
  nl: reader(
    'getopt',
    'nl(1)',
    '-b: -d: -f: -h: -i: -l: -n: -p -s: -v: -w: --body-numbering: --number-width: --number-separator: --number-format:',
    { anyWord },
  ),
  wc: reader('getopt', 'wc(1)', '-c -m -l -L -w --bytes --chars --lines --words --max-line-length --total:', {
    anyWord,
  }),
  // These options are left out: -o and -T write files, --compress-program starts a program, --files0-from and --random-source read files.
  sort: reader(
    'getopt',
    'sort(1)',
    '-b -d -f -g -h -i -M -n -R -r -V -c -C -k: -m -s -t: -u -z -S: --reverse --numeric-sort --unique --key: --field-separator: --human-numeric-sort --version-sort --general-numeric-sort --ignore-case --ignore-leading-blanks --ignore-nonprinting --dictionary-order --check? --stable --zero-terminated --merge --month-sort --random-sort --parallel: --debug --sort: --buffer-size:',
  ),
  uniq: reader(
    'getopt',
    'uniq(1): the second operand is the output file',
    '-c -d -D -i -u -z -f: -s: -w: --count --repeated --all-repeated? --ignore-case --unique --zero-terminated --skip-fields: --skip-chars: --check-chars: --group?',
    { most: 1, written: true },
  ),
  cut: reader(
    'getopt',
    'cut(1)',
    '-b: -c: -d: -f: -n -s -z --bytes: --characters: --delimiter: --fields: --only-delimited --complement --output-delimiter: --zero-terminated',
    { anyWord },
  ),
  paste: reader('getopt', 'paste(1)', '-d: -s -z --delimiters: --serial --zero-terminated', { anyWord }),
  join: reader(
    'getopt',
    'join(1)',
    '-a: -e: -i -j: -o: -t: -v: -1: -2: -z --check-order --nocheck-order --header --ignore-case',
    { anyWord },
  ),
  comm: reader(
    'getopt',
    'comm(1)',
    '-1 -2 -3 -z --check-order --nocheck-order --output-delimiter: --total --zero-terminated',
    {
      anyWord,
    },
  ),
  tr: reader('getopt', 'tr(1)', '-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1', {
    operands: 'text',
    anyWord,
  }),
  fold: reader('getopt', 'fold(1)', '-b -s -w: --bytes --spaces --width:', { anyWord }),
  fmt: reader('getopt', 'fmt(1)', '-c -s -t -u -w: -p: -g: --width: --split-only --uniform-spacing', {
    anyWord,
    numbers: true,
  }),
  expand: reader('getopt', 'expand(1)', '-i -t: --initial --tabs:', { anyWord }),
  unexpand: reader('getopt', 'unexpand(1)', '-a -t: --all --first-only --tabs:', { anyWord }),
  column: reader(
    'getopt',
    'column(1)',
    '-t -s: -o: -n: -x -c: -N: -R: -H: -J -L -e --table --separator: --output-separator: --json --columns: --table-columns: --fillrows',
    { anyWord },
  ),
  rev: reader('getopt', 'rev(1)', '', { anyWord }),
  cmp: reader(
    'getopt',
    'cmp(1)',
    '-b -i: -l -n: -s --print-bytes --ignore-initial: --verbose --bytes: --quiet --silent',
    {
      anyWord,
    },
  ),
  diff: reader(
    'getopt',
    'diff(1)',
    '-q -s -c -C: -u -U: -e -n -y -W: -p -F: -t -T -r -N -x: -S: -i -E -Z -b -w -B -I: -a -d -l --brief --report-identical-files --normal --context? --unified? --ed --rcs --side-by-side --width: --left-column --suppress-common-lines --show-c-function --show-function-line: --label: --expand-tabs --initial-tab --recursive --no-dereference --new-file --unidirectional-new-file --ignore-file-name-case --exclude: --exclude-from< --starting-file: --ignore-case --ignore-tab-expansion --ignore-trailing-space --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-matching-lines: --text --strip-trailing-cr --minimal --speed-large-files --color? --tabsize: --line-format: --horizon-lines:',
    // Two folders are compared file by file; `-N` shows the whole content of files that only one of them has.
    { numbers: true, recursive: 'always' },
  ),
  diff3: reader('getopt', 'diff3(1)', '-A -e -E -m -T -x -X -3 -a -i -L: --text --merge --show-all --label:'),
  // No files are accepted as operands, because to read a file that looks compressed, diffstat starts a shell with the name in a command.
  diffstat: reader('getopt', 'diffstat(1)', '-c -f: -k -l -m -n: -p: -q -r: -s -t -u -v -w:', { operands: 'none' }),
  // These options are left out: `-z` and `-Z`, which start decompressors; `-C`, which writes; and `-p`, which resets the time of the last access.
  file: reader(
    'getopt',
    'file(1)',
    '-b -h -i -I -k -L -l -N -n -r -s -0 -F: --brief --mime --mime-type --mime-encoding --no-dereference --dereference --separator: --extension --keep-going',
    { anyWord: false },
  ),
  stat: reader(
    'getopt',
    'stat(1)',
    '-L -f -c: -t -x -r -s -n --dereference --file-system --format: --printf: --terse',
    {
      operands: 'names',
      anyWord,
    },
  ),
  ls: reader(
    'getopt',
    'ls(1)',
    '-a -A -b -B -c -C -d -D -f -F -g -G -h -H -i -I: -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -T: -u -U -v -w: -x -X -Z -1 -@ -O --all --almost-all --author --escape --block-size: --ignore-backups --color? --directory --dired --classify? --file-type --format: --full-time --group-directories-first --no-group --human-readable --si --dereference --hide: --hyperlink? --indicator-style: --inode --ignore: --kibibytes --numeric-uid-gid --literal --hide-control-chars --show-control-chars --quote-name --quoting-style: --reverse --recursive --size --sort: --time: --time-style: --tabsize: --width: --context --zero',
    { operands: 'names', anyWord },
  ),
  dir: reader('getopt', 'dir(1)', '-a -A -l -h -1 -R -t -r -S', { operands: 'names', anyWord }),
  vdir: reader('getopt', 'vdir(1)', '-a -A -l -h -1 -R -t -r -S', { operands: 'names', anyWord }),
  // These options are left out: -R starts tree again and writes 00Tree.html, -o writes a file, --fromfile and --fromtabfile show a file's content.
  tree: reader(
    'last',
    'tree(1)',
    '-a -d -l -f -x -L: -P: -I: -p -s -h -u -g -D -F -q -N -Q -r -t -c -v -U -n -C -A -S -J -X -i --dirsfirst --filesfirst --noreport --gitignore --prune --du --si --inodes --device --matchdirs --ignore-case --filelimit: --sort? --charset: --nolinks --timefmt: --metafirst',
    { operands: 'names' },
  ),
  // A word from a command's output could be the option `--files0-from`, which makes du show the content of a file in its error messages.
  du: withoutPrinted(
    reader(
      'getopt',
      'du(1)',
      '-0 -a -A -b -B: -c -D -d: -g -h -H -k -l -L -m -P -s -S -t: -x --null --all --apparent-size --block-size: --bytes --total --max-depth: --human-readable --inodes --dereference --no-dereference --si --summarize --separate-dirs --threshold: --time? --time-style: --exclude: --one-file-system',
      { operands: 'names', anyWord },
    ),
  ),
  df: reader(
    'getopt',
    'df(1)',
    '-a -B: -h -H -i -k -l -m -P -t: -T -x: --all --block-size: --human-readable --si --inodes --local --output? --portability --type: --print-type --exclude-type: --total',
    { operands: 'names', anyWord },
  ),
  readlink: reader(
    'getopt',
    'readlink(1)',
    '-f -e -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --zero',
    { operands: 'names', anyWord },
  ),
  realpath: reader(
    'getopt',
    'realpath(1)',
    '-e -m -L -P -q -s -z --relative-to: --relative-base: --canonicalize-existing --canonicalize-missing --strip --no-symlinks --zero --quiet',
    { operands: 'names', anyWord },
  ),
  zcat: reader('getopt', 'zcat(1)', '-f -l -v --force', { anyWord }),
  bzcat: reader('getopt', 'bzcat(1)', '-s', { anyWord }),
  // No options are allowed: with `-o` zstd writes a file, and with `--files` xz shows names that a file contains.
  xzcat: reader('getopt', 'xzcat(1)', ''),
  zstdcat: reader('getopt', 'zstdcat(1)', ''),
  zipinfo: reader('getopt', 'zipinfo(1)', '-1 -2 -s -m -l -v -h -t -T -z', { anyWord }),
  cal: reader('getopt', 'cal(1)', '-1 -3 -s -m -j -y -w -n: --one --three --year --monday --sunday', {
    operands: 'text',
  }),
  tsort: reader('getopt', 'tsort(1)', '', { anyWord }),
  // -o is left out, because it writes a file, and so is --random-source, which reads one.
  shuf: reader('getopt', 'shuf(1)', '-e -i: -n: -r -z --echo --input-range: --head-count: --repeat --zero-terminated'),
}

/** Restricts a program's row: a word that comes from a command's output is accepted only if it certainly isn't an option. */
function withoutPrinted(row: Program): Program {
  return {
    source: row.source,
    judge: (args, context) => {
      const printed = args.find((word) => word.kind === 'dynamic' && word.from === 'commands' && mayBeOption(word))
      return printed === undefined
        ? row.judge(args, context)
        : { facts: [unknown(`${printed.text} may turn out to be an option`)] }
    },
  }
}
