/**
 * What the runners of CI jobs execute of what a job prints, found as these services' own sources find it: by a search that overlooks characters without a
 * form.
 */
const runners: Readonly<Record<string, (line: string) => boolean>> = {
  'GitHub, Gitea and Forgejo': (line) => /^::.*::/u.test(line.trimStart()),
  'the older form of GitHub, and Azure': (line) => line.includes('##['),
  'Azure DevOps': (line) => line.includes('##vso['),
  TeamCity: (line) => line.includes('##teamcity['),
}

/** The runners that would find a command in a text, with the line in which they find it. */
export function obeyed(text: string): readonly string[] {
  return text.split(/\r\n|\r|\n/).flatMap((line) =>
    Object.entries(runners)
      .filter(([, finds]) => finds(line.replaceAll(/\p{Cf}/gu, '')))
      .map(([name]) => `${name}: ${JSON.stringify(line)}`),
  )
}

/** Control characters except tabs and line feeds, and direction marks. */
export const controlling = /[^\P{Cc}\t\n]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u
