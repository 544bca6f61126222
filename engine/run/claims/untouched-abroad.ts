import { pattern } from './word-patterns.ts'

/** What a sentence in a language other than English says was not changed. */
type LeftAbroad = {
  /** The number in the mark that stands for an unchanged file: 0 for `‹0›`. */
  readonly file?: number
  readonly kind?: 'code' | 'tests' | 'locks'
  /** Whether the sentence says that nothing else was changed. */
  readonly isRest?: boolean
}

const nouns = {
  code: '(?:quellcode|quelltext|programmcode|produktivcode|anwendungscode|code(?: source| de production| applicatif)?|logik|logique|código(?:[- ]fonte| fuente| de producción| de produção)?|lógica|codice(?: sorgente| di produzione)?|logica|ソースコード|ソース|コード|実装|ロジック)',
  tests: '(?:tests?|testfälle|testdateien|testcode|fichiers de test|pruebas|testes|テスト(?:コード|ファイル)?)',
  locks: '(?:lock-?datei(?:en)?|lockfiles?|abhängigkeiten|dépendances|dependencias|dependências|dipendenze|依存関係)',
} as const

/** Statements that something was not changed. `@` stands for a file or for a noun. */
const statements: readonly string[] = [
  '@ (?:(?:ist|sind|bleibt|bleiben|blieb|blieben|wurde|wurden|habe ich|hab ich)(?: dabei| aber| ganz| völlig| komplett| selbst| auch| weiterhin| unberührt und)* )?(?:unverändert|unberührt|unangetastet|nicht (?:geändert|angefasst|angerührt|verändert|berührt|bearbeitet))',
  '(?:am|an|im|in)(?: den| der| dem)? @ (?:habe ich|wurde|hat sich) nichts (?:geändert|verändert|angefasst)',
  '(?:ich habe|habe ich) (?:an |in |am |im )?(?:den |die |der |das )?@ nicht (?:geändert|angefasst|angerührt|verändert)',
  '@ (?:est|sont|reste|restent|demeure|demeurent)(?: restée?s?)?(?: \\p{L}+ment)? (?:inchangée?s?|intacte?s?|tels? quels?|telles? quelles?)',
  "@ (?:n'a|n'ont) pas (?:été )?(?:modifié|touché|changé|bougé)",
  "(?:je n'ai|n'ai) pas (?:touché|modifié|changé)(?: à| au| aux)? ?(?:le |la |les |l')?@",
  'sans (?:toucher|modifier)(?: à| au| aux)? ?(?:le |la |les )?@',
  '@ (?:queda|quedan|sigue|siguen|está|están|permanece|permanecen|quedó|quedaron) (?:intact[oa]s?|sin cambios|sin tocar|igual|tal cual|como estaban?)',
  'no (?:he tocado|toqué|he modificado|modifiqué|he cambiado|cambié|se ha tocado|se ha modificado|se tocó) (?:el |la |los |las )?@',
  '@ no (?:se ha|se han|ha sido|han sido|se) (?:tocado|tocó|modificado|modificó|cambiado)',
  'sin (?:tocar|modificar) (?:el |la |los |las )?@',
  '@ (?:continua|continuam|segue|seguem|ficou|ficaram|permanece|permanecem|está|estão) (?:intocad[oa]s?|intact[oa]s?|inalterad[oa]s?|como estava[m]?|igual|sem alterações)',
  'não (?:mexi|toquei|alterei|modifiquei) (?:(?:n?[oa]s?|em) )?@',
  '@ não (?:foi|foram) (?:alterad|modificad|tocad|mexid)[oa]s?',
  'sem (?:tocar|mexer|alterar) (?:(?:n?[oa]s?|em) )?@',
  '@ (?:resta|restano|rimane|rimangono|è|sono)(?: rimast[oaie])? (?:invariat[oaie]|intatt[oaie]|immutat[oaie])',
  "non ho (?:toccato|modificato|cambiato) (?:il |la |i |le |gli |l')?@",
  '@ non (?:è stat[oa]|sono stat[ie]) (?:toccat|modificat|cambiat)[oaie]',
  'senza (?:toccare|modificare) (?:il |la |i |le |gli )?@',
  '@ ?(?:自体|本体)?(?:に|を|には|は|にも|も)(?:一切|まったく|全く|何も)?(?:手を(?:加え|触れ|付け|つけ|入れ)|触(?:れ|っ)|変更し|変更を加え|いじっ|変え)て?い?(?:ません|ない|おりません)',
  '@ ?(?:は|も)(?:そのまま|未変更|変更なし|元のまま)',
]
const files = '‹\\d+›(?:(?:,| und| et| y| e|、|と) ?‹\\d+›)*'
/** Statements that nothing else was changed. */
const rest = pattern(
  String.raw`(?<!\p{L})(?:sonst (?:\p{L}+ ){0,3}nichts|nichts (?:anderes|weiteres|sonst))(?: \p{L}+){0,2} (?:geändert|verändert|angefasst|angerührt)|geändert ist (?:nur|allein|ausschließlich) ${files}(?=$|[.,;])|(?:ich habe|habe ich) (?:nur|ausschließlich|lediglich) ${files} (?:geändert|angepasst|angefasst|bearbeitet)|^nur ${files} (?:ist|sind|wurde|wurden) (?:geändert|angepasst|betroffen)|^seuls? ${files} (?:a|ont) été (?:modifié|changé|touché)s?|(?:je n'ai|n'ai) (?:modifié|changé|touché) que ${files}(?=$|[.,;])|(?:^|i )?(?:solo|sólo|únicamente) (?:he tocado|he modificado|he cambiado|toqué|modifiqué|cambié) ${files}(?=$|[.,;])|(?:só|apenas|somente) (?:alterei|modifiquei|mexi em|mexi no|mudei)(?: o)? ${files}(?=$|[.,;])|ho (?:modificato|toccato|cambiato) (?:solo|soltanto) ${files}(?=$|[.,;])|(?:変更|修正)したのは ?${files} ?(?:だけ|のみ)|${files} ?(?:だけ|のみ)を?(?:変更|修正)し|rien d'autre n'a (?:été )?(?:changé|modifié|touché)|rien (?:touché|modifié|changé) d'autre|nada más (?:ha cambiado|se ha tocado|cambia)|no (?:he tocado|he cambiado|he modificado|toqué|cambié) nada más|(?:mexi|alterei|mudei|toquei)[^.;]{0,60} e (?:em )?mais nada|não (?:mexi|alterei|toquei) (?:em )?mais nada|nada mais (?:mudou|foi alterado)|nient'altro è (?:cambiato|stato)|non ho (?:toccato|cambiato|modificato) (?:nient'?altro|altro)|(?:他|ほか|それ以外)(?:の(?:ファイル|箇所))?(?:は|には|に|も)(?:何も)?(?:変更|触っ|触れ|手を)[^。]{0,10}(?:ません|ない)`,
  'u',
)
/** Words that limit a statement to some of the files, or to a part of one. */
const limited = pattern(
  String.raw`(?<!\p{L})(?:übrig\p{L}*|andere\p{L}*|restlich\p{L}*|außer|bis auf|bestehend\p{L}*|vorhanden\p{L}*|öffentlich\p{L}*|soll\p{L}*|wenn|falls|muss|müssen|würde\p{L}*|noch|autres?|sauf|existants?|reste du|hormis|publique|si|devrait|encore|otr[oa]s|salvo|excepto|existentes?|resto|demás|debería\p{L}*|todavía|outr[oa]s|exceto|restantes?|demais|deveria\p{L}*|ainda|altr[ioe]|tranne|esistenti|dovrebbe|ancora|aparte|fora)(?!\p{L})|他の|以外|既存|残り|まだ|場合|必要`,
  'u',
)
const mayBeAbroad = pattern(
  String.raw`[À-ɏぁ-ヿ一-鿿]|\b(?:nicht|nichts|unangetastet|reste|restent|intacte?|queda\w*|sigue\w*|tocad[oa]|sin|segue\w*|intocad[oa]|non|resta|rimane|invariat[oaie]|geändert)\b`,
)

type Made = { readonly may: RegExp; readonly says: readonly RegExp[]; readonly kind: LeftAbroad['kind'] }
let made: readonly Made[] | undefined

function make(): readonly Made[] {
  // Japanese has no spaces between words, so its patterns can't require whole words.
  const whole = (source: string): string => (/[ぁ-ん]/.test(source) ? source : `(?<![\\p{L}-])${source}(?!\\p{L})`)
  const about = (subject: string, kind: LeftAbroad['kind']): Made => ({
    may: pattern(subject, 'u'),
    says: statements.map((each) => pattern(whole(each.replace('@', subject)), 'u')),
    kind,
  })
  return [
    about(`(?:(?:${nouns.code}) (?:em|en|in|dans|nel|nella|aus|von) )?‹(\\d+)›`, undefined),
    about(nouns.code, 'code'),
    about(nouns.tests, 'tests'),
    about(nouns.locks, 'locks'),
  ]
}

/**
 * Returns what a sentence in a language other than English says was not changed. Undefined if it says no such thing.
 *
 * @param marked the plain text with marks such as `‹0›` in place of files
 *
 * @internal
 */
export function leftAbroad(marked: string): LeftAbroad | undefined {
  if (!mayBeAbroad.test(marked)) return undefined
  const isRest = rest.test(marked)
  if (!isRest && limited.test(marked)) return undefined
  made ??= make()
  for (const { may, says, kind } of made) {
    const found = may.test(marked) ? says.flatMap((each) => each.exec(marked) ?? []) : []
    if (found.length === 0) continue
    return kind === undefined ? { file: Number(found[1]), isRest } : { kind, isRest }
  }
  return isRest ? { isRest } : undefined
}
