import { reader } from './judges.ts'
import { readOnly, unknown, type Alarm } from '../commands/facts.ts'
import { staticText } from '../commands/shell-word.ts'
import type { Program, ProgramTable } from './program-table.ts'

const text = { operands: 'text', anyWord: true } as const
const none = { operands: 'none' } as const

/** Variables that contain no secrets, so `printenv` may show them. */
const plain =
  /^(?:HOME|PWD|OLDPWD|USER|LOGNAME|SHELL|LANG|LC_[A-Z]+|TERM|HOSTNAME|PATH|TMPDIR|EDITOR|PAGER|CI|NODE_ENV|SHLVL|TZ|COLUMNS|LINES)$/

/** lsof, restricted to the listed options. Words with an `@` are refused, because lsof would ask a name server about the host after it. */
const openFiles = only(
  'lsof(8), without -D, without options that begin with +, and without host names',
  reader('getopt', '', '-i? -P -n -t -p: -u: -c: -a -l', { operands: 'names' }),
  /^[^+@][^@]*$/,
  () => undefined,
)

/**
 * The alarm for running lsof without `-n` and `-t`. Without `-n`, lsof asks a name server for the names of the hosts that it shows; with `-t`, it
 * shows no hosts.
 */
const lookups: Alarm = { kind: 'unsandboxed', reason: 'it resolves host names' }

/** Programs that print information about the machine, the time, or their arguments. */
export const inspectors: ProgramTable = {
  true: reader('getopt', 'true(1)', '', text),
  false: reader('getopt', 'false(1)', '', text),
  yes: reader('getopt', 'yes(1)', '', { operands: 'text' }),
  sleep: reader('getopt', 'sleep(1)', '', { operands: 'text' }),
  seq: reader('getopt', 'seq(1)', '-f: -s: -w --format: --separator: --equal-width', { ...text, numbers: true }),
  factor: reader('getopt', 'factor(1)', '-h --exponents', text),
  expr: reader('getopt', 'expr(1)', '', text),
  numfmt: reader(
    'getopt',
    'numfmt(1)',
    '-d: -z --from: --to: --from-unit: --to-unit: --format: --field: --header? --padding: --suffix: --round: --grouping --delimiter: --invalid:',
    text,
  ),
  basename: reader('getopt', 'basename(1)', '-a -s: -z --multiple --suffix: --zero', text),
  dirname: reader('getopt', 'dirname(1)', '-z --zero', text),
  pathchk: reader('getopt', 'pathchk(1)', '-p -P --portability', text),
  // An operand sets the clock, unless it begins with `+`.
  date: only(
    'date(1)',
    reader(
      'getopt',
      '',
      '-u -d: -I? -R -r< --date: --utc --universal --iso-8601? --rfc-email --rfc-3339: --reference<',
      text,
    ),
    /./,
    dateOperands,
  ),
  uname: reader(
    'getopt',
    'uname(1)',
    '-a -s -n -r -v -m -p -i -o --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --operating-system',
    none,
  ),
  arch: reader('getopt', 'arch(1)', '', none),
  // An operand sets the host's name. `-a`, `-d`, `-f` and `-i` are left out, because they resolve the name.
  hostname: reader('getopt', 'hostname(1)', '-I -s -y --short --all-ip-addresses', none),
  nproc: reader('getopt', 'nproc(1)', '--all --ignore:', none),
  whoami: reader('getopt', 'whoami(1)', '', none),
  id: reader('getopt', 'id(1)', '-a -g -G -n -r -u -z -Z --group --groups --name --real --user', text),
  groups: reader('getopt', 'groups(1)', '', text),
  users: reader('getopt', 'users(1)', '', none),
  who: reader('getopt', 'who(1)', '-a -b -d -H -l -m -q -r -s -t -T -u --all --boot --count --heading', none),
  w: reader('getopt', 'w(1)', '-h -s -f -i', none),
  uptime: reader('getopt', 'uptime(1)', '-p -s --pretty --since', none),
  free: reader(
    'getopt',
    'free(1)',
    '-b -k -m -g -h -l -t -w --bytes --kibi --mebi --gibi --human --lohi --total --wide',
    none,
  ),
  tty: reader('getopt', 'tty(1)', '-s --silent', none),
  locale: reader('getopt', 'locale(1)', '-a -m -k -c --all-locales --charmaps', text),
  getconf: reader('apart', 'getconf(1)', '-a', text),
  lscpu: reader('getopt', 'lscpu(1)', '-a -b -c -e? -p? -J --json --extended? --parse?', none),
  lsblk: reader(
    'getopt',
    'lsblk(8)',
    '-a -b -d -f -i -J -l -m -n -o: -p -P -r -S -t --json --fs --output: --paths',
    none,
  ),
  lspci: reader('getopt', 'lspci(8)', '-v -k -n -t -m -nn', none),
  lsusb: reader('getopt', 'lsusb(8)', '-v -t', none),
  // Only the listed groups of letters are accepted: a letter's meaning depends on the dash, and without a dash, an `e` shows environments.
  ps: only(
    'ps(1)',
    reader(
      'apart',
      '',
      '-A -a -e -f -F -H -l -L -T -w -o: -p: -u: -C: -x -ef -eF -eo: -Ao: -aux -eLf --sort: --forest --no-headers --headers --pid: --ppid: --user: --cols:',
      {
        operands: 'text',
      },
    ),
    /^(?:-[A-Za-z]{1,3}|--[a-z-]+(?:=[\w,%+-]*)?|aux|auxf|auxw|auxww|ax|axf|axu|[\w.,%=+-]{2,}|[0-9])$/,
    psOperands,
  ),
  pgrep: reader(
    'getopt',
    'pgrep(1)',
    '-a -c -d: -f -g: -G: -i -l -n -o -P: -s: -t: -u: -U: -v -x --list-name --list-full --full --count --exact',
    text,
  ),
  pidof: reader('getopt', 'pidof(8)', '-s -c -q -x', text),
  // The operands are only names to look up; `-a` shows all matches.
  which: reader('getopt', 'which(1)', '-a -s', text),
  whereis: reader('apart', 'whereis(1)', '-b -m -s -u', text),
  printenv: {
    source: 'printenv(1): without names, it shows the whole environment',
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
    'getent(1): looks up hosts and similar data on the network',
    reader('getopt', '', '', text),
    /^[\w.-]+$/,
    (words) =>
      /^(?:passwd|group|services|protocols|shells)$/.test(words[0] ?? '')
        ? undefined
        : `${words[0] ?? 'it'} may be looked up on the network`,
  ),
  dpkg: only(
    'dpkg(1): queries alone',
    reader('getopt', '', '-l -L -s -S --list --listfiles --status --search --print-architecture --version', text),
    /^(?:-[lLsS]|--(?:list|listfiles|status|search|print-architecture|version)|[^-].*)$/,
    firstIsOption,
  ),
  'dpkg-query': reader(
    'getopt',
    'dpkg-query(1)',
    '-l -L -s -S -W -f: --list --listfiles --status --search --show --showformat:',
    text,
  ),
  'apt-cache': only(
    'apt-cache(8): queries alone',
    reader('getopt', '', '-n -f -a --names-only --full', text),
    /./,
    (words) =>
      /^(?:show|search|policy|depends|rdepends|showpkg|stats|pkgnames|madison)$/.test(words[0] ?? '')
        ? undefined
        : 'it is not a query',
  ),
  rpm: only(
    'rpm(8): queries alone',
    reader('getopt', '', '-q -a -i -l -f -c -d -R -qa -qi -ql -qf --query --all --info --list', text),
    /^(?:-q[ailfcdR]*|--query|-[ailfcdR]|--(?:all|info|list)|[^-].*)$/,
    (words) => (/^(?:-q|--query)/.test(words[0] ?? '') ? undefined : 'it is not a query'),
  ),
  ss: reader(
    'getopt',
    'ss(8), without -K, -D, -F and -N, and without -r, which resolves names',
    '-t -u -l -n -p -a -s -4 -6 -x -o -e -i -m -H --tcp --udp --listening --numeric --processes --all --summary',
    {
      operands: 'none',
    },
  ),
  lsof: {
    source: 'lsof(8): not -D and +',
    judge: (args, context) => {
      const judged = openFiles.judge(args, context)
      const own = args.filter((_, at) => !/^-[Palnt]*[puc]$/.test(args[at - 1]?.text ?? ''))
      const asks = !own.some(({ text }) => /^-[Pal]*[nt]/.test(text))
      return asks ? { ...judged, alarms: [...(judged.alarms ?? []), lookups] } : judged
    },
  },
  // netstat is harmless only with `-n`. Otherwise it asks a name server for the names of other machines.
  netstat: only(
    'netstat(8), without -c, which never ends',
    reader('getopt', '', '-a -e -g -i -l -n -o -p -r -s -t -u -w -4 -6 --numeric', text),
    /^(?:-[aegiloprstuw46]*n[aegilnoprstuw46]*|--numeric)$/,
    (words) => (words.length === 0 ? 'it looks up the names of other machines' : undefined),
  ),
  pstree: reader('getopt', 'pstree(1)', '-a -A -c -g -h -l -n -p -s -t -T -u -U', text),
  vmstat: reader('getopt', 'vmstat(8)', '-a -d -D -f -m -n -s -S: -t -w -y', text),
  history: reader('getopt', 'bash(1), history: a script has no history', '', { operands: 'none' }),
  openssl: only(
    'openssl(1): only printing its version',
    reader('getopt', '', '-a -v', text),
    /^(?:version|-[av])$/,
    (words) => (words[0] === 'version' ? undefined : 'it is not a query'),
  ),
  tput: only(
    'tput(1), without init and reset, for which terminfo names a program to run and a file to show',
    reader('getopt', '', '', { operands: 'text' }),
    /^[a-z0-9][A-Za-z0-9]*$/,
    (words) => words.find((word) => word === 'init' || word === 'reset'),
  ),
}

/** Restricts a program's row: each argument must match a pattern, and all arguments together must pass a check. */
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
      if (known.length < texts.length) return { facts: [unknown('its arguments are known only when the command runs')] }
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
  const zone = words.find((word) => /TZ="[^"]*[/.]{2}|TZ=":?[/.]/.test(word))
  if (zone !== undefined) return `${zone} names a file`
  return setting === undefined ? undefined : `${setting} would set the clock`
}

function psOperands(words: readonly string[]): string | undefined {
  const takesValue = /^(?:-(?:[opuC]|eo|Ao)|--(?:sort|pid|ppid|user|cols))$/
  const odd = words.find(
    (word, at) =>
      /env/i.test(word) || !(takesValue.test(words[at - 1] ?? '') || /^(?:-.*|aux(?:f|w|ww)?|axu?f?)$/.test(word)),
  )
  return odd === undefined ? undefined : `${odd} may show the environment of processes`
}

function firstIsOption(words: readonly string[]): string | undefined {
  return words[0]?.startsWith('-') === true ? undefined : 'it is not a query'
}
