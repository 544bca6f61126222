import { pattern } from './word-patterns.ts'

/** Phrases in languages other than English that tell the reader to do something, or say what remains to be done. */
const remaining = pattern(
  [
    String.raw`il (?:(?:vous|te|nous|ne vous|ne te) )?reste (?:plus )?(?:qu')?(?:à|encore)|reste à|(?:vous|tu) (?:devez|dois|devrez|devras|pouvez|peux|pourrez|n'avez plus qu')|il (?:faut|faudra|suffit)|(?:à|c'est à) vous de|veuillez|(?:lancez|relancez|exécutez|poussez|tapez|faites|lance|exécute)`,
    String.raw`(?:sie|du|ihr|man) (?:müssen|musst|müsst|muss|können|kannst|könnt|kann|sollten|solltest|brauchen|brauchst)|(?:müssen|musst|müsst|können|kannst|könnt|sollten|solltest) (?:sie|du|ihr)|bitte|(?:bleibt|fehlt|fehlen)(?: (?:nur|noch|nun|jetzt))*|(?:muss|müssen) (?:nur )?noch|noch [^.]{0,80}?\b(?:auszuführen|ausführen|aufrufen|aufzurufen|laufen lassen|starten)|führen sie|führe`,
    String.raw`(?:queda|quedan)(?: (?:solo|aún|todavía))* (?:por|pendiente|que)|(?:solo |aún |todavía )?(?:falta|faltan|faltaría) (?:por )?\p{L}{1,20}[aei]r|(?:debe|debes|debéis|tiene que|tienes que|puede|puedes|podéis|hay que|habrá que|te toca|basta con|ejecute|ejecuta|lance|lanza)`,
    String.raw`(?:só |apenas |ainda )?(?:falta|faltam|resta|basta|fica por|ficou por|é preciso|será preciso) \p{L}{1,20}[aei]r|(?:você )?(?:precisa|pode|deve|tem que|terá que)|(?:execute|rode|basta)`,
    String.raw`(?:resta|restano|rimane|rimangono)(?: (?:solo|ancora|soltanto))? da|(?:devi|deve|dovete|dovrai|dovrà|puoi|può|potete|potrai|potrà|basta|occorre|bisogna|manca solo|non (?:ti|vi|le) resta)|(?:esegui|eseguite|esegua|lancia|lanciate)`,
  ]
    .map((each) => String.raw`(?<!\p{L})(?:${each})(?!\p{L})`)
    .join('|')
    .concat('|(?:して|て)ください|お願いします|必要があり|必要です|残ってい|だけです|(?:すれば|実行で)'),
  'u',
)

/** A command in a code span after an infinitive or an imperative, such as "to run" or "please run", or before a German one, such as "ausführen". */
const commanded = pattern(
  String.raw`(?:^|[,;:] |\b(?:to|just|please|then|must|still|only|can|should|zu|zum|à|de|da|per|para|por|que) )(?:re-?run|run|execute|retry|try|type|use|repeat|issue|lancer|relancer|exécuter|faire|ejecutar|lanzar|correr|hacer|rodar|executar|fazer|eseguire|lanciare|fare|lance|execute) (?:(?:again|the command|once more|le|la|o|el|il|un) )?` +
    '`[^`]{1,200}`|`[^`]{1,200}` (?:noch |nun |selbst |einmal |jetzt )*(?:aus(?:zu)?führen|auf(?:zu)?rufen|laufen lassen|(?:zu )?starten)',
  'iu',
)

/**
 * Whether a sentence only tells the reader what to do: either in a language other than English, or with a command in a code span.
 *
 * @param text the sentence as written
 * @param plain the sentence in the form that the patterns expect
 */
export function instructs(text: string, plain: string): boolean {
  return (text.includes('`') && commanded.test(text)) || remaining.test(plain)
}

const unable: readonly RegExp[] = [
  String.raw`n'(?:ai|a|est) (?:pas |rien )(?:pu|réussi à|été possible de)[^.;:]{0,40}(?:pousser|pusher|push|publier|envoyer)`,
  String.raw`(?:push|poussée|envoi) (?:a été|est) (?:refusée?|rejetée?|impossible)|(?:push|poussée) (?:a|n'a pas) (?:échoué|abouti)`,
  String.raw`(?<!\p{L})(?:konnte|konnten|ließ)[^.;:]{0,60}nicht[^.;:]{0,40}(?:push|hochladen|hochgeladen)|push (?:wurde|ist) [^.;:]{0,40}(?:abgelehnt|verweigert|fehlgeschlagen|gescheitert)`,
  String.raw`(?<!\p{L})no (?:he podido|pude|logré|he logrado|se pudo|fue posible)[^.;:]{0,40}(?:push|subir|enviar|publicar|empujar)`,
  String.raw`(?<!\p{L})não (?:consegui|pude|foi possível)[^.;:]{0,40}(?:push|enviar|publicar|subir)`,
  String.raw`(?<!\p{L})non (?:ho potuto|sono riuscit[oa] a|è stato possibile)[^.;:]{0,40}(?:push|inviar|pubblicar|caricar)`,
  String.raw`(?:プッシュ|push) ?(?:が|は|を|に)?(?:できません|できな|失敗|拒否)`,
].map((each) => pattern(each, 'u'))

/** Whether a sentence in a language other than English says that a push was not possible. */
export function couldNotPush(plain: string): boolean {
  return (
    /pu|en(?:vi|vo)|subir|hochl|empuj|inviar|carica|プッシュ/.test(plain) && unable.some((each) => each.test(plain))
  )
}
