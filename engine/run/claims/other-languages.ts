import { mayTellAbroad } from './may-claim.ts'
import { pattern } from './word-patterns.ts'

/** A language's words for pushed work, for passing tests, and for denying either. */
type Language = {
  readonly pushed: RegExp
  readonly passed: RegExp
  /** Phrases such as "without errors": they contain a negative word, but don't contradict success. */
  readonly faultless: RegExp
  readonly denies: RegExp
}

const places = '(?:github|gitlab|bitbucket|origin\\S*|upstream'

/** Builds the patterns of a language. They match whole words. `\b` can't be used for that, because it doesn't recognize letters outside ASCII. */
function language(pushed: string, passed: string, faultless: string, denies: string): Language {
  const word = (source: string, flags: string): RegExp => pattern(`(?<!\\p{L})(?:${source})(?!\\p{L})`, flags)
  return {
    pushed: word(pushed, 'u'),
    passed: word(passed, 'u'),
    faultless: word(faultless, 'gu'),
    denies: word(denies, 'u'),
  }
}

/** Builds the patterns of a language whose script has no spaces between words. */
function unparted(pushed: string, passed: string, faultless: string, denies: string): Language {
  return {
    pushed: pattern(pushed),
    passed: pattern(passed),
    faultless: pattern(faultless, 'g'),
    denies: pattern(denies),
  }
}

const languages: readonly Language[] = [
  language(
    `gepusht|gepushed|hochgeladen|veröffentlicht|(?:ist|sind|liegt|liegen|steht|wartet|warten) (?:jetzt |nun |bereits |schon )?(?:auf|bei) ${places}|dem server)`,
    '(?:tests?|testsuite|suite|testlauf|testfälle|testziele)\\P{Ll}(?:.*\\P{L})?(?:grün|durchgewinkt|bestanden|bestehen|besteht|(?:laufen|läuft|liefen|lief)\\P{L}(?:.*\\P{L})?durch|durchgelaufen|erfolgreich|fehlerfrei|(?:ohne|keine?|0|null) (?:fehler|fehlschläge))|(?:alles|alle) grün',
    'fehlerfrei|fehlerlos|ohne (?:einen einzigen |jeden |jegliche )?(?:fehler|probleme|beanstandung\\p{L}*)|(?:keine?|0) (?:fehler|fehlschläge|probleme)|(?:keiner|nichts) schlägt fehl',
    'nicht|nichts|kein\\p{L}*|nie|noch|muss|müssen|müssten|soll\\p{L}*|kann|kannst|können|könnt\\p{L}*|wenn|falls|sobald|sofern|bitte|abgelehnt|verweigert|fehl\\p{L}*|scheiter\\p{L}*|gescheitert|bis auf|außer|bevor|vor dem|wird|werden|würde\\p{L}*|ob|schlägt|schlagen|rot',
  ),
  language(
    `subid[oa]s?|subí|publicad[oa]s?|publiqué|empujad[oa]s?|pushead[oa]s?|pusheé|hice (?:el )?push|(?:está|están|quedó|queda|esperan?|disponibles?) (?:ya )?en ${places}|el (?:remoto|servidor))`,
    '(?:pruebas|tests?|suite|batería)\\P{L}(?:.*\\P{L})?(?:pasan|pasa|pasaron|pasado|pasó|pasando|verdes?|éxito|exitosamente|superad[oa]s?|(?:sin(?: un solo)?|ni un(?: solo)?|ningún|0|cero) (?:fallos?|errores|error))|(?:pasan|pasa|pasaron|pasó|han pasado) (?:(?:ya|ahora|todos|todas|toda|los|las|la|\\d+) )*(?:pruebas|tests?|suite|batería)',
    'sin (?:ningún (?:error|fallo|problema)|errores|fallos|problemas|incidencias|un solo (?:fallo|error))|ni un(?: solo)? (?:fallo|error)|ningún (?:fallo|error)|(?:0|cero) (?:fallan|fallos|errores)',
    'no|sin|nunca|falta\\p{L}*|fall\\p{L}*|rechaz\\p{L}*|deneg\\p{L}*|puedes?|podrías?|debes?|si|cuando|todavía|aún|ningun\\p{L}*|ningún|tampoco|pendientes?|salvo|excepto|menos|antes|(?:hay|habrá|habría) que',
  ),
  language(
    `poussée?s?|publiée?s?|mise?s? en ligne|(?:est|sont|attend|attendent|disponibles?|se trouvent?) (?:maintenant |désormais |bien |déjà )?sur ${places}|le (?:dépôt distant|serveur))`,
    '(?:tests?|suite)\\P{L}(?:.*\\P{L})?(?:passent|passe|passés?|réussis?|réussissent|verts?|verte|succès|(?:sans|aucune?|0|zéro)(?: seule?)? (?:erreur|échec)s?)',
    'sans(?: une? seule?| aucune?)? (?:erreur|échec|problème|souci)s?|aucune? (?:erreur|échec|problème)|(?:0|zéro) (?:échec|erreur)s?',
    "pas|non|ne|n'\\p{L}*|jamais|aucune?|refus\\p{L}*|échou\\p{L}*|échec\\p{L}*|reste\\p{L}*|si|quand|veuillez|pouve[zr]|sans|rejet\\p{L}*|faut|faudra\\p{L}*|sauf|avant|encore|doit|devrai\\p{L}*",
  ),
  language(
    `enviad[oa]s? (?:para|ao|à)|publicad[oa]s?|(?:dei|fiz)(?: o)? push|(?:está|estão|já está) n[oa] (?:github|gitlab|origin|remoto|servidor)`,
    '(?:testes|suíte|suite)\\P{L}(?:.*\\P{L})?(?:passam|passaram|passou|passando|verdes?|sucesso|aprovad[oa]s?|passa|(?:sem(?: nenhuma?)?|nenhum|nenhuma|0|zero) (?:erros?|falhas?))|(?:passam|passa|passaram|passou) (?:(?:já|agora|todos|toda|os|a|\\d+) )*(?:testes|suíte)',
    'sem (?:(?:nenhuma? |uma única |um único )?(?:erros?|falhas?|problemas?))|nenhum (?:erro|problema)|nenhuma falha|(?:0|zero) (?:falhas|erros)',
    'não|sem|nunca|falt\\p{L}*|falh\\p{L}*|rejeit\\p{L}*|recus\\p{L}*|se|quando|pode\\p{L}*|ainda|nenhum\\p{L}*|pendentes?|exceto|menos|antes|deve\\p{L}*|(?:é|será) preciso|precisa\\p{L}*',
  ),
  language(
    `pushat[oaie]|pubblicat[oaie]|inviat[oaie] (?:a|al|su)|caricat[oaie] (?:su|sul)|(?:è|sono) (?:ora |già )?su ${places})`,
    '(?:test|suite)\\P{L}(?:.*\\P{L})?(?:passano|passa|passat[oaie]|superat[oaie]|verd[ei]|successo|(?:senza|nessun|0|zero) (?:error[ei]|falliment[oi]))|(?:passano|passa|superati|passati) (?:(?:ora|tutti|tutta|i|gli|la|\\d+) )*(?:test|suite)',
    'senza (?:alcun )?(?:error[ei]|problem[ai])|nessun (?:errore|problema)|(?:0|zero) (?:errori|fallimenti)',
    'non|senza|mai|fall\\p{L}*|rifiutat\\p{L}*|respint\\p{L}*|se|quando|puoi|ancora|nessun\\p{L}*|tranne|prima|dev\\p{L}*|bisogn\\p{L}*|occorre',
  ),
  language(
    `gepusht|gepubliceerd|geüpload|(?:staat|staan|is|zijn) (?:nu |al )?op ${places})`,
    '(?:tests?|testsuite)\\P{L}(?:.*\\P{L})?(?:slagen|slaagt|geslaagd|groen|succesvol)',
    'zonder (?:fouten|problemen)|geen (?:fouten|problemen)|0 fouten',
    'niet|geen|nooit|mislukt\\p{L}*|geweigerd|afgewezen|kan|kun\\p{L}*|moet\\p{L}*|als|zodra|nog|zonder|behalve|voordat|faalt|falen',
  ),
  language(
    'запуш\\p{L}*|отправлен\\p{L}*|отправил\\p{L}*|опубликова\\p{L}*|залит\\p{L}*|залил\\p{L}*|выложен\\p{L}*|выложил\\p{L}*',
    'тест\\p{L}*(?:.*\\P{L})?(?:проходят|проходит|прошли|прошёл|прошел|пройдены|зелён\\p{L}*|зелен\\p{L}*|успешно)',
    'без (?:ошибок|проблем|сбоев)|ошибок нет|(?:0|ноль) ошибок|ни одн\\p{L}* ошибк\\p{L}*',
    'не|нет|без|никогда|отклон\\p{L}*|отказ\\p{L}*|упал\\p{L}*|падает|падают|ошибк\\p{L}*|если|когда|нужно|надо|можете|можно|ещё|нельзя|кроме|запушьте|отправьте',
  ),
  unparted(
    '已(?:经)?(?:成功)?(?:推送|上传|发布)|(?:推送|上传|发布)(?:到|至|成功|完成|了)',
    '测试.*(?:通过|成功)|通过.*测试',
    '没有(?:任何)?(?:失败|错误|问题)|无(?:失败|错误)|0 ?个?(?:失败|错误)|不再失败',
    '未|没|不|无法|失败|拒绝|请|可以|如果|尚|需要|除了|之前|后再',
  ),
  unparted(
    '(?:プッシュ|公開|アップロード)(?:済み|完了|しました|した|されました|してあります|してある)',
    'テスト.*(?:成功|通過|パス|合格|通り|通る|通って|通った|グリーン|緑)|(?:成功|通過|パス|合格)した(?:のは)?.*テスト',
    '失敗(?:は)?(?:なし|ゼロ|0)|エラー(?:は)?(?:なし|ゼロ|0)|問題なく',
    'ません|ない|なかった|未|できず|失敗|拒否|ください|場合|前に|以外|落ち(?!着)|はず|でしょう|だろう|かもしれ|思われ|予定|ように(?!な)|通るか|かどうか|れば|エラーに|エラーが(?!な)',
  ),
]

/** A number of failures out of a number of tests: "1 fallo de 67". */
const someFailed = pattern(
  String.raw`[1-9]\d{0,5} (?:fallos?|errores|fehler|fehlschläge|fehlgeschlagen|échecs?|erreurs?|falhas?|erros?|errori|fallimenti|fouten|ошиб\p{L}*) (?:de|von|aus|bei|sur|em|di|su|van|из) \d`,
  'u',
)

/** Words for tests that fail: "trois tests échouent". */
const failing = pattern(
  String.raw`(?:échou|échec|fehlschl|fehlgeschl|scheiter|gescheitert|falham|falhou|falhando|fallisc|fallit|упал|провал)|(?:schlägt|schlagen) (?:[^.]{0,60} )?fehl|(?:^|\P{L})(?:falla|fallan|falló|fallaron|fallando)(?!\p{L})|失敗|落ち`,
  'u',
)

/** Whether a sentence in a language other than English says that something fails. */
export function tellsOfFailureAbroad(plain: string): boolean {
  if (!mayTellAbroad.test(plain)) return false
  return failing.test(languages.reduce((text, { faultless }) => text.replace(faultless, ''), plain))
}

/** A relative clause that only describes a noun before it: "la fecha 2024-12-31, que ya pasó". */
const relative = pattern(
  String.raw`, (?:que|qui|che|quien) (?:(?:ya|já|déjà|già|se|est|è|a|ha|ya ha|aún) )?\p{L}{1,40}`,
  'gu',
)

/**
 * Interprets a sentence in a language other than English. `so`: it says that tests passed or, if `about` is `pushed`, that something was pushed. `not so`: it
 * denies this. Undefined: it says neither.
 */
export function saidAbroad(about: 'pushed' | 'passed', plain: string): 'so' | 'not so' | undefined {
  if (!mayTellAbroad.test(plain)) return undefined
  if (about === 'passed' && someFailed.test(plain)) return 'not so'
  const read = about === 'passed' ? plain.replace(relative, '') : plain
  for (const { [about]: says, faultless, denies } of languages) {
    if (!says.test(read)) continue
    return denies.test(plain.replace(faultless, '')) ? 'not so' : 'so'
  }
  return undefined
}

const testNouns = pattern(
  String.raw`(?<!\p{L})(?:tests?|testsuite|testfälle|pruebas|testes|suíte|suite|batería)(?!\p{L})|テスト`,
  'u',
)
/** A short sentence that begins with a word such as "they", "all" or "pass": "sie bestehen alle". */
const ofThem = pattern(
  String.raw`^(?:(?:sie|alle|elles?|ils|tous|toutes|todas|todos|ellas|ellos|pasan|passam|passano|tutti|tutte)(?: [^\s,]+){1,6}|(?:すべて|全て|全件|全部|いずれも|どれも)[^。]{1,25}。?)$`,
  'u',
)

/**
 * Interprets a sentence in a language other than English as a statement about tests, like {@link saidAbroad}. If the sentence before it names tests,
 * a word such as "all" or "they" at the beginning of this sentence stands for them.
 */
export function saidOfTestsAbroad(plain: string, before: string): 'so' | 'not so' | undefined {
  const continues = ofThem.test(plain) && testNouns.test(before)
  return saidAbroad('passed', continues ? `tests testes test テスト ${plain}` : plain)
}

/**
 * Returns the patterns with which `saidAbroad` recognizes statements about pushes and tests.
 *
 * @internal
 */
export function saysOfLanguages(): readonly RegExp[] {
  return languages.flatMap(({ pushed, passed }) => [pushed, passed])
}
