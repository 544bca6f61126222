import type { UnsupportedClaim } from '../../core/events.ts'
import type { KnownOfRun } from './run-evidence.ts'
import { isStatement, type Sentence } from './sentences.ts'
import { pattern } from './word-patterns.ts'

const request = '(?:pull[- ]?requests?|merge[- ]?requests?|pr|mr|prs|mrs)'
/** Statements, in languages other than English, that the run opened a merge request. */
const opened: readonly RegExp[] = [
  `(?<!\\p{L})${request}(?!\\p{L})[^.;:]{0,60}(?<!\\p{L})(?:geöffnet|eröffnet|erstellt|angelegt|gestellt|aufgemacht|eingereicht)(?!\\p{L})`,
  `(?:ouvert|créé|soumis|déposé) (?:(?:la|le|une?|ma|cette) )?(?:${request}|demande de fusion)(?!\\p{L})`,
  `(?<!\\p{L})(?:abrí|creé|abierto|creado|envié|enviado) (?:(?:el|la|una?) )?(?:${request}|solicitud de (?:extracción|fusión))(?!\\p{L})`,
  `(?<!\\p{L})(?:abri|criei|aberto|criado|enviei) (?:(?:o|a|um|uma) )?${request}(?!\\p{L})`,
  `(?<!\\p{L})(?:aperto|creato|inviato) (?:(?:il|la|una?) )?(?:${request}|richiesta di (?:pull|merge))(?!\\p{L})`,
  `(?:${request}|プルリク(?:エスト)?|マージリクエスト)(?: ?[#!]?\\d+)? ?(?:も|を|は)?(?:出して|作成|作って|作り|開いて|開き|オープン|出し)(?:済み|しました|あり|ある|し|ました|ておき)`,
].map((each) => pattern(each, 'u'))

/** A quick check: every text that a pattern in `opened` matches also contains a match of this expression. */
const mayTell =
  /öffnet|erstellt|angelegt|gestellt|aufgemacht|eingereicht|ouvert|créé|soumis|déposé|abr|cre|criei|abiert|envi|aberto|criado|apert|inviat|作|出|開|オープン/

const denied = pattern(
  String.raw`(?<!\p{L})(?:nicht|kein\p{L}*|noch|kann\p{L}*|soll\p{L}*|wird|werden|wenn|falls|sobald|bitte|pas|ne|n'\p{L}*|aucune?|si|quand|no(?! (?:github|gitlab|origin|bitbucket|remoto|repo|servidor))|sin|ninguna?|cuando|puedes?|não|sem|nenhuma?|se|quando|pode\p{L}*|non|senza|nessuna?|puoi|vom|par|por|da|dal|from|that|du|tu|vous|usted|você|lei|ihr)(?!\p{L})|ません|ない|未|できず|失敗|ください|場合`,
  'u',
)
/** Matches commands that may open a merge request. Many programs can do that. */
const mayOpen =
  /\b(?:pr|mr|hub|tea|arc|az|gh|glab|curl|http|wget)\b|pull|merge|request|refs\/for|api|submit|review|open/i

/**
 * Finds statements, in languages other than English, that the run opened a merge request. Returns none if a command that may have succeeded could
 * have opened one, if the run continues a session, if it changed nothing, or if one of these statements contains a word that may deny or limit it.
 *
 * @internal
 */
export function requestsAbroad(sentences: readonly Sentence[], known: KnownOfRun): readonly UnsupportedClaim[] {
  const { pushes, succeeded, changed, goesOn } = known
  const isThere = ({ outcome }: KnownOfRun['pushes'][number]): boolean => outcome === 'ok' || outcome === 'unknown'
  const commands = [...succeeded, ...pushes.filter(isThere).map(({ command }) => command)]
  if (goesOn || changed.length === 0) return []
  if (commands.some((each) => mayOpen.test(/\bgit commit\b/.test(each) && !/&&|;|\|/.test(each) ? 'git commit' : each)))
    return []
  const speaking = sentences.filter(({ plain }) => mayTell.test(plain) && opened.some((each) => each.test(plain)))
  const told = speaking.filter(isStatement)
  if (speaking.some(({ plain }) => denied.test(plain))) return []
  return told.map(({ text }) => ({ claim: 'push', text, why: 'no command in the run opened a merge request' }))
}
