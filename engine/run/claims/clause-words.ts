import { pattern } from './word-patterns.ts'

/** Words with which clauses in languages other than English say that a file was changed, or merely refer to the file. */

/** Builds a pattern for whole words. `\b` can't be used for that, because it doesn't recognize letters outside ASCII. */
const word = (source: string): RegExp => pattern(String.raw`(?<!\p{L})(?:${source})(?!\p{L})`, 'u')
/** Builds a pattern for words at the beginning of a clause. */
const first = (source: string): RegExp => pattern(String.raw`^(?:${source})(?!\p{L})`, 'u')

const germanDeed =
  '(?:hinzugefügt|ergänzt|angepasst|erweitert|aktualisiert|nachgetragen|nachgezogen|eingetragen|überarbeitet|vermerkt|angelegt|erstellt|umgestellt|umgeschrieben|dokumentiert|korrigiert|festgehalten|vervollständigt|aufgenommen|abgelegt)'
const germanDone = `(?:${germanDeed}|geändert|entfernt|gelöscht|umbenannt|ersetzt|verschoben|bereinigt|repariert|behoben|eingebaut|geschrieben|verfasst|beschrieben|erklärt|erläutert|gestrichen|ausgelagert|herausgezogen|vereinfacht|aufgeräumt|verlinkt|gesetzt|erhöht|gesenkt)`
const germanVerb =
  '(?:passte|ergänzte|änderte|schrieb|fügte|legte|erstellte|aktualisierte|erweiterte|entfernte|ersetzte|korrigierte|verschob|trug|baute|stellte|dokumentierte|löschte|überarbeitete|vermerkte)'

export const german = {
  may: word('ich|wir|wurden?|ist|sind|neue[nrsm]?|und'),
  joint: pattern(
    String.raw`( ?[;:()—–] ?|, und (?!‹)|, (?=au(?:ß|ss)erdem|zusätzlich|ebenso|dazu|danach|dann)|, | und | sowie )`,
  ),
  /** "habe ich" or "wir haben"; also "ich" with "habe" at the end of the clause: "die ich in ‹0› ergänzt habe". */
  own: word('ich (?:[^‹]{0,40} )?habe?|habe? ich|wir haben|haben wir|ich (?:[^.;:]{0,120} )habe$'),
  /** Any participle at the end of a clause. */
  finished: pattern(
    String.raw`(?:^|\s)(?:\p{L}*ge\p{L}{2,}(?:t|en)|(?:be|ver|er|ent|über|unter|um|wieder)\p{L}{2,}(?:t|en)|\p{L}+iert)$`,
    'u',
  ),
  ownVerb: word(`ich ${germanVerb}|${germanVerb} ich`),
  verbFirst: first(germanVerb),
  done: pattern(String.raw`^(?:[^‹]{0,140}| und (?:in )?‹[^‹]{0,140}) ${germanDone}(?!\p{L})`, 'u'),
  doneFirst: first(`(?:${germanDone}) (?:habe|hab) ich`),
  finite: word('wurden?|ist|sind|war|waren|hat|hast|wird|werden|kann|prüft|liest'),
  passive: word('wurden?'),
  deed: pattern(String.raw`^[^‹]{0,140} ${germanDeed}(?!\p{L})`, 'u'),
  /** Words that, after a subject, state that the subject is now in a changed state: "die Übersetzung in ‹0› ist ebenfalls ergänzt". */
  state: pattern(
    String.raw`^ (?:ist|sind) (?:(?:jetzt|nun|nunmehr|auch|ebenfalls|entsprechend|ebenso|damit|passend|gleich)(?: mit)? )+(?:[^‹]{0,60} )?${germanDeed}(?!\p{L})`,
    'u',
  ),
  /** What a list item says about the file at its beginning: "‹0› : zwei Fälle ergänzt". */
  item: pattern(String.raw`^ ?: (?:[^‹.;:]{0,80} )?${germanDeed}(?=$|[.,;])`, 'u'),
  refersNoun: word('nach|laut|seit|mit|bei'),
  newIn: pattern(
    String.raw`(?<!\p{L})neue[nrsm]? (?:abschnitt|eintrag|absatz|test|testfall|tests|zeile|kapitel|hinweis|punkt|schlüssel|option|seite)s? (?:zu [^‹]{1,40} |für [^‹]{1,40} )?(?:in|im|unter)(?: der| dem)? $`,
    'u',
  ),
  /** Words that begin a clause which only explains something. */
  aside: first('dass|weil|denn|wie|als|um|obwohl|sofern|wenn|falls|bevor|nachdem|sobald|wo|welche[rsnm]?|aber nicht'),
  /** A relative clause that ends with its verb: "die in ‹0› ergänzt wurde". */
  endsAside: pattern(String.raw`(?<!\p{L})(?:wurden?|ist|sind|hat|haben|war|waren|worden)[.!]?$`, 'u'),
  refers: pattern(
    String.raw`(?<!\p{L})(?:wie|laut|nach|aus|von|vom|siehe|mit|gemäß|analog zu|entsprechend|über|durch|als|statt|gegen|per|via|bei|vorbild|anhand|aufruf|seit|gegenüber|neben)(?: (?:der|die|das|dem|den|des|datei|in|modul))* (?:‹\d+›(?:,| und) )*$`,
    'u',
  ),
  denied: word(
    'nicht|nichts|kein\\p{L}*|nie|noch|soll\\p{L}*|könnte\\p{L}*|müsste\\p{L}*|muss|müssen|würde\\p{L}*|wäre\\p{L}*|wird|werden|wenn|falls|bevor|bereits|schon|zuletzt|damals|früher|du (?!nicht)|ihr|von dir|letzte\\p{L}*|zurück\\p{L}*|wieder|rückgängig|gestern|commit|version|vorschlagen|kannst|gelesen|angesehen|geprüft, (?:ob|dass)|ob',
  ),
}

const [french, spanish, portuguese, italian] = [
  '(?:ajouté|créé|modifié|mis à jour|mise à jour|corrigé|supprimé|renommé|déplacé|complété|adapté|étendu|documenté|inscrit|noté|consigné|réécrit|remplacé|enrichi|retiré|actualisé|écrit|rédigé|ajusté|changé|décrit|introduit|mentionné)e?s?',
  '(?:añadid|agregad|cread|modificad|actualizad|corregid|eliminad|borrad|renombrad|movid|ampliad|adaptad|documentad|anotad|reemplazad|sustituid|completad|ajustad|cambiad|incluid|incorporad|escrit|reescrit|quitad|puest|descrit|retirad|extendid)[oa]s?',
  '(?:adicionad|criad|modificad|alterad|atualizad|corrigid|removid|apagad|excluíd|renomead|movid|ampliad|estendid|adaptad|ajustad|documentad|anotad|registrad|substituíd|acrescentad|incluíd|completad|escrit|reescrit|descrit)[oa]s?',
  '(?:aggiunt|creat|modificat|aggiornat|corrett|rimoss|eliminat|rinominat|spostat|estes|adattat|documentat|annotat|riscritt|sostituit|completat|inserit|scritt|adeguat|cambiat|descritt|ampliat)[oaie]',
] as const
const done = `(?:${french}|${spanish}|${portuguese}|${italian})`
const spanishOwn =
  '(?:añadí|agregué|creé|modifiqué|actualicé|corregí|eliminé|borré|renombré|moví|amplié|adapté|documenté|anoté|reescribí|reemplacé|sustituí|completé|ajusté|cambié|incluí|incorporé|escribí|quité|puse|extendí|describí|expliqué|simplifiqué|pasé)'
const portugueseOwn =
  '(?:adicionei|criei|modifiquei|alterei|atualizei|corrigi|removi|apaguei|excluí|renomeei|movi|ampliei|estendi|adaptei|ajustei|documentei|anotei|registrei|reescrevi|substituí|acrescentei|incluí|completei|escrevi|coloquei|mudei|troquei|descrevi|expliquei|simplifiquei|passei)'
const spanishSelf =
  '(?:añadió|agregó|actualizó|creó|modificó|amplió|documentó|completó|incluyó|ajustó|corrigió|añadieron|agregaron|actualizaron|crearon|modificaron|ampliaron|completaron)'
/** Infinitives of verbs for a change: "j'en ai profité pour mettre à jour ‹0›". */
const toChange =
  '(?:mettre à jour|ajouter|compléter|supprimer|retirer|corriger|adapter|modifier|renommer|déplacer|documenter|nettoyer|simplifier|ajustar|añadir|actualizar|eliminar|borrar|quitar|corregir|adaptar|ampliar|documentar|modificar|completar|renombrar|simplificar|adicionar|atualizar|remover|apagar|corrigir|aggiornare|aggiungere|rimuovere|eliminare|correggere|adattare|documentare|completare|semplificare)'
const adverbs =
  '(?:(?:aussi|également|bien|ensuite|enfin|puis|también|además|luego|después|también|anche|inoltre|poi|infine|também|depois|ainda|por fim|ora|maintenant|désormais|ahora|agora|ya|tout|\\p{L}+ment|\\p{L}+mente) )*'
const into = "(?:dans|à|au|aux|en|a|al|no|na|nos|nas|em|ao|in|nel|nella|nei|nell'|su|sul|sulla)"

export const romance = {
  may: pattern(
    String.raw`\b(?:j'ai|avons|hemos|ho|abbiamo|ont|han|fue|fueron|foi|foram|ajout|mise?|actualizaci|quedaron|sono|nueva|nuevo|nova|novo|nuova|nuovo|nouvelle|nouveau|[a-z]+(?:ei|aron|ad[oa]s?|id[oa]s?|at[oai])|aggiunt[oaie]|corrett[oaie])(?!\p{L})|[À-ɏ]`,
    'u',
  ),
  joint: pattern(
    String.raw`\s?[;:()—–]\s?|, (?!‹)|,? (?:et|y|e|ed|puis|así como|ainsi que|bem como|nonché|pero|mais|mas|ma) (?!(?:(?:le|la|les|el|los|las|o|os|as|il|l'|in|en|dans|em|no|na|fichier|archivo|arquivo|file) ){0,3}‹)`,
  ),
  own: word(
    `(?:j'ai|j'y ai|nous avons|he(?: dejado)?|hemos|dejé|deixei|ho|abbiamo) ${adverbs}${done}|(?:j'en ai profité pour|he aprovechado para|aproveché para|aproveitei para|ne ho approfittato per) ${toChange}|(?:j'ai pu|he podido|pude|consegui|ho potuto) ${toChange}`,
  ),
  ownVerb: word(`${spanishOwn}|${portugueseOwn}`),
  /** A comma between a file at the beginning of a clause and the verb. */
  afterFile: pattern(
    String.raw`((?:^|[;:.] |(?:et|y|e) )(?:dans|en|em|n[oa]|in|nel|nella|su|à) (?:(?:le|el|il|o|fichier|archivo|arquivo|file) )*‹\d+›), (?=\S+(?: \S+)? )`,
    'gu',
  ),
  /** The words before a file at the beginning of a clause: "dans" in "dans ‹0› j'ai ajouté la limite". */
  beginsIn: pattern(
    String.raw`^(?:en outre |además |inoltre |além disso )?(?:dans|en|em|n[oa]s?|in|nel|nella|su|à|a|al|ao) (?:(?:le|la|el|il|l'|o|fichier|archivo|arquivo|file) )*(?:‹\d+›(?:,| et| y| e) )*$`,
    'u',
  ),
  thereI: pattern(
    `^(?: (?:también|aussi|anche|também))? (?:(?:j'ai|he|hemos|ho|abbiamo) ${adverbs}${done}|${spanishOwn}|${portugueseOwn})(?!\\p{L})`,
    'u',
  ),
  /** A participle at the beginning of a clause that continues the clause before it or has no subject: "Añadida la validación en ‹0›". */
  first: first(`${adverbs}${done}`),
  noun: first(
    "(?:ajouts?|mise à jour|corrections?|modifications?|suppression|création|enrichissement) (?:de|d'\\p{L}+|du|des|dans|à)|(?:actualización|corrección|modificación|creación|adición|ampliación|atualização|correção|modificação|adição|criação|alteração) (?:de|del|en|d[oa]s?|n[oa]s?|em)|(?:aggiornamento|aggiunta|correzione|modifica|creazione) (?:di|del|della|dell'\\p{L}+|in|nel)",
  ),
  passive: word(
    `(?:(?:a|ont) (?:bien |également |aussi )?été|ha sido|han sido|fue|fueron|se ha|se han|ha quedado|quedó|quedaron|foi|foram|ficou|ficaram|è stat[oa]|sono stat[ie]) ${adverbs}${done}|se ${spanishSelf}`,
  ),
  passiveAfter: pattern(
    String.raw`^ (?:(?:a|ont) (?:bien |également |aussi )?été|est (?:maintenant |désormais |aussi |également )+|(?:también |ya )?(?:ha sido|han sido|fue|fueron|se ha|se han|ha quedado|quedó|quedaron)|(?:também )?(?:foi|foram|ficou|ficaram)|è stat[oa]|sono stat[ie]) ?${adverbs}${done}(?!\p{L})(?! (?:par|por|pel[oa]|da|dal|dalla) )`,
    'u',
  ),
  newIn: pattern(
    String.raw`(?<!\p{L})(?:nouvelles?|nouveaux?|nuev[oa]s?|nov[oa]s?|nuov[oaie]) (?:entrée|section|page|ligne|test|paragraphe|entrada|sección|línea|prueba|párrafo|apartado|seção|linha|teste|parágrafo|voce|sezione|riga|paragrafo|pagina|página)s? (?:[^\s‹]+ ){0,4}?${into} (?:le |la |el |los |il |o |fichier |archivo |arquivo |file )*$|(?<!\p{L})(?:entrada|sección|prueba|test|línea|párrafo|apartado|seção|teste|linha|página|sezione|riga|voce) (?:nuev[oa]s?|nov[oa]s?|nuov[oae]) ${into} (?:el |la |o |il )?$`,
    'u',
  ),
  /** What a list item says about the file at its beginning: "‹0› : deux cas ajoutés". */
  item: pattern(String.raw`^ ?: (?:${done}(?!\p{L})|[^‹.;:]{0,80} ${done}(?=$|[.,;]))`, 'u'),
  /** Words that, between a verb and a file, show that the verb is about something other than the file. */
  relative: word(
    "qui|que|qu'\\p{L}*|che|quien|dont|où|selon|comme|d'après|según|como|donde|conforme|onde|secondo|come|dove|pour|para|per|perché|afin|car|porque|puisque|appel\\p{L}*|llamad\\p{L}*|chamad\\p{L}*|chiamat\\p{L}*|usando|utilizando|utilisant|par|por|desde|depuis|depois de|dopo|après|sur la base|a partir|à partir|como en|copia\\p{L}*|vu|visto|vi|lu|leído|lido|letto",
  ),
  /** Words that stand directly before a file and only refer to it. */
  refers: pattern(
    String.raw`(?<!\p{L})(?:de|du|des|d'|del|do|da|dos|das|di|dal|dall'|dalla|della|dell'|par|por|pelo|pela|per|pour|para|avec|con|com|selon|según|como|comme|come|secondo|conforme|via|vers|desde|depuis|contre|contra|sin|sans|sem|senza|que|qui|che|entre|tra)(?: (?:le|la|les|el|los|las|il|o|a|os|as|fichier|archivo|arquivo|file|l'))* ?(?:‹\d+›(?:,| et| y| e) )*$`,
    'u',
  ),
  /** The words between a verb and a file if the file, or a part of it, is the object of the change: "actualicé las traducciones de ‹0›". */
  partOfIt: pattern(
    String.raw`^(?: (?:le|la|les|el|los|las|il|o|a|os|as|i|gli|l'))* ?(?:(?:traductions?|documentation|section|entrée|description|configuration|schéma|mise à jour|modification|correction|création|exemples?|traducciones|documentación|sección|entrada|descripción|configuración|esquema|actualización|corrección|modificación|creación|ejemplos?|traduções|documentação|seção|descrição|configuração|atualização|correção|modificação|alteração|criação|exemplos?|traduzioni|documentazione|sezione|voce|descrizione|configurazione|schema|aggiornamento|correzione|modifica|creazione|esempi|contenu|contenido|conteúdo|contenuto) (?:de|du|des|d'|del|do|da|di|della|dell'))?(?: (?:le|la|les|el|los|las|il|o|a|fichier|archivo|arquivo|file|l'))* ?$`,
    'u',
  ),
  /** Words that begin a clause which only explains something. */
  aside: first(
    "qui|que|qu'\\p{L}*|che|dont|car|parce|afin|pour|si|quand|lorsque|où|comme|selon|d'après|porque|para|cuando|como|donde|según|ya que|pois|quando|onde|conforme|perché|per|come|dove|secondo|poiché|aunque|bien que|embora|anche se",
  ),
  denied: word(
    "pas|ne|n'\\p{L}*|jamais|sans|si|quand|déjà|avant|tu|vous|annulé|restauré|serait|sería|seria|sarebbe|faudrait|devrait|reste|à faire|no (?:he|se|ha|han|hay|es|está|fue|lo|la|los|las|\\p{L}+é)|nunca|sin|cuando|ya había|antes|hay que|falta\\p{L}*|pendiente|por hacer|debería\\p{L}*|puedes|revertid\\p{L}*|não|sem|já|você|revert\\p{L}*|non|mai|senza|già|prima|resta|da fare|ripristinat\\p{L}*|commit|version|versión|versão|versione|hier|ayer|ontem|ieri|semaine|semana|settimana|20\\d\\d|not|should|would|could",
  ),
}
