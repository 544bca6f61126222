import { pattern } from './word-patterns.ts'
/**
 * English phrases about test results, as patterns for plain text in lower case. First, idioms are replaced by the marks `+good+` or `+bad+`, or removed if they
 * report no current result. Then the remaining words are looked up.
 */

/** Words for a test run. The names of the recorded test programs are added. */
export const topics = pattern(
  String.raw`(?<![\w/.-])(?:(?:unit|integration|regression|acceptance|smoke|data|component|feature|stress|convergence|widget|contract|snapshot|e2e|end-to-end)[- ])?(?:tests?(?![-_]?(?:utils|data|helper))|test-?suites?|testsuite|test ?cases?|testing|tested|retested|re-tested|suites?|specs|rspec|spec run|(?:every|each|new|own|(?<!\b(?:in|by|per|to|from|as|against|follows?) )the|component|failing|regression) spec(?! \(|ification)|pytest|vitest|jest|mocha|phpunit|pest|ctest|junit|xctest|nunit|xunit|tox|nox|cypress|playwright|e2e|bats|busted|surefire|twister|molecule|quickcheck|nextest|unittest|doctests?|exunit|minitest|hspec|assertions|green|ci|quality (?:gates|checks|assurance)|all checks|the checks|checks(?=:| (?:were|are|run|ran|pass))|🧪|\d+ (?:passed|passing|failed|failing|failures|examples|successes)|verification|vitests?|testsets?|pipeline|regressions?)(?![\w/\-])|[\w:]+:test\b|\b\w+_test\b|test\(\)|\bmake (?:\S+ )?check\b|\b(?:npm run|just|cargo|yarn|mix) (?:check|verify|ci)\b|\bran \S+[._](?:test|spec)s?\.\w+`,
  'u',
)

/** Words such as "everything" or "none", which can refer to all tests without mentioning them. */
export const sweeping = pattern(
  String.raw`(?<!\b(?:for|to|on|with) )\b(?:everything|all|every (?:single )?one|nothing|not (?:a single )?one|zero|none)\b|\ball (?:green|clear|good)\b|^(?:still )?(?:green|passing|🟢)`,
  'u',
)

/** Phrases that say that everything is fine, such as "everything works". */
export const sweepingly = pattern(
  String.raw`\b(?:everything|it all|all of it) (?:(?:is|was|has been|got) )?(?:fully |now )?(?:verified|tested|works|checks out|holds|validated|in order|well|as it should be)\b`,
)

/** Compounds such as "test data", which are about something in the code and not about a test run. */
export const mentions = pattern(
  String.raw`\btests?[- ](?:data|files?|helpers?|fixtures?|names?|script|scripts|director(?:y|ies)|folders?|env|environment|config\w*|plan|coverage|runner config|problem|double|doubles|ids?)\b`,
  'g',
)

/** Words that admit a failure, in a clause about tests or in a later one. */
export const bad = pattern(
  String.raw`\+bad\+|[❌✗✘✖💔🔴]|⚠|\b(?:fail|fails|failed|failing|failures?|red|broken|breaks?|broke|crash(?:es|ed|ing)?|errors?|errored|hangs?|hung|times? out|timed out|time-?outs?|timeout|falls? over|fell over|trips?|tripped|stumbles?|regressed|complains?|complained|choked?s?|chokes|bails?|aborts?|aborted|dies|died|unhappy|unstable|segfaults?|refuses|throws|fewer|worse|not (?:fine|ok|okay|good|happy|right|green|clean|passing)|come to grief|came to grief|don't get along|moan(?:s|ed)|anomalies|surprises|deviations|discrepancies|(?:command )?not found|not installed|not available|unavailable|no such|not since|not (?:been )?re-?run|not repeated|(?:couldn't|could not|can't|cannot|wasn't able to|unable to) (?:be )?(?:run|ran|execute|executed|start|started|get|try|use|tell|verify|say))\b`,
  'u',
)

/** Compounds that contain a word of {@link bad} and name a kind of test or code: "round-trip tests", "the crash-between-two-writes case". */
export const compounds = pattern(
  String.raw`\b(?:round|error|fault|crash|failure)-(?:trip(?:s|ped|ping)?|handling|injection|safe(?:ty)?|recovery|path|case|paths|cases)\b|\b(?:crash|error|fail|failure|hang|timeout|red)(?:-(?:and|at|before|after|between|during|in|on|fast|over|open|closed|safe|black|write|\w{3,20}))+\b`,
  'g',
)

/** The beginning of a sentence that turns to another subject: "One thing to watch: ...". Its "one" and "that" don't refer to the tests. */
export const turnsElsewhere = pattern(
  String.raw`^(?:(?:one|two|three|a few|a couple of|another|some)(?: \w+)? (?:things?|notes?|points?|remarks?|caveats?|details?)\b|(?:please )?note\b|heads[- ]up\b|fyi\b|by the way\b|(?:also )?worth (?:noting|knowing|mentioning|a look)\b|for (?:your|the) (?:review|reviewer|record)\b)`,
)

/** Signs that tests were not run, or were not seen to pass. They count only in a clause about tests. */
export const notSeen = pattern(
  String.raw`\b(?:not|never|no|none|nor|neither|cannot|\w+n't|couldnt|didnt|wont|cant|unable|impossible|untested|unverified|unchecked|unproven|without|lacks?|lacking|missing|denied|declined|refused|rejected|blocked|skip(?:ped|s)?|skipping|unfortunately|sadly|sorry|alas|pending|todo|outstanding|needs?|needed|(?:i|i'd|i'll) leave|left (?:to|for)|i left|yourself|forbidden|stuck|unavailable|hardcodes?|still to|yet to|rather than|only (?:compiled|built|read|looked|checked|collected|listed))\b`,
)

/**
 * Signs that something is still wrong. Unlike those of {@link bad}, they count even in a clause with words of {@link unreal} or {@link instructs}.
 */
export const stillWrong = pattern(
  String.raw`\bstays? (?:red|broken)|still (?:red|fail\w*|broken|complain\w*)|\bkeeps? (?:fail\w*|crash\w*)|until (?:somebody|someone|you|it)\b`,
)

/** Signs that a failure is in the past, if words of {@link afterwards} follow. */
export const wasWrong = pattern(
  String.raw`\b(?:failed|was|were|had|made|broke|crashed|saw|watched|got|rejected|complained|hung|timed out)\b`,
)
/** Words for a failure that still exists. */
export const isWrong = pattern(
  String.raw`\b(?:still|fails|is|are|remains?|keeps?|stays?|not yet|couldn't|could not|can't|cannot|unable|wasn't able|haven't|didn't|did not)\b`,
)
/** Words that name the cause of something. Their "is" doesn't say that a failure still exists: "which is why the test timed out". */
export const causes = pattern(
  String.raw`\b(?:(?:which|that|this)(?: is|'s) (?:also |exactly |precisely |probably )?(?:why|how|what)|(?:the )?(?:root )?(?:cause|reason|culprit|problem|issue|bug)(?: \w+){0,5}? is(?: that)?)\b`,
  'g',
)

/** Words that introduce what happened later: "then", "in the end", "the second time". */
export const afterwards = pattern(
  String.raw`\b(?:then|after (?:that|this|it|which|the|my|a|\w+ing)|afterwards?|now|in the end|finally|eventually|this time|(?:second|third|next|final) (?:run|time|attempt|try|round)|re-?ran|again)\b`,
)

/** Phrases about undoing or replacing what had caused a failure: "so I took it out again", "I went with a lock instead". */
export const undone = pattern(
  String.raw`\b(?:i|i've|we|we've)(?: have| then| therefore| also)* (?:(?:backed|took|taken|pulled|ripped|threw|left) (?:it|that|this|them|(?:that|the) \w+(?: \w+)?) (?:back )?out|(?:took|put) (?:it|that|this|them|the \w+) back|removed (?:it|that|this|them)|dropped (?:it|that|this|them)|reverted|undid|went (?:with|for|back)|switched (?:to|back)|settled (?:on|for))\b`,
)

/** A phrase such as "4 fail". It need not mention tests, because people use it only about tests. */
export const someFail = /\b[1-9]\d{0,5} (?:of them )?(?:now |still )?fail\b/

/** Words for a good result. They count even in a part of a sentence that doesn't mention a test run. */
export const plainlyGood = pattern(
  String.raw`\+good\+|[✅✓✔☑🟢👍💯]|\b(?:pass|passes|passed|passing|green|succeeds?|succeeded|succeeding|success|successful|successfully|ok|okay|clean|cleanly)\b`,
  'u',
)

/** Words for a good result. They count only in a part of a sentence that is about a test run. */
export const good = pattern(
  String.raw`\b(?:fine|right|correct|correctly|accepts?|accepted|came out|come out|comes out|roses|through with|agreed|works?|worked|working|good|well|great|smooth|smoothly|sailed|through|stable|solid|intact|satisfied|content|pleased|happy|agrees?|likes?|cool|confidence|holds?|held|holding|survived?|recovered|healthy|unaffected|unchanged|clear|flawless|flawlessly|perfect|perfectly|positive|normal|complete|completes|completed|done|finished|finishes|executed|ran|run through|ended|confirm\w*|verif(?:y|ies|ied)|validat\w*|proves|proved|proven|proof\w*|proofed|expected|intended|behaved|fixed|repaired|mended|resolved|concluded|exercised|met|tested|retested|re-ran|reran|(?:was|were|been) run|yes|yep|shape|put it through|put the change through|shown|double-checked|stay|stays|remains?|sorted|unbroken|back to normal)\b`,
)

/** Words that express a wish, a plan, a condition, a request, or advice. */
export const unreal = pattern(
  String.raw`\b(?:should|would|could(?! throw)|will|shall|might|may|must|can|ought|i'd|you'd|we'd|i'll|you'll|it'd|they'd|expect|expects?|hope\w*|hopefully|please|going to|want|if|once|unless|until|whether|assuming|next|todo|plan|plans|planned|recommend\w*|suggest\w*|likely|probably|presumably|let me know|to be|remember|make sure(?! the)|ensure|in order to|meant to|supposed to|so that|when|(?:checks|ensures|requires|waits|makes sure|asserts) (?:that|until|for|if|whether))\b`,
)

/** Words that mark a whole sentence as a report of what others say, or as a comment on what a result means. */
export const othersSay = pattern(
  String.raw`\b(?:according to|you said|you (?:attached|pasted|sent|ran)|the (?:ci )?log|that log|logs? says?|upstream's|their ci|as far as ci|in that (?:log|run)|your (?:class|ci|machine|setup|build|job|config)|says (?:little|nothing)|doesn't mean|means? (?:little|nothing|much)|because the (?:job|clock|assertion))\b`,
)

/** Words that refer to somebody else's test run, to one in CI, or to an earlier one. */
export const others = pattern(
  String.raw`\b(?:in ci\b|on ci\b|(?:last|latest|previous|most recent) (?:ci |green |successful |nightly |scheduled )?(?:run|build|pipeline|job)\b|(?:pass\w*|green|failed) there|yesterday|last (?:week|time|night)|on (?:main|master)|before your|before (?:my|the|this) change|nobody)\b`,
)

/** The beginning of an instruction: "Run `npm test`." */
export const instructs = pattern(
  String.raw`^(?:then |next,? |now |and |please )?(?:run|rerun|re-run|execute|try|check (?:that|it|whether|with)|wait|verify|make sure|ensure|start|do|add|write|see|install|push|merge|create)\b(?! was| were)`,
)

/** Words for writing, reading or describing tests, none of which is a result. They override weaker words for a result. */
export const wrote = pattern(
  String.raw`^(?:also |i |i've |i have |we |and |then |just )*(?:also |now |only )?(?:added|adds?|wrote|written|created|updated|renamed|moved|extended|parametri[sz]ed|read|looked|reviewed|removed|deleted|documented|bumped|new|made the|split|ported|converted|introduced|adapted|adjusted|skipped|restored|uncommented|listed|collected|changed|rewrote|left(?=[^,;]{1,120}\balone))\b`,
)

/** "Tested by hand" and similar phrases, which don't claim a test run. */
export const byHand = pattern(
  String.raw`\b(?:by hand|manual\w*|in the browser|repl|curl|by reading|by eye|throwaway|a script|scratch|on paper|one by one|dry[- ]run|--collect-only)\b`,
)

/** Words that suggest that not all is well. If a message contains one of them, its unclear sentences about tests don't count as claims. */
export const adverse = pattern(
  String.raw`\b(?:not|never|no|none|nor|neither|cannot|\w+n't|but|however|though|although|unfortunately|sadly|afraid|sorry|alas|except|apart|still|yet|half|part\w*|only|most\w*|almost|nearly|wip|draft|issues?|problems?|unclear|unsure|help|hint|advice|attention|differ\w*|unrelated|pre-?existing|known|flak\w+|remain\w*|open|need\w*|miss\w*|lack\w*|stop\w*|stuck|until|blocked|wait\w*|other|old|expect\w*|instead|pending|todo|manual\w*|hand|left|leave|fewer|less|worse|un\w+ed|later|follow-up)\b|[❌✗✘✖💔🔴🟡⚠]`,
  'u',
)
/** Verbs, or a colon, that suggest that a clause reports something done with the tests. */
export const didTest = pattern(
  String.raw`\b(?:ran|run|rerun|re-ran|executed|let|went|gave|put|came|come|tested|exercised|is|are|was|were|has|have|did|does|finished|completed|shows?|showed|says?|said|reports?|reported|confirms?|confirmed|turned|took|got|ended|made|looks?|looked|find|found|tells?|told|likes?|loves?|approves?|approved|waved|nodded|enjoys?|cruised)\b|:`,
)
/** Words that show that a sentence explains something, and doesn't report a test run. */
export const explains = pattern(
  String.raw`^why\b|\b(?:because|regardless|only after|depends? on|even though|since they|whenever|each time|always|by default|stops? at|picks? up)\b`,
)

/** A command in brackets after a statement about its result: "All three pass (`npm test`)." */
export const commandAtEnd = pattern('\\(`[^`]+`\\)\\W*$')

/** Words that report the writer's own test run, even in a sentence that begins with "before" or "when". */
export const ownRun = pattern(
  String.raw`\b(?:i|we)(?:'ve| have)? (?:also |then |\w+ly )?(?:ran|run|re-?ran|executed|verified|checked|confirmed)\b|^when (?:i|we)\b`,
)

/** "Pass" or "passing" with an object: "they pass a request". */
export const takesObject = pattern(
  String.raw`^\W*passing (?!all|tests?|specs?|suite|checks|again|now|$)|\bpass(?:es|ed|ing)? (?!(?:the|all|your|our|its|their) (?:\w+ ){0,3}?(?:tests?|suite|specs?|checks|ci|pipeline)(?:$| (?:now|again|and|with|in|on|too|as)\b))(?:a|an|the|it|its|them|their|into|to|along|through|by|down|over|this|that|him|in (?:a|an|its|their|this|that|it|options?|arguments?))\b`,
)
