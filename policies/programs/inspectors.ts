import { reader } from './judges.ts'
import { readOnly, unknown } from '../commands/facts.ts'
import { staticText } from '../commands/shell-word.ts'
import type { Program, ProgramTable } from './program.ts'

const text = { operands: 'text', anyWord: true } as const
const none = { operands: 'none' } as const

/** Variables that `printenv` may name: what they hold is no secret. */
const plain =
  /^(?:HOME|PWD|OLDPWD|USER|LOGNAME|SHELL|LANG|LC_[A-Z]+|TERM|HOSTNAME|PATH|TMPDIR|EDITOR|PAGER|CI|NODE_ENV|SHLVL|TZ|COLUMNS|LINES)$/

/** Programs that say something about the machine, the time or their arguments. */
export const inspectors: ProgramTable = {
  true: reader('true(1)', '', text),
  false: reader('false(1)', '', text),
  yes: reader('yes(1)', '', { operands: 'text' }),
  sleep: reader('sleep(1)', '', { operands: 'text' }),
  seq: reader('seq(1)', '-f: -s: -w --format: --separator: --equal-width', { ...text, numbers: true }),
  factor: reader('factor(1)', '-h --exponents', text),
  expr: reader('expr(1)', '', text),
  numfmt: reader(
    'numfmt(1)',
    '-d: -z --from: --to: --from-unit: --to-unit: --format: --field: --header? --padding: --suffix: --round: --grouping --delimiter: --invalid:',
    text,
  ),
  basename: reader('basename(1)', '-a -s: -z --multiple --suffix: --zero', text),
  dirname: reader('dirname(1)', '-z --zero', text),
  pathchk: reader('pathchk(1)', '-p -P --portability', text),
  // An operand sets the clock unless it begins with +.
  date: only(
    'date(1)',
    reader('', '-u -d: -I? -R -r< --date: --utc --universal --iso-8601? --rfc-email --rfc-3339: --reference<', text),
    /./,
    dateOperands,
  ),
  uname: reader(
    'uname(1)',
    '-a -s -n -r -v -m -p -i -o --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --operating-system',
    none,
  ),
  arch: reader('arch(1)', '', none),
  // An operand sets the name.
  hostname: reader(
    'hostname(1)',
    '-a -A -d -f -i -I -s -y --alias --domain --fqdn --long --short --ip-address --all-ip-addresses',
    none,
  ),
  nproc: reader('nproc(1)', '--all --ignore:', none),
  whoami: reader('whoami(1)', '', none),
  id: reader('id(1)', '-a -g -G -n -r -u -z -Z --group --groups --name --real --user', text),
  groups: reader('groups(1)', '', text),
  users: reader('users(1)', '', none),
  who: reader('who(1)', '-a -b -d -H -l -m -q -r -s -t -T -u --all --boot --count --heading', none),
  w: reader('w(1)', '-h -s -f -i', none),
  uptime: reader('uptime(1)', '-p -s --pretty --since', none),
  free: reader('free(1)', '-b -k -m -g -h -l -t -w --bytes --kibi --mebi --gibi --human --lohi --total --wide', none),
  tty: reader('tty(1)', '-s --silent', none),
  locale: reader('locale(1)', '-a -m -k -c --all-locales --charmaps', text),
  getconf: reader('getconf(1)', '-a', text),
  lscpu: reader('lscpu(1)', '-a -b -c -e? -p? -J --json --extended? --parse?', none),
  lsblk: reader('lsblk(8)', '-a -b -d -f -i -J -l -m -n -o: -p -P -r -S -t --json --fs --output: --paths', none),
  lspci: reader('lspci(8)', '-v -k -n -t -m -nn', none),
  lsusb: reader('lsusb(8)', '-v -t', none),
  // Letters without a dash may hold an e, which shows environments.
  ps: only(
    'ps(1)',
    reader(
      '',
      '-A -a -e -f -F -H -j -l -L -T -w -o: -p: -u: -C: -x --sort: --forest --no-headers --headers --pid: --ppid: --user: --cols:',
      { operands: 'text' },
    ),
    /^(?:-.*|[auxwfjlTr]+|[a-z_,%+=:0-9-]*)$/,
    psOperands,
  ),
  pgrep: reader(
    'pgrep(1)',
    '-a -c -d: -f -g: -G: -i -l -n -o -P: -s: -t: -u: -U: -v -x --list-name --list-full --full --count --exact',
    text,
  ),
  pidof: reader('pidof(8)', '-s -c -q -x', text),
  // Only names looked up; with -a all of them.
  which: reader('which(1)', '-a -s', text),
  whereis: reader('whereis(1)', '-b -m -s -u', text),
  printenv: {
    source: 'printenv(1): without names, all of the environment',
    judge: (args) => {
      const names = args.map(staticText)
      const fine = names.length > 0 && names.every((name) => name !== undefined && plain.test(name))
      if (fine) return { facts: [readOnly] }
      return {
        facts: [readOnly],
        alarms: [{ kind: 'environment', reason: 'it shows variables that may hold secrets' }],
      }
    },
  },
  getent: only(
    'getent(1): hosts and the like are looked up on the network',
    reader('', '', text),
    /^[\w.-]+$/,
    (words) =>
      /^(?:passwd|group|services|protocols|shells)$/.test(words[0] ?? '')
        ? undefined
        : `${words[0] ?? 'it'} may be looked up elsewhere`,
  ),
  dpkg: only(
    'dpkg(1): queries alone',
    reader('', '-l -L -s -S --list --listfiles --status --search --print-architecture --version', text),
    /^(?:-[lLsS]|--(?:list|listfiles|status|search|print-architecture|version)|[^-].*)$/,
    firstIsOption,
  ),
  'dpkg-query': reader(
    'dpkg-query(1)',
    '-l -L -s -S -W -f: --list --listfiles --status --search --show --showformat:',
    text,
  ),
  'apt-cache': only('apt-cache(8): queries alone', reader('', '-n -f -a --names-only --full', text), /./, (words) =>
    /^(?:show|search|policy|depends|rdepends|showpkg|stats|pkgnames|madison)$/.test(words[0] ?? '')
      ? undefined
      : 'it is not a query',
  ),
  rpm: only(
    'rpm(8): queries alone',
    reader('', '-q -a -i -l -f -c -d -R -qa -qi -ql -qf --query --all --info --list', text),
    /^(?:-q[ailfcdR]*|--query|-[ailfcdR]|--(?:all|info|list)|[^-].*)$/,
    (words) => (/^(?:-q|--query)/.test(words[0] ?? '') ? undefined : 'it is not a query'),
  ),
  tput: reader('tput(1)', '', { operands: 'text' }),
}

/** Narrows a row by a pattern that each known word must fit, and by a check of the words together. */
function only(
  source: string,
  row: Program,
  words: RegExp,
  check: (words: readonly string[]) => string | undefined,
): Program {
  return {
    source,
    judge: (args, context) => {
      const texts = args.map((arg) => staticText(arg))
      const known = texts.flatMap((one) => (one === undefined ? [] : [one]))
      if (known.length < texts.length) return { facts: [unknown('its arguments are known only when it runs')] }
      const odd = known.find((one) => !words.test(one))
      const reason = odd === undefined ? check(known) : `${odd} is not known to be harmless`
      return reason === undefined ? row.judge(args, context) : { facts: [unknown(reason)] }
    },
  }
}

function dateOperands(words: readonly string[]): string | undefined {
  const values = words.flatMap((word, at) =>
    /^(?:-[dr]|--(?:date|reference|rfc-3339))$/.test(words[at - 1] ?? '') ? [] : [word],
  )
  const setting = values.find((word) => !/^[-+]/.test(word))
  return setting === undefined ? undefined : `${setting} would set the clock`
}

function psOperands(words: readonly string[]): string | undefined {
  const values = words.filter(
    (_, at) => !/^(?:-[A-Za-z]*[opuC]|--(?:sort|pid|ppid|user|cols))$/.test(words[at - 1] ?? ''),
  )
  const showing =
    values.find((word) => !/^(?:[auxwfjlTr]+|-[^E]*)$/.test(word)) ?? words.find((word) => /env/i.test(word))
  return showing === undefined ? undefined : `${showing} may show environments of processes`
}

function firstIsOption(words: readonly string[]): string | undefined {
  return words[0]?.startsWith('-') === true ? undefined : 'it is not a query'
}
