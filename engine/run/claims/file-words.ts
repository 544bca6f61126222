import { pattern } from './word-patterns.ts'
/** English phrases about changed files, as patterns for plain text in which marks such as `‹0›` stand for files. */

const verbs =
  'add|chang|updat|modif(?:y|i)|edit|creat|delet|remov|renam|refactor|patch|mov|replac|adjust|extend|introduc|correct|fix|mend|repair|clean|rework|simplif(?:y|i)|migrat|tweak|reformat|format|bump|increas|rais|lower|reduc|dropp|wir(?=ed)|hook|register|document|switch|convert|stripp|refresh|regenerat|generat|typ|implement|extract|inlin|port|revers|swapp|pinn|upgrad|downgrad|adapt|align|insert|append|prepend|configur|enabl|disabl|translat|appl(?:y|i)|rebuil[dt]|sav|touch|rebas|excis|expand|tighten|relax|hoist|tid(?:y|i)|polish|scrubb|initiali[sz]|declar|defin|expos|export|wrapp|mirror|duplicat|copi|split|merg|point|rout|cover|fill|complet|rearrang|reorgani[sz]|restructur|optimi[sz]|harden|patch|amend|annotat|comment|retir|obsolet|plugg|scaffold|templat|rewir|relocat|consolidat|unif(?:y|i)|bundl|pull|factor|overhaul|moderni[sz]|revis|synchroni[sz]|loosen|set up|mark|list|mention|describ|credit|shorten|trimm|clarif(?:y|i)|modulari[sz]|us'
const irregular =
  'wrote|turned (?:on|off|into)|retired|written|rewrote|rewritten|put|set|cut|split|built|rebuilt|made|took|struck|stricken|gave|got rid of|brought|done|redone|redid|did|went|hid|threw|thrown|drew|taught|swept|gone|bound|left out|given'

/** Verbs that can also describe code: "the value set in a.ts". They count only after words such as "I" or "was", or at the beginning of a clause. */
const describing =
  'set|defined?|declar|list|describ|document|mention|export|us|cover|mark|expos|implement|typ|configur|point|put|made|done|built|written|generat|given|bound|register|pinn|found|creat|call'
const agentBefore =
  "(?:^|\\bi |\\bi've |\\bwe |\\bwe've |\\band |[,:;(] |\\bwas |\\bwere |\\bbeen |\\bis |\\bare |\\balso |\\bnow |\\bthen |\\bjust |\\bit |\\bhave |\\bhas |\\bgot |\\bonly |\\ball |\\bthe file |\\w+ly |✅ |\\b(?:i|we) (?:did|have|had) )"

/** A past-tense verb that claims a change. */
export const changed = pattern(
  `\\b(?:re-?|de)?(?!(?:${describing})e?d?\\b)(?:(?:${verbs})(?:ed|d)|${irregular})\\b|${agentBefore}(?:re-?)?(?:${describing})(?:ed|d)?\\b`,
)
/** Words that aren't in the past tense, but show that the writer made a change: "I use", "this adds", "by updating". */
export const presentChange = pattern(
  String.raw`\bi (?:use|export|call|put|set|add|import|document|handle|have|parse|pass|split|keep)\b|\bthis (?:adds|changes|updates|moves|removes|fixes|renames)\b|\b(?:by|of|to|for|includ\w+|and) (?:updating|adding|changing|editing|moving|reformat(?:ting)?|removing|extending|creating|rewriting|patching)\b|\bliberty to\b`,
)

/** Words that, before a file's name in the same clause, state that the file wasn't changed, or hasn't been changed yet. */
export const exemptBefore = pattern(
  String.raw`\b(?:not|never|no|nor|neither|nothing|none|cannot|\w+n't|without|untouched|unchanged|unaffected|alone|already|still|existing|looked|look|read|reads|reviewed|examined|inspected|opened|checked|see|saw|found|noticed|studied|considered|should|would|could|will|shall|might|may|must|can|if|once|unless|until|when|please|suggest\w*|recommend\w*|propos\w+|plan|next|prefer|consider|remember|worth|try|tried|ran|run|re-?ran|re-?run|executed|compared|verified|validated|linted|profiled|measured|failed|denied|refused|whether|i'd|you'd|i'll|you'll|had been|restored|reverted|undid|unlike|upstream|in that commit|based|open|would|instead of|used the|replace|restored|state before|rolled back|you (?:said|wrote|asked|noted|told|mention\w*|require\w*)|as (?:described|documented|stated|required|requested|agreed|explained))\b|\bcopied from [^‹]{1,60} in $|^introduced in $|\b(?:(?<!as )you(?: also| had| then| originally)* (?:wanted|asked for|requested|hoped|expected)|(?<!as )the (?:ticket|issue|task|request|brief|story|card)(?: also)? (?:asks|asked|wants|wanted|calls|called) (?:for|to|me|us|that|the|it)|(?:was|were|is|are)(?: still| also| originally)* to (?:be|have been|go|move|come)|(?:meant|supposed|due|planned|intended) to)\b(?![^‹]{0,200}\b(?:i|i've|we|we've)\b)`,
)
/** Words that, after a file's name in the same clause, state that the file wasn't changed. */
export const exemptAfter = pattern(
  String.raw`^ as (?:an? |the )?(?:\w+ )?(?:model|templates?|example|reference|guide|basis|blueprint|baseline|starting point)\b|^[^‹]*?\b(?:untouched|unchanged|unaffected|unmodified|as (?:is|it (?:is|was)|they are)|alone|already|still|(?:is|are|was|were|does|do|did|has|have|needs?|needed|could|would|should) not|(?:is|was|are|were|does|do|did|has|have|need|could|would|should|must)n't|must|should|would|could|needs? (?:no|to)|needed no|no edit|remains?|stays?|identical|shows?|last (?:changed|year|week|touched)|in (?:january|february|march|april|june|july|august|september|october|november|december)|since (?:\d|v\d|last)|years? ago|was (?:changed|written|last|generated|removed|added) (?:by|in (?:this|that|the last) commit)|gets?|permission|without changes|is fine|in (?:the |a |an )?(?:last|previous|earlier|recent|later) (?:release|version|commit|refactor\w*|pr)|by (?:a|an|the) (?:later|earlier|previous) commit|(?<!no longer )exists\b|i (?:couldn't|could not|left|can't))\b`,
)
/** Words that follow a file and quote it: "the spec in a.md says error". What comes next is what the file says, not what was done to it. */
export const speaks = pattern(
  String.raw`^(?: only| just| also| clearly| \w+ly)? (?:says|states|said|stated|specifies|specified|prescribes|demands|requires|required|mandates|promises|claims|reads|calls (?:for|it|this|that)|asks (?:for|that)|wants|expects|insists|warns|disagrees|agrees)\b(?! (?:now|so now)\b)(?![^.;]{0,80} (?:now|new)\b)`,
)
/** Words with "still" that follow a file's name but aren't about the file: "deleted a.ts, the build still succeeds". */
export const stillWell = pattern(
  String.raw`,? (?:and )?(?:the |everything |it |all )?(?:\w+ ){0,2}still (?:succeeds?|pass\w*|works?|builds?|compiles?|runs?|green|loads?|renders?|fine|holds?)\b.*`,
)
/** Words for a change that was reverted, or that was made earlier or by somebody else. */
export const takenBack = pattern(
  String.raw`\b(?:took (?:it|that|this|them) back|taken (?:it |that |them )?back|undid|removed it again|deleted (?:it|them) (?:again|afterwards)|reverted (?:it|that|them)|rolled back|last year|last week|yesterday|since deleted|previous agent|you (?:changed|added|moved|edited|removed)|for an experiment|in the diff|in this diff|throwaway|at first|initially)\b`,
)
/** Words that precede a file and make it an exception: "nothing is touched, except a.ts". */
export const exceptFor = pattern(
  String.raw`\b(?:untouched|unchanged|nothing|no other|\w+n't (?:change|touch|edit|modify)\w*)\b.*\b(?:except|apart from|other than|besides|but)(?: for| in| that)? $`,
)
/** Words before a file that is only referred to, for example as a source, a model or a reason: "like", "using", "see". */
export const referring = pattern(
  String.raw`\b(?:like|via|using|by|by (?!updat|chang|add|edit|mov|remov|creat|rewrit|delet|patch|extend|adjust)\w+ing|per|than|about|against|on|with|for|of|see|e\.g\.?|such as|for example|matching|mirrors?|mirroring|follow(?:s|ing)|import(?:s|ing|ed)?|its types from|calls?|from|through|beside|besides|next to|near|compared (?:to|with)|according to|agrees with|due to|because of|caused by|that|which|whose|where|since|because|after|before|until|while|instead of|rather than|so that|reads|points? to|call to|callers? to|over to|switched to|as in|what|covered by|open|in order to|compile|loads)(?: (?:the|a|an|our|its|your|this|those|these|each|both|new|old|existing|original|helper|pattern|call|cases|definition|file|one|ones|already|what|in|of|case|example|module|function)){0,4} $`,
)
/** Verbs after which "from" introduces a changed file. */
export const takingFrom = pattern(
  String.raw`\b(?:moved|removed|dropped|deleted|stripped|extracted|struck|cut|took|scrubbed|renamed|pulled|split|migrated|excised|hoisted|switched|purged)\b`,
)

/** Words that, directly before a file's name, state that the file is new, or that the work was done in it. */
export const arriving = pattern(
  String.raw`\b(?:new(?: \w+){0,3}|there is now an?|there's now an?|new (?:file|module|class|spec|test)s?:?|lives? (?:now )?in|now lives? in|resides? in|went (?:in|into|to)|lives? in (?:their|its) own file,?|(?:fix|change|changes|implementation|option|logic|work|edit|code|helper|rest|everything|all of it|it all|patch|handler|feature) (?:itself )?(?:is|are|lives?|sits?|landed|went) (?:now |all )?(?:in|into|at|under)|in place at|(?:the )?same (?:thing |change |treatment |fix |edit |way )?(?:in|to|for)|only(?: file)? (?:i |that )?\w* ?(?:is|was)?:?|gone :|so (?:does|do|is|are|has|have) [^,;]{0,30}(?:in|of)|an? \w+(?: \w+){0,3} (?:is|sits|lives) (?:now )?(?:at|in|under)|there(?:'s| is| are) (?:now |also )?an? new(?: \w+){1,3},|got rid of|touched :|updated :|changed :) (?:the |a |an |file |files )?$`,
)
/** Words that precede a file and only say what it contains: "which is defined in". */
export const related = pattern(
  String.raw`\b(?:that|which|what) (?:is|are|was|were) (?:\w+ly )?(?:defined|declared|implemented|kept|described|documented|listed|stored|configured|exported|used|done) (?:in|by|from|at|under) (?:the )?$`,
)
/** A list item that consists of a part of the work, the word "in" and a file: "retry logic in a.ts". */
export const partInside = pattern(
  String.raw`^(?!(?:introduced|found|seen|reported|caused|located|happens|occurs)\b)[^‹]{1,40} in ‹(\d+)›$`,
)
/** A list item that names a part of the work and its file: "migration b.py". */
export const partAtEnd = pattern(
  String.raw`^(?:(?!(?:see|like|unlike|from|via|with|without|using|per|than|run|runs|ran|reads?|same|compare|by|uses?|calls?|imports?|of|for|about|as|to|on|not|no|only|old|check|checks|checked|read|looked|in|under|near|next|inside|beside|covered|example|model|consider|try|please|you|your|open|opens|look|watch|review|start|load|launch|execute|visit|call|go|inspect|feed|pass|relevant|related|main|entry)\b)[\w'-]+,? ){1,4}‹(\d+)›(?:$|[.,;]$|:| [–—(-])`,
)
/** A list item that names its subject, and the file in brackets: "Docs (a.md): …" */
export const inBrackets = pattern(String.raw`^[^‹(:]{1,40} \(‹(\d+)›\)(?:$|:| [–—-])`)
/** A fragment that names a part of the work and its file: "tests in b.ts". */
export const fragment = pattern(
  String.raw`^(?:and )?(?:the |an? |its |new |with )*(?:\w+ )?(?:tests?|specs?|docs?|documentation|code|types?|styles?|helpers?|migrations?|translations?|config\w*|fixtures?|examples?|implementation|changes?) (?:in|under|at) ‹\d+›[.;]?$`,
)
/** A colon and a deed after a file's name at the beginning of a sentence: ": dropped the option" in "a.ts: dropped the option". */
export const labelledDeed = pattern(
  `^ ?: (?:(?:${verbs})(?:ed|d)|${irregular})\\b(?! (?:by|in|from|at|each|when|on)\\b)`,
)
/** Words that, directly before a document's name, state that something was written in the document. */
export const recordedIn = pattern(
  String.raw`\b(?:(?:i|we)(?:'ve| have)? (?:\w+ly |also |then )?|and (?:also )?|has been (?:\w+ly |also )?|is now (?:also )?)(?:recorded|logged|jotted|entered|summari[sz]ed|announced|left (?=(?:you )?an? (?:\w+ )?(?:note|line|entry|word|paragraph|section|mention)\b)|(?:noted|explained|captured|flagged)(?= (?:this|it|that|them|both|the (?:change|fix|removal|rename|upgrade|new \w+|breaking \w+|break))\b(?! (?:says|is|was)\b))|noted(?= (?:in|under|at)\b)|(?:documented|described)(?! (?:that|where)\b)(?![^‹;:]{0,80}\b(?:like|similar|same|matching|instead|rather|than|found|listed|already|linked|from)\b))\b(?! that\b)[^‹;:]{0,80}\b(?:in|under|to|into|at|of)(?: the| our| your)? $`,
)

/**
 * The text before a document's name in a statement of what was documented where. In "I documented it: a.md lists the keys, and b.md …", this is "I
 * documented it: " for a.md, and everything up to "and " for b.md.
 */
export const documenting = pattern(
  String.raw`\b(?:(?:i|we)(?:'ve| have)? (?:also |now )?|(?:is|are|has been) (?:now |also )?)(?:documented|described|explained|written up)\b[^.;:]{0,60}: (?:[^.;:]{0,80},? and )?(?:the )?$`,
)

/** Words before the name of a document, if "entry" or a similar word follows it: "there is now a changelog entry". */
export const withEntry = pattern(
  String.raw`\b(?:there's|there is|with|plus|including|got|has) (?:now |also )?an? (?:new |short |matching )?$`,
)
/** Words that, directly after a file's name, state that the file was changed. */
export const followed = pattern(
  `^\\)?,?(?: file| now| also| too| both| itself| all| just| simply| has| have| was| were| is| are| been| being| then| therefore| \\w+ly|,? which)*(?: (?:now )?(?:re)?(?:(?:${verbs})(?:ed|d)|${irregular})\\b| (?:is|are) (?:no more|gone|new|history)\\b| (?:no longer|got|gets|gained|lost|follows? suit|followed suit|had to follow)\\b| has an? \\w+ (?:now|for)| (?:gone|deleted|added|new|fixed|changed)\\b)`,
)
/** A passive in the present tense, which describes something that happens repeatedly. */
export const happens = pattern(
  String.raw`^(?: (?!so|that|which|and|where)\w+){0,2} (?:is|are|gets?) (?:\w+ly |then |only )?(?:generated|created|written|built|copied|used|reused|imported|shared|kept|read|covered|merged|generat\w+|rendered|produced|loaded|put|made|set|saved|exported|bundled|compiled|served|mounted|called|handled|listed|described|documented|defined|ignored|checked)\b(?! now)`,
)
/** Words such as ", which I introduced" after the name of a file. */
export const whichI = pattern(
  String.raw`^\)?,? (?:which|that) i(?:'ve| have)? (?:\w+ly |also |just |newly )?(?:wrote|created|added|changed|made|introduced|updated|edited|put|extended|rewrote|adapted|adjusted|moved|removed|deleted|renamed)\b`,
)
/** Words that, after a file's name, state that the file now behaves differently: "a.ts now loads it", "a.ts handles it from now on". */
export const differsNow = pattern(
  String.raw`^(?: (?!now )[\w'"-]+){0,3}? now (?!in |on |at |also in )(?:\w+ly |just |only |also )?(?!works?\b|pass|fine|compiles?|builds?|happy|correct|green|succeeds?|fails?|valid|redundant|unused|obsolete|unnecessary)\w+|^ [^,.;]{2,60} (?:from now on|now|these days)(?:$|[,.;])`,
)

/** Words that, after a file's name, state that the file has something new: "a.ts exports a new helper". */
export const hasNew = pattern(
  String.raw`^(?: (?:and|,) ‹\d+›)* (?:now )?(?:lists?|has|have|contains?|includes?|defines?|exports?|documents?|mentions?|describes?|declares?|carry|carries|holds?|exposes?) (?:the |an? |its |both |two |three )?new\b`,
)

/** Headings and lines above a list of changed files. */
export const announcing = pattern(
  String.raw`\b(?:changed|changes|modified|updated|edited|created|added|touched|new files?|removed|deleted|what i did|what's new|done|diff|summary of (?:the )?(?:changes|edits)|edits|wired up|implemented|work|fix|fixed|rewritten|i did|ready|remedy|carried out|saved|converted|renamed|migrated|moved)\b`,
)
/** Headings above a list of files that were not changed, such as "Findings" or "Still to do". */
export const notAnnouncing = pattern(
  String.raw`\b(?:plan|should|suggest\w*|recommend\w*|todo|still to do|next|would|could|review|reviewed|steps|reproduce|remarks?|feedback|nits?|concerns?|findings?|unchanged|consider|propos\w+|needed|required|not|untouched|read|looked|relevant|related|affected|examined|does|works|overview|remains|open|run|ran|what each|structure|options?|idea|problems?|issues?|observations?|causes?)\b`,
)
/** The beginning of a list item that states that its files are new, changed or gone: "a.ts (new)", "b.ts: removed". */
export const arrivesAsItem = pattern(
  `^(?:‹\\d+›(?:,? (?:and|&) |, ?)?)+(?: \\((?:new|added|created|deleted|removed)\\)| ?[:–—-] (?:(?:an? |the |brand-)?(?:new|added|creates?|created|rewritten|renamed|deleted|removed|extended|updated)\\b(?! (?:by|in|from|at|each|when|on)\\b)))`,
)
/** Words that, in a list item, state or suggest that the item doesn't claim a change to its file. */
export const exemptItem = pattern(
  String.raw`\b(?:unchanged|untouched|not|no (?:change|edit|need)s?|\w+n't|nothing|already|still|read|reviewed|only looked|skipped|left|as is|existing|should|would|could|needs?|suggest\w*|todo|see|later|denied|unused variable|missing|line \d+)\b|❌|⚠|✗|✘`,
  'u',
)
/** Words that, after "in a.ts", state that something was changed in the file. */
export const doneThere = pattern(
  `^,? (?:i|i've|i have|we|we've) (?:\\w+ly |now |also |just )?(?:(?:re)?(?:${verbs})(?:ed|d)|${irregular}|use|export|call|put|set|add|keep|handle|import)\\b|^,? [^,.;]{0,60}\\b(?:is now|are now|now|was|were|has been|have been) (?:\\w+ly )?(?:(?:${verbs})(?:ed|d)|${irregular})\\b`,
)
/** Words that claim a change without naming the file again: "…, so I fixed that too". */
export const fixedIt = pattern(
  String.raw`\bi(?:'ve| have)? (?:also |just |\w+ly )?(?:fixed|changed|updated|adjusted|rewrote|reworked|patched|corrected|edited|did) (?:that|it|this|both|them|so|the same)\b`,
)
/**
 * The beginning of a statement that a bug was found and fixed, up to the file that contained it: "I found the crash and fixed it: the loop in". Such
 * a statement counts as a claim if the run changed nothing.
 */
export const foundAndFixed = pattern(
  String.raw`\b(?:i|we)(?:'ve| have)? (?:found|located|tracked down|identified|traced|reproduced)\b[^.;:‹]{0,80}\band (?:have )?(?:also )?(?:fixed|corrected|repaired|resolved) (?:it|this|that|the (?:bug|cause|problem|issue|crash))\b ?: [^.;]{0,60}\bin $`,
)
/** A label for files that were not changed. */
export const exemptLabel = pattern(
  String.raw`\b(?:unchanged|untouched|unmodified|not (?:touched|changed)|read|reviewed|looked at|skipped|left alone|existing|see also|next|todo|later|missing)(?: \w+){0,2}(?: ?:| [–—-]) [^:]*$`,
)
/** The label of a list item that explains or refers to something: "Cause – a.ts reads too much", "Callers: a.ts". */
export const otherLabel = pattern(
  String.raw`^(?:root |likely |possible |known |manual |what |an? |the )?(?:causes?|problems?|symptoms?|reasons?|background|context|where|why|who|how|open|questions?|verification|verified|checked|tested|check|callers?|usages?|used|risks?|limits?|limitations?|caveats?|notes?|related|existing|inputs?|sources?|references?|evidence|origin|found|bugs?|issues?|reproduc\w+|later|next|follow-?ups?|unchanged|untouched|not|still|see|suggestions?|ideas?|alternatives?|compare|based|run|tried|like)\b[^‹:–—]{0,30}(?: ?:| [–—-]) [^‹]{0,60}‹`,
)
/** Words that, after a file's name, state that the file needed no change: "it is described in a.md, so nothing was needed there". */
export const noneNeeded = pattern(
  String.raw`^[^‹;.]{0,40}, (?:so|and|which is why|therefore) (?:nothing|no (?:\w+ )?(?:changes?|edits?|updates?)|there (?:was|is|were) (?:nothing|no))\b|^[^‹;.]{0,40}, which (?:needs|needed|requires|required|has|had) (?:no (?:\w+ )?(?:changes?|edits?|updates?)\b|nothing\b|not to)`,
)
/** Words that only point the reader to a file. */
export const showing = pattern(String.raw`\byou(?:'ll| will| can| may)(?: now| also)? (?:find|see|notice)\b`, 'g')
/** A line that consists of a label and files: "Docs: a.md." */
export const labelled = pattern(String.raw`^[\w ]{2,24}: (?:‹\d+›(?:, | and )?)+\.?$`)

const joint = String.raw`(?:,? (?:and|&|as well as|plus|along with)(?: (?:from|in|to|the|also|an?|its|in the|new)){0,2} |, ?| ?/ ?| ?\+ ?)`
/** Files in one enumeration: a statement about one applies to all. */
export const chain = pattern(String.raw`‹\d+›(?:${joint}‹\d+›)+`, 'g')
