import { changedInClause } from './clauses-abroad.ts'
import { pattern } from './word-patterns.ts'

/** Patterns for statements in languages other than English that a file was changed. `‹0›` stands for the file. */

const german =
  '(?:hinzugefügt|ergänzt|angepasst|erweitert|aktualisiert|geändert|entfernt|gelöscht|umbenannt|ersetzt|korrigiert|verschoben|bereinigt|angelegt|erstellt|eingetragen|vermerkt|nachgetragen|umgestellt|überarbeitet|umgeschrieben|eingebaut|repariert|behoben)'
const french =
  '(?:ajouté|créé|modifié|mis à jour|corrigé|supprimé|renommé|déplacé|complété|adapté|étendu|documenté|inscrit|noté|consigné|réécrit|remplacé)'
const spanish =
  '(?:añadid|cread|modificad|actualizad|corregid|eliminad|borrad|renombrad|movid|ampliad|adaptad|documentad|anotad|reemplazad|sustituid)[oa]s?'
const spanishOwn =
  '(?:añadí|creé|modifiqué|actualicé|corregí|eliminé|borré|renombré|moví|amplié|adapté|documenté|anoté|reescribí|reemplacé|sustituí)'
const portugueseOwn =
  '(?:adicionei|criei|modifiquei|alterei|atualizei|corrigi|removi|apaguei|excluí|renomeei|movi|ampliei|estendi|adaptei|ajustei|documentei|anotei|registrei|reescrevi|substituí|acrescentei|incluí)'
const portuguese =
  '(?:adicionad|criad|modificad|alterad|atualizad|corrigid|removid|apagad|excluíd|renomead|movid|ampliad|estendid|adaptad|ajustad|documentad|anotad|registrad|substituíd|acrescentad|incluíd)[oa]s?'
const italian =
  '(?:aggiunt|creat|modificat|aggiornat|corrett|rimoss|eliminat|rinominat|spostat|estes|adattat|documentat|annotat|riscritt|sostituit)[oaie]'
const japanese =
  '(?:追加|更新|修正|変更|作成|削除|追記|記載|拡張|反映|書き換え|調整|適用|対応|改修|整備|加筆|新設|新規作成|移動|分離|統合|差し替え|置き換え)'
/**
 * Matches a character at which no word such as "like" or "using" begins. If such a word comes between a file and the verb, the file is only referred
 * to.
 */
const notJapanese = '(?:(?!呼|使|参照|合わせて|従|基づ|から|ように|通り|参考|沿っ)[^‹。])'
/** Native Japanese verbs for a change, in the polite past or as a lasting result. */
const japaneseVerb =
  '(?:(?:足し|直し|書き(?:加え|足し|換え|直し)?|加え|入れ|消し|作り|整え|揃え|移し|改め|まとめ|増やし|減らし|外し|取り除き|付け加え|切り出し|載せ)(?:ました|てあります|ておきました|ています)|書いて(?:あります|おきました))'

/**
 * Words that may come between a verb and the file that was changed. No word such as "que", "comme", "pour" or "de" may be among them: after such a
 * word, the file is only referred to.
 */
const gap =
  "(?:(?!qu|qu'|selon|comme|d'après|où|según|como|donde|conforme|onde|secondo|come|dove|che|appel|llamad|chamad|chiamat|par|por|per|dal?|desde|de|du|di|del|depuis|pour|para)[^\\s‹.;:]+ ){0,8}?"
const into =
  "(?:(?:dans|à|au|en|a|al|no|na|em|ao|in|nel|nella|su|sul|sulla|le|la|el|o|il|les?|los|as?|os|l') ?(?:fichier |archivo |fichero |arquivo |file )?)?"
const mark = '‹@›'
/** Words before an enumeration of changed files. */
const labels = [
  '(?:geändert(?:e dateien)?|änderungen|angepasst|ergänzt|modifications|modifiés?|fichiers modifiés|cambios|(?:archivos|ficheros) modificados|modificados?|alterações|arquivos alterados|alterados?|modifiche|file modificati|変更(?:点|ファイル|箇所)?|ont été (?:modifiés|ajoutés|adaptés|créés)) ?:',
  '(?:angepasst|geändert|erweitert|ergänzt|aktualisiert) (?:wurden|sind|habe ich)(?: dabei| dafür| die dateien)*',
  '(?:die|meine|alle) änderungen (?:betreffen|stehen in|liegen in|umfassen|stecken in)',
  'les (?:changements|modifications) (?:portent sur|concernent|touchent|sont dans|se trouvent dans)',
  '(?:los|mis) cambios (?:afectan a|están en|tocan|abarcan)',
  'as (?:alterações|mudanças) (?:envolvem|estão em|afetam|abrangem|atingem)',
  'le modifiche (?:riguardano|sono in|interessano|toccano)',
  '(?:ont été|se han|foram|sono stat[ie]) (?:modifi|alterad|modificat|cambiad)\\p{L}*',
  '(?:変更|修正|更新)した(?:ファイル)?(?:の)?は',
].join('|')

/** Statements about what the run itself did. */
const own: readonly string[] = [
  `(?:ich habe|habe ich|hab ich|ich hab)[^.;:‹]{0,80}${mark}[^.;:,‹]{0,60} ${german}(?!\\p{L})`,
  `(?:ich habe|habe ich)[^.;:]{0,120} und (?:auch |in )?${mark}[^.;:,‹]{0,60} ${german}(?!\\p{L})`,
  `${mark} (?:habe ich|hab ich)[^.;:,‹]{0,60} ${german}(?!\\p{L})`,
  `(?:j'ai|nous avons) (?:aussi |également |bien |ensuite )?${french}e?s? ${gap}${into}${mark}`,
  `(?<!\\p{L})(?:he|hemos) (?:también )?${spanish} ${gap}${into}${mark}`,
  `(?<!\\p{L})${spanishOwn} ${gap}${into}${mark}`,
  `(?<!\\p{L})${portugueseOwn} ${gap}${into}${mark}`,
  `(?<!\\p{L})(?:ho|abbiamo) (?:anche )?${italian} ${gap}${into}${mark}`,
  `${mark} ?(?:に|へ|を|も|にも)(?:(?!呼|使|参照|合わせ|従|基づ|から|ように|通り|参考|沿っ)[^‹。]){0,30}${japanese}(?:し(?:た|ました|ておきました|てあります)|済み)`,
  `${mark} ?(?:に|へ|を|も|にも|の[^‹、。]{1,20}(?:を|も|に|へ))${notJapanese}{0,40}(?:${japanese}(?:し|させ)(?:ました|ています|ておきました|てあります)|${japaneseVerb})`,
  `${mark} ?は(?:新規に|新たに|すべて)?${japanese}し(?:ました|てあります)`,
]
/** Statements in the passive voice or without a subject, which count if the message names a changed file. */
const passive: readonly string[] = [
  `^(?:(?!wie|die|der|das|den|siehe|laut|von|aus|nach|mit)[^\\s‹.;:,]+ ){0,4}?(?:in |im |unter )?${mark}(?: (?!wurde|ist|sind|war)[^\\s.;:,‹]+){0,5} ${german}(?=$|[.,;)])`,
  `^(?:${mark}|(?:die|der|das) (?:\\p{L}+ ){0,3}${mark}) (?:ist|sind|wurde|wurden)[^.;:,‹]{0,40} ${german}(?=$|[.,;)])`,
  `, (?:die|der|das) (?:\\p{L}+ ){0,3}${mark} (?:ist|wurde)[^.;:,‹]{0,40} ${german}(?=$|[.,;)])`,
  `^${french}e?s? ${gap}${into}${mark}`,
  `^(?:le fichier )?${mark}[^.;:,‹]{0,20} (?:a été|est)(?: aussi| également| désormais)? ${french}e?s?(?!\\p{L})`,
  `^${spanish} ${gap}${into}${mark}`,
  `^(?:el archivo |el fichero )?${mark}[^.;:,‹]{0,20} (?:ha sido|fue|se ha|está)(?: también| ya)? ${spanish}(?!\\p{L})`,
  `^${portuguese} ${gap}${into}${mark}`,
  `^(?:o arquivo |o ficheiro )?${mark}[^.;:,‹]{0,20} (?:foi|está)(?: também| agora)? ${portuguese}(?!\\p{L})`,
  `^${italian} ${gap}${into}${mark}`,
  `^(?:il file )?${mark}[^.;:,‹]{0,20} è stat[oa](?: anche| ora)? ${italian}(?!\\p{L})`,
  `^${mark} ?(?:に|へ|を|も|の|にも)(?:(?!呼|使|参照|合わせ|従|基づ|から|ように|通り|参考|沿っ)[^‹。]){0,30}${japanese}(?:。|$)`,
  `^(?:${labels}) ?(?:‹\\d+›(?: \\([^)]{0,60}\\))?(?:,| und| et| y| e|、| と)? ?)*${mark}`,
  `^(?:主な)?変更(?:点|内容|箇所|ファイル)?は ?[^。]{0,80}${mark}(?! ?から)`,
  `^${mark}(?: ?:|：) ?[^。‹]{0,60}${japanese}(?:。|$)`,
  `${mark} (?:konnte|konnten) (?:ich|wir) (?:\\p{L}+ ){0,2}(?:entfernen|löschen|streichen)`,
]
/** Statements that something is new, or now in another place. They count if the run changed anything. */
const placed: readonly string[] = [
  `(?:ist|sind|liegt|liegen|steht|stehen|wohnt|wohnen) (?:jetzt|nun|ab jetzt) (?:alle |beide |gemeinsam )?in ${mark}`,
  `in ${mark} (?:steht|stehen|liegt|liegen) [^.;:,‹]{0,30}(?:jetzt|nun)(?!\\p{L})`,
  `^neu (?:ist|sind)(?: auch)? (?:die datei |das modul )?${mark}`,
  `(?:est|sont|se trouve|se trouvent) (?:maintenant|désormais|à présent) (?:tous |toutes )?dans ${mark}`,
  `(?:está|están|vive|viven) ahora en ${mark}|ahora (?:está|están|vive|viven) en ${mark}`,
  `(?:está|estão|fica|ficam|mora|moram) agora em ${mark}|agora (?:está|estão|fica|ficam) em ${mark}`,
  `(?:è|sono|si trova|si trovano) (?:ora|adesso) in ${mark}|ora (?:è|sono|si trova|si trovano) in ${mark}`,
  `(?:nouveau fichier|nuevo archivo|nuevo fichero|novo arquivo|novo ficheiro|nuovo file|新しいファイル|新規ファイル) ?:? ?${mark}`,
  `${mark} ?に(?:移しました|移動しました|切り出しました|まとめました|移した|切り出した)`,
]
/**
 * Statements that a file was deleted, with the reason between the file and the verb. The reason may contain a negative word: "‹0› n'était plus
 * utilisé, je l'ai supprimé".
 */
const deleted: readonly string[] = [
  `^[^.;‹]{0,60}${mark}[^‹]{0,80} (?:je l'ai|l[ao] he|l'ho) (?:supprimé|retiré|eliminad|borrad|eliminat|rimoss)`,
]
const withNumbers = (sources: readonly string[]): readonly RegExp[] =>
  sources.map((each) => pattern(each.replaceAll(mark, '‹(\\d+)›'), 'gu'))
let patterns: Readonly<Record<'own' | 'passive' | 'placed' | 'deleted', readonly RegExp[]>> | undefined

const denied = pattern(
  String.raw`(?<!\p{L})(?:nicht|nichts|kein\p{L}*|nie|noch|soll\p{L}*|könnte\p{L}*|müsste\p{L}*|muss|müssen|würde\p{L}*|wird|werden|wenn|falls|bevor|bereits|schon|zuletzt|damals|früher|du|ihr|von dir|gestern|vorige\p{L}*|semaine|hier|ayer|semana|ontem|ieri|settimana|letzte\p{L}*|zurück\p{L}*|wieder|rückgängig|pas|ne|n'\p{L}*|jamais|sans|si|quand|déjà|avant|tu|vous|annulé|restauré|no (?:he|hemos|se|ha|han|hay|es|está|fue|lo|la|los|las|\p{L}+é)|nunca|sin|cuando|ya había|tú|antes|hay que|revertid\p{L}*|não|nunca|sem|quando|se|já|você|revert\p{L}*|non|mai|senza|già|prima|ripristinat\p{L}*|not|should|would|could)(?!\p{L})|ません|ない|予定|必要|ください|場合|べき|以前|すでに|既に|戻し|先週|先月|昨日|(?:ほう|方)が|と思い`,
  'u',
)
/** Matches sentences that may be in another language. Marks such as `‹0›` don't make a sentence match. */
const mayBeAbroad = pattern(
  String.raw`[À-ɏぁ-ヿ一-鿿]|\b(?:ich|habe|hab|ai|he|hemos|ho|abbiamo|foi|sono|ist|sind|liegt|liegen|steht|stehen|geändert|angepasst|wurden?|neu|nuevo|nuovo|nouveau|novo|sont|sono|ahora|agora|ersetzt|erweitert|entfernt|angelegt|erstellt|eingetragen|neue[nrs]?|nuova|nueva|nova|nouvelle|wir|\w+ei|[a-z]+(?:ad[oa]s?|ato|id[oa]s?)|[a-z]+aron|aggiunt[oaie]|corrett[oaie]|changements|cambios|modifiche|(?:aggiorn|modific|elimin|complet|document|spost|rinomin|adatt|annot)ata)\b`,
)

/**
 * Whether a sentence says, in a language other than English, that the run changed a file.
 *
 * @param marked the plain text with marks such as `‹0›` in place of files
 * @param at the number of the file's mark
 * @param namesChanged whether the message names a file that was changed. If it names none, a passive verb may describe what somebody else did
 * @param hasChanges whether the run changed any file
 *
 * @internal
 */
export function changedAbroad(marked: string, at: number, namesChanged: boolean, hasChanges: boolean): boolean {
  if (!mayBeAbroad.test(marked)) return false
  if (changedInClause(marked, at, namesChanged)) return true
  patterns ??= {
    own: withNumbers(own),
    passive: withNumbers(passive),
    placed: withNumbers(placed),
    deleted: withNumbers(deleted),
  }
  if (namesChanged && patterns.deleted.some((each) => [...marked.matchAll(each)].some(([, file]) => file === `${at}`)))
    return true
  // A negative word after the next comma may be about something else: "He borrado a.py, que ya no se usa."
  const [before = '', after = ''] = marked.split(`‹${at}›`)
  if (denied.test(before) || denied.test(after.split(/[,;。]/)[0] ?? '')) return false
  const tried = [...patterns.own, ...(namesChanged ? patterns.passive : []), ...(hasChanges ? patterns.placed : [])]
  return tried.some((each) => [...marked.matchAll(each)].some(([, ...numbers]) => numbers.includes(`${at}`)))
}
