import { readOnly, type Fact } from '../commands/facts.ts'
import { staticText, type ShellWord } from '../commands/shell-word.ts'
import type { Judgement, Program, ProgramTable } from './program-table.ts'

/** The hosts that arguments name: in a URL, in `user@host:path`, or as a bare host name. */
function hostsOf(args: readonly ShellWord[]): readonly string[] {
  const hosts = args.flatMap((word) => {
    const text = staticText(word)
    if (text === undefined || text.startsWith('-')) return []
    const url = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/@\s]*@)?(\[[^\]]*\]|[^/:?#\s]+)/i.exec(text)?.[1]
    const remote = /^(?:[^@/\s]+@)?([\w.-]+\.[\w-]+|localhost)(?::|$|\/)/.exec(text)?.[1]
    const host = url ?? remote
    return host === undefined ? [] : [host.toLowerCase()]
  })
  return [...new Set(hosts)]
}

/** Options with which curl or wget writes a file, such as the download or the cookies. */
const saving =
  /^(?:-o|-O|-OJ?|--output|--remote-name|--output-document|-P|--directory-prefix|--output-dir|-D|--dump-header|-c|--cookie-jar|--trace(?:-ascii)?)(?:=|$)/

/** Clients that may open a prompt and read commands. This can happen even with a version option, which not every implementation understands. */
const prompting = /^(?:ftp|telnet|nslookup|nc|ncat|netcat|socat|sftp|mail|sendmail)$/

function client(source: string, more: (args: readonly ShellWord[]) => readonly Fact[] = () => []): Program {
  // These clients have no version option that all implementations share: `ftp -V` and `nslookup -V` mean something else.
  const tells = prompting.test(source.replace(/\(.*/, '')) ? /^$/ : /^(?:--version|-V)$/
  return {
    source,
    judge: (args): Judgement => {
      const only = args.length === 1 ? staticText(args[0]) : undefined
      if (only !== undefined && tells.test(only)) return { facts: [readOnly] }
      return { facts: [{ class: 'network', hosts: hostsOf(args) }, ...more(args)] }
    },
  }
}

function downloads(args: readonly ShellWord[]): readonly Fact[] {
  const paths = args.flatMap(({ text }, at) =>
    saving.test(text) ? [/=/.test(text) ? text.slice(text.indexOf('=') + 1) : (args[at + 1]?.text ?? text)] : [],
  )
  return paths.length === 0 ? [] : [{ class: 'writes', paths }]
}

const runsCode: Fact = { class: 'runs-code', reason: 'it can start other programs' }

const mirrors: Fact = {
  class: 'destructive',
  reason: 'it deletes files at the source or at the destination',
  extent: 'named',
}

/** Programs that talk to other machines. Looking up names counts too, since a look-up can leak data (CVE-2025-55284). */
export const networkClients: ProgramTable = {
  curl: client('curl(1)', downloads),
  wget: client('wget(1)', (args) => [
    ...downloads(args),
    ...(args.some(({ text }) => text.startsWith('-')) ? [] : [{ class: 'writes', paths: ['.'] } as const]),
  ]),
  http: client('httpie'),
  https: client('httpie'),
  aria2c: client('aria2c(1)', () => [{ class: 'writes', paths: ['.'] }]),
  scp: client('scp(1)', () => [runsCode]),
  sftp: client('sftp(1)', () => [runsCode]),
  rsync: client('rsync(1)', (args) => [
    runsCode,
    { class: 'writes', paths: [] },
    ...(args.some(({ text }) => /^--(?:del|remove-s)/.test(text)) ? [mirrors] : []),
  ]),
  nc: client('nc(1)', () => [runsCode]),
  ncat: client('ncat(1)', () => [runsCode]),
  netcat: client('nc(1)', () => [runsCode]),
  socat: client('socat(1)', () => [runsCode]),
  telnet: client('telnet(1)'),
  ftp: client('ftp(1)', () => [runsCode]),
  ping: client('ping(8)'),
  ping6: client('ping(8)'),
  dig: client('dig(1)'),
  nslookup: client('nslookup(1)'),
  host: client('host(1)'),
  whois: client('whois(1)'),
  traceroute: client('traceroute(8)'),
  tracepath: client('tracepath(8)'),
  mtr: client('mtr(8)'),
  nmap: client('nmap(1)', () => [runsCode]),
  gh: client('gh(1)', () => [runsCode]),
  aws: client('aws(1)', () => [runsCode]),
  gcloud: client('gcloud(1)', () => [runsCode]),
  az: client('az(1)', () => [runsCode]),
  mail: client('mail(1)', () => [runsCode]),
  sendmail: client('sendmail(8)'),
}
