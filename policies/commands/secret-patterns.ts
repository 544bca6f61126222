/** Typical names of files with credentials. A pattern that matches one of them may target credentials. */
export const secretSamples: readonly string[] =
  '.env .env.local .npmrc .netrc id_rsa credentials secrets.yml secrets.txt server.key a.pem passwords.txt token.txt prod.env prod.tfvars keys.kdbx cert.p12'.split(
    ' ',
  )
/** Typical names of files without secrets. A pattern that matches one of them doesn't target secrets in particular. */
const others = 'index.ts README main.c package.json config.yml notes.txt main.py style.css a.csv lib.rs'.split(' ')

const secretEnds = ['key', 'pem', 'env', 'p12', 'pfx', 'tfvars', 'kdbx', 'ppk']
const otherEnds = ['ts', 'json', 'txt', 'yml', 'md', 'c', 'py', 'html']

/** Whether a shell's pattern for file names targets files with credentials. `matches` tests a name against the pattern. */
export function patternTargetsSecrets(pattern: string, matches: (name: string) => boolean): boolean {
  if (targetsSecrets(matches)) return true
  const stem = pattern.slice(0, Math.max(0, pattern.lastIndexOf('.')))
  if (stem === '' || /[*?[\]]/.test(stem)) return false
  return secretEnds.some((end) => matches(`${stem}.${end}`)) && !otherEnds.some((end) => matches(`${stem}.${end}`))
}

/** Whether a pattern singles out names of files with credentials, rather than matching names in general. */
export function targetsSecrets(matches: (name: string) => boolean): boolean {
  return secretSamples.some(matches) && !others.some(matches)
}
