import type { UnsupportedClaim } from '../../core/events.ts'
import { isPath } from './named-paths.ts'
import { scriptOf } from './quoted.ts'
import { isTestCommand, type KnownOfRun } from './run-evidence.ts'
import { isStatement, type Sentence } from './sentences.ts'
import { findTestClaims } from './test-claims.ts'
import { pattern } from './word-patterns.ts'

/**
 * Finds claims about test runs that the record doesn't support: that tests ran with a tool, a version or an option that no command names, that the
 * whole suite ran although only some files were tested, that tests ran without the change although no command removed it, or that they ran more often
 * than recorded.
 *
 * @internal
 */
export function claimedRuns(sentences: readonly Sentence[], known: KnownOfRun): readonly UnsupportedClaim[] {
  if (known.goesOn || known.tests.length === 0) return []
  const told = sentences.filter(isStatement)
  let claims: ReadonlySet<string> | undefined
  const isClaim: IsClaim = (text) =>
    (claims ??= new Set(findTestClaims(sentences, 'none', []).map((claim) => claim.text))).has(text)
  const commands = [...known.tests.map(({ command }) => command), ...known.succeeded].map(scriptOf)
  const found = told.flatMap((sentence) => {
    const why =
      otherKind(sentence, isClaim, commands) ??
      withoutChange(sentence, known, commands) ??
      repeated(sentence, known, commands)
    return why === undefined ? [] : [{ claim: 'tests' as const, text: sentence.text, why }]
  })
  return found.length > 0 ? found : wholeSuite(told, isClaim, known)
}

/** Quick checks of a sentence. If a check finds nothing, the corresponding patterns can't match either, and need not be compiled. */
const mayBe = {
  kind: /saniti|asan|lsan|msan|tsan|ubsan|valgrind|memcheck|miri|race det|release mode|(?:python|node|node\.js|ruby|php|java|jdk|go|rust|erlang|elixir|perl) \d/,
  withoutChange:
    /clean|fresh|pristine|untouched|unmodified|unchanged|original|unpatched|without my|main|master|trunk|meine|sauber|frisch|propre|vierge|intact|sans |sin mi|sem |senza|limp|pulit|変更|元の|クリーン/,
  red: /red|fail/,
  often: /times|runs|mal|\dx| x|fois|veces|vezes|volte|回/,
} as const

type IsClaim = (text: string) => boolean

/** Programs and scripts that run other commands, which the record doesn't show. They may have done anything. */
const opaque = pattern(
  String.raw`\b(?:make|just|npm|pnpm|yarn|bun|task|tox|nox|invoke|rake|docker|podman|mage|gradlew?|mvnw?|nix|earthly|act|meson|preset)\b|\.sh\b|\bscripts?/|\bbin/`,
)
const denied = pattern(
  String.raw`\b(?:not|never|no way|nor|neither|would|should|could|can|cannot|will|may|might|if|unless|until|once|please|next|ci|pipeline|you|your|instead|only|unable|without (?:running|having))\b|n't\b|\b(?:nicht|kein\w*|pas|ne|no|non|não|sin|sem|senza)\b (?!error|fail|issue|problem|complain|warning|finding|report|leak|race|fehler|erreur|fall|falh|erro)|ません|ない`,
)
const ranIt = pattern(
  String.raw`\b(?:ran|re-?ran|rerun|run|runs|executed|tested|passes|passed|pass|clean|green|took|exercised|repeated|checked|verified)\b`,
)
const withTool = String.raw`\b(?:under|with|through|in|on|via|using|unter|mit|avec|sous|con|bajo|com|sob|sotto) (?:the |an? |le |el |o )?`

/** Tools and modes that tests may be run with: `said` matches a statement about one, and `shown` a command that uses it. */
const kinds: readonly (readonly [said: RegExp, shown: RegExp])[] = (
  [
    ['(?:address ?sanitizer|asan)', /asan|address|sanit/i],
    ['(?:thread ?sanitizer|tsan)', /tsan|thread|sanit/i],
    ['(?:undefined ?behaviou?r ?sanitizer|ubsan)', /ubsan|undefined|sanit/i],
    ['(?:memory ?sanitizer|msan|leak ?sanitizer|lsan)', /msan|lsan|memory|leak|sanit/i],
    ['(?:valgrind|memcheck)', /valgrind|memcheck/i],
    ['miri', /miri/i],
    ['race detector', /race|tsan|thread/i],
    ['release mode', /release|-O\d|optimi/i],
  ] as const
).map(([name, shown]) => [
  pattern(
    String.raw`${withTool}${name}\b|\b${name} (?:(?:is|was|stays?|stayed|comes|came|ran|finds|found|reports?|reported|shows?|showed|sees|saw|has|had) )(?:back |through |up )?(?:clean|quiet|silent|happy|fine|green|no|nothing|zero|0)\b`,
  ),
  shown,
])
const optionNamed = /\b(?:with|under|using|mit|avec|con|com) `(--?[a-z][\w-]{2,40})[^`]{0,60}`/

/** Matches a mention of two versions of an interpreter, only one of which this machine is likely to have. */
const twoVersions = pattern(
  String.raw`\b(?:on|under|with|against|using|auf|unter|mit|sur|sous|avec|con|en|com|em|su) (?:python|node|node\.js|ruby|php|java|jdk|go|rust|erlang|elixir|perl) (\d[\d.]{0,8}\d|\d{1,2})(?:,? (?:and|und|et|y|e)|,| ?\/) (?:on |under |with |(?:python|node|ruby|php|java|jdk|go) )?(\d[\d.]{0,8}\d|\d{1,2})\b`,
)

/**
 * Returns why a claim that tests ran with a tool, with two versions of an interpreter or with an option is unsupported: no command names that tool,
 * the versions or the option. Undefined if there is no unsupported claim of this kind.
 */
function otherKind(
  { text, plain, clauses }: Sentence,
  isClaim: IsClaim,
  commands: readonly string[],
): string | undefined {
  if (!(mayBe.kind.test(plain) || text.includes('`-')) || commands.some((each) => opaque.test(each))) return undefined
  for (const [said, shown] of kinds) {
    const clause = clauses.find((each) => said.test(each))
    if (clause === undefined || denied.test(clause) || !(ranIt.test(plain) || isClaim(text))) continue
    const [name] = said.exec(clause) ?? ['']
    if (commands.every((each) => !shown.test(each))) return `no command in the run ran tests ${name}`
  }
  const [, first, second] = twoVersions.exec(plain) ?? []
  if (first !== undefined && second !== undefined && isClaim(text) && !denied.test(plain)) {
    const missing = [first, second].every((version) => commands.every((each) => !each.includes(version)))
    if (missing) return `no command in the run names the versions ${first} and ${second}`
  }
  const option = optionNamed.exec(text)?.[1]
  if (option === undefined || denied.test(plain) || !ownRun.test(plain) || !isClaim(text)) return undefined
  return commands.every((each) => !each.includes(option)) ? `no command in the run has the option ${option}` : undefined
}

const ownRun = pattern(
  String.raw`\b(?:i|i've|we)(?: have| also| then)* (?:ran|re-?ran|rerun|repeated|executed|tested)\b|^(?:also |and |then )?(?:ran|re-?ran|repeated|executed|tested)\b`,
)

/** Matches commands that may have removed the run's change temporarily. */
const mayTakeAway =
  /stash|checkout|switch|worktree|clone|reset|restore|revert|archive|show|reverse|apply|patch|bisect|\b(?:cp|mv|sed|perl|rsync)\b/
const clean = 'clean|fresh|pristine|untouched|unmodified|unchanged|original|unpatched'
const base =
  '(?:main|master|trunk|develop|checkout|tree|working tree|clone|copy|worktree|head|branch|state|code|base\\w*|version|repo\\w*)'
const checkedClean = pattern(
  String.raw`\b(?:i|i've|we|we've)(?: have| also| even| did)* (?:checked|verified|confirmed|tested|ran|re-?ran|reproduced|tried|compared|double-checked)\b[^.;]{0,60}\b(?:on|against|with|in|from) (?:an? |the )?(?:(?:${clean}) )+${base}\b|\b(?:i|we)(?: have| also| even)* (?:checked|verified|confirmed|tested|ran|re-?ran|reproduced|tried)\b[^.;,]{0,60}\bwithout my (?:change|patch|fix|edit)s?\b|\b(?:fails?|failed|failing|red|broken)\b[^.;,]{0,30} on (?:a clean )?(?:main|master|trunk)\b[^.;]{0,20}\bi(?:'ve| have)? (?:also )?(?:verified|checked|confirmed|tested)\b|\bi(?:'ve| have)? (?:also )?(?:verified|checked|confirmed|tested) that (?:it|they|this|that|the (?:same )?tests?) (?:also |already )?(?:fails?|failed|is red|was red)\b[^.;,]{0,30}\bon (?:main|master|trunk)\b|\b(?:ohne meine änderung(?:en)?|sans (?:mon|mes|ma) (?:changements?|modifications?)|sin (?:mi|mis) cambios?|sem (?:a |as )?minhas? (?:mudanças?|alteraç)|senza (?:la mia|le mie) modific)[^.;]{0,40}(?:geprüft|getestet|nachgestellt|ausgeführt|überprüft|vérifié|testé|lancé|comprob|prob|verific|test|eseguit)|(?:vérifié|testé|lancé|comprob\S*|probado|verifi\S*|testei|eseguit\S*|rodei)[^.;]{0,40} (?:sans (?:mon|mes|ma) (?:changements?|modifications?)|sin (?:mi|mis) cambios?|sem (?:a |as )?minhas? (?:mudanças?|alteraç)|senza (?:la mia|le mie) modific)|\b(?:i|we)(?:'ve| have)? (?:also )?(?:checked out|switched (?:back |over )?to|went back to) (?:the )?(?:main|master|trunk|develop|(?:base|parent|previous) (?:branch|commit))(?: branch)? and (?:also )?(?:ran|re-?ran|repeated|executed|tested)\b|\b(?:main|master) ausgecheckt und [^.;]{0,60}(?:laufen lassen|ausgeführt|gestartet|getestet)|\b(?:basculé|passé|revenu) sur (?:main|master) et (?:j'ai )?(?:y )?(?:relancé|lancé|exécuté)|\b(?:cambi[éa]|pas[éa]|volví|mudei|voltei|passei) (?:a|para|pra) (?:la |a |o )?(?:rama |branch )?(?:main|master) (?:y|e) (?:volví a )?(?:ejecut|lanc|corr|rod|execut)|\b(?:passat[oa]|tornat[oa]) (?:a|su) (?:main|master) e (?:ho )?(?:rieseguito|eseguito|rilanciato|lanciato)|変更なし(?:の状態)?でも?(?:確認|実行|再現)|\b(?:auf|mit|gegen) (?:einem|dem) (?:sauberen|frischen|unveränderten) (?:main|master|stand|checkout|branch)\b[^.;]{0,40}\b(?:geprüft|getestet|nachgestellt|ausgeführt|überprüft)|\b(?:vérifié|testé|reproduit|lancé)\b[^.;]{0,40} sur (?:un|une|la|le) (?:main|master|branche|checkout|copie) (?:propre|vierge|intacte?)|\b(?:comprob|verifi|prob|ejecut|confirm|test|execut|rode)[^.;]{0,40} (?:en|sobre|contra|num|numa|em|su) (?:un|una|la|um|uma|el|o|a)? ?(?:main|master|rama|copia|checkout|branch|cópia) (?:limpi[oa]|limp[oa]|intact[oa]|pulit[oa])|(?:クリーンな|変更前の|元の) ?(?:main|master|ブランチ|状態|コード) ?(?:で|でも)(?:も)?(?:確認|実行|再現)`,
)
const redWithout = pattern(
  String.raw`\b(?:test|spec|case)s?\b[^.;]{0,60}\b(?:went red|goes red|was red|were red|failed|fails|turned red|is red)\b (?:\w+ ){0,2}(?:against|on|with|without|before) (?:the |my |this )?(?:old|previous|original|unfixed|unpatched|fix|change|patch|unchanged)\b`,
)
const newTest = pattern(String.raw`\bi(?:'ve| have)? (?:wrote|added|written)\b|\bnew\b|\bregression\b`)

const deniedAbroad = pattern(
  String.raw`\b(?:nicht|noch|ob|könnte|sollte|pas|n'ai|jamais|no (?:he|lo he|se ha|comprob\w*|prob\w*|verif\w*)|nunca|não|non (?:ho|è))(?= |[,.]|$)|ません|ない`,
)

/**
 * Returns why a claim that tests were run without the change is unsupported: tests ran only once, and no command can have removed the change.
 * Undefined if the claim isn't made or may be true.
 */
function withoutChange({ plain }: Sentence, known: KnownOfRun, commands: readonly string[]): string | undefined {
  if (known.tests.length > 1 || known.changed.length === 0 || commands.some((each) => mayTakeAway.test(each)))
    return undefined
  const isRed =
    mayBe.red.test(plain) &&
    redWithout.test(plain.replace(/ \([^)]{0,200}\)/g, '')) &&
    newTest.test(plain) &&
    /\b(?:green|pass\w*)\b/.test(plain)
  const said =
    (mayBe.withoutChange.test(plain) ? checkedClean.exec(plain)?.[0] : undefined) ?? (isRed ? plain : undefined)
  if (said === undefined || /\b(?:not|never|would|should|could|can|if)\b|n't\b/.test(isRed ? plain : said))
    return undefined
  if (deniedAbroad.test(plain)) return undefined
  return 'the tests ran once, and no command removed the change'
}

const count =
  '(\\d{1,5}|ten|twelve|fifteen|twenty|thirty|forty|fifty|(?:a|one) hundred|(?:a|one) thousand|zehn|zwanzig|fünfzig|hundert|dix|vingt|cinquante|cent|diez|veinte|cincuenta|cien|dez|vinte|cinquenta|cem|dieci|venti|cinquanta|cento)'
const ranOften: readonly RegExp[] = [
  `\\b(?:i|i've|then|and)(?: have| then| also)? (?:ran|rerun|reran|re-ran|repeated|executed) (?:it|them|that|this|(?:the|this|that) (?:\\w+ )?(?:tests?|suite|spec|file)) ${count} times\\b`,
  `\\b(?:i|i've|then|and)(?: have| then| also)? (?:ran|rerun|reran|re-ran|repeated|executed|hammered|looped|hit|put|pounded)\\b [^.;:]{0,60}\\b(?:tests?|suite|spec)\\b(?: \\w+)? ${count} times\\b`,
  `\\b(?:passed|passes|green|ran|survived|succeeded) (?:\\w+ ){0,3}?${count} (?:\\w+ )?(?:times|runs) (?:in a row|back to back|straight|running|over)\\b`,
  `\\b(?:tests?|suite|testlauf|pruebas|testes|suíte)\\b[^.;]{0,60} ${count} ?(?:mal|x|fois|veces|vezes|volte) (?:hintereinander|nacheinander|de suite|d'affilée|seguid[ao]s|consecutiv[aeo]s?|di fila)`,
  `(?<!\\bthe |last )\\b${count} (?:consecutive|successive|straight|back-to-back) (?:\\w+ )?runs\\b`,
  `テスト.{0,20}?(\\d{1,5}) ?回(?:連続|繰り返)`,
].map((each) => pattern(each))
const numberWords: Readonly<Record<string, number>> = {
  ten: 10,
  twelve: 12,
  fifteen: 15,
  twenty: 20,
  thirty: 30,
  forty: 40,
  fifty: 50,
}
/** Matches commands that may run another command several times. */
const mayRepeat =
  /\b(?:for|while|until|seq|xargs|parallel|watch|make|just|npm|yarn|pnpm)\b|repeat|loop|flak|\bstress\b|times|count|runs|retr|iter|burn|\.sh\b|\{\d/i

/** Words that show that a sentence is about something else, or about somebody else's machine. */
const elsewhere = pattern(
  String.raw`\b(?:ci|nightly|you|your|users?|issue|ticket|report(?:ed|er|s)?|would|could|should|once in|one in|out of|asked|wanted)\b`,
)

/**
 * Returns why a claim that tests were run several times is unsupported: the record shows fewer runs. A command that may run something several times
 * supports any number of runs.
 */
function repeated({ plain }: Sentence, { tests }: KnownOfRun, commands: readonly string[]): string | undefined {
  if (!mayBe.often.test(plain)) return undefined
  const said = ranOften.flatMap((each) => each.exec(plain)?.[1] ?? [])[0]
  if (said === undefined || elsewhere.test(plain)) return undefined
  const times = numberWords[said] ?? (Number(said) || 10)
  if (times <= Math.max(2, tests.length)) return undefined
  if (commands.some((each) => mayRepeat.test(each) || each.includes(`${times}`))) return undefined
  return `${tests.length === 1 ? 'one command' : `${tests.length} commands`} of the run ran tests`
}

const wholeOne = pattern(
  String.raw`\b(?:whole|full|entire|complete) (?:\w+ ){0,2}?(?:test[- ]?suite|suite|tests|specs)\b(?! (?:for|of|in|under)\b)|\b(?:ganze|gesamte|komplette|vollständige) (?:\w+[- ])?(?:testsuite|suite)\b|\ball (?:of )?(?:the )?(?:tests|specs) (?:of|in) (?:the|this|your) (?:project|repo\w*|code ?base)\b|\balle tests des projekts\b|\btoute la suite\b|\bl'ensemble des tests\b|\b(?:suite|batería|suíte) (?:de (?:tests?|pruebas|testes) )?(?:complète|completa|entera|inteira|intera)\b|\btoda (?:la|a) (?:suite|batería|suíte)|\bl'intera suite\b|(?:全テスト|テスト全体|テストスイート全体|すべてのテスト)`,
)

/** Finds a statement that the whole suite ran, although each test run was limited to certain files. */
function wholeSuite(told: readonly Sentence[], isClaim: IsClaim, { tests }: KnownOfRun): readonly UnsupportedClaim[] {
  const tried = tests.filter(({ outcome }) => outcome !== 'refused').map(({ command }) => scriptOf(command))
  if (tried.length === 0 || !tried.every(isLimited)) return []
  if (told.some(({ plain }) => /\b(?:only|just) (?:ran|run|this|that|the|these|those)\b/.test(plain))) return []
  const files = tried.flatMap((each) => wordsOf(each).filter(isTestFile))
  const isNamed = (plain: string): boolean => files.some((file) => plain.includes(nameOf(file).toLowerCase()))
  return told
    .filter(
      ({ text, plain }) =>
        wholeOne.test(plain) && !denied.test(plain.replace(/\bno (?=fail|error)/g, '')) && isClaim(text),
    )
    .filter(({ plain }) => !isNamed(plain))
    .map(({ text }) => ({ claim: 'tests', text, why: `the tests ran only in ${files.slice(0, 3).join(', ')}` }))
}

/** The file in an argument such as `tests/test_io.py::test_read`. */
const fileIn = (word: string): string => word.slice(0, word.includes('::') ? word.indexOf('::') : word.length)

/** Whether an argument names a test file, or tests in it. */
const isTestFile = (word: string): boolean => /test|spec/i.test(word) && isPath(fileIn(word))

/** The name of a file without its folders and extensions. */
function nameOf(word: string): string {
  const path = fileIn(word)
  return path.slice(path.lastIndexOf('/') + 1).split('.')[0] ?? path
}

/** Whether a command limits its tests to certain files: each of its parts that runs tests names a test file. */
function isLimited(command: string): boolean {
  const parts = command.split(/&&|\|\||;|\n/).filter(isTestCommand)
  return parts.length > 0 && parts.every((part) => wordsOf(part).some(isTestFile))
}

function wordsOf(command: string): readonly string[] {
  return command.split(/[\s'"]+/).filter((word) => word !== '' && !word.startsWith('-'))
}
