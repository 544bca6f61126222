import { pattern } from './word-patterns.ts'
/** English phrases about unchanged files, as patterns for plain text in which marks such as `‹0›` stand for files. */

const others = String.raw`(?:‹\d+›(?:,? (?:and|or|nor)|,) )*`
const change =
  '(?:touch|chang|modif|edit|alter|writ|amend)(?:e|y|ing|ed|ied)?|made (?:any |no )?changes? (?:to|in)|chosen to change'
const as = String.raw`(?:untouched|unchanged|unmodified|unedited|not (?:touched|changed|modified|edited)|(?:just |exactly )?as (?:is\b|it (?:was|is)\b(?! now)|they (?:were|are)\b(?! now)|before\b|you (?:left|wrote|have|had) (?:it|them)|found)|the way (?:it was|they were|you (?:left|wrote))|in peace|byte-identical|byte for byte)`

/** Phrases that come directly before the name of a file, and say that the file was not changed. */
export const leftBefore = pattern(
  String.raw`\b(?:(?:did not|didn't|have not|haven't|never|without|avoided|refrained from|nor did i) (?:\w+ )?(?:${change})|(?:stayed|kept|steered|staying|keeping|steering|stay|keep) (?:well )?(?:away|out|clear|off)(?: (?:from|of))?|(?:kept|keeping) my (?:hands|fingers) (?:off|out of|away from)|hands off|made no (?:changes?|edits?) (?:to|in|under|below)|no (?:changes?|edits?) (?:to|in|under|below|were made (?:to|in))|only (?:read|looked at|looked into|inspected|consulted)|nothing (?:in|under|below|inside) ) ?(?:the |your |both |either |file |folder |directory |any of |anything (?:in|under|below|inside) )*${others}$`,
)
/** Words that precede a file, such as "left". They count only if a match of {@link leftAlone} follows the file. */
export const left = pattern(
  String.raw`\b(?:left|leaving|leave|kept|keeping|keep) (?:the |your |both |either |file |folder )*${others}$`,
)
/** Words that follow a file, such as "alone". They count only if a match of {@link left} precedes the file. */
export const leftAlone = pattern(
  String.raw`^(?:,? (?:and|or) (?:‹\d+›|(?:the |its |all )?[\w-]+(?: [\w-]+)?))*?(?: \w+ly)? (?:alone|${as})`,
)
/** Words that, after a file's name, state that the file was not changed. */
export const leftAfter = pattern(
  String.raw`^(?: itself| file| folder| directory)?(?:,? (?:and|or) ‹\d+›)*(?: (?:is|are|was|were|remains?|remained|stays?|stayed|has been|have been)(?: still| left| all| both| completely| entirely| therefore| \w+ly)* (?:${as})| (?:was not|wasn't|were not|weren't|has not been|hasn't been) (?:touched|changed|modified|edited|altered)|,? \(?(?:untouched|unchanged|unmodified|not touched|not changed)\)?(?=$|[.,;)])|,? i(?:'ve| have)? (?:deliberately |intentionally |\w+ly )?(?:only (?:read|looked at)|left (?:it )?(?:alone|untouched|unchanged|as (?:is|it (?:is|was)))|kept (?:it )?(?:untouched|unchanged|as (?:is|it (?:is|was)))|(?:did not|didn't) (?:touch|change|edit|modify)|(?:have not|haven't|not|never) (?:touched|changed|edited|modified))(?=$|[.,;)]| (?:at all|because|since|as)\b)| needed no (?:changes?|edits?)(?=$|[.,;)])| still (?:has|have|holds?|carries|carry) every (?:single )?(?:byte|character|line|letter|comma)\b)`,
)
/** Words that precede a folder, as in "nothing in src". They count only if a match of {@link wasTouched} follows the folder. */
export const nothingIn = pattern(
  String.raw`\b(?:nothing|no (?:\w+ )?(?:files?|code)) (?:in|under|below|inside|within) (?:the |your )?$`,
)
/** Words that follow a folder, as in "src was touched". They count only if a match of {@link nothingIn} precedes the folder. */
export const wasTouched = pattern(
  String.raw`^(?: folder| directory| package)? (?:is |was |were |has been |have been |got |had to be )?(?:touched|changed|modified|edited|altered)(?=$|[.,;!)—–])`,
)
/** What may follow a file if a match of {@link leftBefore} precedes it. */
export const endsThere = pattern(
  String.raw`^(?:[,.;)—–]|:(?= |$)|$| (?:itself|at all|because|since|as|and|or|nor|either|altogether|so|file|folder|directory|completely|entirely|while|but|though|alone|for this|per|\())`,
)
/** Words that precede a file, such as "in", and show that a claim is about a part of the file, or about something else. */
export const partOf = pattern(
  String.raw`\b(?:in|of|from|inside|to|for|by|at|with|on|like|as|except|besides|but|than|only|between|via|through|around)(?: the| your| for)? ${others}$`,
)
/** Words that limit a claim: they make an exception, or refer to another time, to a condition or wish, or to something other than files. */
export const limited = pattern(
  String.raw`\b(?:except|apart from|aside from|other than|besides|beyond|otherwise|more than|save for|if|unless|until|should|would|could|can|will|must|please|before|previously|initially|at first|so far|used to|for now|yet|you (?:asked|wanted|said) (?:me )?to (?!not|leave|keep|stay)|behaviou?r|semantics|output|api|interface|signatures?|half|most|apart|first|anymore|any more|again|you'd|since v|since \d|in git|reverted|restored|stash\w*|back)\b`,
)

/** A claim that nothing was changed. */
export const nothingChanged = pattern(
  String.raw`\b(?:i |and |just looked, |, |^)(?:have |i've )?(?:changed|modified|edited|touched) (?:nothing|no (?:files?|code|source|lines?))(?=$|[.,;!)—–]| (?:at all|in (?:the|your|this) (?:repo\w*|code\w*|project|tree|working tree|checkout|workspace))(?=$|[.,;!)—–]))|\b(?:i )?(?:made|have made|i've made) no (?:changes|edits|modifications)(?=$|[.,;!)—–]| (?:to (?:the |your |any )?(?:code|files?|repo\w*|working tree|project|code ?base)|at all|whatsoever))|\bno (?:code |file )?(?:changes|edits) (?:from|on|by) (?:my|our) (?:side|end|part)\b|\bno (?:files?|changes) (?:were|was|is|are|have been|has been) (?:changed|made|modified|edited|touched|written)(?=$|[.,;!)—–]| at all| and\b)|\bleft (?:everything|the (?:code|repo\w*|working tree|tree|code ?base|project)) (?:untouched|unchanged|alone|(?:exactly |just )?as (?:it (?:is|was)|you|is|i found))|(?:^|, |\b(?:and|so) )(?:the |your )?(?:code|repo\w*|working tree|tree|code ?base|project) is (?:exactly )?(?:untouched|unchanged|as you left it|as it was)(?=$|[.,;!)—–])|\b(?:didn't|did not|haven't|have not) (?:change|touch|modify|edit|changed|touched|modified|edited) (?:anything|any files?|a (?:single )?(?:line|file)|a thing|the code)(?=$|[.,;!)—–]| at all| whatsoever)|\b(?:didn't|did not|haven't|have not) (?:make|made|apply|applied) any (?:code |file )?(?:changes?|edits?|modifications?)(?=$|[.,;!)—–]| to (?:the |your )?(?:code|files?|repo\w*|working tree|project|code ?base)| at all| whatsoever)|\bnot (?:a|one)(?: single)? (?:keystroke|byte|character|line|letter|comma|file) (?:(?:was|is|has been|got) )?(?:spent|changed|touched|written|moved|altered|edited|modified)(?=$|[.,;!)—–]| (?:in|by|at) )|\bread-only (?:review|analysis|investigation|look)\b`,
)

/** A claim that all of the run's changes were undone. */
export const putAllBack = pattern(
  String.raw`\b(?:i|i've|we|we've|and|then)(?: have| then| also)* (?:put|took|rolled|backed|reverted|undid|undone|restored|reset|discarded) (?:everything|all of (?:it|that|this)|it all|(?:all )?(?:my|the|those|these) (?:changes|edits|attempts?)|the (?:working )?(?:tree|checkout|copy)|the repo\w*)(?: back| out| again)?(?=$|[.,;!)—–]| (?:and|so|to (?:the|its) (?:state|original)|to how|afterwards))`,
)

/** A claim that nothing is left of the run's own changes. */
export const noneLeft = pattern(
  String.raw`\b(?:no|zero|none of (?:the|my)) (?:code |file )?(?:changes|edits|modifications) (?:are |were )?(?:left|remain(?:s|ing)?)(?: behind)?(?=$|[.,;!)—–]| (?:in|on) (?:the|your|this) (?:repo\w*|code\w*|project|tree|working tree|checkout|workspace|files?)\b)|\b(?:the |your )(?:repo\w*|working tree|tree|code ?base|project|workspace|checkout) is (?:exactly |now )?(?:back )?(?:to|in) (?:its|the) (?:original|initial) state\b|\b(?:so|and) the (?:git )?(?:diff|status) is (?:now |again )*(?:empty|clean)(?: again)?(?=$|[.,;!)—–])|^(?:the |my )?git (?:diff|status) is (?:now |again )*(?:empty|clean)(?: again)?(?=$|[.,;!)—–])`,
)
/** A claim that the run's own changes were reverted. */
export const tookBack = pattern(
  String.raw`\b(?:reverted|undid|undone|rolled back|took back|discarded|backed out|removed) (?:all )?(?:of )?my (?:own |test |debug\w* |experimental |temporary )?(?:changes?|edits?|experiments?|modifications?)(?: again| afterwards)?(?=$|[.!)—–])`,
)
/** A claim that the run's own changes to one file were reverted. The first or the second capture group is the number of the file's mark. */
export const tookBackIn = pattern(
  String.raw`\b(?:reverted|undid|undone|rolled back|took back|discarded|backed out) (?:all )?(?:of )?my (?:own |test |debug\w* |experimental |temporary )?(?:changes?|edits?|experiments?|modifications?) (?:in|to) ‹(\d+)›(?: again| afterwards)?(?=$|[.!;)—–])|‹(\d+)› is (?:now |again |therefore )*(?:back (?:to|at|in) (?:what|how|the way) it was|back (?:to|in|at) its (?:original|initial|old|previous|former) (?:state|form|content\w*|version|value)|(?:byte-)?identical to before|exactly (?:as|the same as) (?:it was )?before|the same as before)(?=$|[.,!;)—–])`,
)
/** A claim that something was removed again, so that the working tree is clean. */
export const tookOutAll = pattern(
  String.raw`\b(?:taken|took|removed|reverted|undid|undone|backed|cleaned|rolled|restored|discarded|deleted)\b.{0,60}\b(?:the |your )(?:working (?:tree|copy|directory)|tree|checkout|repo\w*) is (?:now )?clean(?: again| now)?(?=$|[.,;!)—–])`,
)
/** Words such as "except" or "uncommitted", which limit a claim that changes were reverted or that none are left. */
export const leftSome = pattern(
  String.raw`\b(?:if|unless|until|should|would|could|will|apart|except|besides|other than|beyond|uncommitted|commit\w*|stag\w+|pull request|review\w*|first|before|earlier)\b`,
)

const done = '(?:touched|changed|modified|edited|altered|needed (?:changing|editing|touching|a change)|had to change)'
/** Words that report a change. */
export const didChange = pattern(
  String.raw`\b(?:i|i've|i have|we)(?: also| then| now| just| only| \w+ly)? (?:fixed|added|wrote|created|updated|moved|removed|deleted|renamed|replaced|rewrote|extended|introduced|implemented|refactored|extracted|put|adapted|adjusted|switched|bumped)\b|^(?:fixed|added|wrote|created|updated|moved|removed|deleted|renamed|replaced|rewrote|extended|introduced|implemented|refactored)\b|\b(?:i|i've|i have|we)(?: also| then| now| just| only| \w+ly)? (?:changed|edited|modified)\b(?! (?:nothing|no|none)\b)`,
)

/** A claim that no files were changed except those that the message names. */
export const nothingElse = pattern(
  String.raw`\b(?:nothing|no (?:other|further|additional|second|more)(?: \w+)? (?:files?|sources?|modules?|parts?)(?: (?:of|in) (?:the|this|your) \w+)?)(?: (?:else|other|beyond|besides|outside|apart from)(?: (?:that|it|them|this|of (?:it|that|them)|‹\d+›))?)?(?: (?:in|of) the (?:repo\w*|tree|project|code ?base))? (?:is |was |were |are |has been |have been |had to be |got )?${done}|\b(?:touched|changed|modified|edited|altered) nothing (?:else|more|besides|other)\b|\bnothing (?:else|more)(?: (?:is|was|has been))? (?:${done}|in (?:the|this) (?:diff|commit|change))|\b(?:did not|didn't|haven't|have not|without|never) (?:\w+ )?(?:touch|chang|modif|edit|alter)\w* (?:anything else|any(?:thing)? other|any other|another file|other files|any more files|a second file)|\b(?:that|this|the|one|a single|‹\d+›)(?: one| single)?(?: file)?,? (?:and )?nothing (?:more|else|besides)\b|\b(?:a |one )?(?:one|single)[- ]file (?:change|diff|fix|patch|commit|edit|pr)\b|\b(?:only|just|exactly) (?:a single|one) file (?:is |was |has been |has |had to )?(?:${done}|change|in (?:the|this) (?:diff|commit|change|patch))|\b(?:everything else|all else|the rest(?: of (?:the|your|this) (?:\w+ )?(?:tree|repo\w*|project|code ?base|code|files?|sources?))?) (?:is|was|are|were|stays?|stayed|remains?|remained|i left) (?:exactly |just )?(?:untouched|unchanged|as (?:it was|they were|you left (?:it|them)|is|before)|alone)|\b(?:everything|all (?:other )?files?) (?:except|apart from|but|besides|other than|outside) (?:for )?‹\d+›(?:(?:,|,? and) ‹\d+›)* (?:is|are|was|were|stays?|remains?) (?:untouched|unchanged|as (?:it was|they were|you left (?:it|them)))|\bleft (?:everything else|the rest(?: of (?:the|your|this) (?:\w+ )?(?:tree|repo\w*|project|code ?base|code|files?|sources?))?) (?:alone|untouched|unchanged|(?:exactly |just )?as (?:it was|you left it|is))|\b(?:the )?(?:diff|change|patch|commit|edit|fix) (?:is|was|stays?|stayed|touches|touched|covers|consists of|contains|affects|lives|is confined to|is limited to|is restricted to) (?:in |to )*(?:(?:only |just |exactly |solely |entirely |confined to |limited to |restricted to |contained in |nothing but )+(?:in |to )*(?:‹|that (?:one )?file|this (?:one )?file|one file|a single file)|that (?:one )?file|this (?:one )?file|one file|a single file)`,
)
/** A claim that nothing outside a folder was changed. The first or the second capture group is the number of the folder's mark. */
export const nothingOutside = pattern(
  String.raw`\b(?:nothing|no (?:\w+ )?(?:files?|code)) outside(?: of)? (?:the )?‹(\d+)›(?: (?:folder|directory|package|module))? (?:is |was |were |are |has been |have been |got )?${done}|\b(?:did not|didn't|haven't|have not|without|never) (?:\w+ )?(?:touch|chang|modif|edit|alter)\w* (?:anything|any (?:\w+ )?files?|code) outside(?: of)? (?:the )?‹(\d+)›`,
)
/** A claim that only the named files were changed. `‹0›` stands for one file or more. */
export const onlyThese = pattern(
  String.raw`\bonly (?:the )?(?:file )?‹0›(?:(?:,|,? and) ‹\d+›)*(?: itself)? (?:is |was |were |are |has been |have been |has |have |had to |got |differs?|itself )*(?:${done}|change|differs?)|‹0›(?:(?:,|,? and) ‹\d+›)* (?:is|was|are|were) the (?:only|sole) (?:one|two|three)? ?(?:files?|things?|places?|ones?) (?:i |that |which |to |in |this |the |was |were |is |have |has |i've |commit |diff |\w+ly )*(?:${done}|change|touch|touches|diff|commit)|\bthe (?:only|sole) (?:\w+ )?(?:files?|things?|places?) (?:i |that |which |to |in |have |has |was |were |i've |\w+ly )*(?:${done}|change|touch|(?:the |this )?(?:diff|commit|change))(?: (?:is|are|was|were|has been)| :|:)? (?:the )?‹0›|\bi(?:'ve| have)? (?:only|just) (?:touched|changed|edited|modified|altered) (?:the )?(?:file )?‹0›(?=$|[.,;)]| and)`,
)

/** Words that come before "tests", "code" or a similar noun, and say that these were not changed. */
const not =
  "(?:did not|didn't|haven't|have not|never|without|refrained from|avoided) (?:\\w+ )?(?:touch|chang|modif|edit|bend|bent|weaken|loosen|relax|adapt|adjust|alter|rewrit|tweak|water)\\w*(?: down)?"
const were =
  '(?:(?:is|are|was|were|stays?|stayed|remains?|remained|has been|have been)(?: left| all| both| exactly| completely| entirely| therefore)*)'
const changing = '(?:updat|chang|touch|modif|regenerat|edit|adapt|adjust|alter|rewrit|refresh)\\w*'
const kept = `(?:(?:(?:did|do|does|has|have|had) not|(?:did|do|does|have|had|has)n't) (?:have to|had to|need to|needed to) be ${changing}|(?:did not|didn't|do not|don't) need (?:any )?${changing}|need(?:ed)? no (?:changes?|updates?|edits?|regenerat\\w+)|(?:are|is|were|was|stays?|stayed|remained|remains?) (?:still )?(?:exactly )?(?:the same as before|identical to before|identical)(?=$|[.,;)])|(?:isn't|aren't|wasn't|weren't|hasn't been|haven't been) (?:touched|changed|modified|edited|altered)|${were} (?:untouched|unchanged|unmodified|unaffected|not (?:touched|changed|modified|affected|edited)|(?:exactly )?as (?:you (?:wrote|left|had|have) (?:them|it)|they were|it was)))`
const touched =
  '(?:(?:is|are|was|were|has been|have been|had to be|needed to be|gets?|got) )?(?:touched|changed|modified|edited|altered|affected|involved|adapted|adjusted|weakened|bent)'

/** Words of which at least one is in every claim that files of one kind, such as tests, were not changed. */
const leaving =
  /not|n't|never|without|refrain|avoid|left|untouched|unchanged|unmodified|unaffected|identical|\bno\b|none|neither|\bas\b/

/** Builds a pattern for claims that files of one kind were not changed. Its long part is compiled only when a sentence names that kind. */
function untouchedKind(nouns: string): Pick<RegExp, 'test'> {
  const named = pattern(nouns)
  const says = pattern(
    String.raw`\b${not} (?:(?:the|any|a|an|single|of|one|your|actual) )*(?:${nouns})(?=$|[.,;:!)—–]| (?:to|for|at|themselves|itself|or|and|so|because|since|either)\b)|(?<!\b(?:of|in|on|from|existing|other|the rest of) )\b(?:${nouns})(?: (?:themselves|itself|files?))? ${kept}|\bleft (?:(?:the|all|your|any|of|both) )*(?:${nouns}) (?:exactly |completely |just )?(?:alone|untouched|unchanged|unmodified|as (?:they were|it was|is\b|you (?:wrote|left|had) (?:them|it)))|\b(?:no|none of the|not a single|not one|neither)(?: single)? (?:${nouns})(?: files?)? ${touched}`,
  )
  return { test: (plain) => leaving.test(plain) && named.test(plain) && says.test(plain) }
}

const tests = '(?:test|spec)s?|(?:test|spec) files?|test suite|test code|assertions?|expectations?|test expectations?'
const code =
  '(?:source|production|application|executable|runtime|library|product|program|app)(?: code| files?| sources?)|code|sources?|source code files?|logic'

/** Claims that files of one kind were not changed, each with the kind of changed file that contradicts the claim. */
export const kinds: readonly {
  readonly says: Pick<RegExp, 'test'>
  readonly contradictedBy: 'code' | 'tests' | 'locks' | 'migrations' | 'snapshots'
}[] = [
  {
    says: pattern(
      String.raw`\b(?:docs?|documentation|readme|markdown)[- ]only\b|\b(?:purely|only|just|solely|merely|strictly)(?: an?)? (?:docs?|documentation)(?: change| update| edit| fix|$|[.,;])|\bonly (?:the )?(?:docs?|documentation|readme) (?:is |was |were |are |has been |has |have )?(?:changed|touched|edited|affected|updated)|\b(?:tests?|specs?)[- ]only (?:change|commit|pr|diff|patch|edit)|\bonly (?:the )?(?:tests?|specs?)(?: files?)? (?:were |was |have been |have )?(?:changed|touched|edited|modified)\b`,
    ),
    contradictedBy: 'code',
  },
  { says: untouchedKind(code), contradictedBy: 'code' },
  { says: untouchedKind(tests), contradictedBy: 'tests' },
  {
    says: untouchedKind(
      '(?:(?:stored|committed|recorded|saved) )?snapshots?|golden files?|reference (?:images?|screenshots?)',
    ),
    contradictedBy: 'snapshots',
  },
  { says: untouchedKind('dependenc(?:y|ies)|lock ?files?|lock-files?'), contradictedBy: 'locks' },
  {
    says: untouchedKind('(?:(?:db|database|schema) )?migrations?|(?:db|database) schema'),
    contradictedBy: 'migrations',
  },
]
/** Phrases that contain a word of {@link ofSome} or {@link leftSome}, but don't limit the claim. */
export const notOfSome = pattern(String.raw`(?:not|n't) need\b|\bneeds? no\b|\b(?:as|to) before\b`, 'g')

/** Words that limit a claim to some of the files, such as those that already existed. */
export const ofSome = pattern(
  String.raw`\b(?:existing|other|else|more|further|except|apart from|besides|other than|beyond|outside|old|if|should|would|unless|until|before|yet|so far|can|could|will|please|needs?|first|behaviou?r|generated|semantics|public|rest|vendored|upstream)\b`,
)
