import { optionTable, type OptionTable } from '../commands/parse-options.ts'

/**
 * Options of all commands that show a diff (git-diff(1)). These options are left out: --output, --ext-diff, --textconv, --no-index, --submodule, and
 * --remerge-diff, which performs a merge, and so writes objects and runs merge drivers.
 */
const diff =
  '-p -u -s -U? --patch --no-patch --unified? --output-indicator-new: --raw --patch-with-raw --indent-heuristic --minimal --patience --histogram --anchored: --diff-algorithm: --stat? --compact-summary --numstat --shortstat --dirstat? --cumulative --summary --patch-with-stat -z --name-only --name-status --color? --no-color --color-moved? --word-diff? --word-diff-regex: --color-words? --no-renames --rename-empty --check --ws-error-highlight: --full-index --binary --abbrev? -B? -M? --find-renames? -D -C? --find-copies? --find-copies-harder -l: --diff-filter: -S: -G: --find-object: --pickaxe-all --pickaxe-regex -O< -R --relative? --no-relative -a --text --ignore-cr-at-eol --ignore-space-at-eol -b --ignore-space-change -w --ignore-all-space --ignore-blank-lines -I: --ignore-matching-lines: --inter-hunk-context: -W --function-context --exit-code --quiet -q --no-ext-diff --no-textconv --ignore-submodules? --src-prefix: --dst-prefix: --no-prefix --default-prefix --line-prefix: --ita-invisible-in-index --merge-base --cached --staged -1 -2 -3 --base --ours --theirs -0 --cc -c -m --combined-all-paths --no-diff-merges --diff-merges:'

/** Options that choose commits and how they are shown (git-rev-list(1)). --show-signature is left out, because it runs gpg. */
const commits =
  '-n: --max-count: --skip: --since: --after: --until: --before: --author: --committer: --grep: --all-match --invert-grep -i --regexp-ignore-case --basic-regexp -E --extended-regexp -F --fixed-strings -P --perl-regexp --merges --no-merges --min-parents: --max-parents: --first-parent --not --all --branches? --tags? --remotes? --glob: --exclude: --reflog -g --walk-reflogs --boundary --cherry-mark --cherry-pick --cherry --left-only --right-only --left-right --simplify-by-decoration --full-history --dense --sparse --simplify-merges --ancestry-path --date-order --author-date-order --topo-order --reverse --no-walk --format: --pretty? --abbrev-commit --no-abbrev-commit --no-abbrev --oneline --encoding: --date: --relative-date --parents --children --graph --no-graph --decorate? --no-decorate --decorate-refs: --decorate-refs-exclude: --source --follow --full-diff --log-size -L: --no-notes --notes? --no-mailmap --use-mailmap --mailmap --clear-decorations --count --timestamp --objects --in-commit-order --unpushed'

const listing =
  '--list -l --sort: --format: --contains: --no-contains: --merged? --no-merged? --points-at: --color? --no-color --column? --no-column -i --ignore-case'

function table(text: string): OptionTable {
  return optionTable(text)
}

/** The options with which a git subcommand only reads, and what its operands then mean. */
export type GitReader = {
  readonly options: OptionTable
  /** The maximum number of operands with which the subcommand only reads. Undefined: any number. */
  readonly most?: number
  /** Options with which the subcommand only reads its operands. Without any of them, operands make the subcommand create something. */
  readonly operandsNeed?: readonly string[]
  /** Whether a word like `-20` is a number of commits. */
  readonly numbers?: boolean
}

/** Subcommands that only read if they are given no options other than the listed ones (from their manual pages). Everything else is unknown. */
export const gitReaders: Readonly<Record<string, GitReader>> = {
  status: {
    options: table(
      '-s -b -u? -v -z --short --branch --show-stash --porcelain? --long --verbose --untracked-files? --ignore-submodules? --ignored? --column? --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames?',
    ),
  },
  diff: { options: table(diff) },
  'diff-tree': { options: table(`${diff} -r -t --root --stdin -v --no-commit-id --always`) },
  'diff-index': { options: table(diff) },
  'diff-files': { options: table(diff) },
  'range-diff': { options: table(`${diff} --creation-factor: --no-dual-color`) },
  log: { options: table(`${diff} ${commits}`), numbers: true },
  show: { options: table(`${diff} ${commits}`), numbers: true },
  whatchanged: { options: table(`${diff} ${commits}`), numbers: true },
  shortlog: { options: table(`${commits} -n -s -e -w? -c --numbered --summary --email --group:`) },
  'rev-list': { options: table(`${commits} --quiet --header --disk-usage? --bisect`), numbers: true },
  'rev-parse': {
    options: table(
      '--verify -q --quiet --short? --abbrev-ref? --symbolic --symbolic-full-name --show-toplevel --show-prefix --show-cdup --show-superproject-working-tree --git-dir --git-common-dir --absolute-git-dir --is-inside-git-dir --is-inside-work-tree --is-bare-repository --is-shallow-repository --all --branches? --tags? --remotes? --not --revs-only --no-revs --flags --no-flags --default: --path-format: --show-object-format? --since: --until:',
    ),
  },
  'name-rev': { options: table('--tags --all --name-only --no-undefined --always --refs: --exclude:') },
  describe: {
    options: table(
      '--all --tags --contains --abbrev: --candidates: --exact-match --long --match: --exclude: --always --first-parent --dirty? --broken?',
    ),
  },
  'merge-base': { options: table('-a --all --octopus --independent --is-ancestor --fork-point') },
  'ls-files': {
    options: table(
      '-c -d -m -o -i -s -u -k -z -t -v -f -x: -X< --cached --deleted --modified --others --ignored --stage --unmerged --killed --exclude: --exclude-from< --exclude-standard --error-unmatch --full-name --abbrev? --eol --deduplicate --directory --no-empty-directory --recurse-submodules --format:',
    ),
  },
  'ls-tree': {
    options: table(
      '-d -r -t -l -z --long --name-only --name-status --object-only --full-name --full-tree --abbrev? --format:',
    ),
  },
  'cat-file': { options: table('-t -s -e -p --allow-unknown-type') },
  blame: {
    options: table(
      '-b -c -l -t -s -e -f -n -p -w -C? -M? -L: --root --show-stats --reverse: --first-parent --porcelain --line-porcelain --incremental --encoding: --date: --score-debug --show-name --show-number --show-email --abbrev: --color-lines --color-by-age --ignore-rev: --ignore-revs-file<',
    ),
  },
  annotate: { options: table('-l -t -s -e -f -n -p -w -C? -M? -L:') },
  branch: {
    options: table(`-a -r -v -vv -q --all --remotes --verbose --show-current --abbrev? --no-abbrev ${listing}`),
    most: 0,
    operandsNeed: ['--list', '-l', '--merged', '--no-merged', '--contains', '--no-contains'],
  },
  tag: {
    options: table(`-n? ${listing}`),
    most: 0,
    operandsNeed: ['--list', '-l', '--merged', '--no-merged', '--contains', '--no-contains'],
  },
  'for-each-ref': {
    options: table(
      `--count: --shell --perl --python --tcl --exclude: --omit-empty --include-root-refs --stdin ${listing}`,
    ),
  },
  'show-ref': {
    options: table(
      '--head --heads --branches --tags -d --dereference -s --hash? --verify --exists --abbrev? -q --quiet',
    ),
  },
  'show-branch': {
    options: table(
      '-a -r --all --remotes --current --topo-order --date-order --sparse --more? --list --no-name --sha1-name --topics --color? --no-color',
    ),
  },
  'symbolic-ref': { options: table('-q --quiet --short --recurse --no-recurse'), most: 1 },
  'count-objects': { options: table('-v -H --verbose --human-readable'), most: 0 },
  'check-ignore': { options: table('-q -v -n -z --quiet --verbose --non-matching --no-index --stdin') },
  'check-attr': { options: table('-a -z --all --cached --stdin --source:') },
  'check-ref-format': { options: table('--branch --normalize --allow-onelevel --refspec-pattern') },
  cherry: { options: table('-v --abbrev?') },
  // These options are left out: -O (--open-files-in-pager), which starts a program, and --no-index, which searches files that git doesn't manage.
  grep: {
    options: table(
      '--cached --untracked --no-exclude-standard --exclude-standard --recurse-submodules -a --text -i --ignore-case -I --max-depth: -r --recursive -w --word-regexp -v --invert-match -h -H --full-name -E --extended-regexp -G --basic-regexp -P --perl-regexp -F --fixed-strings -n --line-number --column -l --files-with-matches --name-only -L --files-without-match -z --null -o --only-matching -c --count --color? --no-color --break --heading -p --show-function -A: --after-context: -B: --before-context: -C: --context: -W --function-context -m: --max-count: --threads: -f< -e: --and --or --not --all-match -q --quiet --no-textconv ( )',
    ),
  },
  'verify-pack': { options: table('-v -s --verbose --stat-only') },
  version: { options: table('--build-options'), most: 0 },
  fsck: {
    options: table(
      '--tags --root --cache --no-reflogs --full --strict --verbose --progress --no-progress --connectivity-only --no-dangling --dangling --unreachable',
    ),
    most: 0,
  },
  'patch-id': { options: table('--stable --unstable --verbatim') },
  stripspace: { options: table('-s -c --strip-comments --comment-lines') },
  'get-tar-commit-id': { options: table('') },
  'check-mailmap': { options: table('--stdin') },
  var: { options: table('-l'), most: 0 },
}

/**
 * For git subcommands that have subcommands themselves, such as `git remote`: the inner subcommands that only read, with their options. The key `''`
 * is for a command line without an inner subcommand.
 */
export const gitSecondReaders: Readonly<Record<string, Readonly<Record<string, GitReader>>>> = {
  remote: {
    '': { options: table('-v --verbose'), most: 0 },
    'get-url': { options: table('--push --all') },
  },
  stash: {
    list: { options: table(`${diff} ${commits}`), numbers: true },
    show: { options: table(`${diff} -u --include-untracked --only-untracked`) },
  },
  worktree: { list: { options: table('-v -z --porcelain --verbose --expire:') } },
  reflog: {
    '': { options: table(`${diff} ${commits}`), most: 0, numbers: true },
    show: { options: table(`${diff} ${commits}`), numbers: true },
    exists: { options: table('') },
  },
  notes: { list: { options: table('') }, show: { options: table('') } },
  submodule: { status: { options: table('--cached --recursive') } },
  bisect: { log: { options: table('') } },
  bundle: { verify: { options: table('-q --quiet') }, 'list-heads': { options: table('') } },
  sparse: {},
  config: {
    list: {
      options: table(
        '--global --system --local --worktree -z --null --name-only --show-origin --show-scope --includes --no-includes',
      ),
    },
    get: {
      options: table(
        '--global --system --local --worktree --all --regexp --value: --fixed-value --default: --type: --bool --int -z --null --show-origin --show-scope --show-names --url:',
      ),
    },
  },
  'sparse-checkout': { list: { options: table('') } },
  lfs: {},
}
